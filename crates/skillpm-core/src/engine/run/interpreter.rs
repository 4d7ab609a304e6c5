//! Determines which program runs a script.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::programs::Programs;
use crate::advice::{Opt, message};
use crate::error::{Error, Result};
use crate::fs;

/// Extensions of scripts, each with the programs that may run it; the first one that exists does.
const ENDINGS: &[(&str, &[&str])] = &[
    ("py", PYTHONS),
    ("sh", &["sh", "bash"]),
    ("bash", &["bash"]),
    ("zsh", &["zsh"]),
    ("js", &["node"]),
    ("mjs", &["node"]),
    ("cjs", &["node"]),
    ("rb", &["ruby"]),
    ("pl", &["perl"]),
    ("php", &["php"]),
    ("lua", &["lua"]),
    ("r", &["Rscript"]),
    ("ps1", &["pwsh"]),
];

/// Programs that a first line may name, without a version suffix.
const KNOWN: &[&str] = &[
    "ash", "bash", "dash", "ksh", "lua", "node", "nodejs", "perl", "php", "pwsh", "python", "Rscript",
    "ruby", "sh", "zsh",
];

/// The language of scripts that have inline metadata.
pub(super) const PYTHON: &str = "python";

/// The programs that may run such a script.
const PYTHONS: &[&str] = &["python3", "python"];

/// Programs that bring the packages of a Python script along if a first line has `run` after them.
const BRINGERS: &[&str] = &["uv", "pipx"];

/// Options of theirs in a first line that change nothing about how a script runs.
const IDLE: &[&str] = &["--script", "-s", "--quiet", "-q", "--no-project"];

/// Directories of the root that hold no programs, but links to open files of processes.
const PROCESSES: &[&str] = &["proc", "dev", "sys"];

/// The maximum length of a first line that the kernel reads, in bytes.
const MAX_LINE: usize = 256;

/// A program, and its arguments before the script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Interpreter {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    /// The name of its language, as [`languages`] has it.
    pub(super) language: &'static str,
    /// Whether the caller named the program.
    pub(super) is_chosen: bool,
    /// The virtual environment that was made for the script.
    pub(super) environment: Option<PathBuf>,
    /// The program of the user that starts it, if that is a script itself.
    pub(super) starter: Option<PathBuf>,
}

/// The program that a script requests.
#[derive(Debug, PartialEq, Eq)]
enum Wanted<'a> {
    /// The program at exactly this path, with these arguments.
    At(&'a str, Vec<&'a str>),
    /// The first of these programs in `PATH`, with these arguments.
    Named(Vec<&'a str>, Vec<&'a str>),
    /// Python, by a program that brings packages along.
    Brought(&'a str),
}

impl Wanted<'_> {
    /// Returns the name of the script's language.
    fn language(&self) -> &'static str {
        let name = match self {
            Self::At(program, _) => known(base(program)),
            Self::Named(names, _) => names.first().and_then(|name| known(name)),
            Self::Brought(_) => Some(PYTHON),
        };
        name.map_or("", language)
    }
}

/// Returns the names of languages for which a program can be chosen.
pub(super) fn languages() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().copied().filter(|name| language(name) == *name)
}

/// Returns the language that the program `name` runs.
fn language(name: &'static str) -> &'static str {
    if name == "nodejs" { "node" } else { name }
}

/// Returns the interpreter for the script at `path` of a skill, whose content starts with `bytes`: the one that was chosen
/// for its language, otherwise the one that its first line names, otherwise the one for its extension.
pub(super) fn choose(path: &str, bytes: &[u8], programs: &Programs) -> Result<Interpreter> {
    let wanted = wanted(path, bytes)?;
    let language = wanted.language();
    let chosen = programs.chosen(language);
    let is_chosen = chosen.is_some();
    let of = |program, args: Vec<&str>| {
        let args = args.into_iter().map(OsString::from).collect();
        Interpreter { program, args, language, is_chosen, ..Interpreter::default() }
    };
    let (names, args) = match (wanted, chosen) {
        (Wanted::At(_, args) | Wanted::Named(_, args), Some(program)) => {
            return Ok(of(program.to_owned(), args));
        }
        (Wanted::Brought(_), Some(program)) => return Ok(of(program.to_owned(), Vec::new())),
        (Wanted::At(program, args), None) => {
            let at = PathBuf::from(program);
            let is_there = matches!(fs::real_path(&at), Ok(Some(real)) if is_file(&real));
            return if is_there {
                Ok(of(at, args))
            } else {
                Err(Error::usage(format!("`{path}` is run by `{program}`, which does not exist")).hint(
                    format!("install it, or name it in the first line as `#!/usr/bin/env {}`", base(program)),
                ))
            };
        }
        (Wanted::Named(names, args), None) => (names, args),
        (Wanted::Brought(_), None) => (PYTHONS.to_vec(), Vec::new()),
    };
    if let Some(program) = names.iter().find_map(|name| programs.find(name)) {
        return Ok(of(program, args));
    }
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    Err(Error::usage(format!("`{path}` is run by {}, which was not found", names.join(" or "))).hint(
        message!(
            "install it, add its directory to `PATH`, or choose a program with ",
            (Opt::Interpreter, format!("{language}=PROGRAM"))
        ),
    ))
}

/// Returns the name, without a version, of the program that the first line of the script at `path` names; `None` if
/// `bytes` do not begin with `#!`.
pub(in crate::engine) fn program_of(path: &str, bytes: &[u8]) -> Result<Option<&'static str>> {
    Ok(match by_first_line(path, bytes)? {
        Some(Wanted::At(program, _)) => known(base(program)),
        Some(Wanted::Named(names, _)) => names.first().and_then(|name| known(name)),
        Some(Wanted::Brought(_)) => Some(PYTHON),
        None => None,
    })
}

/// Returns the programs of which one runs the script at `path`, as its first line or its ending says, and those that only
/// an agent would start. Empty for a file that is no script.
pub(in crate::engine) fn programs<'a>(path: &str, bytes: &'a [u8]) -> Vec<&'a str> {
    match wanted(path, bytes) {
        Ok(Wanted::At(program, _)) => vec![base(program)],
        Ok(Wanted::Named(names, _)) => names,
        Ok(Wanted::Brought(program)) => vec![program],
        Err(_) => {
            let line = bytes.strip_prefix(b"#!").and_then(first_line).unwrap_or_default();
            let mut words = line.split_whitespace();
            let program = words.next().map(base).filter(|program| *program != "env");
            let named = |word: &&str| !word.starts_with('-') && !word.contains('=');
            program.or_else(|| words.find(named).map(base)).into_iter().collect()
        }
    }
}

fn wanted<'a>(path: &str, bytes: &'a [u8]) -> Result<Wanted<'a>> {
    if let Some(wanted) = by_first_line(path, bytes)? {
        return Ok(wanted);
    }
    let ending = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
    match ENDINGS.iter().find(|(known, _)| ending.is_some_and(|e| e.eq_ignore_ascii_case(known))) {
        Some((_, programs)) => Ok(Wanted::Named(programs.to_vec(), Vec::new())),
        None => Err(Error::usage(format!("`{path}` is not a script"))
            .hint("a script has an ending such as `.py`, `.sh` or `.js`, or begins with `#!`")),
    }
}

fn by_first_line<'a>(path: &str, bytes: &'a [u8]) -> Result<Option<Wanted<'a>>> {
    let Some(rest) = bytes.strip_prefix(b"#!") else { return Ok(None) };
    let line = first_line(rest).ok_or_else(|| unknown(path, "it is not text"))?;
    by_line(path, line).map(Some)
}

/// Returns the first line of `rest`; `None` if it is too long or is not text.
fn first_line(rest: &[u8]) -> Option<&str> {
    let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let line = std::str::from_utf8(rest.get(..end.min(MAX_LINE + 1))?).ok()?.trim();
    (end <= MAX_LINE && !line.contains('\0')).then_some(line)
}

/// Returns the program that the first line of the program `program` names, by its path.
pub(super) fn starter_of(program: &Path) -> Option<PathBuf> {
    let real = fs::real_path(program).ok()??;
    let bytes = fs::read_prefix(&real, 16 * MAX_LINE as u64, |bytes| bytes.contains(&b'\n')).ok()??;
    let line = first_line(bytes.strip_prefix(b"#!")?)?;
    line.split_whitespace().next().map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Parses a line as the kernel does: a program and one argument. With `env -S`, the argument is split into words.
fn by_line<'a>(path: &str, line: &'a str) -> Result<Wanted<'a>> {
    let (program, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let rest = rest.trim();
    if !is_plain(program) {
        return Err(unknown(path, &format!("`{program}`")));
    }
    if base(program) != "env" {
        let args = if rest.is_empty() { Vec::new() } else { vec![rest] };
        return if known(base(program)).is_some() {
            Ok(Wanted::At(program, args))
        } else {
            Err(unknown(path, &format!("`{program}`")))
        };
    }
    let words: Vec<&str> = match rest.strip_prefix("-S").or_else(|| rest.strip_prefix("--split-string=")) {
        // Quotes and variables would need a parser.
        Some(words) if !words.contains(['\'', '"', '\\', '$']) => words.split_whitespace().collect(),
        // Without `-S`, the whole argument is the name.
        None if !rest.contains(char::is_whitespace) => vec![rest],
        _ => Vec::new(),
    };
    match words.split_first() {
        Some((name, args)) if known(name).is_some() => Ok(Wanted::Named(vec![name], args.to_vec())),
        Some((name, ["run", options @ ..]))
            if BRINGERS.contains(name) && options.iter().all(|option| IDLE.contains(option)) =>
        {
            Ok(Wanted::Brought(name))
        }
        _ => Err(unknown(path, &format!("`{line}`"))),
    }
}

/// Reports whether the path of a program is plain: absolute, without `..`, and not through a directory that is
/// different for each process.
fn is_plain(program: &str) -> bool {
    let mut parts = Path::new(program).components();
    let first = (parts.next(), parts.next());
    matches!(first, (Some(Component::RootDir), Some(Component::Normal(first))) if !PROCESSES.iter().any(|dir| *dir == first))
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn unknown(path: &str, what: &str) -> Error {
    Error::usage(format!("the first line of `{path}` does not name a known interpreter: {what}"))
        .hint("known interpreters are shells, Python, Node.js, Perl, Ruby, PHP, Lua, R and PowerShell, by their path or by `/usr/bin/env NAME`")
}

/// Returns the interpreter `name` without a version suffix, as in `python3.12`; `None` if it is not known.
fn known(name: &str) -> Option<&'static str> {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    KNOWN.iter().copied().find(|known| *known == bare && !name.ends_with('.'))
}

fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Returns the program `name` in the first directory of `search` that has it.
pub(super) fn look_up(name: &str, search: &[PathBuf]) -> Option<PathBuf> {
    let names: &[String] =
        &if cfg!(windows) { vec![format!("{name}.exe"), name.to_owned()] } else { vec![name.to_owned()] };
    search.iter().flat_map(|dir| names.iter().map(|name| dir.join(name))).find(|at| fs::may_execute(at))
}

fn is_file(at: &Path) -> bool {
    fs::kind(at).is_ok_and(|kind| kind == Some(fs::Kind::File))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(path: &str, text: &'a str) -> Result<Wanted<'a>> {
        wanted(path, text.as_bytes())
    }

    fn named<'a>(name: &'a str, args: &[&'a str]) -> Wanted<'a> {
        Wanted::Named(vec![name], args.to_vec())
    }

    /// S1-FR-201.2, S1-Q3, conflict C20.
    #[test]
    fn by_ending_whatever_the_mode() {
        for (path, program) in [("scripts/a.py", "python3"), ("a.b/x.sh", "sh"), ("x.JS", "node")] {
            match wanted(path, b"x").expect(path) {
                Wanted::Named(names, _) => assert_eq!(names[0], program),
                other => panic!("{other:?}"),
            }
        }
        for path in ["scripts/helper.txt", "scripts/tool", "a.py/tool", ".py.bak", ""] {
            let error = of(path, "x").expect_err(path);
            assert!(error.to_string().ends_with("is not a script"), "{error}");
        }
    }

    #[test]
    fn the_first_line_wins() {
        let cases = [
            ("#!/bin/bash\n", Wanted::At("/bin/bash", vec![])),
            ("#!/bin/bash -e -u\r\n", Wanted::At("/bin/bash", vec!["-e -u"])),
            ("#! /usr/bin/python3.12 -E", Wanted::At("/usr/bin/python3.12", vec!["-E"])),
            ("#!/usr/bin/env python3\nx", named("python3", &[])),
            ("#!/usr/bin/env -S node --no-warnings\n", named("node", &["--no-warnings"])),
            ("#!/usr/bin/env -S uv run --quiet --script\n", Wanted::Brought("uv")),
            ("#!/usr/bin/env -S pipx run\n", Wanted::Brought("pipx")),
        ];
        for (text, expected) in cases {
            assert_eq!(of("tool", text).expect(text), expected, "{text}");
            assert_eq!(of("tool.sh", text).expect(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_known_interpreter_is_refused() {
        let long = format!("#!/bin/sh {}\n", "x".repeat(300));
        for text in [
            "#!python3\n",
            "#!./python3\n",
            "#!../../bin/sh\n",
            "#!/bin/rm -rf\n",
            "#!/usr/../bin/sh\n",
            "#!/bin/../../bin/env sh\n",
            "#!/proc/self/root/bin/sh\n",
            "#!/proc/self/cwd/sh\n",
            "#!/dev/fd/3/sh\n",
            "#!/usr/bin/env rm\n",
            "#!/usr/bin/env python3 -x\n",
            "#!/usr/bin/env -S python3 '-c x'\n",
            "#!/usr/bin/env A=b python3\n",
            "#!/usr/bin/env -S uv run --with x\n",
            "#!/usr/bin/env -S uv sync\n",
            "#!/usr/bin/env uv\n",
            "#!/usr/bin/env ./python3\n",
            "#!/usr/bin/env\n",
            "#!/bin/python3.\n",
            "#!/bin/3\n",
            "#!\n",
            "#!/bin/sh\0x\n",
            &long,
        ] {
            let error = of("tool.py", text).expect_err(text);
            assert!(error.to_string().contains("does not name a known interpreter"), "{text}: {error}");
        }
        let bytes = b"#!/bin/sh \xff\n";
        assert!(wanted("tool.sh", bytes).is_err());
    }

    #[test]
    fn programs_that_only_agents_start_have_names_too() {
        for (path, text, expected) in [
            ("a.py", "", &["python3", "python"][..]),
            ("a", "#!/usr/bin/env -S uv run --script\n", &["uv"]),
            ("a.ts", "#! /usr/bin/env A=b deno\n", &["deno"]),
            ("a", "#!/opt/x/tsx\n", &["tsx"]),
            ("a.sh", "#!/bin/bash -e\n", &["bash"]),
            ("a", "#!/usr/bin/env\n", &[]),
            ("a.md", "text", &[]),
        ] {
            assert_eq!(programs(path, text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn interpreters_have_names_without_versions() {
        for (text, name) in [
            ("#!/usr/bin/python3.12 -E\n", Some("python")),
            ("#!/usr/bin/env -S node --no-warnings\n", Some("node")),
            ("#!/usr/bin/env Rscript\n", Some("Rscript")),
            ("#!/usr/bin/env -S uv run -s\n", Some("python")),
            ("# nothing\n", None),
        ] {
            assert_eq!(program_of("tool", text.as_bytes()).expect(text), name);
        }
        assert!(program_of("tool.py", b"#!/usr/bin/env deno\n").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn an_interpreter_that_is_not_there_is_told() {
        let dir = fs::temp_dir().expect("a directory");
        let programs = Programs::usual(vec![dir.path().to_owned()]);
        let error = choose("a.py", b"", &programs).expect_err("none");
        assert_eq!(error.to_string(), "`a.py` is run by `python3` or `python`, which was not found");
        assert!(error.hints()[0].to_string().contains("`interpreter=python=PROGRAM`"), "{:?}", error.hints());
        let error = choose("a.py", b"#!/nowhere/python3\n", &programs).expect_err("none");
        assert_eq!(error.to_string(), "`a.py` is run by `/nowhere/python3`, which does not exist");
        assert!(error.hints()[0].to_string().contains("#!/usr/bin/env python3"), "{:?}", error.hints());
        // A file that is not executable does not count, and neither does a directory.
        fs::write_atomic(&dir.path().join("python3"), b"").expect("writes");
        fs::create_dir(&dir.path().join("python")).expect("creates");
        assert!(choose("a.py", b"", &programs).is_err());
    }
}
