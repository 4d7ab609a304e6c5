//! Speaks the Model Context Protocol, by the library `rmcp`. Nothing outside of this module knows its types.
//!
//! One server answers both eras: clients that `initialize` (2024-11-05 to 2025-11-25) and clients that `discover`
//! (2026-07-28). The library decides per request and adapts the answers.

mod convert;
mod page;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    GetSkillRequestParams, GetSkillResult, Implementation, ListPromptsResult, ListResourcesResult,
    ListSkillsResult, ListToolsResult, PaginatedRequestParams, PromptMessage,
    ReadResourceDirectoryRequestParams, ReadResourceRequestParams, ReadResourceResponse, Role,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::io::stdio_pipes;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use skillpm_core::error::Error;

use crate::entry::Entry;
use crate::instructions::instructions;
use crate::offer::{Located, Offer, View};
use crate::{prompts, tools};

/// The number of skills in one answer.
const PAGE: usize = 100;
/// The time for which a client may keep a list, in milliseconds. A notification ends it early.
const TTL: u64 = 30_000;

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

/// Serves `offer` on standard input and output until the client closes them.
///
/// # Errors
///
/// Fails if the skills cannot be searched, and for a client that does not speak the protocol.
pub fn serve_stdio(offer: Offer) -> Result<(), ServeError> {
    let server = Server::new(Arc::new(offer))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(async {
        let running = match server.serve(stdio_pipes()).await {
            Ok(running) => running,
            // A client that leaves before it says anything has not failed.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Session(error.to_string())),
        };
        running.waiting().await.map(drop).map_err(|error| ServeError::Session(error.to_string()))
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
}

impl Server {
    fn new(offer: Arc<Offer>) -> Result<Self, Error> {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources()
            .enable_tools()
            .enable_skills_with_directory_read()
            .build();
        let identity = Implementation::new("skillpm", env!("CARGO_PKG_VERSION")).with_title("Agent Skills");
        let mut config = ServerConfig::new(capabilities).with_server_info(identity);
        config.instructions = instructions(&offer)?;
        Ok(Self { offer, config })
    }

    /// Does `work`, which reads files, on a thread that may wait.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Offer) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let offer = Arc::clone(&self.offer);
        let done = tokio::task::spawn_blocking(move || work(&offer)).await;
        done.unwrap_or_else(|_| Err(ErrorData::internal_error("the request failed unexpectedly", None)))
    }
}

/// Returns the current skills, or the error for a client.
fn view(offer: &Offer) -> Result<Arc<View>, ErrorData> {
    offer.view().map_err(|error| ErrorData::internal_error(error.with_causes().to_string(), None))
}

/// Returns what `uri` means.
fn locate(offer: &Offer, uri: &str) -> Result<Located, ErrorData> {
    view(offer)?
        .locate(uri)
        .ok_or_else(|| ErrorData::resource_not_found(format!("there is no skill at `{uri}`"), None))
}

/// Returns what a person calls the client, for the audit log.
fn client(context: &RequestContext<RoleServer>) -> Option<String> {
    context.client_info().map(|client| client.name)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
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
            let located = locate(offer, &request.uri)?;
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
            let located = locate(offer, &request.uri)?;
            convert::contents(offer, &located, &request.uri).map(Into::into)
        })
        .await
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.blocking(move |offer| {
            let definitions = tools::definitions(offer).map_err(|error| convert::failed(&error))?;
            Ok(ListToolsResult::with_all_items(definitions.into_iter().map(convert::tool).collect()))
        })
        .await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = client(&context);
        self.blocking(move |offer| {
            let arguments = request.arguments.unwrap_or_default();
            let answer = tools::call(offer, &request.name, &arguments, client.as_deref());
            let answer = answer.ok_or_else(|| {
                ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None)
            })?;
            Ok(convert::answer(answer).into())
        })
        .await
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
