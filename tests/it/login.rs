//! `registry login` and `logout`: tokens are kept by origin, and sent nowhere else.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::registries::RegistryFiles;
use crate::support::{Forge, Output, Sandbox};

const TOKEN: &str = "s3cret-t0ken";

/// A project whose registry `corp` wants a login.
fn private_registry() -> (Sandbox, Forge) {
    let (sandbox, forge) = (Sandbox::new(), Forge::start());
    RegistryFiles::default().add("pdf", "1.0.0", "").serve(&forge, "/r");
    forge.want_login(&format!("Bearer {TOKEN}"));
    sandbox.write("skillpm.toml", format!("[registries]\ncorp = \"{}/r\"\n", forge.api_url()));
    (sandbox, forge)
}

/// Runs `registry login ARGS --with-token` with the token `token`.
fn log_in(sandbox: &Sandbox, args: &[&str], token: &str) -> Output {
    let mut command = sandbox.command(&["registry", "login", "--with-token"]);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // The program may not read it to the end.
    let _ = stdin.write_all(token.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Output { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

fn file(sandbox: &Sandbox) -> std::path::PathBuf {
    sandbox.home().join(".config/skillpm/credentials.toml")
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

#[test]
fn a_token_is_kept_used_and_forgotten() {
    let (sandbox, forge) = private_registry();
    let refused = sandbox.run(&["install", "corp:pdf"]);
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("`skillpm registry login "), "{refused}");
    let output = log_in(&sandbox, &["corp", "--json"], &format!("{TOKEN}\n"));
    assert_eq!(output.code, Some(0), "{output}");
    let origin = forge.api_url();
    let file = file(&sandbox).display().to_string();
    assert_eq!(json_of(&output), json!({"origin": origin, "file": file, "replaced": false}));
    let installed = sandbox.run(&["-v", "install", "corp:pdf"]);
    assert_eq!(installed.code, Some(0), "{installed}");
    let listed = sandbox.ok(&["registry", "login", "--list", "--json"]);
    let logins = json!([{"origin": origin, "registries": ["corp"]}]);
    assert_eq!(
        json_of(&Output {
            stdout: listed.stdout.replace("[DIR]", &sandbox.root().display().to_string()),
            ..listed.clone()
        })["logins"],
        logins
    );
    let again = log_in(&sandbox, &[&format!("{origin}/elsewhere")], "other");
    assert_eq!(again.code, Some(0), "the same origin: {again}");
    let wrong = sandbox.run(&["-v", "search", "--registry", "corp", "pdf"]);
    assert_eq!(wrong.code, Some(4), "{wrong}");
    assert!(wrong.stderr.contains("credentials.toml"), "{wrong}");
    let gone = sandbox.ok(&["registry", "logout", "corp", "--json"]);
    assert_eq!(json_of(&gone)["removed"], true);
    assert_eq!(json_of(&sandbox.ok(&["registry", "logout", "corp", "--json"]))["removed"], false);
    assert_eq!(sandbox.run(&["install", "--force", "corp:pdf"]).code, Some(4));
    for output in [&refused, &output, &installed, &listed, &again, &wrong, &gone] {
        assert!(!output.to_string().contains(TOKEN), "{output}");
    }
}

#[cfg(unix)]
#[test]
fn only_this_user_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let (sandbox, _forge) = private_registry();
    log_in(&sandbox, &["corp"], TOKEN);
    let file = file(&sandbox);
    let mode = |path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    let quiet = sandbox.ok(&["search", "pdf"]);
    assert!(!quiet.stderr.contains("warning"), "{quiet}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("chmod");
    for args in [&["search", "pdf"][..], &["registry", "login", "--list"]] {
        let told = sandbox.ok(args);
        assert_eq!(told.stderr.matches("`chmod 600`").count(), 1, "{told}");
    }
    // Another token makes it private again.
    log_in(&sandbox, &["corp"], "other");
    assert_eq!(mode(&file), 0o600);
}

/// A server that redirects gets the token; the one it redirects to does not.
#[test]
fn a_token_never_reaches_another_origin() {
    let (sandbox, forge) = private_registry();
    log_in(&sandbox, &["corp"], TOKEN);
    let elsewhere = format!("http://{}/r/index/pdf.json", forge.archive_host());
    let list = RegistryFiles::default().add("pdf", "1.0.0", "");
    list.serve(&forge, "/r");
    forge.redirect("/r/index/pdf.json", &elsewhere.replace("/r/", "/copy/"));
    list.serve(&forge, "/copy");
    forge.clear_requests();
    let output = sandbox.run(&["install", "corp:pdf"]);
    let requests = forge.requests();
    let (own, others): (Vec<_>, Vec<_>) =
        requests.iter().partition(|request| request.host == forge.api_host());
    assert!(own.iter().any(|request| request.header("authorization").is_some()), "{output}");
    assert!(!others.is_empty(), "{output}");
    assert!(others.iter().all(|request| request.header("authorization").is_none()), "{others:?}");
}

/// One order: the environment, the kept token, the file of passwords.
#[test]
fn the_environment_comes_first_and_passwords_last() {
    let (mut sandbox, forge) = private_registry();
    let host = forge.api_host();
    let netrc = sandbox.home().join(".netrc");
    std::fs::write(&netrc, "machine 127.0.0.1 login ada password lovelace\n").expect("a file");
    let sent = |sandbox: &Sandbox| {
        forge.clear_requests();
        sandbox.run(&["search", "pdf"]);
        forge.requests()[0].header("authorization").map(str::to_owned)
    };
    assert!(sent(&sandbox).is_some_and(|value| value.starts_with("Basic ")));
    log_in(&sandbox, &["corp"], "kept");
    assert_eq!(sent(&sandbox).as_deref(), Some("Bearer kept"));
    let variable = format!("SKILLPM_TOKEN_{}", host.replace('.', "_").replace(':', "___"));
    sandbox.env(&variable, "set");
    assert_eq!(sent(&sandbox).as_deref(), Some("Bearer set"));
    let told = log_in(&sandbox, &["corp"], "kept");
    assert!(told.stderr.contains(&variable), "{told}");
}

#[test]
fn what_cannot_be_logged_in_to() {
    let (sandbox, _forge) = private_registry();
    let code = |args: &[&str], token: &str| log_in(&sandbox, args, token).code;
    assert_eq!(code(&["none"], TOKEN), Some(3), "no registry of that name");
    assert_eq!(code(&["../registry"], TOKEN), Some(2), "a directory");
    assert_eq!(code(&["http://skills.example.com"], TOKEN), Some(2), "anyone could read it on the way");
    for wrong in ["", "\n", "two words", "é"] {
        assert_eq!(code(&["corp"], wrong), Some(2), "{wrong:?}");
    }
    assert_eq!(sandbox.run(&["registry", "login", "corp"]).code, Some(2), "nobody can be asked");
    assert_eq!(sandbox.run(&["registry", "login"]).code, Some(2));
    assert!(!file(&sandbox).exists());
    std::fs::create_dir_all(file(&sandbox).parent().expect("a parent")).expect("a directory");
    std::fs::write(file(&sandbox), format!("[\"x\"]\ntoken = {TOKEN}\n")).expect("a file");
    let output = sandbox.run(&["search", "pdf"]);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(output.stderr.contains("line 2") && !output.to_string().contains(TOKEN), "{output}");
    assert_eq!(code(&["corp"], "other"), Some(3), "what is there stays");
}
