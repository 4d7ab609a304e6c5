//! Names of registries, what people type, and what they are told.

use super::*;

/// The result of `args`, which must fail with the code `code`.
fn failed(sandbox: &Sandbox, code: i32, args: &[&str]) -> String {
    let output = sandbox.run(args);
    assert_eq!(output.code, Some(code), "{output}");
    output.stderr
}

#[test]
fn names_that_begin_other_sources_are_refused() {
    for name in ["npm", "github", "registry", "gitlab", "https", "path"] {
        let sandbox = project(&usual());
        sandbox.write("skillpm.toml", format!("[registries]\n{name} = \"../registry\"\n"));
        let told = failed(&sandbox, 3, &["install"]);
        assert!(told.contains(&format!("`{name}` cannot be the name of a registry")), "{told}");
        assert!(told.contains(&format!("`{name}-skills`")), "{told}");
    }
}

/// One registry, however it is written, delivers one skill.
#[test]
fn spellings_of_one_registry() {
    let sandbox = project(&usual());
    let absolute = sandbox.root().join("registry");
    let absolute = absolute.display();
    sandbox.write(
        "skillpm.toml",
        format!(
            "[registries]\ndefault = \"../registry\"\nother = \"{absolute}/\"\nthird = \"./../registry\"\n"
        ),
    );
    let told = sandbox.ok(&["install", "report"]);
    assert!(!told.stderr.contains("has a skill of that name too"), "{told}");
    sandbox.ok(&["install", "other:chart@^0.9", "third:report@^1.0"]);
    sandbox.ok(&["install", &format!("registry:{absolute}//base#^1")]);
    assert_eq!(locked(&sandbox), ["base 1.2", "chart 0.9.1", "report 1.0.0"]);
    let lock = sandbox.read("skillpm.lock");
    assert_eq!(lock.matches("source = \"registry:../registry\"").count(), 3, "{lock}");
    sandbox.ok(&["update"]);
    let forge = Forge::start();
    usual().serve(&forge, "/team");
    let (address, port) = (forge.url("/team"), forge.api_host());
    let sandbox = Sandbox::new();
    sandbox.write(
        "skillpm.toml",
        format!("[registries]\ndefault = \"{address}\"\nother = \"HTTP://{port}/team//\"\n"),
    );
    sandbox.ok(&["install", "other:report", "base"]);
    assert_eq!(sandbox.read("skillpm.lock").matches(&format!("source = \"registry:{address}\"")).count(), 2);
}

/// A directory that only the user's manifest names is not written into a project in silence.
#[test]
fn a_directory_of_the_user() {
    let sandbox = Sandbox::new();
    usual().write(&sandbox, "../home/registry");
    sandbox.write("../home/.config/skillpm/skillpm.toml", "[registries]\nmine = \"~/registry\"\n");
    sandbox.write("skillpm.toml", "");
    let outcome = json_of(&sandbox, &["install", "mine:base", "--json"]);
    let codes = outcome["warnings"].as_array().expect("a list").iter().map(|one| one["code"].clone());
    assert!(codes.clone().any(|code| code == json!("registry-only-here")), "{outcome}");
    // A project that names it itself knows.
    sandbox.ok(&["remove", "base"]);
    sandbox.write("skillpm.toml", "[registries]\nmine = \"~/registry\"\n");
    let outcome = json_of(&sandbox, &["install", "mine:base", "--json"]);
    assert_eq!(outcome["warnings"], json!([]), "{outcome}");
}

#[test]
fn what_is_typed_otherwise() {
    let sandbox = project(&usual());
    let told = failed(&sandbox, 2, &["install", "base@latest"]);
    assert!(told.contains("`skillpm install base` installs the highest version"), "{told}");
    let told = failed(&sandbox, 3, &["install", "acme:base"]);
    assert!(told.contains("no registry called `acme`") && told.contains("are called `default`"), "{told}");
    let told = failed(&sandbox, 3, &["install", "defualt:base"]);
    assert!(told.contains("did you mean `default`?"), "{told}");
    // Each word by itself: a directory, and a skill of a registry.
    sandbox.write("own/SKILL.md", "---\nname: own\ndescription: Own.\n---\n");
    sandbox.ok(&["install", "./own", "base@^1", "default:chart"]);
    assert_eq!(locked(&sandbox), ["base 1.2", "chart 0.9.1", "own -"]);
    let told = sandbox.ok(&["why", "base"]).stdout;
    assert!(told.contains("from registry:../registry\n"), "{told}");
}

/// What is wrong with the files of a registry comes with what to do.
#[test]
fn files_that_are_not_there() {
    let sandbox = project(&usual());
    sandbox.write("../home/.config/skillpm/skillpm.toml", "[registries]\ndefault = \"./nowhere\"\n");
    let told = failed(&sandbox, 2, &["install", "-g", "base"]);
    assert!(told.contains("/home/nowhere` is not there: correct its path"), "{told}");
    let registry = sandbox.root().join("registry");
    fs::remove_dir_all(registry.join("artifacts")).expect("removes");
    let told = failed(&sandbox, 5, &["install", "base"]);
    assert!(told.contains("hint: report it to its owner"), "{told}");
    let list = registry.join("index/base.json");
    fs::remove_file(&list).expect("removes");
    fs::create_dir(&list).expect("creates");
    assert!(sandbox.run(&["install", "base"]).stderr.contains("hint: `skillpm registry verify --registry "));
    #[cfg(unix)]
    {
        fs::remove_dir(&list).expect("removes");
        let made = std::process::Command::new("mkfifo").arg(&list).status().expect("runs");
        assert!(made.success());
        assert!(
            sandbox.run(&["install", "base"]).stderr.contains("hint: `skillpm registry verify --registry ")
        );
    }
}

/// Without a cache, what was asked for once can be asked for again.
#[test]
fn without_a_cache() {
    let (forge, sandbox) = (Forge::start(), Sandbox::new());
    RegistryFiles::default().add("base", "1.0.0", "nope nada").serve(&forge, "/team");
    sandbox.write("skillpm.toml", format!("[registries]\ndefault = \"{}\"\n", forge.url("/team")));
    let mut settings = sandbox.settings();
    settings.dirs.cache = None;
    let request = InstallRequest { sources: vec!["base".to_owned()], ..InstallRequest::default() };
    let error = install(&Context::silent(settings), &request).expect_err("nothing is called so");
    assert_eq!(error.code(), "versions-conflict", "{}", error.with_causes());
    assert_eq!(forge.asked().iter().filter(|path| path.ends_with("config.json")).count(), 3);
}
