use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::engine::testing::World;

fn set(world: &World) -> ToolSet {
    tools(&world.project().join("s"), "s", ScriptPlaces::Top)
}

fn told(set: &ToolSet) -> Vec<(&str, &str, &str)> {
    set.tools.iter().map(|tool| (&*tool.name, &*tool.tool_name, &*tool.description)).collect()
}

fn diagnostics(world: &World, set: &ToolSet) -> Vec<String> {
    let root = world.project().join("s/scripts/").display().to_string();
    set.diagnostics.iter().map(|diagnostic| diagnostic.to_string().replace(&root, "")).collect()
}

/// S1-AC-1, S1-D1, S1-FR-201.1, S1-FR-201.2, S1-FR-201.3, S1-FR-202.1, S1-FR-202.4, conflict C20: no execute bit
/// is needed.
#[test]
fn scripts_are_tools_and_other_files_are_not() {
    let world = World::new();
    for name in ["tool1.py", "tool2.sh", "helper.txt", "__init__.py", ".hidden.js", "data.json"] {
        world.write(&format!("s/scripts/{name}"), "");
    }
    world.write("s/other.py", "");
    world.write("s/scripts/sub/below.py", "");
    let set = set(&world);
    assert_eq!(told(&set), [("tool1", "s__tool1", "Execute tool1"), ("tool2", "s__tool2", "Execute tool2")]);
    assert_eq!(set.tools[0].described_by, DescribedBy::Name);
    assert!(set.diagnostics.is_empty(), "ignored, not told");
}

/// The hundreds of scripts in a Python environment are not tools, and neither are tests.
#[test]
fn environments_and_tests_are_no_tools() {
    let world = World::new();
    for path in [
        "run.py",
        "lib/more.py",
        ".venv/bin/activate.sh",
        "venv/bin/pip.py",
        "own/pyvenv.cfg",
        "own/lib/x.py",
        ".cache/x.py",
        "__pycache__/x.py",
        "node_modules/x.js",
        "tests/x.py",
        "test_run.py",
        "run_test.py",
        "conftest.py",
        "run.test.js",
        "run.spec.js",
        "latest.py",
    ] {
        world.write(&format!("s/scripts/{path}"), "");
    }
    let names = |places| {
        let set = tools(&world.project().join("s"), "s", places);
        assert!(set.diagnostics.is_empty(), "{:?}", set.diagnostics);
        set.tools.iter().map(|tool| tool.script.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        names(ScriptPlaces::Recursive),
        ["scripts/latest.py", "scripts/lib/more.py", "scripts/run.py"]
    );
    assert_eq!(names(ScriptPlaces::Top), ["scripts/latest.py", "scripts/run.py"]);
    // As skillkit 0.4.0 answers: it passes over hidden directories and those of interpreters, but not over tests.
    assert_eq!(
        names(ScriptPlaces::Root),
        [
            "scripts/conftest.py",
            "scripts/latest.py",
            "scripts/lib/more.py",
            "scripts/own/lib/x.py",
            "scripts/run.py",
            "scripts/run.spec.js",
            "scripts/run.test.js",
            "scripts/run_test.py",
            "scripts/test_run.py",
            "scripts/tests/x.py",
        ]
    );
}

/// S1-FR-201.4.
#[test]
fn no_scripts_no_tools_no_error() {
    let world = World::new();
    world.skill("s", "s");
    for _ in 0..2 {
        let found = set(&world);
        assert!(found.tools.is_empty() && found.diagnostics.is_empty());
        world.write("s/scripts", "a file");
    }
}

/// S1-FR-201.2, conflict C20: scripts are also recognized by the first line, and in all directories if the profile says
/// so.
#[test]
fn by_shebang_deeper_and_at_the_root() {
    let world = World::new();
    world.write("s/scripts/deploy", "#!/usr/bin/env -S bash -e\n# Deploys.\n");
    world.write("s/scripts/old", "#!/usr/bin/python3.11\n'''Reads.'''\n");
    world.write("s/scripts/gem", "#!/usr/bin/ruby\n# Digs.\n");
    world.write("s/scripts/lib/deep.js", "// Deep.\n");
    world.write("s/scripts/node_modules/x.js", "");
    world.write("s/run.py", "");
    let found = set(&world);
    let languages: Vec<_> =
        found.tools.iter().map(|tool| (tool.name.as_str(), tool.language.clone())).collect();
    assert_eq!(
        languages,
        [("deploy", Language::Shell), ("gem", Language::Other("ruby".into())), ("old", Language::Python)]
    );
    assert_eq!(found.tools[1].description, "Digs.");
    let dir = world.project().join("s");
    let scripts =
        |places| tools(&dir, "s", places).tools.into_iter().map(|tool| tool.script).collect::<Vec<_>>();
    assert_eq!(
        scripts(ScriptPlaces::Recursive),
        ["scripts/deploy", "scripts/gem", "scripts/lib/deep.js", "scripts/old"]
    );
    assert_eq!(scripts(ScriptPlaces::Root).len(), 5);
}

/// A script that `run` always refuses is not a tool and is reported; the executable bit does not matter to either.
#[test]
fn what_is_never_run_is_no_tool() {
    let world = World::new();
    for (name, line) in [
        ("awk", "/usr/bin/awk -f"),
        ("dd", "/usr/bin/env deno"),
        ("greet", "/bin/sh"),
        ("packed.py", "/usr/bin/env -S uv run --script"),
        ("uv.py", "/usr/bin/env -S uv run --with rich"),
        (".hidden", "/bin/rm"),
    ] {
        world.write(&format!("s/scripts/{name}"), &format!("#!{line}\n"));
    }
    let found = set(&world);
    let tools = [("greet", "s__greet", "Execute greet"), ("packed", "s__packed", "Execute packed")];
    assert_eq!(told(&found), tools);
    let said = diagnostics(&world, &found);
    assert_eq!(said.len(), 3, "{said:?}");
    for (said, name) in said.iter().zip(["awk", "dd", "uv.py"]) {
        let expected = format!("`{name}` is not a tool: its first line does not name a known interpreter");
        assert!(said.contains(&expected), "{said}");
    }
    world.write("s/scripts/manifest.yml", "tools:\n  - script: dd\n");
    let found = set(&world);
    assert!(found.tools.is_empty());
    let said = diagnostics(&world, &found).join("\n");
    assert!(said.contains("`dd` is not a tool: its first line"), "{said}");
}

/// S1-FR-203.2, conflict C21.
#[test]
fn one_stem_twice() {
    let world = World::new();
    world.write("s/scripts/echo.py", "");
    world.write("s/scripts/echo.sh", "");
    let set = set(&world);
    let names: Vec<_> = set.tools.iter().map(|tool| (&*tool.name, &*tool.tool_name)).collect();
    assert_eq!(names, [("echo", "s__echo_py"), ("echo", "s__echo_sh")]);
    assert_eq!(set.get("echo"), None, "which one?");
    assert_eq!(set.get("echo.sh"), Some(&set.tools[1]));
    assert_eq!(set.get("scripts/echo.py"), Some(&set.tools[0]));
    assert_eq!(set.get("s__echo_py"), Some(&set.tools[0]));
    assert_eq!(set.get("ech"), None);
}

/// S1-FR-205.1, S1-FR-205.3, conflict C20.
#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "only a test makes such files")]
fn links_special_files_and_set_ids_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new();
    world.write("outside.py", "");
    world.write("s/scripts/a.py", "");
    for (name, mode) in [("uid.sh", 0o4755), ("gid.sh", 0o2755)] {
        world.write(&format!("s/scripts/{name}"), "");
        let path = world.project().join("s/scripts").join(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("sets");
    }
    world.link("../../outside.py", "s/scripts/link.py");
    world.link("a.py", "s/scripts/inside.py");
    world.link("data", "s/scripts/data");
    let pipe = world.project().join("s/scripts/pipe.js");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
    let found = set(&world);
    assert_eq!(told(&found).len(), 1);
    assert_eq!(
        diagnostics(&world, &found),
        [
            "`gid.sh` is not a tool: it has the setuid or setgid bit; remove it with `chmod ug-s`",
            "`inside.py` is not a tool: it is a link; put the file itself there",
            "`link.py` is not a tool: it is a link; put the file itself there",
            "`pipe.js` is not a tool: it is not a regular file",
            "`uid.sh` is not a tool: it has the setuid or setgid bit; remove it with `chmod ug-s`",
        ]
    );
    world.link("s/scripts", "scripts");
    let root = tools(world.project(), "p", ScriptPlaces::Top);
    assert!(root.tools.is_empty() && root.diagnostics.len() == 1, "{root:?}");
}

/// S1-D3, S1-FR-202.3: the manifest takes precedence over the docstring, which takes precedence over the file name.
#[test]
fn the_manifest_is_first() {
    let world = World::new();
    world.write("s/scripts/add.py", "'''From the docstring.'''\n# Usage: add.py <a>\n");
    world.write("s/scripts/mul.py", "'''Multiplies.'''\n");
    world.write("s/scripts/bare.sh", "");
    world.write("s/scripts/lib/tool.rb", "# Not found by itself.\n");
    let text =
        "tools:\n  - {name: plus, script: add.py, description: Adds., timeout: 5}\n  - script: lib/tool.rb\n";
    world.write("s/scripts/manifest.yml", text);
    let found = set(&world);
    assert_eq!(
        told(&found),
        [
            ("plus", "s__plus", "Adds."),
            ("bare", "s__bare", "Execute bare"),
            ("tool", "s__tool", "Not found by itself."),
            ("mul", "s__mul", "Multiplies."),
        ]
    );
    let plus = &found.tools[0];
    assert_eq!((plus.timeout, plus.described_by), (Some(Duration::from_secs(5)), DescribedBy::Manifest));
    assert_eq!(plus.input.typed_by, TypedBy::Usage, "what the manifest does not say, the script does");
    assert_eq!(found.tools[2].language, Language::Other(String::new()));
    let origins: Vec<_> = found.tools.iter().map(|tool| tool.described_by).collect();
    assert_eq!(origins[1..], [DescribedBy::Name, DescribedBy::Script, DescribedBy::Script]);
}

/// S1-FR-202.3: all faults are reported with line and column, and the skill has no tools other than the author
/// intended.
#[test]
fn a_wrong_manifest_is_told() {
    let world = World::new();
    world.write("s/scripts/a.py", "");
    let text = "tools:\n  - {name: x, script: a.py}\n  - {name: x, script: a.py}\n";
    world.write("s/scripts/manifest.yaml", text);
    let found = set(&world);
    assert!(found.tools.is_empty());
    assert_eq!(
        diagnostics(&world, &found),
        ["`manifest.yaml`: the tool `x` appears twice (line 3, column 12)"]
    );
    let text = "tools:\n  - script: b.py\n  - script: ../../etc/x.sh\n  - script: /bin/sh\n";
    world.write("s/scripts/manifest.yml", text);
    let found = set(&world);
    assert_eq!(
        diagnostics(&world, &found),
        ["`manifest.yml`: there is no script `b.py` in `scripts/` (line 2, column 13); \
             there is no script `../../etc/x.sh` in `scripts/` (line 3, column 13); \
             there is no script `/bin/sh` in `scripts/` (line 4, column 13)"],
        "the first spelling of the name counts"
    );
}

/// All faults are reported at once, in the text and in the scripts that it names.
#[test]
fn faults_of_every_kind_are_told_at_once() {
    let world = World::new();
    world.write("s/scripts/a.py", "");
    let text =
        "tools:\n  - {script: b.py, colour: red}\n  - {script: a.py, timeout: -1}\n  - {script: c.py}\n";
    world.write("s/scripts/manifest.yml", text);
    let found = set(&world);
    let told = diagnostics(&world, &found).join("\n");
    for part in [
        "no script `b.py` in `scripts/` (line 2, ",
        "a tool has no key `colour` (line 2, ",
        "`timeout` must be ",
        "no script `c.py` in `scripts/` (line 4, ",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(found.tools.is_empty());
}

#[cfg(unix)]
#[test]
fn a_manifest_cannot_make_a_link_a_tool() {
    let world = World::new();
    world.write("out/x.py", "");
    world.write("s/scripts/a.py", "");
    world.link("../../out", "s/scripts/out");
    world.write("s/scripts/manifest.yml", "tools:\n  - script: out/x.py\n");
    let found = set(&world);
    assert!(diagnostics(&world, &found)[0].contains("`out/x.py` is not a tool: it is a link"), "{found:?}");
    world.write("man", "tools: []\n");
    fs::remove_link(&world.project().join("s/scripts/out")).expect("removes");
    world.write("s/scripts/manifest.yml", "");
    fs::remove_if_there(&world.project().join("s/scripts/manifest.yml")).expect("removes");
    world.link("../../man", "s/scripts/manifest.yml");
    let found = set(&world);
    assert!(diagnostics(&world, &found)[0].starts_with("`manifest.yml` is not a tool"), "{found:?}");
    // The author wanted other tools than could be guessed, as with a wrong manifest.
    assert!(found.tools.is_empty());
    assert!(
        matches!(&found.diagnostics[1], ToolDiagnostic::Manifest { faults, .. } if faults[0].message.contains("a link")),
        "{found:?}"
    );
}

/// A manifest that cannot be read is treated like one that is wrong.
#[test]
fn a_manifest_that_cannot_be_read_is_wrong() {
    let world = World::new();
    world.write("s/scripts/a.py", "");
    world.write("s/scripts/manifest.yml", &"#".repeat(2 << 20));
    let found = set(&world);
    assert!(found.tools.is_empty());
    let [ToolDiagnostic::Manifest { faults, .. }] = &found.diagnostics[..] else { panic!("{found:?}") };
    assert_eq!(faults[0].message, "the file has more than 1 MiB");
}

#[test]
fn what_is_too_large_keeps_its_name() {
    let world = World::new();
    world.write("s/scripts/big.py", &format!("'''Big.'''\n{}", "#".repeat(1 << 20)));
    world.write("s/scripts/odd.py", "\u{feff}'''Fine.'''\n");
    let found = set(&world);
    assert_eq!(told(&found), [("big", "s__big", "Execute big"), ("odd", "s__odd", "Fine.")]);
    assert_eq!(found.tools[0].input, Input::words());
    assert!(diagnostics(&world, &found)[0].contains("more than 1 MiB"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "two thousand temporary files")]
fn too_many_files() {
    let world = World::new();
    world.write("s/scripts/a.txt", "");
    for number in 0..scripts::MAX_FILES {
        std::fs::write(world.project().join(format!("s/scripts/{number:05}.txt")), "").expect("writes");
    }
    let found = set(&world);
    assert_eq!(found.diagnostics.len(), 1);
    assert!(diagnostics(&world, &found)[0].contains("more than 2000 files"));
}

/// S1-FR-204.3, S1-Q4: nothing is read again as long as nothing changed.
#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "one file goes")]
fn tools_are_kept_until_something_changes() {
    let world = World::new();
    world.write("s/scripts/a.py", "'''One.'''\n");
    let dir = world.project().join("s");
    let cache = ToolCache::default();
    let look = || cache.tools(&dir, "s", ScriptPlaces::Top);
    // A file that was just changed may change again without a visible difference, so it is read each time.
    assert!(!Arc::ptr_eq(&look(), &look()));
    let kept = cache.tools_later(&dir, "s", 10);
    assert!(Arc::ptr_eq(&kept, &look()));
    assert_eq!(kept.tools[0].description, "One.");
    let renamed = cache.tools(&dir, "t", ScriptPlaces::Top);
    assert_eq!(renamed.tools[0].tool_name, "t__a");
    world.write("s/scripts/a.py", "'''Two.'''\n");
    assert_eq!(look().tools[0].description, "Two.");
    let kept = cache.tools_later(&dir, "s", 10);
    world.write("s/scripts/b.py", "");
    assert_eq!(look().tools.len(), 2);
    std::fs::remove_file(dir.join("scripts/b.py")).expect("removes");
    assert_eq!(*kept.tools, *look().tools);
    cache.invalidate();
    assert!(!Arc::ptr_eq(&kept, &look()));
    let nowhere = cache.tools(&world.project().join("nowhere"), "n", ScriptPlaces::Top);
    assert!(nowhere.tools.is_empty() && nowhere.diagnostics.is_empty());
}

/// S1-T: the examples with tools in the repository.
#[test]
fn the_fixtures_calculator_and_file_processor() {
    let examples = skillpm_testing::root().join("examples/tools");
    let told = |skill: &str| {
        let set = tools(&examples.join(skill), skill, ScriptPlaces::Top);
        assert!(set.diagnostics.is_empty(), "{set:?}");
        let one = |tool: Tool| {
            let required = tool.input.schema()["required"].clone();
            (tool.tool_name, tool.described_by, tool.input.typed_by, required)
        };
        set.tools.into_iter().map(one).collect::<Vec<_>>()
    };
    let tool = |name: &str, by, typed_by, required| (name.to_owned(), by, typed_by, required);
    assert_eq!(
        told("calculator"),
        [
            tool("calculator__add", DescribedBy::Manifest, TypedBy::Manifest, json!(["a", "b"])),
            tool("calculator__multiply", DescribedBy::Script, TypedBy::Manifest, json!(["a"])),
        ]
    );
    assert_eq!(
        told("file-processor"),
        [
            tool("file-processor__read_file", DescribedBy::Script, TypedBy::Argparse, json!(["path"])),
            tool("file-processor__write_file", DescribedBy::Script, TypedBy::Usage, json!(["path", "text"])),
        ]
    );
}

/// S1-D2, S1-FR-204.1, conflict C20: the methods of other languages use this.
#[test]
fn a_library_has_the_tools_of_its_skills() {
    let world = World::new();
    world.skill(".agents/skills/pdf", "pdf");
    world.write(".agents/skills/pdf/scripts/a.py", "'''One.'''\n");
    world.write(".agents/skills/pdf/b.py", "'''Two.'''\n");
    let library =
        |profile| crate::engine::Library::of_places(&world.context().settings, profile).expect("a library");
    let default = library(crate::profile::LoadProfile::DEFAULT);
    let tools = |library: &crate::engine::Library, name: &str| {
        library.tools(&library.get(name).expect("a skill"), library.profile().scripts)
    };
    assert_eq!(told(&tools(&default, "pdf")), [("a", "pdf__a", "One.")]);
    world.skill(".claude/skills/xls", "xls");
    world.write(".claude/skills/xls/b.py", "'''Two.'''\n");
    let found = tools(&library(crate::profile::LoadProfile::SKILLKIT), "xls");
    assert_eq!(told(&found), [("b", "xls__b", "Two.")], "at the root in the profile of skillkit");
}
