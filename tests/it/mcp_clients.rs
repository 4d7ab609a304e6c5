//! `mcp install`, `mcp uninstall` and `mcp status`: each client's file gets the entry, keeps everything else, and is again
//! what it was.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use skillpm_core::ops::mcp::{Client, all};
use skillpm_format::interop::servers::Format;

use crate::support::{Output, Sandbox};

/// A client's file as somebody could have it, and the entry that it gets.
struct Case {
    id: &'static str,
    text: &'static str,
    /// The keys that lead to the entry.
    table: &'static str,
    entry: fn(&str) -> Value,
}

fn plain(program: &str) -> Value {
    json!({"command": program, "args": ["mcp", "--tag", "docs"]})
}

const JSON: &str = "{\n    \"numStartups\": 3,\n    \"mcpServers\": {\n        \"b\": { \"command\": \"b\" }\n    },\n    \"é\": [1.50, null]\n}\n";
const JSONC: &str =
    "// Mine.\n{\n\t\"theme\": \"x\", // é\n\t/* \"old\": 1, */\n\t\"list\": [\n\t\t1,\n\t],\n}";

const CASES: &[Case] = &[
    Case { id: "claude-code", text: JSON, table: "mcpServers", entry: plain },
    Case { id: "claude-desktop", text: "{\"globalShortcut\":\"\"}", table: "mcpServers", entry: plain },
    Case {
        id: "codex",
        text: "# é\nmodel = \"x\"\n\n[mcp_servers.b]\ncommand = 'b' # b\n[tui]\ntheme = \"y\"",
        table: "mcp_servers",
        entry: plain,
    },
    Case { id: "cursor", text: "{\"mcpServers\": {}}\n", table: "mcpServers", entry: plain },
    Case { id: "gemini", text: JSONC, table: "mcpServers", entry: plain },
    Case {
        id: "goose",
        text: "GOOSE_MODEL: x # é\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n\n# end\nGOOSE_MODE: auto\n",
        table: "extensions",
        entry: |program| {
            json!({"name": "skillpm", "description": "Agent Skills", "type": "stdio", "cmd": program,
                "args": ["mcp", "--tag", "docs"], "enabled": "true", "timeout": "300"})
        },
    },
    Case {
        id: "opencode",
        text: JSONC,
        table: "mcp",
        entry: |program| json!({"type": "local", "command": [program, "mcp", "--tag", "docs"], "enabled": true}),
    },
    Case { id: "roo", text: "{\n  \"mcpServers\": {\n  }\n}\n", table: "mcpServers", entry: plain },
    Case {
        id: "vscode",
        text: "{\n  \"servers\": { \"b\": {\"url\": \"https://b\"}, },\n  \"inputs\": []\n}\n",
        table: "servers",
        entry: |program| json!({"type": "stdio", "command": program, "args": ["mcp", "--tag", "docs"]}),
    },
    Case { id: "windsurf", text: "", table: "mcpServers", entry: plain },
    Case { id: "zed", text: JSONC, table: "context_servers", entry: plain },
];

fn client(id: &str) -> &'static Client {
    all().iter().find(|client| client.id == id).expect(id)
}

/// The file of a client, of the user or the project.
fn file(sandbox: &Sandbox, id: &str, project: bool) -> PathBuf {
    use skillpm_format::scope_kind::ScopeKind::{Project, User};
    let scope = if project { Project } else { User };
    client(id).file(&sandbox.settings(), scope).expect("a path").expect("a file")
}

fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    std::fs::write(path, text).expect("writes");
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file")
}

/// Returns what a file holds, by parsers that the editor does not use for writing.
fn parsed(path: &Path) -> Value {
    let text = read(path);
    let text = text.trim_start_matches('\u{feff}');
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => {
            let table: toml::Table = toml::from_str(text).expect("TOML");
            serde_json::to_value(table).expect("JSON")
        }
        Some("yaml") => {
            let document = skillpm_format::document::Document::parse(format!("---\n{text}---\n"));
            document.frontmatter().expect("YAML").to_json()
        }
        _ => serde_json::from_str(&without_comments(text)).unwrap_or_else(|error| panic!("{error}: {text}")),
    }
}

/// Leaves out comments and trailing commas; no text of these tests has `//` or `/*` in quotes, save addresses.
fn without_comments(text: &str) -> String {
    let line = |line: &str| {
        let line = line.split(" // ").next().unwrap_or(line);
        if line.trim_start().starts_with("//") { String::new() } else { format!("{line}\n") }
    };
    let mut text: String = text.lines().map(line).collect();
    while let Some(at) = text.find("/*") {
        let end = at + text[at..].find("*/").expect("closed") + 2;
        text.replace_range(at..end, "");
    }
    let mut plain = String::new();
    for c in text.chars() {
        if matches!(c, '}' | ']') && plain.trim_end().ends_with(',') {
            plain.truncate(plain.trim_end().len() - 1);
        }
        plain.push(c);
    }
    plain
}

/// The program that these tests run, as clients are told of it.
fn program() -> String {
    let program = std::fs::canonicalize(env!("CARGO_BIN_EXE_skillpm")).expect("the program");
    program.display().to_string()
}

const ARGS: [&str; 3] = ["--", "--tag", "docs"];

fn install(sandbox: &Sandbox, id: &str, more: &[&str]) -> Output {
    let args = [&["mcp", "install", "--client", id], more, &ARGS].concat();
    sandbox.run(&args)
}

fn outcome(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// Checks that another installation changes nothing, and that the entry is listed.
fn is_seen(sandbox: &Sandbox, client: &str, project: bool) {
    let scope = if project { "--project" } else { "-g" };
    let again = install(sandbox, client, &[scope, "--json"]);
    assert_eq!(outcome(&again)["clients"][0]["effect"], "unchanged");
    let status = outcome(&sandbox.ok(&["mcp", "status", "--client", client, "--json"]));
    let scope = if project { "project" } else { "user" };
    let clients = status["clients"].as_array().expect("clients");
    let entry = clients.iter().find(|client| client["scope"] == scope).expect("an entry");
    assert_eq!(entry["servers"][0]["command"], json!([program(), "mcp", "--tag", "docs"]));
    assert_eq!(entry["servers"][0]["found"], true);
}

#[test]
fn every_client_is_set_up_and_its_file_is_as_before_afterwards() {
    let ids: Vec<_> = all().iter().map(|client| client.id).collect();
    assert_eq!(CASES.iter().map(|case| case.id).collect::<Vec<_>>(), ids, "a case for each client");
    for case in CASES {
        for project in
            [false, true].into_iter().filter(|project| !project || client(case.id).has_project_file())
        {
            let scope: &[&str] = if project { &["--project"] } else { &["-g"] };
            let mut texts =
                vec![case.text.to_owned(), case.text.replace('\n', "\r\n"), format!("\u{feff}{}", case.text)];
            texts.truncate(if project { 1 } else { 3 });
            for text in texts {
                let sandbox = Sandbox::new();
                let path = file(&sandbox, case.id, project);
                write(&path, &text);
                let set_up = install(&sandbox, case.id, scope);
                assert_eq!(set_up.code, Some(0), "{}: {set_up}", case.id);
                let new = read(&path);
                let after = parsed(&path);
                assert_eq!(after[case.table]["skillpm"], (case.entry)(&program()), "{}: {new}", case.id);
                // Every line that was there still is, in order, but for a comma and an empty object that was opened.
                let mut lines = new.lines();
                for line in text.lines() {
                    let stem = line.trim_end_matches([',', '}', '{', ' ']).trim_end_matches(" //");
                    assert!(
                        lines.any(|new| new.contains(stem)),
                        "{}: `{line}` of {text:?} in {new:?}",
                        case.id
                    );
                }
                assert_eq!(new.contains("\r\n"), text.contains("\r\n"), "{}", case.id);
                assert_eq!(new.ends_with('\n'), text.ends_with('\n') || case.text.is_empty(), "{}", case.id);
                // Line ends and marks concern nothing but the file.
                if text == case.text {
                    is_seen(&sandbox, case.id, project);
                }
                let undone =
                    sandbox.ok(&[&["mcp", "uninstall", "--json", "--client", case.id], scope].concat());
                assert_eq!(outcome(&undone)["clients"][0]["effect"], "restored");
                assert_eq!(read(&path), text, "{}", case.id);
            }
        }
    }
}

#[test]
fn a_file_that_was_edited_since_loses_the_entry_only() {
    for case in CASES.iter().filter(|case| !case.text.is_empty()) {
        let sandbox = Sandbox::new();
        let path = file(&sandbox, case.id, false);
        write(&path, case.text);
        assert_eq!(install(&sandbox, case.id, &[]).code, Some(0));
        let before = parsed(&path);
        // For example, the client stores a setting of its own.
        let edited = match path.extension().and_then(|ending| ending.to_str()) {
            Some("toml") => format!("new = 1\n{}", read(&path)),
            Some("yaml") => format!("new: 1\n{}", read(&path)),
            _ => read(&path).replacen('{', "{ \"new\": 1,", 1),
        };
        write(&path, &edited);
        let undone = outcome(&sandbox.ok(&["mcp", "uninstall", "--json"]));
        assert_eq!(undone["clients"][0]["effect"], "removed", "{undone}");
        let mut after = parsed(&path);
        assert!(after["new"] == 1 || after["new"] == "1", "{after}");
        after.as_object_mut().expect("an object").remove("new");
        let mut expected = before;
        expected[case.table].as_object_mut().expect("an object").remove("skillpm");
        let was_made = !case.text.contains(case.table);
        if was_made || after.get(case.table).is_none() {
            expected.as_object_mut().expect("an object").remove(case.table);
        }
        assert_eq!(after, expected, "{}", case.id);
        assert_eq!(outcome(&sandbox.ok(&["mcp", "uninstall", "--json"]))["clients"], json!([]));
    }
}

#[test]
fn a_file_that_was_created_goes_with_its_directories() {
    for client in all() {
        for project in [false, true].into_iter().filter(|project| !project || client.has_project_file()) {
            let scope: &[&str] = if project { &["-p"] } else { &[] };
            let sandbox = Sandbox::new();
            let root = if project { sandbox.project() } else { sandbox.home() };
            let before = sandbox.tree(&root);
            let set_up = outcome(&install(&sandbox, client.id, &[scope, &["--json"]].concat()));
            assert_eq!(set_up["clients"][0]["effect"], "created");
            let path = file(&sandbox, client.id, project);
            assert_eq!(parsed(&path).as_object().map(serde_json::Map::len), Some(1), "{}", client.id);
            let undone = outcome(&sandbox.ok(&[&["mcp", "uninstall", "--json"], scope].concat()));
            assert_eq!(undone["clients"][0]["effect"], "deleted");
            let mut left = sandbox.tree(&root);
            left.retain(|line| !line.starts_with(".local/"));
            assert_eq!(left, before, "{}", client.id);
        }
    }
}

/// Two installations are undone at once, and what the user added to the entry stays.
#[test]
fn a_second_installation_changes_the_command_in_place() {
    let sandbox = Sandbox::new();
    let path = file(&sandbox, "cursor", false);
    write(&path, "{}");
    assert_eq!(install(&sandbox, "cursor", &[]).code, Some(0));
    let changed = outcome(&sandbox.ok(&["mcp", "install", "--client", "cursor", "--json"]));
    assert_eq!(changed["clients"][0]["effect"], "changed");
    assert_eq!(parsed(&path)["mcpServers"]["skillpm"]["args"], json!(["mcp"]));
    assert_eq!(outcome(&sandbox.ok(&["mcp", "uninstall", "--json"]))["clients"][0]["effect"], "restored");
    assert_eq!(read(&path), "{}");
    assert_eq!(install(&sandbox, "cursor", &[]).code, Some(0));
    let text = read(&path).replace("\"args\"", "\"env\": {\"A\": \"1\"}, // mine\n      \"args\"");
    write(&path, &text);
    sandbox.ok(&["mcp", "install", "--client", "cursor"]);
    assert_eq!(read(&path), text.replace("[\"mcp\", \"--tag\", \"docs\"]", "[\"mcp\"]"));
    sandbox.ok(&["mcp", "uninstall"]);
    assert_eq!(read(&path), "{}");
}

#[test]
fn another_server_of_the_name_is_left_alone_without_force() {
    let sandbox = Sandbox::new();
    let path = file(&sandbox, "cursor", false);
    let text = "{\"mcpServers\": {\"skillpm\": {\"command\": \"npx\", \"args\": [\"x\", \"a b\"]}}}";
    write(&path, text);
    let refused = install(&sandbox, "cursor", &["--error-format", "json"]);
    refused.failed_with(1, "findings", &["`skillpm`", ".cursor/mcp.json", "--force", "--name NAME"]);
    let kept = sandbox.run(&["mcp", "uninstall", "--client", "cursor"]);
    assert!(kept.code == Some(1) && kept.stderr.contains("`--force` removes it; "), "{kept}");
    assert_eq!(outcome(&sandbox.ok(&["mcp", "uninstall", "--json"]))["clients"], json!([]));
    assert_eq!(read(&path), text);
    let named = outcome(&install(&sandbox, "cursor", &["--name", "skills", "--json"]));
    assert_eq!(named["clients"][0]["effect"], "added");
    assert_eq!(
        outcome(&sandbox.ok(&["mcp", "uninstall", "--name", "skills", "--json"]))["clients"][0]["effect"],
        "restored"
    );
    let forced = outcome(&install(&sandbox, "cursor", &["--force", "--json"]));
    assert_eq!(forced["clients"][0]["effect"], "replaced");
    assert_eq!(parsed(&path)["mcpServers"]["skillpm"], plain(&program()));
    sandbox.ok(&["mcp", "uninstall"]);
    assert_eq!(read(&path), text, "the other server is back");
    let odd = install(&sandbox, "cursor", &["--name", "a.b"]);
    assert_eq!(odd.code, Some(2), "{odd}");
}

/// Every value in the file of `id` that is not this program's begins with `CANARY`.
fn with_canaries(id: &str) -> Vec<String> {
    let servers = client(id).servers;
    let env = if id == "goose" { "envs" } else { "env" };
    match client(id).format {
        Format::Toml => vec![format!(
            "# CANARY1\nmodel = \"CANARY2\" # CANARY3\n[{servers}.github]\ncommand = 'CANARY4'\nargs = [\"--token\", \"CANARY5\"]\n\
             [{servers}.github.{env}]\nTOKEN = \"\"\"\nCANARY6\nCANARY7\"\"\"\n"
        )],
        Format::Yaml => vec![format!(
            "# CANARY1\nprovider: CANARY2\n{servers}:\n  github:\n    cmd: CANARY3\n    args: [--token, CANARY4]\n    {env}:\n      TOKEN: |\n        CANARY5\n        CANARY6\n"
        )],
        Format::Json | Format::Jsonc => {
            let entry =
                json!({"command": "CANARY1", "args": ["--token", "CANARY2"], env: {"TOKEN": "CANARY3"}});
            let file =
                json!({"apiKey": "CANARY4", servers: {"github": entry}, "history": [{"text": "CANARY5"}]});
            let mut texts = vec![serde_json::to_string_pretty(&file).expect("JSON")];
            // How a file is broken into lines is not a matter of the client.
            texts.extend((id == "claude-code").then(|| file.to_string()));
            texts
        }
    }
}

/// The values of other entries are on no line that is printed, for people and for programs.
#[test]
fn what_others_wrote_into_a_file_is_not_shown() {
    for client in all() {
        for text in with_canaries(client.id) {
            let sandbox = Sandbox::new();
            let path = file(&sandbox, client.id, false);
            write(&path, &text);
            let mut shown = String::new();
            for args in [
                &["install", "--dry-run"][..],
                &["install", "--json"],
                &["install", "--", "--tag", "docs"],
                &["uninstall", "--dry-run", "--json"],
                &["uninstall"],
                // The entry of another server is replaced, comes back, and is removed.
                &["install", "--name", "github", "--force", "--dry-run"],
                &["install", "--name", "github", "--force", "--json"],
                &["uninstall", "--name", "github"],
                &["uninstall", "--name", "github", "--force", "--dry-run"],
                &["uninstall", "--name", "github", "--force", "--json"],
            ] {
                let (verb, rest) = args.split_first().expect("a verb");
                let output = sandbox.ok(&[&["mcp", verb, "--client", client.id], rest].concat());
                assert!(!output.to_string().contains("CANARY"), "{}: {args:?}: {output}", client.id);
                if rest.contains(&"--json") {
                    let change = &outcome(&output)["clients"][0];
                    assert!(change["diff"].as_str().is_some_and(|diff| diff.contains("…")), "{change}");
                    let is_own = !rest.contains(&"--force") || *verb == "install";
                    assert_eq!(change["command"] != json!([]), is_own, "{change}");
                }
                shown.push_str(&output.stdout);
            }
            for name in ["github", "\"mcp\"", "docs"] {
                assert!(shown.contains(name), "{}: {name} in {shown}", client.id);
            }
            write(&path, text.replace("github", "skillpm"));
            for args in [&["mcp", "install"][..], &["mcp", "uninstall"], &["mcp", "uninstall", "--json"]] {
                let refused = sandbox.run(&[args, &["--client", client.id]].concat());
                assert_eq!(refused.code, Some(1), "{refused}");
                let told = refused.to_string();
                assert!(told.contains("is another server") && !told.contains("CANARY"), "{told}");
            }
            let status = sandbox.ok(&["mcp", "status", "--all"]);
            assert!(!status.to_string().contains("CANARY"), "{status}");
        }
    }
}

/// Runs that read a file at the same time all find their entry in it.
#[test]
fn runs_at_once_lose_nothing() {
    const RUNS: usize = 8;
    for (id, text) in [("cursor", "{}"), ("claude-code", JSON), ("codex", "model = 'x'\n"), ("goose", "")] {
        let sandbox = Sandbox::new();
        let path = file(&sandbox, id, false);
        if !text.is_empty() {
            write(&path, text);
        }
        let run_all = |verb: &str| {
            let start = |at: usize| {
                let name = format!("server-{at}");
                let mut command = sandbox.command(&["mcp", verb, "--client", id, "--name", &name]);
                command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().expect("starts")
            };
            let running: Vec<_> = (0..RUNS).map(start).collect();
            for one in running {
                let output = one.wait_with_output().expect("ends");
                assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
            }
        };
        run_all("install");
        let after = parsed(&path);
        let servers = after[client(id).servers].as_object().expect("a table");
        for at in 0..RUNS {
            assert!(servers.contains_key(&format!("server-{at}")), "{id}: {at} in {after}");
        }
        assert_eq!(servers.len(), RUNS + usize::from(id == "claude-code"));
        run_all("uninstall");
        let left = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(!left.contains("server-"), "{id}: {left}");
    }
}

/// A file that nobody may write is often made by another tool, which would write it anew.
#[test]
fn a_read_only_file_is_not_replaced() {
    let sandbox = Sandbox::new();
    let path = file(&sandbox, "cursor", false);
    let set_read_only = |is: bool| {
        let mut permissions = path.metadata().expect("there").permissions();
        permissions.set_readonly(is);
        std::fs::set_permissions(&path, permissions).expect("chmod");
    };
    write(&path, "{}");
    set_read_only(true);
    let refused = install(&sandbox, "cursor", &["--yes", "--error-format", "json"]);
    refused.failed_with(1, "findings", &[".cursor/mcp.json", "--force"]);
    assert_eq!(read(&path), "{}");
    assert_eq!(
        outcome(&install(&sandbox, "cursor", &["--force", "--json"]))["clients"][0]["effect"],
        "added"
    );
    assert!(path.metadata().expect("there").permissions().readonly(), "it keeps its mode");
    // Nothing is to be changed here.
    assert_eq!(install(&sandbox, "cursor", &[]).code, Some(0));
    for args in [&["mcp", "uninstall"][..], &["mcp", "uninstall", "--client", "cursor"]] {
        let refused = sandbox.run(args);
        assert!(refused.code == Some(1) && refused.stderr.contains("is read-only"), "{refused}");
    }
    sandbox.ok(&["mcp", "uninstall", "--force"]);
    assert_eq!(read(&path), "{}");
    set_read_only(false);
}

#[test]
fn the_way_back_names_the_server_and_the_scope() {
    let sandbox = Sandbox::new();
    for (args, back) in [
        (&["--name", "other"][..], "`skillpm mcp uninstall --name other` undoes it"),
        (&["-p", "--name", "other"], "`skillpm mcp uninstall --project --name other` undoes it"),
        (&["-p", "--name", "skillpm"], "`skillpm mcp uninstall --project` undoes it"),
    ] {
        let set_up = sandbox.ok(&[&["mcp", "install", "--client", "cursor"], args].concat());
        assert!(set_up.stderr.contains(back), "{set_up}");
        let words = back.split('`').nth(1).expect("a command").split(' ').skip(1);
        let undone = sandbox.ok(&words.collect::<Vec<_>>());
        assert!(undone.stderr.contains("- Cursor"), "{undone}");
    }
}

#[test]
fn hostile_files_are_refused_and_stay_as_they_are() {
    let huge = vec![b' '; (16 << 20) + 1];
    let deep = format!("{{\"mcpServers\": {}", "{\"a\":".repeat(200_000));
    for (text, code, told) in [
        (&b"{\n  \"a\": 1,\n  oops\n}"[..], 3, "/.cursor/mcp.json:3:3: "),
        (b"{\"mcpServers\": [1]}", 3, "`mcpServers` is not a table"),
        (b"{\"mcpServers\": {\"skillpm\": 1}}", 1, "is another server"),
        (b"{\"mcpServers\": {}, \"mcpServers\": {}}", 3, "occurs twice"),
        (b"[]", 3, "is not a table"),
        (b"\xff\xfe{\x00}\x00", 3, "is not UTF-8"),
        (deep.as_bytes(), 3, "nesting depth"),
        (&huge, 6, "failed to read"),
    ] {
        let sandbox = Sandbox::new();
        let path = file(&sandbox, "cursor", false);
        write(&path, text);
        let refused = install(&sandbox, "cursor", &[]);
        assert_eq!(refused.code, Some(code), "{told}: {refused}");
        assert!(refused.stderr.contains(told), "{told}: {refused}");
        assert_eq!(std::fs::read(&path).expect("there"), text, "{told}");
        // Whoever looks is told, and other clients are still shown.
        let status =
            outcome(&sandbox.ok(&["mcp", "status", "--client", "cursor", "--client", "zed", "-g", "--json"]));
        let has_problem = !status["clients"][0]["problem"].is_null();
        assert!(has_problem || code == 1 || told == "occurs twice", "{status}");
        assert_eq!(status["clients"][1]["problem"], Value::Null);
    }
}

#[test]
fn one_bad_file_stops_the_change_of_all() {
    let sandbox = Sandbox::new();
    let (good, bad) = (file(&sandbox, "cursor", false), file(&sandbox, "zed", false));
    write(&good, "{}");
    write(&bad, "{");
    let refused = sandbox.run(&["mcp", "install", "--client", "cursor", "--client", "zed"]);
    assert_eq!(refused.code, Some(3), "{refused}");
    assert_eq!((read(&good), read(&bad)), ("{}".to_owned(), "{".to_owned()));
}

/// What was written before the failure is taken back.
#[test]
fn a_place_that_cannot_be_written_stops_the_change_of_all() {
    let sandbox = Sandbox::new();
    let (good, bad) = (file(&sandbox, "cursor", false), file(&sandbox, "zed", false));
    let new = file(&sandbox, "codex", false);
    write(&good, "{}");
    // A file where the directory is to be.
    write(bad.parent().expect("a parent"), "x");
    let refused = sandbox.run(&["mcp", "install", "-c", "cursor", "-c", "codex", "-c", "zed"]);
    assert_eq!(refused.code, Some(6), "{refused}");
    assert_eq!(read(&good), "{}");
    assert!(!new.parent().expect("a parent").exists(), "neither the file nor its directory is left");
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written_stops_the_change_of_all() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    let (good, closed) = (file(&sandbox, "cursor", false), file(&sandbox, "zed", false));
    write(&closed, "{}");
    let directory = closed.parent().expect("a parent");
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o555)).expect("chmod");
    if std::fs::write(directory.join("probe"), "").is_ok() {
        println!("skipped: the superuser may write anywhere");
        std::fs::remove_file(directory.join("probe")).expect("removes");
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).expect("chmod");
        return;
    }
    let refused = sandbox.run(&["mcp", "install", "--client", "cursor", "--client", "zed"]);
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o755)).expect("chmod");
    assert_eq!(refused.code, Some(6), "{refused}");
    assert!(!good.exists() && !good.parent().expect("a parent").exists(), "taken back");
    assert_eq!(read(&closed), "{}");
}

#[cfg(unix)]
#[test]
fn links_and_modes_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let sandbox = Sandbox::new();
    let path = file(&sandbox, "gemini", false);
    let target = sandbox.home().join("dotfiles/gemini.json");
    write(&target, JSONC);
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).expect("chmod");
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    symlink("../dotfiles/gemini.json", &path).expect("links");
    for args in [&["mcp", "install", "--client", "gemini"][..], &["mcp", "uninstall"]] {
        sandbox.ok(args);
        assert!(path.symlink_metadata().expect("there").file_type().is_symlink());
        assert_eq!(target.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(read(&target), JSONC);
    std::fs::remove_file(&target).expect("removes");
    let dangling = install(&sandbox, "gemini", &[]);
    assert_eq!(dangling.code, Some(3), "{dangling}");
    assert!(path.symlink_metadata().expect("there").file_type().is_symlink());
}

/// A project may be a stranger's.
#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out_of_a_project() {
    let sandbox = Sandbox::new();
    let own = sandbox.home().join(".claude.json");
    write(&own, "{}");
    std::os::unix::fs::symlink(&own, sandbox.project().join(".mcp.json")).expect("links");
    std::os::unix::fs::symlink(sandbox.home(), sandbox.project().join(".cursor")).expect("links");
    for id in ["claude-code", "cursor"] {
        let refused = install(&sandbox, id, &["--project"]);
        assert_eq!(refused.code, Some(3), "{refused}");
        assert!(refused.stderr.contains("leads out of the project"), "{refused}");
    }
    assert_eq!(read(&own), "{}");
    assert!(!sandbox.home().join("mcp.json").exists());
}

/// A program on `PATH` is named as such: the entry survives an update of the program, and can be shared.
#[cfg(unix)]
#[test]
fn the_program_on_path_is_named_by_its_name() {
    let mut sandbox = Sandbox::new();
    let bin = sandbox.root().join("bin");
    std::fs::create_dir(&bin).expect("a directory");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_skillpm"), bin.join("skillpm")).expect("links");
    sandbox.env("PATH", &bin.display().to_string());
    sandbox.ok(&["mcp", "install", "--client", "windsurf"]);
    let path = file(&sandbox, "windsurf", false);
    assert_eq!(parsed(&path)["mcpServers"]["skillpm"], json!({"command": "skillpm", "args": ["mcp"]}));
    std::fs::remove_file(bin.join("skillpm")).expect("removes");
    let status = outcome(&sandbox.ok(&["mcp", "status", "--json"]));
    assert_eq!(status["clients"][0]["servers"][0]["found"], false);
    std::fs::write(bin.join("skillpm"), "another program").expect("writes");
    sandbox.ok(&["mcp", "install", "--client", "windsurf"]);
    assert_eq!(parsed(&path)["mcpServers"]["skillpm"]["command"], json!(program()));
}

#[test]
fn without_a_client_those_on_the_machine_are_named() {
    let sandbox = Sandbox::new();
    let none = sandbox.run(&["mcp", "install"]);
    assert_eq!(none.code, Some(2), "{none}");
    assert!(none.stderr.contains("`claude-code`, `claude-desktop`, "), "{none}");
    for dir in [".cursor", ".claude", ".codeium/windsurf"] {
        std::fs::create_dir_all(sandbox.home().join(dir)).expect("a directory");
    }
    sandbox.fails(&["mcp", "install"], 2, "usage", &["--client NAME"]);
    let project = sandbox.run(&["mcp", "install", "-p"]);
    assert!(project.stderr.contains("are `claude-code`, `cursor`\n"), "{project}");
    let unknown = sandbox.run(&["mcp", "install", "--client", "curser"]);
    assert_eq!(
        (unknown.code, unknown.stderr.contains("did you mean `cursor`?")),
        (Some(2), true),
        "{unknown}"
    );
    let no_project = sandbox.run(&["mcp", "install", "--client", "windsurf", "--project"]);
    assert_eq!(no_project.code, Some(2), "{no_project}");
}

#[test]
fn the_page() {
    let mut sandbox = Sandbox::new();
    let program = Path::new(env!("CARGO_BIN_EXE_skillpm"));
    sandbox.env("PATH", &program.parent().expect("a directory").display().to_string());
    write(&file(&sandbox, "cursor", false), "{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}\n");
    let dry_run = sandbox.run(&["mcp", "install", "--client", "cursor", "--dry-run", "--", "--tag", "docs"]);
    insta::assert_snapshot!(dry_run, @r#"
    exit: 0
    --- stdout
    --- a[DIR]/home/.cursor/mcp.json
    +++ b[DIR]/home/.cursor/mcp.json
    @@ -1,5 +1,9 @@
     {
       "mcpServers": {
    -    "b": {}
    +    "b": {},
    +    "skillpm": {
    +      "command": "skillpm",
    +      "args": ["mcp", "--tag", "docs"]
    +    }
       }
     }
    --- stderr
    + Cursor: `skillpm` in `[DIR]/home/.cursor/mcp.json`
    nothing was changed: this was a dry run
    "#);
    let set_up = sandbox.run(&["mcp", "install", "--client", "cursor", "--client", "codex", "-q"]);
    assert_eq!(set_up.code, Some(0), "{set_up}");
    insta::assert_snapshot!(sandbox.run(&["mcp", "status"]), @"
    exit: 0
    --- stdout
    client  scope    command      file
    codex   user     skillpm mcp  [DIR]/home/.codex/config.toml
    codex   project  -            [DIR]/project/.codex/config.toml
    cursor  user     skillpm mcp  [DIR]/home/.cursor/mcp.json
    cursor  project  -            [DIR]/project/.cursor/mcp.json
    ");
    insta::assert_snapshot!(sandbox.run(&["mcp", "uninstall"]), @r#"
    exit: 0
    --- stdout
    --- a[DIR]/home/.codex/config.toml
    +++ b[DIR]/home/.codex/config.toml
    @@ -1,3 +0,0 @@
    -[mcp_servers.skillpm]
    -command = "skillpm"
    -args = ["mcp"]
    --- a[DIR]/home/.cursor/mcp.json
    +++ b[DIR]/home/.cursor/mcp.json
    @@ -1,9 +1,5 @@
     {
       "mcpServers": {
    -    "b": {},
    -    "skillpm": {
    -      "command": "skillpm",
    -      "args": ["mcp"]
    -    }
    +    "b": {}
       }
     }
    --- stderr
    - Codex: `[DIR]/home/.codex/config.toml`, which has nothing else
    - Cursor: `[DIR]/home/.cursor/mcp.json` is as it was before
    "#);
    insta::assert_snapshot!(sandbox.run(&["mcp", "uninstall"]), @"
    exit: 0
    --- stderr
    no client has the server
    ");
}
