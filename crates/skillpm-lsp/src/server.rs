//! The server: the open files, and an answer to each message.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Exit, Initialized, LogMessage, Notification as _, PublishDiagnostics,
};
use lsp_types::request::{
    CodeActionRequest, Completion, HoverRequest, Initialize, RegisterCapability, Request as _, Shutdown,
};
use lsp_types::{
    CodeAction, CodeActionParams, CompletionItem, CompletionParams, Diagnostic, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, Hover, HoverParams, TextDocumentContentChangeEvent,
    TextDocumentPositionParams,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skillpm_core::engine::load;
use skillpm_format::document::Document;
use skillpm_format::lint::{Finding, complete};
use skillpm_format::manifest;
use skillpm_sources::context::Context;

use crate::lines::Lines;
use crate::{places, shown};

/// The files that a client is asked to watch: those that decide what is found in a skill.
const WATCHED: [&str; 2] = ["**/{SKILL.md,skillpm.toml}", "**/{scripts,references,assets}/**"];

/// The largest number of findings that are shown of a file: an editor shows no more, and each takes time.
const MAX_DIAGNOSTICS: usize = 1000;

/// The largest number of changes in one message whose skills are looked for.
const MAX_CHANGES: usize = 1000;

/// A message from the client.
#[derive(Deserialize)]
struct Incoming {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
}

/// Why a request is refused: a code of the protocol, and a text.
struct Refused(i32, String);

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const NOT_INITIALIZED: i32 = -32002;

/// How far the conversation is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Running,
    ShutDown,
}

/// A skill's file that is open in the editor: its text counts, and not the one on disk.
struct OpenFile {
    text: String,
    version: Option<i32>,
    path: Option<PathBuf>,
    findings: Vec<Finding>,
}

impl OpenFile {
    /// Reads the file `path`, which is not open.
    fn closed(path: PathBuf) -> Option<Self> {
        let text = load::document(&path).ok()?.into_text();
        Some(Self { text, version: None, path: Some(path), findings: Vec::new() })
    }
}

/// The server.
pub(crate) struct Server {
    context: Context,
    stage: Stage,
    utf8: bool,
    can_watch: bool,
    open: BTreeMap<String, OpenFile>,
    answers: Vec<Value>,
}

impl Server {
    pub(crate) fn new(context: Context) -> Self {
        let (open, answers) = (BTreeMap::new(), Vec::new());
        Self { context, stage: Stage::New, utf8: false, can_watch: false, open, answers }
    }

    /// Returns the messages that are to be sent.
    pub(crate) fn answers(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.answers)
    }

    pub(crate) fn exit_code(&self) -> u8 {
        u8::from(self.stage != Stage::ShutDown)
    }

    /// Handles a message, and reports whether it was the last one.
    pub(crate) fn handle(&mut self, message: serde_json::Result<Value>) -> bool {
        let message = match message {
            Ok(message) => serde_json::from_value(message).map_err(|_| INVALID_REQUEST),
            Err(_) => Err(PARSE_ERROR),
        };
        match message {
            Err(code) => self.answer(
                &Value::Null,
                Err(Refused(code, "this is neither a request nor a notification in JSON".to_owned())),
            ),
            Ok(Incoming { id: Some(id), method: Some(method), params }) => {
                let result = self.request(&method, params);
                self.answer(&id, result);
            }
            Ok(Incoming { method: Some(method), .. }) if method == Exit::METHOD => return true,
            Ok(Incoming { method: Some(method), params, .. }) if self.stage == Stage::Running => {
                if let Err(Refused(_, message)) = self.notification(&method, params) {
                    self.send(LogMessage::METHOD, &json!({ "type": 1, "message": message }));
                }
            }
            // An answer to a request of ours, or a notification at the wrong time.
            Ok(_) => {}
        }
        false
    }

    fn answer(&mut self, id: &Value, result: Result<Value, Refused>) {
        self.answers.push(match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Refused(code, message)) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
            }
        });
    }

    fn send(&mut self, method: &str, params: &Value) {
        self.answers.push(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, Refused> {
        match (self.stage, method) {
            (Stage::New, Initialize::METHOD) => Ok(self.initialize(&params)),
            (Stage::New, _) => Err(Refused(NOT_INITIALIZED, "`initialize` comes first".to_owned())),
            (Stage::ShutDown, _) | (_, Initialize::METHOD) => {
                Err(Refused(INVALID_REQUEST, format!("`{method}` comes too late")))
            }
            (_, Shutdown::METHOD) => {
                self.stage = Stage::ShutDown;
                Ok(Value::Null)
            }
            (_, CodeActionRequest::METHOD) => Ok(json!(self.actions(&read(method, params)?))),
            (_, HoverRequest::METHOD) => Ok(json!(self.hover(&read(method, params)?))),
            (_, Completion::METHOD) => Ok(json!(self.complete(&read(method, params)?))),
            _ => Err(Refused(METHOD_NOT_FOUND, format!("there is no `{method}`"))),
        }
    }

    fn notification(&mut self, method: &str, params: Value) -> Result<(), Refused> {
        match method {
            Initialized::METHOD => self.watch(),
            DidOpenTextDocument::METHOD => self.opened(read(method, params)?),
            DidChangeTextDocument::METHOD => self.changed(read(method, params)?),
            DidSaveTextDocument::METHOD => {
                let params: DidSaveTextDocumentParams = read(method, params)?;
                self.touched([params.text_document.uri.as_str()]);
            }
            DidChangeWatchedFiles::METHOD => {
                let DidChangeWatchedFilesParams { changes } = read(method, params)?;
                self.touched(changes.iter().map(|change| change.uri.as_str()).take(MAX_CHANGES));
            }
            DidCloseTextDocument::METHOD => {
                let DidCloseTextDocumentParams { text_document } = read(method, params)?;
                if self.open.remove(text_document.uri.as_str()).is_some() {
                    self.publish(text_document.uri.as_str(), None, &[]);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn initialize(&mut self, params: &Value) -> Value {
        let offered = params.pointer("/capabilities/general/positionEncodings").and_then(Value::as_array);
        self.utf8 = offered.is_some_and(|all| all.iter().any(|encoding| encoding == "utf-8"));
        let watching = "/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration";
        self.can_watch = params.pointer(watching) == Some(&Value::Bool(true));
        self.stage = Stage::Running;
        json!({
            "serverInfo": { "name": shown::NAME, "version": env!("CARGO_PKG_VERSION") },
            "capabilities": {
                "positionEncoding": if self.utf8 { "utf-8" } else { "utf-16" },
                "textDocumentSync": { "openClose": true, "change": 2, "save": true },
                "codeActionProvider": { "codeActionKinds": ["quickfix"] },
                "hoverProvider": true,
                "completionProvider": { "triggerCharacters": [":", " ", ","] },
            },
        })
    }

    fn watch(&mut self) {
        if self.can_watch {
            let watchers = WATCHED.map(|pattern| json!({ "globPattern": pattern }));
            let method = DidChangeWatchedFiles::METHOD;
            let wanted =
                json!({ "id": "files", "method": method, "registerOptions": { "watchers": watchers } });
            let (id, method) = ("watch", RegisterCapability::METHOD);
            let params = json!({ "registrations": [wanted] });
            self.answers.push(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        }
    }

    fn opened(&mut self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let uri = document.uri.as_str();
        if places::is_skill(uri) {
            let (text, version, path) = (document.text, Some(document.version), places::path(uri));
            self.open.insert(uri.to_owned(), OpenFile { text, version, path, findings: Vec::new() });
            self.check(uri, None);
        }
    }

    fn changed(&mut self, params: DidChangeTextDocumentParams) {
        let uri = params.text_document.uri.as_str();
        let Some(file) = self.open.get_mut(uri) else { return };
        for TextDocumentContentChangeEvent { range, text, .. } in params.content_changes {
            match range {
                Some(range) => {
                    let span = Lines::new(&file.text, self.utf8).span(range);
                    file.text.replace_range(span, &text);
                }
                None => file.text = text,
            }
        }
        file.version = Some(params.text_document.version);
        self.check(uri, None);
    }

    /// Checks the skills again that the files `uris` belong to, each once; all, if one of them is a manifest.
    fn touched<'a>(&mut self, uris: impl IntoIterator<Item = &'a str>) {
        let mut skills = BTreeMap::new();
        for uri in uris {
            if uri.rsplit('/').next() == Some(manifest::FILE_NAME) {
                skills.extend(self.open.keys().map(|uri| (uri.clone(), None)));
            } else if let Some((uri, file)) = places::skill_of(uri) {
                skills.insert(uri, Some(file));
            } else if places::is_skill(uri) {
                // It is gone, unless it is open.
                skills.insert(uri.to_owned(), None);
            }
        }
        for (uri, path) in skills {
            self.check(&uri, path);
        }
    }

    /// Tells what is found in the skill's file `uri`: in its text if it is open, otherwise in the file `path`.
    fn check(&mut self, uri: &str, path: Option<PathBuf>) {
        let mut closed = path.filter(|_| !self.open.contains_key(uri)).and_then(OpenFile::closed);
        let Some(file) = self.open.get_mut(uri).or(closed.as_mut()) else {
            return self.publish(uri, None, &[]);
        };
        let found = places::findings(&self.context, file.path.as_deref(), &file.text);
        let failure = found.as_ref().err().map(|error| shown::failure(error.to_string()));
        file.findings = found.unwrap_or_default();
        let lines = Lines::new(&file.text, self.utf8);
        let diagnostics =
            file.findings.iter().take(MAX_DIAGNOSTICS).map(|finding| shown::diagnostic(&lines, finding));
        let (version, diagnostics) = (file.version, diagnostics.chain(failure).collect::<Vec<_>>());
        self.publish(uri, version, &diagnostics);
    }

    fn publish(&mut self, uri: &str, version: Option<i32>, diagnostics: &[Diagnostic]) {
        let mut params = json!({ "uri": uri, "diagnostics": diagnostics });
        if let Some(version) = version {
            params["version"] = version.into();
        }
        self.send(PublishDiagnostics::METHOD, &params);
    }

    fn actions(&self, params: &CodeActionParams) -> Vec<CodeAction> {
        let uri = &params.text_document.uri;
        let Some(file) = self.open.get(uri.as_str()) else { return Vec::new() };
        let only = params.context.only.as_ref();
        if only.is_some_and(|only| !only.iter().any(|kind| "quickfix".starts_with(kind.as_str()))) {
            return Vec::new();
        }
        let lines = Lines::new(&file.text, self.utf8);
        let span = lines.span(params.range);
        let is_here = |finding: &&Finding| finding.span.start <= span.end && span.start <= finding.span.end;
        let here = file.findings.iter().filter(is_here);
        here.filter_map(|finding| shown::action(&lines, uri, finding)).collect()
    }

    /// Returns the open file at a position, with its lines and the byte there.
    fn at(&self, params: &TextDocumentPositionParams) -> Option<(&OpenFile, Lines<'_>, Document, usize)> {
        let file = self.open.get(params.text_document.uri.as_str())?;
        let lines = Lines::new(&file.text, self.utf8);
        let offset = lines.offset(params.position);
        Some((file, lines, Document::parse(file.text.clone()), offset))
    }

    fn hover(&self, params: &HoverParams) -> Option<Hover> {
        let (file, lines, document, offset) = self.at(&params.text_document_position_params)?;
        shown::hover(&lines, &document, &file.findings, offset)
    }

    fn complete(&self, params: &CompletionParams) -> Option<Vec<CompletionItem>> {
        let (file, lines, document, offset) = self.at(&params.text_document_position)?;
        let directory = file.path.as_deref().and_then(|path| path.parent()?.file_name()?.to_str());
        let completion = complete(&document, directory, offset)?;
        let skills = || places::skills(&self.context, file.path.as_deref()).into_iter().collect();
        Some(shown::items(&lines, completion, skills))
    }
}

fn read<P: DeserializeOwned>(method: &str, params: Value) -> Result<P, Refused> {
    serde_json::from_value(params).map_err(|error| Refused(INVALID_PARAMS, format!("`{method}`: {error}")))
}
