//! `publish` to a server, and what colleagues get from it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use skillpm_core::ops::pack::examine;
use skillpm_core::ops::publish::{PublishRequest, publish};
use skillpm_format::codes;
use skillpm_format::lint::RuleOptions;
use skillpm_sources::context::Context;
use skillpm_testing::issuer::{Issuer, REQUEST_TOKEN, statement};

use crate::support::{Output, RegistryServer, Sandbox, start_registry};

/// A project with the skill `pdf`, whose registry `acme` is the server.
fn project(server: &RegistryServer) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("skillpm.toml", format!("[registries]\nacme = \"{}\"\n", server.url()));
    write_skill(&sandbox, "1.0.0");
    sandbox
}

fn write_skill(sandbox: &Sandbox, version: &str) {
    let text = format!(
        "---\nname: pdf\ndescription: Reads PDF files. Use it when a file ends in pdf.\nlicense: MIT\n\
         metadata:\n  version: '{version}'\n---\n\n# PDF {version}\n"
    );
    sandbox.write("pdf/SKILL.md", text);
}

/// Runs `registry login` with `token`.
fn log_in(sandbox: &Sandbox, registry: &str, token: &str) {
    let mut command = sandbox.command(&["registry", "login", registry, "--with-token"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    child.stdin.take().expect("a pipe").write_all(token.as_bytes()).expect("is read");
    assert!(child.wait().expect("ends").success());
}

/// The code of the error with which the library refuses to publish the skill in `dir`.
fn code(sandbox: &Sandbox, dir: &str, request: &PublishRequest) -> &'static str {
    let context = Context::silent(sandbox.settings());
    let examined = examine(&context, Path::new(dir), &RuleOptions::default()).expect("is examined");
    publish(&context, examined, request).expect_err("is refused").code()
}

fn to(server: &RegistryServer) -> PublishRequest {
    PublishRequest { to: server.url().to_owned(), ..PublishRequest::default() }
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output}"))
}

/// The variable for a token of the server.
fn variable(server: &RegistryServer) -> String {
    format!("SKILLPM_TOKEN_{}", server.url()["http://".len()..].replace('.', "_").replace(':', "___"))
}

#[test]
fn a_version_is_published_installed_and_yanked() {
    let server = start_registry("");
    let author = project(&server);
    let token = server.token("alice", &[]);
    log_in(&author, server.url(), &token);
    let log = |after: u64| server.log().matches("\"method\":\"PUT\"").count() as u64 == after;
    author.ok(&["publish", "pdf", "--to", "acme", "--dry-run", "--json"]);
    assert!(log(0), "{}", server.log());
    let published = author.ok(&["publish", "pdf", "--to", server.url(), "--json"]);
    let outcome: Value = serde_json::from_str(&published.stdout).expect("JSON");
    assert_eq!((&outcome["registry"], &outcome["version"]), (&json!(server.url()), &json!("1.0.0")));

    // The same files are there already; others are not published, and a dry run tells.
    for args in [&[][..], &["--dry-run"]] {
        let again = author.ok(&[&["publish", "pdf", "--to", "acme", "--json"][..], args].concat());
        assert_eq!(json_of(&again)["already"], true, "{again}");
    }
    author.write("pdf/SKILL.md", author.read("pdf/SKILL.md") + "more");
    for args in [&[][..], &["--dry-run"]] {
        let output = author.run(&[&["publish", "pdf", "--to", "acme"][..], args].concat());
        assert_eq!(output.code, Some(2), "{output}");
        assert!(output.stderr.contains("skillpm bump"), "{output}");
        let request = PublishRequest { dry_run: !args.is_empty(), ..to(&server) };
        assert_eq!(code(&author, "pdf", &request), codes::VERSION_EXISTS);
    }

    let colleague = project(&server);
    colleague.ok(&["install", "acme:pdf@^1"]);
    write_skill(&author, "1.1.0");
    author.ok(&["publish", "pdf", "--to", "acme"]);
    colleague.ok(&["update"]);
    assert!(colleague.read(".agents/skills/pdf/SKILL.md").contains("# PDF 1.1.0"));

    // What is yanked stays with who has it locked, and is for nobody new.
    author.ok(&["registry", "yank", "-r", "acme", "pdf@1.1.0", "--reason", "loses pages"]);
    colleague.ok(&["install", "--locked"]);
    assert!(colleague.read(".agents/skills/pdf/SKILL.md").contains("# PDF 1.1.0"));
    let other = project(&server);
    other.ok(&["install", "acme:pdf@^1"]);
    assert!(other.read(".agents/skills/pdf/SKILL.md").contains("# PDF 1.0.0"));
    assert!(!server.log().contains(&token));
}

/// Forwards to the server and cuts off what it answers to uploads. Returns the address. With `delivers` off, uploads do
/// not reach the server either.
fn cutting_off(server: &RegistryServer, delivers: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let to = server.url().trim_start_matches("http://").to_owned();
    let forward = move |mut client: TcpStream| -> std::io::Result<()> {
        let mut head = vec![0; 64 << 10];
        let read = client.read(&mut head)?;
        let is_upload = head.starts_with(b"PUT");
        if is_upload && !delivers {
            return Ok(());
        }
        let mut server = TcpStream::connect(&to)?;
        // One request for each connection: the next may be an upload.
        let text = String::from_utf8_lossy(&head[..read]).into_owned();
        let sent = if is_upload {
            head[..read].to_vec()
        } else {
            text.replacen("\r\n", "\r\nconnection: close\r\n", 1).into()
        };
        server.write_all(&sent)?;
        let (mut rest, mut up) = (client.try_clone()?, server.try_clone()?);
        std::thread::spawn(move || std::io::copy(&mut rest, &mut up));
        if is_upload {
            // It has done everything once it answers.
            let _ = server.read(&mut [0])?;
        } else {
            let _ = std::io::copy(&mut server, &mut client);
        }
        server.shutdown(Shutdown::Both)?;
        client.shutdown(Shutdown::Both)
    };
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let forward = forward.clone();
            std::thread::spawn(move || forward(client));
        }
    });
    url
}

#[test]
fn a_publication_whose_answer_is_lost_is_told_as_done() {
    let server = start_registry("");
    let token = server.token("alice", &[]);
    let publish = |url: &str| {
        let mut sandbox = project(&server);
        let place = url["http://".len()..].replace('.', "_").replace(':', "___");
        sandbox.env(&format!("SKILLPM_TOKEN_{place}"), &token);
        sandbox.run(&["publish", "pdf", "--to", url, "--json"])
    };
    // Nothing arrives: that is the network, and not a mistake of the caller.
    let failed = publish(&cutting_off(&server, false));
    assert_eq!(failed.code, Some(4), "{failed}");
    let done = publish(&cutting_off(&server, true));
    assert_eq!((done.code, &json_of(&done)["already"]), (Some(0), &json!(true)), "{done}");
    assert_eq!(json_of(&publish(server.url()))["already"], true);
}

#[test]
fn who_may_not_publish_is_told_why() {
    let server = start_registry("");
    let mut sandbox = project(&server);
    let args = ["publish", "pdf", "--to", server.url()];
    let none = sandbox.run(&args);
    assert_eq!(none.code, Some(4), "{none}");
    assert!(none.stderr.contains("registry login"), "{none}");
    let variable = variable(&server);
    let foreign = start_registry("").token("alice", &[]);
    let expired = server.token("late", &[]);
    expire(&server, "late");
    for token in ["s3cret-unknown", &foreign, &expired] {
        sandbox.env(&variable, token);
        let output = sandbox.run(&args);
        assert_eq!(output.code, Some(4), "{output}");
        assert!(output.stderr.contains(&variable) && !output.to_string().contains(token), "{output}");
        assert_eq!(code(&sandbox, "pdf", &to(&server)), codes::TOKEN_REFUSED);
    }
    // A token that does not allow it, for what it is or for which skills.
    for more in [&["--scope", "read"][..], &["--name", "docx*"]] {
        sandbox.env(&variable, &server.token("alice", more));
        assert_eq!(code(&sandbox, "pdf", &to(&server)), codes::NOT_PERMITTED);
    }
    // A skill of somebody else.
    sandbox.env(&variable, &server.token("alice", &[]));
    sandbox.ok(&args);
    sandbox.env(&variable, &server.token("mallory", &[]));
    write_skill(&sandbox, "2.0.0");
    assert_eq!(code(&sandbox, "pdf", &to(&server)), codes::NOT_PERMITTED);
    let output = sandbox.run(&args);
    assert_eq!(output.code, Some(2), "{output}");
    // A name too close to it.
    let text = sandbox.read("pdf/SKILL.md").replace("name: pdf", "name: p-df");
    sandbox.write("p-df/SKILL.md", text);
    assert_eq!(code(&sandbox, "p-df", &to(&server)), codes::NAME_NOT_AVAILABLE);
}

#[test]
fn owners_publishers_and_visibility_are_changed() {
    let server = start_registry("");
    let alice = project(&server);
    let mut bob = project(&server);
    log_in(&alice, "acme", &server.token("alice", &[]));
    bob.env(&variable(&server), &server.token("bob", &[]));
    alice.ok(&["publish", "pdf", "--to", "acme"]);
    let access = |sandbox: &Sandbox, args: &[&str]| {
        sandbox.run(&[&["registry"][..], args, &["-r", "acme", "--json"]].concat())
    };
    assert_eq!(json_of(&access(&alice, &["owner", "list", "pdf"]))["owners"], json!(["alice"]));
    write_skill(&bob, "1.1.0");
    assert_eq!(bob.run(&["publish", "pdf", "--to", "acme"]).code, Some(2));
    assert_eq!(access(&bob, &["owner", "add", "pdf", "bob"]).code, Some(2));
    let added = json_of(&access(&alice, &["owner", "add", "pdf", "bob"]));
    assert_eq!((&added["owners"], &added["changed"]), (&json!(["alice", "bob"]), &json!(true)));
    assert_eq!(json_of(&access(&alice, &["owner", "add", "pdf", "bob"]))["changed"], false);
    bob.ok(&["publish", "pdf", "--to", "acme"]);
    json_of(&access(&bob, &["owner", "remove", "pdf", "alice"]));
    assert_eq!(access(&bob, &["owner", "remove", "pdf", "bob"]).code, Some(2), "the last one");
    assert_eq!(access(&alice, &["owner", "add", "pdf", "alice"]).code, Some(2));

    let workflow = ["--repository", "acme/skills", "--workflow", "publish.yml"];
    let trusted = json_of(&access(&bob, &[&["publisher", "add", "pdf"][..], &workflow].concat()));
    assert_eq!(trusted["publishers"][0]["issuer"], "https://token.actions.githubusercontent.com");
    let gone = json_of(&access(&bob, &[&["publisher", "remove", "pdf"][..], &workflow].concat()));
    assert_eq!((&gone["publishers"], &gone["changed"]), (&json!([]), &json!(true)));

    let hidden = json_of(&access(&bob, &["visibility", "pdf", "private"]));
    assert_eq!(hidden["visibility"], "private");
    // Not even that it exists is told to others.
    let nobody = project(&server);
    assert_eq!(access(&nobody, &["owner", "list", "pdf"]).code, Some(2));
    assert_eq!(access(&nobody, &["list", "pdf"]).code, Some(2));
    assert_ne!(nobody.run(&["install", "acme:pdf"]).code, Some(0));
    assert_eq!(json_of(&access(&bob, &["list", "pdf"]))["skills"][0]["newest"], "1.1.0");
    bob.ok(&["install", "acme:pdf"]);
    json_of(&access(&bob, &["visibility", "pdf", "public"]));
    nobody.ok(&["install", "acme:pdf"]);
    assert_eq!(json_of(&access(&nobody, &["list"]))["skills"][0]["name"], "pdf");
    // Only a server knows.
    nobody.ok(&["registry", "init", "site"]);
    assert_eq!(nobody.run(&["registry", "owner", "list", "pdf", "-r", "site"]).code, Some(2));
}

#[test]
fn versions_are_yanked_on_the_server() {
    let server = start_registry("");
    let sandbox = project(&server);
    log_in(&sandbox, "acme", &server.token("alice", &[]));
    sandbox.ok(&["publish", "pdf", "--to", "acme"]);
    let yank = |args: &[&str]| {
        let output = sandbox.run(&[&["registry"][..], args, &["-r", server.url(), "--json"]].concat());
        (output.code, serde_json::from_str::<Value>(&output.stdout).unwrap_or_default())
    };
    let changed = |(code, outcome): (Option<i32>, Value)| {
        assert_eq!(code, Some(0), "{outcome}");
        outcome["versions"][0]["changed"].as_bool()
    };
    // A version that does not exist keeps the others from being yanked.
    assert_eq!(yank(&["yank", "pdf@1.0.0", "pdf@9.0.0"]).0, Some(2));
    assert_eq!(yank(&["yank", "docx@1.0.0"]).0, Some(2));
    for near in [&["yank", "pfd@1.0.0"][..], &["list", "pfd"]] {
        let args = [&["registry"][..], near, &["-r", "acme"]].concat();
        sandbox.fails(&args, 2, "release-unknown", &["did you mean `pdf`?"]);
    }
    assert_eq!(changed(yank(&["yank", "pdf@1.0.0", "--reason", "bad", "--dry-run"])), Some(true));
    assert_eq!(yank(&["list", "pdf"]).1["skills"][0]["versions"][0]["yanked"], Value::Null);
    assert_eq!(changed(yank(&["yank", "pdf@1.0.0", "--reason", "bad"])), Some(true));
    assert_eq!(changed(yank(&["yank", "pdf@1.0", "--reason", "bad"])), Some(false));
    let (_, listed) = yank(&["list", "pdf"]);
    assert_eq!(listed["skills"][0]["versions"][0]["yanked"], "bad");
    assert_eq!(yank(&["list"]).1["skills"], json!([]));
    assert_eq!(changed(yank(&["unyank", "pdf@1.0.0"])), Some(true));
    assert_eq!(changed(yank(&["unyank", "pdf@1.0.0"])), Some(false));
    let stranger = project(&server);
    assert_eq!(stranger.run(&["registry", "yank", "-r", "acme", "pdf@1.0.0"]).code, Some(4));
    assert_eq!(stranger.run(&["registry", "yank", "-r", "nowhere", "pdf@1.0.0"]).code, Some(3));
}

#[cfg(unix)]
#[test]
fn the_server_is_started_by_skillpm_too() {
    use std::io::{BufRead as _, BufReader};
    let sandbox = Sandbox::new();
    let wrong = sandbox.run(&["registry", "site", "-r", "site"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
    let told = "error: `--out` is required\nhint: `skillpm-registry site --help`";
    assert!(wrong.stderr.starts_with(told), "{wrong}");
    let mut command = sandbox.command(&["registry", "serve", "-r", "site", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("is read");
    let address = line.trim().rsplit("http://").next().expect("an address");
    let mut stream = TcpStream::connect(address).expect("listens");
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: here\r\nconnection: close\r\n\r\n").expect("is sent");
    let answer = std::io::read_to_string(stream).expect("is answered");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    // It is the same process, which ends well when it is asked to.
    let asked = std::process::Command::new("kill").arg(child.id().to_string()).status();
    assert!(asked.expect("is sent").success() && child.wait().expect("ends").success());
    let help = sandbox.ok(&["registry", "serve", "--", "--help"]);
    assert!(help.stdout.contains("--listen"), "{help}");
    // A directory with something else in it.
    let wrong = sandbox.run(&["registry", "serve", ".", "--listen", "127.0.0.1:0"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    // Where it is not installed, that is said.
    let alone = sandbox.root().join("skillpm");
    std::fs::copy(env!("CARGO_BIN_EXE_skillpm"), &alone).expect("is copied");
    let mut command = std::process::Command::new(&alone);
    command.args(["registry", "serve"]).current_dir(sandbox.project()).env_clear();
    let absent = sandbox.output(command.env("HOME", sandbox.home()));
    assert_eq!(absent.code, Some(2), "{absent}");
    assert!(absent.stderr.contains("cargo install skillpm-registry"), "{absent}");
}

/// Makes the tokens of `account` expire.
fn expire(server: &RegistryServer, account: &str) {
    for entry in std::fs::read_dir(Path::new(server.registry()).join("private/tokens")).expect("tokens") {
        let path = entry.expect("an entry").path();
        let mut token: Value = serde_json::from_slice(&std::fs::read(&path).expect("a token")).expect("JSON");
        if token["account"] == account {
            token["expires"] = json!("2020-01-01T00:00:00Z");
            std::fs::write(&path, token.to_string()).expect("is written");
        }
    }
}

#[test]
fn a_closed_registry_takes_a_login() {
    let server = start_registry("read = \"token\"");
    let sandbox = project(&server);
    log_in(&sandbox, "acme", &server.token("alice", &[]));
    sandbox.ok(&["publish", "pdf", "--to", "acme"]);
    let colleague = project(&server);
    let refused = colleague.run(&["install", "acme:pdf"]);
    // The server does not even tell strangers which skills there are.
    assert_eq!(refused.code, Some(4), "{refused}");
    assert!(refused.stderr.contains("registry login"), "{refused}");
    let absent = colleague.run(&["install", "acme:docx"]);
    assert_eq!(absent.stderr.replace("docx", "pdf"), refused.stderr);
    log_in(&colleague, "acme", &server.token("bob", &["--scope", "read"]));
    colleague.ok(&["install", "acme:pdf"]);
    let found = colleague.ok(&["search", "--registry", "acme", "pdf"]);
    assert!(found.stdout.contains("pdf"), "{found}");
}

#[test]
fn a_closed_registry_takes_publications_without_the_scope_read() {
    let issuer = Issuer::start();
    let server = start_registry(&format!("read = \"token\"\ntrusted-issuers = [\"{}\"]", issuer.url()));
    let mut sandbox = project(&server);
    sandbox.env(&variable(&server), &server.token("alice", &["--scope", "publish"]));
    sandbox.ok(&["publish", "pdf", "--to", "acme"]);
    // Whatever reads says which scope the token lacks.
    for args in [&["install", "acme:pdf"][..], &["publish", "pdf", "--to", "acme", "--dry-run"]] {
        let refused = sandbox.run(args);
        assert_eq!(refused.code, Some(4), "{refused}");
        assert!(refused.stderr.contains("the scope `read`"), "{refused}");
    }

    let owner = project(&server);
    log_in(&owner, "acme", &server.token("alice", &[]));
    let workflow = ["--repository", "acme/skills", "--workflow", "publish.yml", "--issuer", &issuer.url()];
    owner.ok(&[&["registry", "publisher", "add", "pdf", "-r", "acme"][..], &workflow].concat());
    let mut job = project(&server);
    write_skill(&job, "1.1.0");
    job.env("ACTIONS_ID_TOKEN_REQUEST_URL", &issuer.request_url());
    job.env("ACTIONS_ID_TOKEN_REQUEST_TOKEN", REQUEST_TOKEN);
    job.ok(&["publish", "pdf", "--to", "acme"]);
    owner.ok(&["install", "acme:pdf@1.1.0"]);
}

/// A job publishes with what its CI system states, and keeps no secret.
#[test]
fn a_job_publishes_without_a_token_of_its_own() {
    let issuer = Issuer::start();
    let server = start_registry(&format!("trusted-issuers = [\"{}\"]", issuer.url()));
    let owner = project(&server);
    log_in(&owner, "acme", &server.token("alice", &[]));
    owner.ok(&["publish", "pdf", "--to", "acme"]);

    let mut job = project(&server);
    write_skill(&job, "1.1.0");
    let args = ["publish", "pdf", "--to", "acme"];
    job.env("ACTIONS_ID_TOKEN_REQUEST_URL", &issuer.request_url());
    job.env("ACTIONS_ID_TOKEN_REQUEST_TOKEN", REQUEST_TOKEN);
    let refused = job.run(&args);
    assert_eq!(refused.code, Some(2), "nobody lets it yet: {refused}");
    let workflow = ["--repository", "acme/skills", "--workflow", "publish.yml", "--issuer", &issuer.url()];
    owner.ok(&[&["registry", "publisher", "add", "pdf", "-r", "acme"][..], &workflow].concat());
    job.ok(&[&args[..], &["--dry-run"]].concat());
    let published = job.ok(&[&args[..], &["-v"]].concat());
    assert!(!published.to_string().contains(REQUEST_TOKEN), "{published}");
    let trusted = json_of(&owner.ok(&["registry", "publisher", "list", "pdf", "-r", "acme", "--json"]));
    assert_eq!(trusted["publishers"][0]["repository_id"], "74", "that of the first job");

    // A token that is known wins, so that one of another job is not asked for.
    job.env(&variable(&server), "wrong");
    assert_eq!(job.run(&args).code, Some(4));

    // Other systems give the statement itself.
    let mut other = project(&server);
    write_skill(&other, "1.2.0");
    let mut claims = statement(&issuer.url());
    claims["aud"] = json!(server.url());
    let ready = issuer.sign(&claims);
    other.env("SKILLPM_ID_TOKEN", &ready);
    other.ok(&args);
    write_skill(&other, "1.3.0");
    let again = other.run(&args);
    assert_eq!(again.code, Some(4), "it was used: {again}");
    assert!(again.stderr.contains("CI system"), "{again}");

    // The request is refused, or not answered with a statement.
    let mut wrong = project(&server);
    wrong.env("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "wrong");
    for url in
        [issuer.request_url(), format!("{}/keys?x=1#", issuer.url()), "http://ci.example/?a".to_owned()]
    {
        wrong.env("ACTIONS_ID_TOKEN_REQUEST_URL", &url);
        let output = wrong.run(&args);
        assert!(matches!(output.code, Some(2 | 4)), "{url}: {output}");
    }
    for secret in [REQUEST_TOKEN, &ready] {
        assert!(!server.log().contains(secret));
    }
}
