//! What an agent sees of a skill, level by level, and what the documentation says of it.

use std::path::Path;

use skillpm_format::document::Document;

use crate::support::Sandbox;

/// A project with one skill, of which each level has a word of its own.
fn skill() -> Sandbox {
    let sandbox = Sandbox::new();
    for (path, text) in [
        (
            "src/pdf/SKILL.md",
            "---\nname: pdf\ndescription: METADATA.\nallowed-tools: Read\n---\n\nBODY of $ARGUMENTS.\n",
        ),
        ("src/pdf/references/forms.md", "RESOURCE\n"),
        ("src/pdf/scripts/fill.sh", "# Fills SCRIPT.\ntouch \"$1\"\necho ran\n"),
    ] {
        sandbox.write(path, text);
    }
    assert_eq!(sandbox.run(&["install", "./src/pdf"]).code, Some(0));
    sandbox
}

/// S0-N1, S4-1, S4-26: metadata, then the body with the names of the files, then one file; and nothing of it
/// runs.
#[test]
fn each_level_tells_what_it_has_and_no_more() {
    let sandbox = skill();
    let ran = sandbox.project().join("ran");
    let marks = |args: &[&str]| {
        let output = sandbox.run(args);
        assert_eq!(output.code, Some(0), "{output}");
        ["METADATA", "BODY", "RESOURCE", "touch"].map(|mark| output.stdout.contains(mark))
    };
    for form in ["xml", "json", "markdown", "plain"] {
        assert_eq!(marks(&["catalog", "--format", form]), [true, false, false, false], "{form}");
    }
    assert_eq!(marks(&["show", "pdf"]), [true, false, false, false]);
    let argument = ran.display().to_string();
    assert_eq!(marks(&["invoke", "pdf", &argument]), [false, true, false, false]);
    assert!(sandbox.run(&["invoke", "--format", "xml", "pdf"]).stdout.contains("references/forms.md"));
    assert_eq!(marks(&["invoke", "--format", "xml", "pdf"]), [false, true, false, false]);
    assert_eq!(marks(&["read", "pdf"]), [false; 4], "a list of names");
    assert_eq!(marks(&["read", "pdf", "references/forms.md"]), [false, false, true, false]);
    assert_eq!(marks(&["read", "pdf", "scripts/fill.sh"]), [false, false, false, true]);
    assert_eq!(marks(&["tools", "pdf"]), [false; 4]);
    assert!(!ran.exists(), "looking runs nothing");
}

/// S0-A4, S4-13, conflict C5: who lists `Read` only may be invoked and has its scripts run.
#[cfg(unix)]
#[test]
fn allowed_tools_are_shown_and_not_enforced() {
    let sandbox = skill();
    let shown = sandbox.run(&["catalog", "--fields", "allowed-tools"]).stdout;
    assert!(shown.contains("<allowed-tools>Read</allowed-tools>"), "{shown}");
    assert!(sandbox.run(&["invoke", "pdf", "x"]).stdout.ends_with("BODY of x.\n"));
    let output = sandbox.run(&["run", "pdf", "fill", "made"]);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "ran\n"), "{output}");
    assert!(sandbox.project().join("made").exists());
}

/// S0-US6.3: instructions of some length, with the arguments in them and nothing left to fill in.
#[test]
fn the_example_skills_are_handed_over_whole() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/skills");
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["install", &examples.display().to_string(), "--skill", "*"]);
    assert_eq!(output.code, Some(0), "{output}");
    for name in ["code-reviewer", "git-helper", "markdown-formatter"] {
        let output = sandbox.run(&["invoke", name, "the file README.md"]);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{output}");
        let text = output.stdout;
        let first = format!("Base directory for this skill: [DIR]/project/.agents/skills/{name}\n\n# ");
        assert!(text.starts_with(&first), "{text}");
        assert_eq!(text.matches("the file README.md").count(), 1, "{text}");
        assert!(!text.contains("$ARGUMENTS") && !text.contains("\nname: "), "{text}");
        assert!(text.lines().filter(|line| line.starts_with("## ")).count() >= 2, "{text}");
    }
}

/// S0-FR-050: the sample is right, and each field of the format is told.
#[test]
fn the_format_is_in_the_readme() {
    for readme in ["README.md", "python/README.md"] {
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(readme)).expect(readme);
        let (_, rest) = text.split_once("```markdown\n").expect("a sample");
        let (sample, rest) = rest.split_once("```\n").expect("its end");
        let name = Document::parse(sample.to_owned()).name().expect("a name").to_owned();
        let sandbox = Sandbox::new();
        sandbox.write(&format!("{name}/SKILL.md"), sample);
        let output = sandbox.run(&["validate", "--strict", &name]);
        assert_eq!(output.code, Some(0), "{readme}: {output}");
        let rules = rest.split("\n## ").next().expect("the section");
        for word in
            ["`name`", "`description`", "`license`", "`compatibility`", "`metadata`", "`allowed-tools`"]
        {
            assert!(rules.contains(word), "{readme} says nothing of {word}");
        }
        for word in ["required", "optional", "$ARGUMENTS", "1,024", "64"] {
            assert!(rules.contains(word), "{readme} says nothing of {word}");
        }
    }
}
