//! The interface is as its document describes it: `schemathesis` makes requests from the document, fit and unfit ones,
//! and holds each answer against it. The document itself is held against the schema of OpenAPI 3.1.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
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

/// Holds what it reads against the schema that the OpenAPI Initiative publishes, which schemathesis brings.
const VALIDATE: &str = "\
import json, sys
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR
OPENAPI_31_VALIDATOR.validate(json.load(sys.stdin))";

#[tokio::test]
async fn the_document_is_valid() {
    let Some(program) = python_program("python") else { return };
    let server = Server::start("");
    let answer = server.get("/api/v1/openapi.json").await;
    assert_eq!(answer.header("content-type"), "application/json");
    let mut command = Command::new(program);
    command.args(["-c", VALIDATE]).stdin(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("starts");
    let document = answer.text();
    child.stdin.take().expect("a pipe").write_all(document.as_bytes()).expect("is read");
    let output = child.wait_with_output().expect("ends");
    assert!(output.status.success(), "{}{document}", String::from_utf8_lossy(&output.stderr));
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
