use std::collections::BTreeMap;
use std::path::Path;

use skillpm_testing::skip_without;

use super::*;
use crate::engine::testing::World;
use crate::skill::prerequisites::{Prerequisite, Presence};

fn shown(all: &[Prerequisite]) -> Vec<String> {
    let optional = |one: &Prerequisite| if one.optional { "?" } else { "" };
    let one = |one: &Prerequisite| {
        let Prerequisite { key, file, at, .. } = one;
        format!("{file}:{}:{} {key} {}{}", at.line, at.column, one.described(), optional(one))
    };
    all.iter().map(one).collect()
}

/// What the skill `demo` of these files requires.
fn of(files: &[(&str, &str)]) -> Vec<String> {
    let world = World::new();
    world.skill("demo", "demo");
    for (path, text) in files {
        world.write(&format!("demo/{path}"), text);
    }
    shown(&of_directory(&world.project().join("demo")))
}

#[test]
fn scripts_and_what_they_import() {
    let found = of(&[
        ("agents/openai.yaml", "dependencies: {tools: [{type: mcp, value: x}]}"),
        (
            "scripts/a.py",
            "#!/usr/bin/env python3\nimport os, yaml, lib\nfrom own import a\ntry:\n    import rich\nexcept: pass\n",
        ),
        ("scripts/b.py", "import rich\nimport yaml\n"),
        (
            "scripts/c.py",
            "#!/usr/bin/env -S uv run -s\n# /// script\n# dependencies = [\"pyyaml>=6\"]\n# ///\nimport yaml2\n",
        ),
        ("scripts/d.mjs", "import x from '@a/x'\n"),
        ("scripts/e.ps1", ""),
        ("scripts/own/a.py", ""),
        ("lib.py", ""),
        ("references/f.rb", "#!/usr/bin/ruby\n"),
        ("scripts/test_g.py", "import pytest\n"),
        ("node_modules/y/z.php", ""),
        ("scripts/bytes.py", "\0"),
    ]);
    let expected = [
        "agents/openai.yaml:1:43 dependencies.tools the MCP server `x`",
        "lib.py:1:1 .py `python3` or `python`",
        "scripts/a.py:1:1 #! `python3`",
        "scripts/a.py:2:1 import the Python module `yaml`",
        "scripts/b.py:1:1 import the Python module `rich`",
        "scripts/c.py:1:1 #! `uv`",
        "scripts/c.py:3:20 script.dependencies the Python package `pyyaml`?",
        "scripts/d.mjs:1:1 .mjs `node`",
        "scripts/d.mjs:1:1 import the Node.js package `@a/x`",
        "scripts/e.ps1:1:1 .ps1 `pwsh`?",
    ];
    assert_eq!(found, expected);
}

/// What cannot be read requires nothing, and large files and large numbers of them are not read.
#[test]
fn reading_is_bounded() {
    let large = format!("#!/usr/bin/env ruby\n{}", "x".repeat(300 << 10));
    let python = (0..300).map(|number| (format!("scripts/{number:03}.py"), format!("import m{number:03}\n")));
    let python: Vec<_> = python.collect();
    let mut files: Vec<_> = python.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("a.sh", &large));
    let found = of(&files);
    assert_eq!(found.len(), 201, "{found:?}");
    assert!(!found.iter().any(|one| one.contains("ruby")));
    assert_eq!(of_directory(Path::new("/nowhere")), []);
}

/// Each kind, on a machine with one program and one variable.
#[cfg(unix)]
#[test]
fn what_this_machine_has() {
    let world = World::new();
    let text = "---\nname: demo\ndescription: X.\ncompatibility: much\nplatforms: [linux, macos, windows]\n\
        requires: {bins: [here, nowhere], anyBins: [absent, here], env: [SET, UNSET], mcp: [m], config: [a.b]}\n\
        dependencies: [torch]\nmetadata: {openclaw: {os: [amiga]}}\n---\n";
    world.write("demo/SKILL.md", text);
    world.write("demo/scripts/a.js", "require('x')\nrequire('y')\nimport('z')\n");
    world.write("demo/node_modules/x/package.json", "{}");
    let bin = world.project().join("bin");
    crate::fs::create_dir(&bin).expect("creates");
    crate::fs::symlink(Path::new("/bin/sh"), &bin.join("here")).expect("links");
    let settings = world.settings(&[("PATH", bin.to_str().expect("text")), ("SET", "secret")]);
    let dir = world.project().join("demo");
    let checked = Machine::new(&settings).check(&dir, of_directory(&dir));
    let with = |state| {
        let names =
            checked.iter().filter(|one| one.state == state).map(|one| one.prerequisite.any_of[0].as_str());
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(with(Presence::Present), "here absent SET linux x");
    assert_eq!(with(Presence::Missing), "nowhere UNSET node y z");
    assert_eq!(with(Presence::Unknown), "much a.b m torch amiga");
    let words = "`nowhere`, `UNSET`, `node` and the Node.js package `y`";
    assert_eq!(lacking(&checked).as_deref(), Some(words));
    assert!(!serde_json::to_string(&checked).expect("JSON").contains("secret"));
}

/// A program that a skill names is never started, nor does Python import what is asked for.
#[cfg(unix)]
#[test]
fn python_answers_and_imports_nothing() {
    let world = World::new();
    let process = crate::env::Env::from_process().expect("an environment");
    let path = process.get("PATH").unwrap_or_default();
    let settings = world.settings(&[("PATH", path), ("PYTHONPATH", world.project().to_str().expect("text"))]);
    if crate::engine::run::on_path(&settings, "python3").is_none() {
        skip_without("python3");
        return;
    }
    world.write("evil.py", "open('ran', 'w')\n");
    world.skill("demo", "demo");
    world.write("demo/scripts/a.py", "import evil, antigravity, no_such_module\n");
    world.write("demo/scripts/b.py", "# /// script\n# dependencies = ['no-such-package']\n# ///\n");
    let dir = world.project().join("demo");
    let mut all = of_directory(&dir);
    let known = Prerequisite { any_of: vec!["json".into()], ..all[1].clone() };
    all.push(known);
    let checked = Machine::new(&settings).asking_python(all.iter()).check(&dir, all);
    let words = "the Python module `evil`, the Python module `no_such_module` and the Python package `no-such-package`";
    if crate::engine::run::on_path(&settings, "uv").is_none() {
        assert_eq!(lacking(&checked).as_deref(), Some(words));
    }
    assert_eq!(checked.last().map(|one| one.state), Some(Presence::Present));
    assert_eq!(crate::fs::kind(&world.project().join("ran")).expect("looks"), None);
    // Whatever else is there gives no answer.
    world.write("bin/x", "");
    let bin = world.project().join("bin");
    crate::fs::symlink(Path::new("/bin/true"), &bin.join("python3")).expect("links");
    let settings = world.settings(&[("PATH", bin.to_str().expect("text"))]);
    let all = of_directory(&dir);
    let checked = Machine::new(&settings).asking_python(all.iter()).check(&dir, all);
    assert_eq!(lacking(&checked), None);
}

/// Reads all real skills. Prints how much they require, and of what kinds this machine lacks.
#[test]
fn real_skills_are_read() {
    let process = crate::env::Env::from_process().expect("an environment");
    let Some(data) = process.get("SKILLPM_TESTDATA").map(std::path::PathBuf::from) else {
        println!("skipped: SKILLPM_TESTDATA is not set");
        return;
    };
    let settings = crate::settings::Settings::from_env(process).expect("settings");
    let mut dirs = Vec::new();
    let mut open = vec![data];
    while let Some(dir) = open.pop() {
        let entries = crate::fs::entries(&dir).unwrap_or_default();
        if entries.iter().any(|(name, _)| name == "SKILL.md") {
            dirs.push(dir.clone());
        }
        let is_dir = |kind: &crate::fs::Kind| *kind == crate::fs::Kind::Directory;
        open.extend(entries.iter().filter(|(_, kind)| is_dir(kind)).map(|(name, _)| dir.join(name)));
    }
    let start = std::time::Instant::now();
    let all: Vec<_> = dirs.iter().map(|dir| of_directory(dir)).collect();
    let read = start.elapsed();
    let machine = Machine::new(&settings).asking_python(all.iter().flatten());
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    let mut skills = 0;
    for (dir, all) in dirs.iter().zip(all) {
        let checked = machine.check(dir, all);
        for one in &checked {
            *counts
                .entry((one.prerequisite.kind, format!("{:?}", one.state), one.prerequisite.optional))
                .or_default() += 1;
        }
        skills += usize::from(lacking(&checked).is_some());
        for one in checked.iter().filter(|one| one.is_lacking()) {
            println!("LACK {} {}", dir.display(), shown(std::slice::from_ref(&one.prerequisite))[0]);
        }
    }
    println!(
        "{} skills, read in {read:?}, checked in {:?}; {skills} lack something",
        dirs.len(),
        start.elapsed()
    );
    for (kind, count) in counts {
        println!("{count:5} {kind:?}");
    }
}
