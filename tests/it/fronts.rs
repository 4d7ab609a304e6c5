//! One set of skills and one expected answer for every front end.
//!
//! A directory of `tests/fixtures/engine` is a case: files of a machine, questions in `case.json`, and what every
//! front end answers in `expected.json`. Here the program is asked, and the library where a profile is chosen;
//! `python/tests/test_fronts.py` asks the package of Python, `r/tests/testthat/test-fronts.R` that of R, and both compare
//! with the same files. `SKILLPM_BLESS=1 cargo test --test it fronts` writes them.
#![cfg(unix)]

mod mcp;
mod profiles;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use skillpm_core::engine::Arguments;
use skillpm_core::ops::invoke::InvokeRequest;
use skillpm_core::session::Session;
use skillpm_format::profile::LoadProfile;
use skillpm_sources::context::Context;

use crate::support::{Output, Sandbox};

/// What is asked of a case.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What it is about, for readers.
    #[serde(rename = "about")]
    _about: String,
    /// What a file system or git could spoil.
    #[serde(default)]
    make: Make,
    /// Directories of skills that are asked about with every profile.
    sources: Option<Vec<String>>,
    /// Whether the places of the profiles are looked at too.
    places: Option<bool>,
    /// Files that are read with every profile, each as a skill and a path.
    #[serde(default)]
    reads: Vec<(String, String)>,
    /// The questions.
    #[serde(default)]
    ask: Vec<Value>,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Make {
    /// Links, and where they lead.
    #[serde(default)]
    links: Map<String, Value>,
    /// Files, as hexadecimal digits.
    #[serde(default)]
    bytes: Map<String, Value>,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/engine")
}

/// A machine with the files of the case.
fn machine(dir: &Path, case: &Case) -> Sandbox {
    let mut sandbox = Sandbox::new();
    sandbox.env("SKILLPM_AUDIT", "off");
    let root = sandbox.root().to_owned();
    copy(dir, &root);
    std::fs::create_dir(root.join("project/.git")).expect("the project has a root");
    let place = |path: &str| {
        let at = root.join(path);
        std::fs::create_dir_all(at.parent().expect("a parent")).expect("directories");
        at
    };
    for (path, digits) in &case.make.bytes {
        let digits = digits.as_str().expect("digits").as_bytes();
        let byte =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hex");
        std::fs::write(place(path), digits.chunks(2).map(byte).collect::<Vec<_>>()).expect("a file");
    }
    for (path, target) in &case.make.links {
        std::os::unix::fs::symlink(target.as_str().expect("a path"), place(path)).expect("a link");
    }
    sandbox
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a directory").map(|entry| entry.expect("an entry")) {
        let at = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            std::fs::create_dir_all(&at).expect("a directory");
            copy(&entry.path(), &at);
        } else if !["case.json", "expected.json"].iter().any(|own| entry.file_name() == *own) {
            std::fs::copy(entry.path(), at).expect("a file");
        }
    }
}

/// `[DIR]` in place of the machine's directory.
fn scrubbed(value: &Value, root: &str) -> Value {
    match value {
        Value::String(text) => text.replace(root, "[DIR]").into(),
        Value::Array(items) => items.iter().map(|item| scrubbed(item, root)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), scrubbed(value, root))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// Every front end gives the answers of the same core: conflicts C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12,
/// C13, C14, C15, C16, C19, C20, C21, C22, C27 and C28.
#[test]
fn every_front_end_gives_the_same_answers() {
    let mut dirs: Vec<_> =
        std::fs::read_dir(fixtures()).expect("cases").map(|e| e.expect("a case").path()).collect();
    dirs.sort();
    assert!(dirs.len() > 10, "{dirs:?}");
    for dir in dirs {
        let text = std::fs::read_to_string(dir.join("case.json")).expect("a case");
        let case: Case =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
        let sandbox = machine(&dir, &case);
        let root = sandbox.root().display().to_string();
        let answers: Vec<_> = case
            .ask
            .iter()
            .map(|ask| json!({ "ask": ask, "answer": scrubbed(&answer(&sandbox, ask), &root) }))
            .collect();
        let mut found = Map::new();
        found.insert("answers".into(), answers.into());
        if case.sources.is_some() {
            found.insert("profiles".into(), scrubbed(&profiles::all(&sandbox, &case), &root));
        }
        check(&dir.join("expected.json"), &found.into());
    }
}

/// Compares with the file, or writes it.
fn check(file: &Path, found: &Value) {
    let text = serde_json::to_string_pretty(found).expect("JSON") + "\n";
    if std::env::var_os("SKILLPM_BLESS").is_some() {
        return std::fs::write(file, text).expect("writes");
    }
    let expected: Value =
        serde_json::from_slice(&std::fs::read(file).unwrap_or_default()).unwrap_or_default();
    for (at, (found, expected)) in items(found).iter().zip(items(&expected)).enumerate() {
        assert_eq!(*found, expected, "{}: answer {at}", file.display());
    }
    assert_eq!(*found, expected, "{}", file.display());
}

fn items(value: &Value) -> Vec<&Value> {
    value["answers"].as_array().into_iter().flatten().collect()
}

/// What the program says, in the form that all front ends share.
fn answer(sandbox: &Sandbox, ask: &Value) -> Value {
    let text = |key: &str| ask[key].as_str().unwrap_or_default();
    let name = text("name");
    let json_of = |args: &[&str], form: fn(&Value) -> Value| {
        let output = sandbox.run(args);
        serde_json::from_str(&output.stdout).map_or_else(|_| failure(&output), |value| form(&value))
    };
    match text("verb") {
        "list" => json_of(&["list", "--json"], listed),
        "catalog" => {
            let args = catalog(ask);
            let args: Vec<_> = args.iter().map(String::as_str).collect();
            if text("form") == "json" { json_of(&args, Value::clone) } else { plain(&sandbox.run(&args)) }
        }
        "show" => json_of(&["show", "--json", "--", name], shown),
        "invoke" => {
            let form = if text("form").is_empty() { "plain" } else { text("form") };
            let mut args = vec!["invoke", "--format", form, "--", name];
            args.extend(Some(text("arguments")).filter(|arguments| !arguments.is_empty()));
            if form == "json" { json_of(&args, Value::clone) } else { invoked(sandbox, &args, form, name) }
        }
        "files" => json_of(&["read", "--json", "--", name], |told| told["available_files"].clone()),
        "read" => json_of(&["read", "--json", "--", name, text("path")], Value::clone),
        "tools" => json_of(&["tools", "--json", "--", name], tools),
        "run" => {
            // Nothing is locked of these skills: somebody has to trust them.
            sandbox.ok(&["trust", "."]);
            let mut args = vec!["run", "--json", "--", name, text("script")];
            args.extend(ask["arguments"].as_array().into_iter().flatten().filter_map(Value::as_str));
            json_of(
                &args,
                |ran| json!({ "exit_code": ran["exit_code"], "stdout": ran["stdout"]["text"], "stderr": ran["stderr"]["text"] }),
            )
        }
        "call" => {
            let session = Session::of_person(&Context::silent(sandbox.settings())).expect("opens");
            let (_, tools) = session.tools(name, LoadProfile::DEFAULT.scripts).expect("a skill");
            let tool = tools.get(text("script")).expect("a script");
            let error = tool.call(&ask["arguments"]).expect_err("it is about what is refused");
            json!({ "error": format!("the arguments do not fit the script: {error}"), "exit": 2 })
        }
        other => panic!("there is no question `{other}`"),
    }
}

fn catalog(ask: &Value) -> Vec<String> {
    let mut args: Vec<String> =
        vec!["catalog".into(), "--format".into(), ask["form"].as_str().expect("a form").into()];
    if let Some(fields) = ask["fields"].as_array() {
        let fields: Vec<_> = fields.iter().filter_map(Value::as_str).collect();
        args.extend(["--fields".into(), fields.join(",")]);
    }
    for tag in ask["tags"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        args.extend(["--tag".into(), tag.into()]);
    }
    args.extend((ask["hidden"] == true).then(|| "--hidden".into()));
    if let Some(budget) = ask["budget"].as_u64() {
        args.extend(["--budget".into(), budget.to_string()]);
    }
    args
}

fn plain(output: &Output) -> Value {
    if output.code == Some(0) { output.stdout.as_str().into() } else { failure(output) }
}

/// What `invoke` prints is what an agent gets, and ends a last line that has no end.
fn invoked(sandbox: &Sandbox, args: &[&str], form: &str, name: &str) -> Value {
    let told = plain(&sandbox.run(args));
    let Some(printed) = told.as_str() else { return told };
    let mut request = InvokeRequest { record: false, ..InvokeRequest::new(name) };
    request.form = form.parse().expect("a form");
    request.arguments = Arguments::new(args.get(5).copied().unwrap_or_default());
    let session = Session::of_person(&Context::silent(sandbox.settings())).expect("opens");
    let gets = session.invoke(&request).expect("the program could").content;
    let end = if gets.ends_with('\n') { "" } else { "\n" };
    assert_eq!(printed, sandbox.text(format!("{gets}{end}").as_bytes()));
    let exact = sandbox.run(&[&["invoke", "--exact"], &args[1..]].concat());
    assert_eq!(exact.stdout, sandbox.text(gets.as_bytes()));
    sandbox.text(gets.as_bytes()).into()
}

/// The message with its causes, and the exit code.
fn failure(output: &Output) -> Value {
    let mut message = String::new();
    for line in output.stderr.lines() {
        if line.starts_with('{') {
            let error: Value = serde_json::from_str(line).expect("JSON");
            let causes = error["causes"].as_array().into_iter().flatten();
            let texts = [&error["message"]].into_iter().chain(causes).filter_map(Value::as_str);
            message = texts.collect::<Vec<_>>().join(": ");
        } else if let Some(text) = line.strip_prefix("error: ") {
            text.clone_into(&mut message);
        } else if let Some(cause) = line.strip_prefix("  caused by: ") {
            message = format!("{message}: {cause}");
        }
    }
    assert!(!message.is_empty(), "{output}");
    // The program writes paths as they are from where it was started, libraries write them whole.
    let message = message.replace("`.agents/", "`[DIR]/project/.agents/");
    json!({ "error": message, "exit": output.code })
}

/// What `list` tells of skills that nothing is locked of: where they are.
fn listed(told: &Value) -> Value {
    let one = |skill: &Value| json!([skill["scope"], skill["name"]]);
    // What is in agents' own directories is no matter of where the program installs.
    let ours = told.as_array().expect("a list").iter().filter(|skill| skill["state"] != "foreign");
    ours.map(one).collect()
}

fn shown(told: &Value) -> Value {
    const META: [&str; 11] = [
        "name",
        "description",
        "version",
        "tags",
        "dependencies",
        "license",
        "compatibility",
        "allowed_tools",
        "metadata",
        "extra",
        "file",
    ];
    let mut form: Map<_, _> = META
        .iter()
        .filter(|key| !told[**key].is_null())
        .map(|key| ((*key).into(), told[*key].clone()))
        .collect();
    form.insert("deviations".into(), told["deviations"].clone());
    form.into()
}

fn tools(told: &Value) -> Value {
    const KEYS: [&str; 7] =
        ["skill", "name", "tool_name", "description", "script", "language", "input_schema"];
    let one = |tool: &Value| {
        let mut form: Map<_, _> = KEYS.iter().map(|key| ((*key).into(), tool[*key].clone())).collect();
        form.insert("timeout_ms".into(), tool["timeout_ms"].clone());
        Value::from(form)
    };
    told.as_array().expect("a list").iter().map(one).collect()
}
