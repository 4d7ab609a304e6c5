//! Speaks the Model Context Protocol, by the library `rmcp`. Nothing outside of this module knows its types.
//!
//! One server answers both eras: clients that `initialize` (2024-11-05 to 2025-11-25) and clients that `discover`
//! (2026-07-28). The library decides per request and adapts the answers.

mod changes;
mod consent;
mod convert;
mod http;
mod pace;
mod page;
mod running;
mod stdio;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    GetSkillRequestParams, GetSkillResult, Implementation, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams, PromptMessage,
    ProtocolVersion, ReadResourceDirectoryRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    Reference, ResourceTemplate, Role, ServerCapabilities, ServerConfig, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use skillpm_core::admission::Scripts;
use skillpm_core::error::Error;
use skillpm_core::interrupt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::changes::Changes;
use self::consent::Questions;
pub use self::http::serve_http;
use self::pace::Pace;
use crate::entry::Entry;
use crate::instructions::instructions;
use crate::offer::{Located, Offer, View};
use crate::tools::Answer;
use crate::{prompts, tools};

/// The number of skills in one answer.
const PAGE: usize = 100;
/// The time for which a client may keep a list, in milliseconds. A notification ends it early.
const TTL: u64 = 30_000;

/// The time for the last answers to a client that asks for nothing more. It may not even read them.
const GRACE: Duration = Duration::from_secs(5);

/// The methods that need parameters, or check them.
const WITH_PARAMETERS: [&str; 13] = [
    // Of older clients alone.
    "initialize",
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/directory/read",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "skills/get",
    "skills/list",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// The reason why a server ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The directories of skills cannot be searched.
    #[error(transparent)]
    Skills(#[from] Error),
    /// The system refused threads or files.
    #[error("the server cannot start: {0}")]
    Start(#[from] std::io::Error),
    /// The client did not start a session as the protocol says.
    #[error("the client did not start a session: {0}")]
    Session(String),
}

/// Returns what drives a server.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Serves `offer` on standard input and output until the client closes them.
///
/// # Errors
///
/// Fails if the skills cannot be searched, and for a client that does not speak the protocol.
pub fn serve_stdio(offer: Offer) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let server = Server::new(Arc::new(offer))?;
        let closed = server.closed.clone();
        let running = match server.clone().serve(stdio::stdio(server.closed.clone())).await {
            Ok(running) => running,
            // A client that leaves before it says anything has not failed.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Session(error.to_string())),
        };
        let left_unread = async {
            closed.cancelled().await;
            // After a signal nobody waits for answers.
            if !interrupt::asked() {
                tokio::time::sleep(GRACE).await;
            }
        };
        tokio::select! {
            ended = running.waiting() => ended.map(drop).map_err(|error| ServeError::Session(error.to_string())),
            () = left_unread => Ok(()),
        }
    });
    // A read of standard input cannot be cancelled.
    runtime.shutdown_background();
    served
}

/// The server of one client.
#[derive(Clone)]
struct Server {
    offer: Arc<Offer>,
    config: ServerConfig,
    changes: Arc<Changes>,
    questions: Arc<Questions>,
    pace: Arc<Pace>,
    /// Cancelled once the client is gone, so that its scripts end, and once a signal has ended a script.
    closed: CancellationToken,
    /// The skills that the client has loaded, whose scripts are tools of their own.
    loaded: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Returns the server of the first client. Must be called in a runtime.
    fn new(offer: Arc<Offer>) -> Result<Self, ServeError> {
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_skills_with_directory_read()
            .build();
        let identity = Implementation::new("skillpm", env!("CARGO_PKG_VERSION")).with_title("Agent Skills");
        let mut config = ServerConfig::new(capabilities).with_server_info(identity);
        config.instructions = instructions(&offer)?;
        Ok(Self {
            changes: Changes::watch(&offer),
            questions: Arc::new(Questions::new()?),
            pace: Arc::new(Pace::new()),
            closed: CancellationToken::new(),
            loaded: Arc::default(),
            offer,
            config,
        })
    }

    /// Returns the skills that the client has loaded.
    fn loaded(&self) -> Vec<String> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Remembers that the client has loaded `skill`; reports whether it has more tools now.
    fn remember(&self, skill: &str) -> bool {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if self.offer.scripts == Scripts::Deny || loaded.iter().any(|name| name == skill) {
            return false;
        }
        loaded.push(skill.to_owned());
        true
    }

    /// Does `work`, which reads files, on a thread that may wait.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Offer) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        self.pace.wait().await;
        let offer = Arc::clone(&self.offer);
        let done = tokio::task::spawn_blocking(move || work(&offer)).await;
        done.unwrap_or_else(|_| Err(ErrorData::internal_error("the request failed unexpectedly", None)))
    }
}

/// What a tool call turned out to be.
enum Called {
    Answer(Answer),
    Script(tools::scripts::Call),
}

/// Tells an older client of each change, until it is gone. A modern one subscribes.
async fn announce(peer: Peer<RoleServer>, mut changes: watch::Receiver<u64>) {
    while changes.changed().await.is_ok() {
        let told = [
            peer.notify_tool_list_changed().await,
            peer.notify_prompt_list_changed().await,
            peer.notify_resource_list_changed().await,
        ];
        if peer.is_transport_closed() || told.iter().all(Result::is_err) {
            return;
        }
    }
}

/// Returns the current skills, or the error for a client.
fn view(offer: &Offer) -> Result<Arc<View>, ErrorData> {
    offer.view().map_err(|error| ErrorData::internal_error(error.with_causes().to_string(), None))
}

fn unknown_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no tool `{name}`"), None)
}

/// Returns what `uri` means; fails with `error` if it means nothing.
fn locate(
    offer: &Offer,
    uri: &str,
    error: fn(String, Option<Value>) -> ErrorData,
) -> Result<Located, ErrorData> {
    let located = view(offer)?.locate(uri);
    located.ok_or_else(|| error(format!("there is no skill at `{uri}`"), Some(json!({ "uri": uri }))))
}

/// Reports whether the client speaks the protocol of 2026-07-28 or later.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// Returns what a person calls the client, for the audit log.
fn client(context: &RequestContext<RoleServer>) -> Option<String> {
    context.client_info().map(|client| client.name)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tokio::spawn(announce(context.peer, self.changes.subscribe()));
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // There is no news of single files.
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let (sink, accepted) = (subscription.sink().clone(), subscription.accepted().clone());
        let mut changes = self.changes.subscribe();
        while changes.changed().await.is_ok() {
            let mut told = Ok(());
            if accepted.tools_list_changed == Some(true) {
                told = told.and(sink.notify_tool_list_changed().await);
            }
            if accepted.prompts_list_changed == Some(true) {
                told = told.and(sink.notify_prompt_list_changed().await);
            }
            if accepted.resources_list_changed == Some(true) {
                told = told.and(sink.notify_resource_list_changed().await);
            }
            if told.is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Answers what the library does not know: also a request whose parameters do not fit its method.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method;
        let known = if is_modern(&context) { &WITH_PARAMETERS[1..] } else { &WITH_PARAMETERS[..] };
        Err(if known.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("the parameters do not fit `{method}`"), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
        })
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.blocking(move |offer| {
            let (value, view) = (request.argument.value.as_str(), view(offer)?);
            let values = match &request.r#ref {
                Reference::Prompt(prompt) => {
                    prompts::complete(&view, &prompt.name, &request.argument.name, value)
                }
                Reference::Resource(_) => view.paths(value),
                _ => Vec::new(),
            };
            Ok(CompleteResult::new(convert::completion(values)))
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.blocking(|offer| {
            let is_empty = view(offer)?.skills.is_empty();
            let template = ResourceTemplate::new("skill://{+path}", "file of a skill")
                .with_description("a file of a skill: its scope, its name and the path of the file, such as `user/pdf/SKILL.md`");
            let templates = if is_empty { Vec::new() } else { vec![template] };
            Ok(ListResourceTemplatesResult::with_all_items(templates))
        })
        .await
    }

    async fn list_skills(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        self.blocking(move |offer| {
            let view = view(offer)?;
            let (page, next) = page::of(&view.skills, request, PAGE)?;
            let mut result = ListSkillsResult::with_all_items(Vec::with_capacity(page.len()));
            for served in page {
                match Entry::read(served) {
                    Ok(entry) => result.skills.push(convert::skill(entry)),
                    Err(reason) => offer.leave_out(served, &reason),
                }
            }
            result.next_cursor = next;
            result.ttl_ms = Some(TTL);
            result.cache_scope = Some(rmcp::model::CacheScope::Private);
            Ok(result)
        })
        .await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        self.blocking(move |offer| {
            let located = locate(offer, &request.uri, ErrorData::invalid_params)?;
            let entry = Entry::read(&located.served);
            match entry {
                Ok(entry) if entry.uri == request.uri => {
                    let mut result = GetSkillResult::new(convert::skill(entry));
                    result.ttl_ms = Some(TTL);
                    result.cache_scope = Some(rmcp::model::CacheScope::Private);
                    Ok(result)
                }
                Ok(entry) => Err(ErrorData::invalid_params(
                    format!("there is no skill at `{}`; `{}` is its address", request.uri, entry.uri),
                    None,
                )),
                Err(reason) => {
                    let name = &located.served.skill.meta.name;
                    Err(ErrorData::invalid_params(
                        format!("the skill `{name}` cannot be listed: {reason}"),
                        None,
                    ))
                }
            }
        })
        .await
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.blocking(move |offer| {
            let children = convert::children(&*view(offer)?, &request.uri)?;
            let page = PaginatedRequestParams::default().with_cursor(request.cursor);
            let (page, next) = page::of(&children, Some(page), PAGE)?;
            let mut result = ListResourcesResult::with_all_items(page.to_vec());
            result.next_cursor = next;
            Ok(result)
        })
        .await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.blocking(move |offer| {
            let view = view(offer)?;
            let (page, next) = page::of(&view.skills, request, PAGE)?;
            let mut result =
                ListResourcesResult::with_all_items(page.iter().map(|it| convert::resource(it)).collect());
            result.next_cursor = next;
            result.ttl_ms = Some(TTL);
            result.cache_scope = Some(rmcp::model::CacheScope::Private);
            Ok(result)
        })
        .await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.blocking(move |offer| {
            let located = locate(offer, &request.uri, ErrorData::resource_not_found)?;
            convert::contents(offer, &located, &request.uri).map(Into::into)
        })
        .await
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let loaded = self.loaded();
        if self.offer.no_tools {
            return Ok(ListToolsResult::default());
        }
        self.blocking(move |offer| {
            let mut definitions =
                tools::skills::definitions(offer).map_err(|error| convert::failed(&error))?;
            // Without skills there is nothing to run either.
            if !definitions.is_empty() {
                definitions.extend(tools::scripts::definitions(offer, &loaded));
            }
            Ok(ListToolsResult::with_all_items(definitions.into_iter().map(convert::tool).collect()))
        })
        .await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.offer.no_tools {
            return Err(unknown_tool(&request.name));
        }
        let (client, loaded, call) = (client(&context), self.loaded(), request.clone());
        let found = self
            .blocking(move |offer| {
                let arguments = call.arguments.unwrap_or_default();
                if let Some(answer) = tools::skills::call(offer, &call.name, &arguments, client.as_deref()) {
                    return Ok(Called::Answer(answer));
                }
                let script = tools::scripts::called(offer, &loaded, &call.name, &arguments);
                let script = script.ok_or_else(|| unknown_tool(&call.name))?;
                Ok(script.map_or_else(|error| Called::Answer(Answer::failed(&error)), Called::Script))
            })
            .await?;
        match found {
            Called::Answer(answer) => {
                if let Some(skill) = &answer.loaded
                    && self.remember(skill)
                {
                    self.changes.add();
                }
                Ok(convert::answer(answer).into())
            }
            Called::Script(script) => self.run(script, &request, &context).await,
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.blocking(move |offer| {
            let prompts = prompts::list(offer).map_err(|error| convert::failed(&error))?;
            let (page, next) = page::of(&prompts, request, PAGE)?;
            let mut result = ListPromptsResult::with_all_items(page.iter().map(convert::prompt).collect());
            result.next_cursor = next;
            Ok(result)
        })
        .await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let client = client(&context);
        self.blocking(move |offer| {
            let arguments = request.arguments.unwrap_or_default();
            let (description, text) = prompts::get(offer, &request.name, &arguments, client.as_deref())
                .map_err(|error| ErrorData::invalid_params(error.with_causes().to_string(), None))?;
            let message = PromptMessage::new_text(Role::User, text);
            Ok(GetPromptResult::new(vec![message]).with_description(description).into())
        })
        .await
    }
}
