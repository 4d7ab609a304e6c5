//! Every profile, asked through the library.

use serde_json::{Map, Value, json};
use skillpm_core::engine::{self, Arguments, Diagnostic, resources};
use skillpm_core::ops::invoke::InvokeRequest;
use skillpm_core::session::{Session, SessionOptions};
use skillpm_format::profile::LoadProfile;
use skillpm_sources::context::Context;
use skillpm_sources::error::Error;

use super::Case;
use crate::support::Sandbox;

/// What `profiles` of a case's answers holds: all that is found, and what becomes of it.
pub(super) fn all(sandbox: &Sandbox, case: &Case) -> Value {
    let one = |(name, profile): (&str, LoadProfile)| (name.to_owned(), answers(sandbox, case, profile));
    LoadProfile::ALL.into_iter().map(one).collect::<Map<_, _>>().into()
}

fn answers(sandbox: &Sandbox, case: &Case, profile: LoadProfile) -> Value {
    let places = case.places != Some(false);
    let directories = case.sources.iter().flatten().map(|dir| (None, sandbox.root().join(dir))).collect();
    let options =
        SessionOptions { profile, project: places, user: places, agent: None, directories, paths: false };
    let session = Session::new(Context::silent(sandbox.settings()), options).expect("opens");
    let snapshot = match session.snapshot() {
        Ok(snapshot) => snapshot,
        Err(error) => return failure(error),
    };
    let arguments = Arguments::new("a 'b c'");
    let of_each = |work: &dyn Fn(&str) -> Value| {
        let skills = snapshot.skills().iter().map(|skill| skill.meta.name.as_str());
        skills.map(|name| (name.to_owned(), work(name))).collect::<Map<_, _>>()
    };
    let invoked = |name: &str| {
        let arguments = arguments.clone();
        match session.invoke(&InvokeRequest { arguments, ..InvokeRequest::new(name) }) {
            Ok(outcome) => outcome.content.into(),
            Err(error) => failure(error),
        }
    };
    let files = |name: &str| session.open(name).map_or_else(failure, |opened| json!(opened.files));
    let tools = |name: &str| {
        let names =
            |set: &engine::tools::ToolSet| set.tools.iter().map(|tool| tool.tool_name.clone()).collect();
        session.tools(name, session.profile().scripts).map_or_else(failure, |(_, set)| names(&set))
    };
    let reads = case.reads.iter().map(|(name, path)| match session.read(name, path, 1 << 20) {
        Ok((_, resources::Content::Text(text))) => text.into(),
        Ok((_, resources::Content::Binary(bytes))) => json!(bytes.len()),
        Err(error) => failure(error),
    });
    json!({
        "skills": snapshot.skills().iter().map(|skill| found(skill)).collect::<Vec<_>>(),
        "shadowed": snapshot.shadowed().iter().map(|skill| found(skill)).collect::<Vec<_>>(),
        "diagnostics": snapshot.told().iter().map(|diagnostic| told(diagnostic)).collect::<Vec<_>>(),
        "invoked": of_each(&invoked),
        "files": of_each(&files),
        "tools": of_each(&tools),
        "reads": reads.collect::<Vec<_>>(),
    })
}

fn failure(error: impl Into<Error>) -> Value {
    let error = error.into();
    json!({ "error": error.with_causes(), "exit": error.kind().exit_code() })
}

fn found(skill: &engine::Skill) -> Value {
    let meta = &skill.meta;
    json!({
        "name": meta.name,
        "description": meta.description,
        "version": meta.version,
        "tags": meta.tags,
        "dependencies": meta.dependencies,
        "allowed_tools": meta.allowed_tools,
        "source": *skill.source,
        "file": skill.file,
    })
}

fn told(diagnostic: &Diagnostic) -> Value {
    json!({
        "code": diagnostic.code(),
        "severity": diagnostic.severity().to_string(),
        "message": diagnostic.to_string(),
        "path": diagnostic.path(),
        "line": diagnostic.at().map(|at| at.line),
        "column": diagnostic.at().map(|at| at.column),
    })
}
