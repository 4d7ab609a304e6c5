//! The files of `schema/` describe what commands print and what people write: a third-party validator says so.

use std::process::Command;

use serde_json::{Value, json};
use skillpm_format::document::Document;
use skillpm_format::lint::{Finding, Profile, Ruleset, Severity, Subject, check_with};
use skillpm_format::lockfile::Lockfile;
use skillpm_format::manifest::Manifest;

use crate::support::{Output, Sandbox};

/// A value that `schema/<name>.schema.json` describes or not.
fn case(name: &str, value: &Value, right: bool) -> Value {
    json!({ "schema": name, "value": value, "right": right })
}

/// Asserts that the schemas describe what they should, and nothing else.
fn check(cases: &[Value]) {
    let Some(python) = skillpm_testing::tools::python("python-env-mcp") else { return };
    let sandbox = Sandbox::new();
    let file = sandbox.write("cases.json", json!(cases).to_string());
    let root = skillpm_testing::root();
    let mut validator = Command::new(python);
    validator.arg(root.join("tests/it/schemas.py")).arg(root.join("schema")).arg(file);
    let output = sandbox.output(&mut validator);
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), ""), "{output}");
}

/// Runs each command, and checks its JSON.
#[test]
fn what_commands_print() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.home().join(".claude")).expect("a directory");
    for (name, needs) in [("report", "base"), ("base", "")] {
        let metadata =
            if needs.is_empty() { String::new() } else { format!("  skill-dependencies: {needs}\n") };
        let description = "description: Does it. Use it in tests.\nlicense: MIT\n";
        let text = format!(
            "---\nname:  {name}\n{description}metadata:\n  version: \"1.0.0\"\n{metadata}---\n\n# It\n"
        );
        sandbox.write(&format!("src/{name}/SKILL.md"), text);
    }
    sandbox.write(
        "src/report/scripts/sum.py",
        "\"\"\"Adds numbers.\n\nUsage: sum.py A B\n\"\"\"\nimport sys\nprint(sys.argv)\n",
    );
    let (mut cases, mut failed) = (Vec::new(), Vec::new());
    for (name, code, line) in [
        ("create", 0, "create --json new-skill --path made --description=Use\u{a0}when\u{a0}asked."),
        ("create", 0, "create --json --list-templates"),
        ("fmt", 1, "fmt --json --check src"),
        ("report-v1", 0, "validate --format json --profile lenient src"),
        ("explain", 0, "explain --json"),
        ("available", 0, "install --json --list ./src"),
        ("install", 0, "install --json --dry-run ./src --skill *"),
        ("install", 0, "install --json ./src --skill *"),
        ("install", 0, "sync --json"),
        ("list", 0, "list --json"),
        ("tree", 0, "tree --json"),
        ("why", 0, "why --json base"),
        ("show", 0, "show --json report"),
        ("verify", 0, "verify --json"),
        ("doctor", 0, "doctor --json"),
        ("agents", 0, "agents --json --all"),
        ("outdated", 0, "outdated --json"),
        ("catalog", 0, "catalog --json"),
        ("catalog", 0, "catalog --json --budget 60"),
        ("invoke", 0, "invoke --json report"),
        ("read", 0, "read --json report"),
        ("read", 0, "read --json report scripts/sum.py"),
        ("tools", 0, "tools --json"),
        ("run", 0, "run --json --allow-scripts report scripts/sum.py 1 2"),
        ("audit", 0, "audit --json"),
        ("usage", 0, "usage --json"),
        ("policy", 0, "policy --json github:o/r"),
        ("trust", 0, "trust --json"),
        ("diff", 0, "diff --json"),
        ("update", 0, "update --json"),
        ("disable", 0, "disable --json report"),
        ("disable", 0, "enable --json report"),
        ("link", 0, "unlink --json base --agent claude-code"),
        ("link", 0, "link --json base --agent claude-code"),
        ("export", 0, "export skills-lock --json"),
        ("remove", 0, "remove --json report"),
        ("undo", 0, "undo --json --list"),
        ("undo", 0, "undo --json"),
        ("import", 0, "import --json --dry-run"),
        ("cache", 0, "cache dir --json"),
        ("cache", 0, "cache verify --json"),
        ("cache", 0, "cache prune --json --dry-run"),
        ("bump", 0, "bump --json patch src/base"),
        ("pack", 0, "pack --json --list src/base"),
        ("pack", 0, "pack --json src/base --out base.zip"),
        ("registry", 0, "registry init --json ./registry --name acme"),
        ("registry", 0, "registry add --json src/base -r ./registry"),
        ("registry", 0, "registry index --json -r ./registry"),
        ("registry", 0, "registry list --json -r ./registry"),
        ("registry", 0, "registry verify --json -r ./registry"),
        ("registry", 0, "registry yank --json base@1.0.1 -r ./registry"),
        ("search", 0, "search --json --installed base"),
        ("self", 0, "self check --json --offline"),
        ("mcp", 0, "mcp status --json --all"),
        ("mcp", 0, "mcp install --json --dry-run --client claude-code"),
    ] {
        let output = sandbox.run(&line.split(' ').collect::<Vec<_>>());
        match serde_json::from_str(&output.stdout) {
            Ok(value) if output.code == Some(code) => cases.push(case(name, &value, true)),
            _ => failed.push(format!("{line}: {output}")),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    // A schema that describes everything would prove nothing.
    cases.push(case("list", &json!([{ "name": "report" }]), false));
    check(&cases);
}

/// The errors on the lines of standard error.
fn errors(output: &Output) -> Vec<Value> {
    let lines = output.stderr.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {output}"))).collect()
}

/// With JSON, what failed is one line of JSON, of mistakes in the command line, too.
#[test]
fn errors_for_programs() {
    let sandbox = Sandbox::new();
    sandbox.write("skillpm.toml", "[skills]\npdf = { nope = \"x\" }\n");
    let mut cases = Vec::new();
    for (line, code, kind, name) in [
        ("list --json", 3, "config", "manifest-unreadable"),
        ("list --json --nope", 2, "usage", "usage"),
        ("--json tree x y z", 2, "usage", "usage"),
        ("validate --format json nowhere", 2, "usage", "usage"),
    ] {
        let output = sandbox.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((output.code, output.stdout.as_str()), (Some(code), ""), "{line}: {output}");
        let [error] = &errors(&output)[..] else { panic!("{line}: {output}") };
        assert_eq!(
            (&error["kind"], &error["code"], &error["exit_code"]),
            (&kind.into(), &name.into(), &code.into())
        );
        cases.push(case("error", error, true));
    }
    let place = json!([{ "file": "[DIR]/project/skillpm.toml", "line": 2, "column": 9 }]);
    assert_eq!(cases[0]["value"]["places"], place);
    check(&cases);
    // Where a command has no JSON, errors may have it.
    let output = sandbox.run(&["read", "nowhere", "--error-format", "json"]);
    assert_eq!(errors(&output).len(), 1, "{output}");
    // Words that are passed to a skill request nothing.
    let output = sandbox.run(&["invoke", "nowhere", "--json"]);
    assert!(output.stderr.starts_with("error: "), "{output}");
}

/// Each of several things that fail has a line.
#[test]
fn partial_failures_for_programs() {
    let sandbox = Sandbox::new();
    sandbox.write("src/good/SKILL.md", "---\nname: good\ndescription: Does it. Use it in tests.\n---\n");
    sandbox.write("src/bad/SKILL.md", "---\nname: [\n---\n");
    let output = sandbox.run(&["install", "--json", "./src", "--skill", "*"]);
    let outcome: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let [error] = &errors(&output)[..] else { panic!("{output}") };
    let [left] = &outcome["left_out"].as_array().expect("a list")[..] else { panic!("{output}") };
    for field in ["code", "kind", "exit_code", "message", "places"] {
        assert_eq!(left[field], error[field], "{field}: {output}");
    }
    assert_eq!(output.code.map(i64::from), error["exit_code"].as_i64(), "{output}");
    assert!(!output.stderr.contains("warning: "), "{output}");
    check(&[case("error", error, true), case("install", &outcome, true)]);
    // A skill that is refused has its findings on standard output.
    sandbox.write("refused/SKILL.md", "---\nname: refused\ndescription: \"[TODO: x]\"\n---\n");
    let output = sandbox.run(&["pack", "--json", "refused"]);
    let findings: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let [error] = &errors(&output)[..] else { panic!("{output}") };
    assert_eq!((output.code, &error["kind"]), (Some(1), &"findings".into()), "{output}");
    check(&[case("error", error, true), case("pack", &findings, true)]);
}

#[test]
fn the_schema_of_manifests_takes_what_is_read() {
    let mut cases = Vec::new();
    for (text, right) in [
        ("", true),
        ("[skills]\na = { github = \"o/r\", path = \"x\", tag = \"v1\", name = \"b\" }", true),
        ("[skills]\na = { path = \"./x.zip\", subdir = \"y\" }", true),
        ("[skills]\na = { git = \"git@h:r.git\", path = \"x\", rev = \"0123abc\" }", true),
        ("[skills]\na = { url = \"https://h/x.zip\", path = \"x\" }", true),
        ("[skills]\na = { npm = \"@s/x\" }", true),
        ("[skills]\na = { npm = \"x\", agents = [\"junie\"], disabled = true }", true),
        ("[skills]\na = { path = \"x\", subdir = \"y\", editable = true, agents = [] }", true),
        ("[skills]\na = { npm = \"x\", editable = true }", false),
        ("[skills]\na = { npm = \"x\", disabled = \"yes\" }", false),
        ("[skills]\na = { npm = \"x\", agents = \"junie\" }", false),
        ("[agents]\ntargets = []", true),
        ("[skills]\na = { url = \"https://h\", git = \"./x\" }", false),
        ("[skills]\na = { crate = \"x\", tag = \"v1\" }", false),
        ("[agents]\ntargets = [\"claude-code\"]\ncopy = true", true),
        ("[lint]\nprofile = \"publish\"\nrules = { name-directory = \"off\" }", true),
        ("[policy]\nallow = [\"github:a\"]\ndeny = []\nrequire-pin = \"tag\"", true),
        ("[policy]\nallow = []", false),
        ("[policy]\ndeny = \"github:a\"", false),
        ("[lint]\nrules = { name-directory = 1 }", false),
        ("[skills]\na = {}", false),
        ("[registries]\ndefault = \"https://h\"\n[skills]\na = \"^1\"", true),
        ("[registries]\nacme = \"./r\"\n[skills]\na = { registry = \"acme\", version = \"1\" }", true),
        ("[registries]\nacme = 1", false),
        ("[mcp.docs]\ncommand = [\"x\", \"\"]\n[skills]\na = { mcp = \"docs\" }", true),
        ("[mcp.docs]\ncommand = []", false),
        ("[mcp.docs]\ncommand = \"x\"", false),
        ("[mcp.docs]\ncommand = [\"x\"]\nargs = []", false),
        ("[mcp.docs]", false),
        ("[skills]\na = { path = \"\" }", false),
        ("[skills]\na = { path = \"x\", tag = \"v1\" }", false),
        ("[agents]\ntargets = \"claude-code\"", false),
        ("[agents]\ncopy = 1", false),
        ("[agent]", false),
    ] {
        let value: Value = toml::from_str(text).expect(text);
        assert_eq!(Manifest::parse(text).is_ok(), right, "{text}");
        cases.push(case("skillpm", &value, right));
    }
    check(&cases);
}

#[test]
fn the_schema_of_lockfiles_takes_what_is_read() {
    let (digest, commit) = (format!("sha256:{}", "0".repeat(64)), "0".repeat(40));
    let entry = |fields: &str| format!("version = 1\n[[skill]]\nname = \"a\"\n{fields}");
    let mut cases = Vec::new();
    for (text, right) in [
        ("version = 1".to_owned(), true),
        (entry(&format!("source = \"path:x\"\ndigest = \"{digest}\"\ndependencies = [\"b\"]")), true),
        (entry(&format!("source = \"github:o/r\"\nrevision = \"{commit}\"\ndigest = \"{digest}\"")), true),
        (entry(&format!("source = \"git:git@h:r\"\nrevision = \"{commit}\"\ndigest = \"{digest}\"")), true),
        (
            entry(&format!("source = \"site:https://h\"\nrevision = \"{digest}\"\ndigest = \"{digest}\"")),
            true,
        ),
        (
            entry(&format!(
                "source = \"path:x\"\ndigest = \"{digest}\"\nalias-of = \"b c\"\nagents = [\"junie\"]"
            )),
            true,
        ),
        (entry(&format!("source = \"path:x\"\ndigest = \"{digest}\"\nagents = [\"../x\"]")), false),
        (entry(&format!("source = \"npm:x\"\nrevision = \"1.2.0\"\ndigest = \"{digest}\"")), true),
        (entry("source = \"path:x\"\ndigest = \"md5:0\""), false),
        (entry(&format!("digest = \"{digest}\"")), false),
        ("version = 2".to_owned(), false),
        (String::new(), false),
    ] {
        let value: Value = toml::from_str(&text).expect("TOML");
        assert_eq!(Lockfile::parse(&text).is_ok(), right, "{text}");
        cases.push(case("lockfile", &value, right));
    }
    check(&cases);
}

/// What an editor marks is what the linter finds in the fields.
#[test]
fn the_schema_of_frontmatter_takes_what_the_linter_takes() {
    let mut cases = Vec::new();
    let long = |length| "x".repeat(length);
    for (field, value, right) in [
        ("name", json!("pdf"), true),
        ("name", json!("PDF"), false),
        ("name", json!("a--b"), false),
        ("name", json!("-a"), false),
        ("name", json!("a_b"), false),
        ("name", json!("caf\u{e9}"), false),
        ("name", json!(long(64)), true),
        ("name", json!(long(65)), false),
        ("description", json!(long(1024)), true),
        ("description", json!(long(1025)), false),
        ("description", json!(""), false),
        ("description", json!(["x"]), false),
        ("compatibility", json!(long(500)), true),
        ("compatibility", json!(long(501)), false),
        ("compatibility", json!(""), false),
        ("license", json!("MIT"), true),
        ("metadata", json!({"version": "1.0"}), true),
        ("metadata", json!({"version": 1.0}), false),
        ("metadata", json!(["x"]), false),
        ("allowed-tools", json!("Read Write"), true),
        ("metadata", json!({"openclaw": {"emoji": "x"}}), true),
        ("allowed-tools", json!(["Read"]), true),
        ("allowed-tools", json!({"Read": true}), false),
        ("argument-hint", json!("[file]"), true),
        ("disable-model-invocation", json!(true), true),
        ("author", json!("me"), true),
    ] {
        let mut fields = json!({"name": "pdf", "description": "Reads PDF files. Use it for PDF files."});
        fields[field] = value;
        cases.push(case("frontmatter", &fields, right));
        // The name of the directory and the quality of a text are no matters of a schema.
        let name = fields["name"].as_str().unwrap_or_default();
        // A scalar of JSON is one of YAML; collections are written as blocks, as people do.
        let mut text = String::new();
        for (key, value) in fields.as_object().expect("an object") {
            let lines: Vec<String> = match value {
                Value::Object(map) => map.iter().map(|(key, value)| format!("  {key}: {value}")).collect(),
                Value::Array(items) => items.iter().map(|item| format!("  - {item}")).collect(),
                value => vec![format!("  {value}")],
            };
            text.extend([key, ":\n", &lines.join("\n"), "\n"]);
        }
        let document = Document::parse(format!("---\n{text}---\n\n# x\n"));
        let subject = Subject::new(&document, Some(name), "SKILL.md");
        let findings = check_with(&subject, &Ruleset::new(Profile::Spec));
        // What an editor marks red is an error, or what every editor can put right at once.
        let is_red = |finding: &&Finding| {
            finding.severity == Severity::Error || ["metadata-strings", "name-ascii"].contains(&finding.rule)
        };
        let of_fields: Vec<_> = findings.iter().filter(is_red).collect();
        assert_eq!(of_fields.is_empty(), right, "{text}: {of_fields:?}");
    }
    check(&cases);
}
