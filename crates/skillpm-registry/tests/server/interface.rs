//! The interface is as its document describes it: `schemathesis` makes requests from the document, fit and unfit ones,
//! and holds each answer against it.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::bucket::python_program;
use crate::support::Server;

/// Runs the program against `server`, and returns all that it says.
fn check(program: &Path, server: &Server, more: &[&str]) -> String {
    let dir = tempfile::tempdir().expect("a directory");
    let url = format!("{}/api/v1/openapi.json", server.url());
    let mut command = Command::new(program);
    command.args(["run", &url, "--phases", "coverage"]);
    command.args([
        "--generation-deterministic",
        "--no-color",
        "--warnings",
        "off",
        "--request-timeout",
        "10",
    ]);
    command.args(more).current_dir(dir.path()).env("NO_PROXY", "*").env("PYTHONUTF8", "1");
    let since = Instant::now();
    let output = command.output().expect("starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    println!("schemathesis, {} options more: {:.1} s", more.len(), since.elapsed().as_secs_f64());
    said
}

#[tokio::test]
async fn answers_are_as_the_document_says() {
    let Some(program) = python_program("schemathesis") else { return };
    let server = Server::start("[limits]\nrequests-per-minute = 1000000\npublishes-per-hour = 1000000");
    let alice = server.token("alice", &[]);
    for version in ["1.0.0", "1.1.0", "1.2.0"] {
        assert_eq!(server.publish(&alice, "pdf", version).await.status, 201);
    }
    let login = format!("Authorization: Bearer {alice}");
    // First without a token: whoever has one may hide the skill.
    for more in [&[][..], &["--header", &login]] {
        let said = check(&program, &server, more);
        let tested = said.lines().find(|line| line.trim_start().starts_with("Tested: ")).unwrap_or_default();
        assert!(
            tested.trim().trim_start_matches("Tested: ").parse::<u32>().is_ok_and(|count| count > 20),
            "{said}"
        );
    }
    let log = server.log();
    assert!(!log.contains("\"status\":5") && !log.contains("panicked"), "{log}");
    let served = log.matches("\"status\":2").count();
    assert!(served > 100, "few requests reached what they asked for: {served}");
}
