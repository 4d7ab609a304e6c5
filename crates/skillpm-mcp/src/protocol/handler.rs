//! What each request of the protocol does.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    GetSkillRequestParams, GetSkillResult, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, PromptMessage, ReadResourceDirectoryRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, Reference, ResourceTemplate, Role, ServerCapabilities, ServerConfig,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use skillpm_core::toolkit::{Answer, Call, shortened};

use super::server::brief;
use super::{Server, convert, is_modern, page};
use crate::entry::Entry;
use crate::instructions::instructions;
use crate::offer::{Located, Offer, View};
use crate::prompts;

/// The number of skills in one answer.
const PAGE: usize = 100;
/// The time for which a client may keep a list, in milliseconds. A notification ends it early.
const TTL: u64 = 30_000;

/// The number of characters of a client's name that the audit log has.
const MAX_CLIENT: usize = 200;

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

/// What a tool call turned out to be.
enum Called {
    Answer(Answer),
    Script(Call),
}

/// Returns the current skills, or the error for a client.
fn view(offer: &Offer) -> Result<Arc<View>, ErrorData> {
    offer.view().map_err(|error| convert::failed(&error))
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

/// Returns what a person calls the client, for the audit log.
fn client(context: &RequestContext<RoleServer>) -> Option<String> {
    context.client_info().map(|client| shortened(client.name, MAX_CLIENT))
}

impl Server {
    /// Returns the instructions for a client that comes now.
    async fn instructions(&self) -> Result<Option<String>, ErrorData> {
        self.read(|offer| instructions(&offer.kit).map_err(|error| convert::failed(&error))).await
    }
}

impl ServerHandler for Server {
    /// Returns what all clients learn of the server. Its instructions are added when a client comes.
    fn get_info(&self) -> ServerConfig {
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
        ServerConfig::new(capabilities).with_server_info(identity)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut config = self.negotiate_initialize(&request)?;
        config.instructions = self.instructions().await?;
        Ok(config)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut config = self.get_info();
        config.instructions = self.instructions().await?;
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), config))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(news) = self.first_news() {
            tokio::spawn(news.announce(context.peer));
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // Changes of single files are not reported.
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let _request = self.begin()?;
        self.news().publish(&subscription, &self.closed).await;
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
        Err(brief(if known.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("the parameters do not fit `{method}`"), None)
        } else {
            ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
        }))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.read(move |offer| {
            let (value, view) = (request.argument.value.as_str(), view(offer)?);
            let values = match &request.r#ref {
                Reference::Prompt(prompt) => {
                    prompts::complete(&view.found, &prompt.name, &request.argument.name, value)
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
        self.read(|offer| {
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
        self.read(move |offer| {
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
        self.read(move |offer| {
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
        self.read(move |offer| {
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
        self.read(move |offer| {
            let view = view(offer)?;
            let (page, next) = page::of(&view.skills, request, PAGE)?;
            let mut result = ListResourcesResult::with_all_items(
                page.iter().filter_map(|it| convert::resource(it)).collect(),
            );
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
        self.read(move |offer| {
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
        if self.shared.offer.kit.selection.no_tools {
            return Ok(ListToolsResult::default());
        }
        self.read(move |offer| {
            let mut definitions = offer.kit.definitions().map_err(|error| convert::failed(&error))?;
            // Without skills there is nothing to run either.
            if !definitions.is_empty() {
                definitions.extend(offer.kit.script_definitions(&loaded));
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
        if self.shared.offer.kit.selection.no_tools {
            return Err(brief(unknown_tool(&request.name)));
        }
        let (client, loaded, call) = (client(&context), self.loaded(), request.clone());
        let found = self
            .read(move |offer| {
                let arguments = call.arguments.unwrap_or_default();
                if let Some(answer) = offer.kit.call(&call.name, &arguments, client.as_deref()) {
                    return Ok(Called::Answer(answer));
                }
                let script = offer.kit.script_call(&loaded, &call.name, &arguments);
                let script = script.ok_or_else(|| unknown_tool(&call.name))?;
                Ok(script.map_or_else(|error| Called::Answer(offer.kit.failed(&error)), Called::Script))
            })
            .await?;
        match found {
            Called::Answer(answer) => {
                if let Some(skill) = &answer.loaded {
                    self.remember(skill);
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
        self.read(move |offer| {
            let prompts = prompts::list(&offer.kit).map_err(|error| convert::failed(&error))?;
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
        self.read(move |offer| {
            let arguments = request.arguments.unwrap_or_default();
            let (description, text) = prompts::get(&offer.kit, &request.name, &arguments, client.as_deref())
                .map_err(|error| ErrorData::invalid_params(error.with_causes().to_string(), None))?;
            let message = PromptMessage::new_text(Role::User, text);
            Ok(GetPromptResult::new(vec![message]).with_description(description).into())
        })
        .await
    }
}
