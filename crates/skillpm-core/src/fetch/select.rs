//! Selection of skills in a source.

use super::ask::ask;
use super::names::install_name;
use super::typed_source::source_of;
use crate::advice::{Message, Opt, Verb, Warning, message};
use crate::agents;
use crate::codes;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::refusal::ABSENT_DIRECTORY;
use crate::source::FetchedSource;
use crate::source::discover::{Candidate, discover, discover_all, discover_in, not_searched, submodules};
use crate::spec::{SourceSpec, check_directory};
use crate::text::{and_more, closest, closest_path, shell_word, visible_name};
use crate::tree::{Node, Tree};

/// The word for all skills.
pub const ALL: &str = "*";

/// The number of skills that an error names.
const NAMES: usize = 5;

/// Finds the skills in `opened`: below the path of `spec`, or wherever skills are expected.
pub(crate) fn candidates(opened: &FetchedSource, spec: &SourceSpec) -> Result<Vec<Candidate>> {
    if let Some(shelf) = &opened.shelf {
        if let Some(path) = &spec.path
            && let Some(one) = shelf.look_up(path)?
        {
            return Ok(vec![one]);
        }
        let listed = shelf.listed()?;
        return match &spec.path {
            Some(name) => {
                let one = by_name(spec, opened, &listed, name)?;
                Ok(vec![one.ok_or_else(|| unknown(spec, opened, &listed, name))?])
            }
            None => Ok(listed),
        };
    }
    let found = match &spec.path {
        Some(path) => discover_in(&opened.tree, path),
        // The tree has only the skills of a package.
        None if spec.origin.has_only_skills() => discover_all(&opened.tree),
        None => discover(&opened.tree, agents::project_dirs()),
    };
    if !found.is_empty() {
        return Ok(found.into_iter().map(|one| one.called(&opened.name)).collect());
    }
    let everywhere = discover(&opened.tree, agents::project_dirs());
    let is_in = |path: &str, module: &String| {
        path.strip_prefix(module.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    if let Some(path) = &spec.path
        && submodules(&opened.tree).iter().any(|module| is_in(path, module))
    {
        let source = source_of(spec, opened);
        return Err(Error::usage(format!(
            "`{path}` in `{source}` is a submodule: its files are in another repository"
        ))
        .hint("install it from that repository; `.gitmodules` names it"));
    }
    let is_there = |dir: &&str| spec.path.as_ref().is_none_or(|path| is_in(path, &(*dir).to_owned()));
    if let Some(dir) = absent_directories(&opened.tree).find(is_there) {
        return Err(absent(spec, opened, dir));
    }
    let error = match &spec.path {
        Some(path) if opened.tree.below(path).next().is_none() => {
            let error =
                Error::usage(format!("there is no directory `{path}` in `{}`", source_of(spec, opened)));
            match closest_path(path, everywhere.iter().map(|c| c.path.as_str())) {
                Some(close) => error.hint(message!("did you mean ", by_path(spec, opened, close), "?")),
                None => error,
            }
        }
        Some(path) => {
            Error::usage(format!("there is no `SKILL.md` in `{path}` of `{}`", source_of(spec, opened)))
        }
        None if spec.origin.has_only_skills() => {
            Error::usage(format!("`{}` comes with no skills", source_of(spec, opened)))
                .hint("packages keep their skills in a directory `skills`: docs/guide/packages.md")
        }
        None => Error::usage(format!("there is no `SKILL.md` in `{}`", source_of(spec, opened)))
            .hint("a skill is a directory with a `SKILL.md`"),
    };
    if let Some(told) = elsewhere(spec, opened, &everywhere) {
        return Err(error.hint(told));
    }
    let modules = submodules(&opened.tree);
    if let (None, Some(first)) = (&spec.path, modules.first()) {
        let all = match modules.len() {
            1 => format!("`{}` is a submodule", visible_name(first)),
            number => format!("it has {number} submodules, such as `{}`", visible_name(first)),
        };
        return Err(error.hint(format!(
            "{all}: skills in it are installed from its own repository, whose address is in `.gitmodules`"
        )));
    }
    Err(if everywhere.is_empty() {
        error
    } else {
        error.hint(message!(
            Verb::Install.call().flag(Opt::List).word(source_of(spec, opened)),
            " shows what is available"
        ))
    })
}

/// Returns the directories that `tree` names but does not have.
fn absent_directories(tree: &Tree) -> impl Iterator<Item = &str> {
    tree.entries().filter(|(_, entry)| entry.node == Node::Special(ABSENT_DIRECTORY)).map(|(dir, _)| dir)
}

/// Returns the error for the directory `dir`, which a repository on this machine lacks.
fn absent(spec: &SourceSpec, opened: &FetchedSource, dir: &str) -> Error {
    Error::io(format!("`{}` lacks the directory `{}`", source_of(spec, opened), visible_name(dir)))
        .hint("`git fsck` there shows more; a partial clone has only some of the objects")
}

/// Returns the warning about directories that the repository lacks, in which there may be skills.
pub(crate) fn gaps(spec: &SourceSpec, opened: &FetchedSource) -> Option<Warning> {
    let mut all = absent_directories(&opened.tree);
    let first = visible_name(all.next().filter(|_| spec.path.is_none())?);
    let more = match all.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let source = source_of(spec, opened);
    Some(Warning::new(
        codes::NOT_SEARCHED,
        format!(
            "`{source}` lacks the directory `{first}`{more}: skills there are not found; `git fsck` shows more"
        ),
    ))
}

/// Returns the warning about directories with a `SKILL.md` that are not in `found`, the skills found in the
/// source `spec`.
pub(crate) fn elsewhere(spec: &SourceSpec, opened: &FetchedSource, found: &[Candidate]) -> Option<Warning> {
    if spec.path.is_some() || opened.shelf.is_some() || spec.origin.has_only_skills() {
        return None;
    }
    let others = not_searched(&opened.tree, found);
    let first = others.first()?;
    let source = source_of(spec, opened);
    let (place, take) = (visible_name(first), format!("./{first}"));
    let told = match others.len() {
        1 => message!(
            format_args!("`{source}` has a skill in `{place}`, which is not searched: "),
            (Opt::Skill, take),
            " installs it"
        ),
        number => message!(
            format_args!(
                "`{source}` has {number} skills in directories that are not searched, such as `{place}`: "
            ),
            (Opt::Skill, take),
            " installs it"
        ),
    };
    Some(Warning::new(codes::NOT_SEARCHED, told))
}

/// Returns those of the skills `found` in the source `spec` that `names` mean, and the names that none has.
pub(crate) fn by_names<'a>(
    spec: &SourceSpec,
    opened: &FetchedSource,
    found: &[Candidate],
    names: impl IntoIterator<Item = &'a String>,
) -> Result<(Vec<Candidate>, Vec<&'a String>)> {
    let (mut chosen, mut missed): (Vec<Candidate>, _) = (Vec::new(), Vec::new());
    for name in names {
        let one = match by_name(spec, opened, found, name)? {
            Some(one) => Some(one),
            None => by_place(spec, opened, name)?,
        };
        match one {
            Some(one) if chosen.iter().all(|other| other.path != one.path) => chosen.push(one),
            Some(_) => {}
            None => missed.push(name),
        }
    }
    Ok((chosen, missed))
}

/// Selects the skills that `names` mean. Without names, selects the only one, or those that the user picks.
pub(crate) fn select(
    context: &Context,
    spec: &SourceSpec,
    opened: &FetchedSource,
    found: Vec<Candidate>,
    names: &[String],
    yes: bool,
) -> Result<Vec<Candidate>> {
    if names.iter().any(|name| name == ALL) {
        return Ok(found);
    }
    if !names.is_empty() {
        let (chosen, missed) = by_names(spec, opened, &found, names)?;
        return match missed.first() {
            Some(name) => Err(unknown(spec, opened, &found, name)),
            None => Ok(chosen),
        };
    }
    ask(context, spec, opened, found, yes)
}

/// Returns the warning about the skills at `paths`, which would all get one name.
pub(crate) fn unclear_name(spec: &SourceSpec, opened: &FetchedSource, paths: &[&str]) -> Warning {
    let shown = |path: &str| if path.is_empty() { ".".to_owned() } else { visible_name(path) };
    let list: Vec<_> = paths.iter().map(|path| format!("`{}`", shown(path))).collect();
    let told = message!(
        format_args!(
            "{} were left out: they are different skills of one name; name one by its path, such as ",
            list.join(" and ")
        ),
        by_path(spec, opened, paths[0])
    );
    Warning::new(codes::NAMES_EQUAL, told)
}

/// Returns the skill in `found` that `name` means.
pub(crate) fn by_name(
    spec: &SourceSpec,
    opened: &FetchedSource,
    found: &[Candidate],
    name: &str,
) -> Result<Option<Candidate>> {
    let root = &opened.name;
    // By the name that the skill gives itself, the name that it would be installed under, or the name of its directory.
    let as_written = |c: &&Candidate| c.meta.as_ref().is_ok_and(|meta| meta.name == name);
    let as_installed = |c: &&Candidate| install_name(c, root).is_ok_and(|own| own.as_str() == name);
    let as_directory = |c: &&Candidate| c.directory_name(root) == name;
    let mut matching: Vec<&Candidate> = found.iter().filter(as_written).collect();
    if matching.is_empty() {
        matching = found.iter().filter(as_installed).collect();
    }
    if matching.is_empty() {
        matching = found.iter().filter(as_directory).collect();
    }
    if matching.is_empty() {
        // By its path, as lists show it and shells complete it. `./` distinguishes it from a name.
        let path =
            if name == "." { "" } else { name.strip_prefix("./").unwrap_or(name).trim_end_matches('/') };
        matching = found.iter().filter(|c| c.path == path).collect();
    }
    match matching[..] {
        [one] => Ok(Some(one.clone())),
        [] => Ok(None),
        _ => {
            let paths: Vec<_> = matching.iter().map(|c| format!("\n  {}", visible_name(&c.path))).collect();
            Err(Error::usage(format!(
                "`{}` has {} skills named `{name}`:{}",
                source_of(spec, opened),
                paths.len(),
                paths.concat()
            ))
            .hint(message!("name one by its path, such as ", by_path(spec, opened, &matching[0].path))))
        }
    }
}

/// Returns the only skill in the directory `name` of the source, wherever that is, by searching the
/// directory.
fn by_place(spec: &SourceSpec, opened: &FetchedSource, name: &str) -> Result<Option<Candidate>> {
    let path = name.strip_prefix("./").unwrap_or(name).trim_end_matches('/');
    let is_path = name.starts_with("./") || path.contains('/');
    if !is_path || path.is_empty() || check_directory(path).is_err() || opened.shelf.is_some() {
        return Ok(None);
    }
    let inside =
        |root: &str| path == root || path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    let path = match &spec.path {
        Some(root) if !inside(root) => format!("{root}/{path}"),
        _ => path.to_owned(),
    };
    let found = discover_in(&opened.tree, &path);
    match &found[..] {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        _ => {
            let shown = visible_name(&path);
            let paths: Vec<_> = found.iter().map(|c| format!("\n  {}", visible_name(&c.path))).collect();
            Err(Error::usage(format!(
                "the directory `{shown}` has {} skills:{}",
                paths.len(),
                paths.concat()
            ))
            .hint(message!("name one, such as ", by_path(spec, opened, &found[0].path))))
        }
    }
}

/// Reports whether `name` is the name of the skill, as it is written or as it would be installed.
pub(crate) fn is_called(candidate: &Candidate, root: &str, name: &str) -> bool {
    candidate.title(root) == name || install_name(candidate, root).is_ok_and(|own| own.as_str() == name)
}

/// Returns the only skill of that name in all of `opened`, wherever that is.
pub(crate) fn of_name(opened: &FetchedSource, name: &str) -> Option<Candidate> {
    let found = discover_all(&opened.tree);
    let mut found = found.into_iter().filter(|candidate| is_called(candidate, &opened.name, name));
    found.next().filter(|_| found.next().is_none())
}

/// Returns the text that a user types for the skill at `path` of the source `spec`.
fn by_path(spec: &SourceSpec, opened: &FetchedSource, path: &str) -> Message {
    if spec.origin.directory_mark().is_none() {
        // A name has no slash.
        let path = if path.contains('/') { path.to_owned() } else { format!("./{path}") };
        return message!((Opt::Skill, path));
    }
    let path = Some(path).filter(|path| !path.is_empty()).map(ToOwned::to_owned);
    let origin = opened.typed_here(&spec.origin).clone();
    let reference = spec.reference.clone();
    format!("`{}`", shell_word(SourceSpec { origin, path, reference, skill: None }.typed())).into()
}

fn unknown(spec: &SourceSpec, opened: &FetchedSource, found: &[Candidate], name: &str) -> Error {
    if let Some(path) = opened.tree.submodule(name.trim_start_matches("./")) {
        let message = format!(
            "`{path}` in `{}` is a submodule: its files are in another repository",
            source_of(spec, opened)
        );
        return Error::usage(message)
            .hint("install the skill from that repository: `.gitmodules` has its address");
    }
    let meant = name.trim_start_matches("./").trim_end_matches('/');
    let is_meant = |dir: &&str| *dir == meant || dir.rsplit('/').next() == Some(meant);
    if let Some(dir) = absent_directories(&opened.tree).find(is_meant) {
        return absent(spec, opened, dir);
    }
    let titles: Vec<&str> = found.iter().map(|c| c.title(&opened.name)).collect();
    let mut error = Error::usage(format!("there is no skill `{name}` in `{}`", source_of(spec, opened)));
    let searched = opened.shelf.is_some() || spec.path.is_some();
    let everywhere = if searched { Vec::new() } else { discover_all(&opened.tree) };
    let is_it = |c: &&Candidate| c.title(&opened.name) == name || c.directory_name(&opened.name) == name;
    if let Some(one) = everywhere.iter().find(is_it) {
        error = error.hint(message!(
            format_args!("there is one in `{}`, which is not searched: ", visible_name(&one.path)),
            (Opt::Skill, format!("./{}", one.path))
        ));
    } else if let Some(close) = closest(name, titles.iter().copied()) {
        error = error.hint(format!("did you mean `{close}`?"));
    } else if !titles.is_empty() {
        let names: Vec<_> = titles.iter().map(|title| format!("`{}`", visible_name(title))).collect();
        error = error.hint(format!("it has {}", and_more(&names, NAMES)));
    }
    if spec.skill.as_deref() == Some(name)
        && name.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
    {
        error = error.hint(if spec.origin.has_revisions() {
            message!("`@` names a skill; choose a version with ", (Opt::Tag, name))
        } else {
            spec.origin.version_hint().into()
        });
    }
    error.hint(message!(
        Verb::Install.call().flag(Opt::List).word(source_of(spec, opened)),
        " shows what is available"
    ))
}

#[cfg(test)]
mod tests {
    use crate::engine::testing::World;
    use crate::ops::install::{InstallRequest, install};

    /// A path in a hint is relative to the working directory, and one in the manifest to the project.
    #[test]
    fn hints_name_a_directory_as_it_is_typed_here() {
        let world = World::new();
        world.skill("plain;x/skills/a", "a");
        world.skill("sub/deep", "deep");
        let mut context = world.context();
        for (cwd, typed) in [("", "./plain;x"), ("sub", "../plain;x"), ("sub/deep", "../../plain;x")] {
            context.settings.cwd = world.project().join(cwd);
            let skills = vec!["nope".to_owned()];
            let request =
                InstallRequest { sources: vec![typed.to_owned()], skills, ..InstallRequest::default() };
            let error = install(&context, &request).expect_err("no such skill");
            let expected = format!("`install {typed}` with `list` shows what is available");
            assert_eq!(error.hints().last().expect("a hint"), &expected);
        }
    }
}
