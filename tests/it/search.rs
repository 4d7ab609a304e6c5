//! `search`: in several registries, among installed skills, and on skills.sh.

use serde_json::{Value, json};
use skillpm_sources::registry::SearchIndex;

use crate::registries::RegistryFiles;
use crate::support::{Forge, Sandbox};

/// A project with one registry in a directory, and another one at an address.
fn two_registries() -> (Sandbox, Forge) {
    let (sandbox, forge) = (Sandbox::new(), Forge::start());
    RegistryFiles::default()
        .add("pdf", "1.0.0", "")
        .add("pdf", "1.2.0", "")
        .add("spreadsheet", "0.3.0", "")
        .write(&sandbox, "../registry");
    RegistryFiles::default().add("pdf", "2.0.0", "").add("pdf-forms", "1.0.0", "").serve(&forge, "/r");
    let url = forge.api_url();
    sandbox.write(
        "skillpm.toml",
        format!("[registries]\ndefault = \"../registry\"\nlocal = \"../registry\"\ncorp = \"{url}/r\"\n"),
    );
    (sandbox, forge)
}

/// The JSON of a search that ends with `code`.
fn found(sandbox: &Sandbox, code: i32, args: &[&str]) -> Value {
    let args: Vec<_> = ["search", "--json"].iter().chain(args).copied().collect();
    let output = sandbox.run(&args);
    assert_eq!(output.code, Some(code), "{output}");
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// Name, version and source of each match.
fn rows(value: &Value) -> Vec<String> {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap_or("-").to_owned();
    let row = |row: &Value| ["name", "version", "found_in", "source"].map(|key| text(row, key)).join(" ");
    value["skills"].as_array().expect("skills").iter().map(row).collect()
}

/// Registries with several names are searched once, and the name in a second registry is told.
#[test]
fn two_registries_and_what_is_installed() {
    let (sandbox, _forge) = two_registries();
    let value = found(&sandbox, 0, &["pdf"]);
    assert_eq!(
        rows(&value),
        [
            "pdf 2.0.0 registry corp:pdf",
            "pdf 1.2.0 registry local:pdf",
            "pdf-forms 1.0.0 registry corp:pdf-forms"
        ]
    );
    assert_eq!(value["skills"][0]["also_in"], json!(["local"]));
    assert_eq!(value["skills"][2]["also_in"], json!([]));
    assert_eq!(value["skills"][0]["installed"], false);
    sandbox.ok(&["install", "local:pdf"]);
    let value = found(&sandbox, 0, &["pdf"]);
    assert_eq!(rows(&value).len(), 4);
    assert_eq!(value["skills"][1]["installed"], true);
    assert_eq!(rows(&found(&sandbox, 0, &["--installed", "pdf"])), ["pdf 1.2.0 installed -"]);
    assert_eq!(rows(&found(&sandbox, 0, &["--registry", "local", "pdf"])), ["pdf 1.2.0 registry local:pdf"]);
    assert_eq!(
        rows(&found(&sandbox, 0, &["--registry", "default", "sheet", "spread"])),
        ["spreadsheet 0.3.0 registry spreadsheet"]
    );
    let limited = found(&sandbox, 0, &["--limit", "1", "pdf"]);
    assert_eq!((rows(&limited).len(), &limited["total"]), (1, &json!(4)));
    assert_eq!(sandbox.run(&["search", "--registry", "none", "pdf"]).code, Some(3));
}

/// What a row says can be typed.
#[test]
fn what_is_found_can_be_installed() {
    let (sandbox, _forge) = two_registries();
    let output = sandbox.ok(&["search", "forms"]);
    let row = output.stdout.lines().nth(1).expect("a row");
    let command = row.split("  ").filter(|cell| !cell.trim().is_empty()).nth(3).expect("a command").trim();
    let words: Vec<_> = command.split(' ').skip(1).collect();
    assert_eq!(words, ["install", "corp:pdf-forms"]);
    sandbox.ok(&words);
    assert!(sandbox.project().join(".agents/skills/pdf-forms/SKILL.md").exists());
    let both = sandbox.ok(&["search", "pdf"]);
    assert!(both.stderr.contains("2 registries"), "{both}");
}

#[test]
fn a_slip_gets_a_suggestion() {
    let (sandbox, _forge) = two_registries();
    let value = found(&sandbox, 0, &["spredsheet"]);
    assert_eq!(value, json!({"skills": [], "total": 0, "suggestions": ["spreadsheet"]}));
    assert!(sandbox.ok(&["search", "spredsheet"]).stderr.contains("`spreadsheet`"));
}

/// The second search asks whether the list changed, and one without the network takes what is known.
#[test]
fn lists_are_kept() {
    let (sandbox, forge) = two_registries();
    let first = found(&sandbox, 0, &["pdf"]);
    forge.clear_requests();
    assert_eq!(found(&sandbox, 0, &["pdf"]), first);
    let requests = forge.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].path.ends_with("/search.json"));
    assert!(requests[0].header("if-none-match").is_some());
    forge.clear_requests();
    assert_eq!(found(&sandbox, 0, &["--offline", "pdf"]), first);
    assert!(forge.requests().is_empty());
}

/// One registry that fails does not keep the others from being searched.
#[test]
fn a_registry_that_cannot_be_searched() {
    let (sandbox, forge) = two_registries();
    forge.serve("/r/search.json", "{");
    let output = sandbox.run(&["search", "pdf"]);
    assert_eq!(output.code, Some(5), "{output}");
    assert!(output.stdout.contains("local"), "{output}");
    assert!(output.stderr.contains("`search.json`"), "{output}");
    forge.unserve("/r/search.json");
    assert_eq!(rows(&found(&sandbox, 4, &["pdf"])), ["pdf 1.2.0 registry local:pdf"]);
    forge.serve("/r/search.json", SearchIndex::default().to_bytes());
    assert_eq!(rows(&found(&sandbox, 0, &["pdf"])), ["pdf 1.2.0 registry local:pdf"], "it is only empty");
}

/// A policy that forbids a registry keeps it from being asked at all.
#[test]
fn what_a_policy_forbids_is_not_asked() {
    let (sandbox, forge) = two_registries();
    let manifest = sandbox.read("skillpm.toml");
    sandbox.write(
        "skillpm.toml",
        format!("{manifest}\n[policy]\ndeny = [\"registry:{}/r\"]\n", forge.api_url()),
    );
    let output = sandbox.run(&["search", "pdf"]);
    assert_ne!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("local:pdf"), "{output}");
    assert!(forge.requests().is_empty(), "{output}");
    sandbox.write("skillpm.toml", format!("{manifest}\n[policy]\ndeny = [\"corp\"]\n"));
    assert_eq!(sandbox.run(&["search", "pdf"]).code, Some(3), "a rule that means nothing");
}

/// The user's registries work in every project; the project's name wins.
#[test]
fn the_registries_of_the_user() {
    let (mut sandbox, forge) = two_registries();
    let config = sandbox.root().join("config");
    sandbox.env("XDG_CONFIG_HOME", &config.display().to_string());
    RegistryFiles::default().add("letter", "1.0.0", "").serve(&forge, "/own");
    let url = forge.api_url();
    std::fs::create_dir_all(config.join("skillpm")).expect("a directory");
    let manifest = format!("[registries]\nown = \"{url}/own\"\ncorp = \"{url}/absent\"\n");
    std::fs::write(config.join("skillpm/skillpm.toml"), manifest).expect("a file");
    assert_eq!(rows(&found(&sandbox, 0, &["letter"])), ["letter 1.0.0 registry own:letter"]);
    sandbox.ok(&["install", "own:letter"]);
}

#[test]
fn nothing_to_search_names_ways_on() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["search", "pdf"]);
    assert_eq!(output.code, Some(2), "{output}");
    assert!(output.stderr.contains("[registries]"), "{output}");
    assert!(output.stderr.contains("`skillpm search --skills-sh pdf`"), "{output}");
    assert_eq!(sandbox.run(&["search", "--installed", "pdf"]).code, Some(2));
    assert_eq!(sandbox.run(&["search", " - "]).code, Some(2));
    assert_eq!(sandbox.run(&["search"]).code, Some(2));
}

/// skills.sh is asked only when the user says so, and its answer is not trusted.
#[test]
fn the_public_site() {
    let (mut sandbox, forge) = two_registries();
    sandbox.env("SKILLS_API_URL", &forge.api_url());
    let skill = |name: &str, source: &str| json!({"id": "x", "name": name, "source": source, "installs": 7});
    let answer = json!({"count": 3, "skills": [
        skill("pdf-tables", "acme/skills"), skill("x; rm -rf /", "acme/skills"), skill("y", "acme"),
    ]});
    forge.serve("/api/search", answer.to_string());
    found(&sandbox, 0, &["pdf", "tables"]);
    assert!(forge.requests().iter().all(|request| !request.path.starts_with("/api")));
    let value = found(&sandbox, 0, &["--skills-sh", "pdf", "tables"]);
    assert_eq!(
        rows(&value).last().map(String::as_str),
        Some("pdf-tables - skills.sh acme/skills@pdf-tables")
    );
    assert_eq!(rows(&value).len(), 4);
    assert_eq!(value["skills"][3]["installs"], 7);
    assert_eq!(value["skills"][0]["installs"], Value::Null);
    let table = sandbox.ok(&["search", "--skills-sh", "pdf", "tables"]);
    assert!(table.stdout.contains("7 installs, from acme/skills"), "{table}");
    assert_eq!(forge.asked().last().map(String::as_str), Some("/api/search?q=pdf%20tables&limit=20"));
    forge.serve("/api/search", "[]");
    assert_eq!(sandbox.run(&["search", "--skills-sh", "odd"]).code, Some(4));
    assert_eq!(sandbox.run(&["search", "--skills-sh", "--offline", "odd"]).code, Some(4));
}

/// The user's own manifest says once for all whether skills.sh may see the words; that of a project may not.
#[test]
fn the_answer_about_the_public_site_is_kept() {
    let (mut sandbox, forge) = (Sandbox::new(), Forge::start());
    let config = sandbox.root().join("config");
    sandbox.env("XDG_CONFIG_HOME", &config.display().to_string());
    sandbox.env("SKILLS_API_URL", &forge.api_url());
    let row = json!({"id": "x", "name": "pdf", "source": "acme/skills", "installs": 1_234_567});
    forge.serve("/api/search", json!({ "skills": [row] }).to_string());
    let own = config.join("skillpm/skillpm.toml");
    std::fs::create_dir_all(own.parent().expect("a directory")).expect("creates");
    std::fs::write(&own, "[search]\nskills-sh = false\n").expect("writes");
    assert_eq!(sandbox.run(&["search", "pdf"]).code, Some(2));
    assert!(forge.requests().is_empty());
    std::fs::write(&own, "[search]\nskills-sh = true\n").expect("writes");
    assert_eq!(rows(&found(&sandbox, 0, &["pdf"])), ["pdf - skills.sh acme/skills@pdf"]);
    assert!(sandbox.ok(&["search", "pdf"]).stdout.contains("1,234,567 installs, from acme/skills"));
    sandbox.write("skillpm.toml", "[search]\nskills-sh = true\n");
    sandbox.fails(&["search", "pdf"], 3, "manifest-unreadable", &["skillpm.toml:1:1", "own manifest"]);
}

/// What is typed in place of a name may be an address with a password.
#[test]
fn a_password_in_an_address_is_not_repeated() {
    let sandbox = Sandbox::new();
    for typed in ["https://ada:s3cret@h.example/", "ada:s3cret@h.example"] {
        let refused = sandbox.run(&["search", "pdf", "--registry", typed]);
        assert_eq!(refused.code, Some(3), "{refused}");
        assert!(refused.stderr.contains("…@h.example"), "{refused}");
        assert!(refused.stderr.contains("as in `acme = \"https://skills.example.com\"`"), "{refused}");
        assert!(!refused.to_string().contains("s3cret"), "{refused}");
    }
    let address = "https://ada:s3cret@h.example";
    for args in [
        &["install", address][..],
        &["install", "ftp://ada:s3cret@h.example/x"],
        &["show", address],
        &["publish", ".", "--to", address],
        &["registry", "list", "--registry", address],
        &["registry", "list", address],
        &["registry", "init", address],
        &["registry", "yank", address, "pdf@1.0.0"],
        &["registry", "login", address],
        &["diff", address],
        &["remove", address],
        &["validate", address],
        &[address],
        &["list", address],
    ] {
        let refused = sandbox.run(args);
        assert_ne!(refused.code, Some(0), "{args:?}: {refused}");
        assert!(!refused.to_string().contains("s3cret"), "{args:?}: {refused}");
    }
}
