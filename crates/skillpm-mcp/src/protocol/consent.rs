//! Asks the person behind a client whether a script may run.
//!
//! A modern client gets the question as the result of its call, and calls again with the answer. An older one is asked
//! while it waits. A client that can do neither is refused.

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult,
    RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use crate::tools::scripts::Question;

use super::is_modern;

/// The key of the question among the requests of a result.
const KEY: &str = "consent";
/// The field that a person fills in.
const FIELD: &str = "run";
/// The time that a person has for an answer.
const TIME: Duration = Duration::from_mins(5);

/// The answer of a person.
pub(super) enum Consent {
    /// Yes.
    Given,
    /// The client asks, and calls again.
    Pending(Box<InputRequiredResult>),
    /// No, for this reason.
    Refused(&'static str),
    /// The client did not say that it can ask.
    Unable,
}

/// Seals the questions that were asked, so that no client can answer one that was not.
pub(super) struct Questions(RequestStateCodec);

impl Questions {
    /// Returns a seal for the lifetime of this process.
    ///
    /// # Errors
    ///
    /// Fails if the system has no random numbers.
    pub(super) fn new() -> std::io::Result<Self> {
        let mut key = vec![0; RequestStateCodec::MIN_KEY_LENGTH];
        getrandom::fill(&mut key)?;
        RequestStateCodec::try_new(key).map(Self).map_err(std::io::Error::other)
    }

    /// Returns the question to which a call carries the answer `yes`. Returns `None` for a call without an answer.
    ///
    /// # Errors
    ///
    /// Fails for an answer to another question than was asked for this call, or that comes too late.
    pub(super) fn agreed(&self, call: &CallToolRequestParams) -> Result<Option<Question>, ErrorData> {
        let (Some(state), Some(answers)) = (&call.request_state, &call.input_responses) else {
            return Ok(None);
        };
        let question = self.0.open_with(state, &subject(call)).map_err(|error| {
            ErrorData::invalid_params(format!("the answer does not belong to this call: {error}"), None)
        })?;
        let answer =
            answers.get(KEY).cloned().and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok());
        let question = String::from_utf8_lossy(&question);
        let (files, text) = question.split_once('\n').unwrap_or_default();
        let is_yes = answer.is_some_and(|answer| is_yes(&answer));
        Ok(is_yes.then(|| Question { text: text.to_owned(), files: files.to_owned() }))
    }

    /// Asks the person behind the client `question`; `details` says what they should know besides.
    pub(super) async fn ask(
        &self,
        question: &Question,
        details: &str,
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Consent {
        if context.client_capabilities().is_none_or(|client| client.elicitation.is_none()) {
            return Consent::Unable;
        }
        // The same call with an answer that is not a yes.
        if call.input_responses.is_some() {
            return Consent::Refused("the user said no, or the skill changed after that");
        }
        let Ok(schema) = ElicitationSchema::builder()
            .required_bool_property(FIELD, |field| field.title("Run it").with_default(false))
            .build()
        else {
            return Consent::Refused("a person must agree, and the question could not be put");
        };
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: format!("{}\n{details}", question.text),
            requested_schema: schema,
        };
        if is_modern(context) {
            let requests = InputRequests::from([(
                KEY.to_owned(),
                InputRequest::Elicitation(ElicitRequest::new(params)),
            )]);
            let subject = subject(call);
            let options = SealOptions::new().associated_data(&subject).ttl(TIME);
            let question = format!("{}\n{}", question.files, question.text);
            let state = self.0.seal_with(question.as_bytes(), &options);
            return Consent::Pending(Box::new(InputRequiredResult::new(Some(requests), Some(state))));
        }
        match context.peer.create_elicitation_with_timeout(params, Some(TIME)).await {
            Ok(answer) if is_yes(&answer) => Consent::Given,
            Ok(_) => Consent::Refused("the user said no"),
            Err(_) => Consent::Refused("a person must agree, and there was no answer"),
        }
    }
}

/// Returns the answer to a client that did not say that it can ask a person. The protocol has an error for it since the
/// version whose requests say what the client can do; before that a model should learn of it.
///
/// # Errors
///
/// Fails with the error of the protocol.
pub(super) fn unable(context: &RequestContext<RoleServer>) -> Result<&'static str, ErrorData> {
    if is_modern(context) {
        let required = ClientCapabilities::builder().enable_elicitation().build();
        return Err(ErrorData::missing_required_client_capability(required));
    }
    Ok("a person must agree, and this client cannot ask one")
}

/// Returns what an answer is bound to: the tool and its arguments.
fn subject(call: &CallToolRequestParams) -> Vec<u8> {
    // Values of this kind always serialize.
    serde_json::to_vec(&(&call.name, &call.arguments)).unwrap_or_default()
}

fn is_yes(answer: &ElicitResult) -> bool {
    answer.action == ElicitationAction::Accept
        && answer.content.as_ref().and_then(|content| content.get(FIELD)).and_then(serde_json::Value::as_bool)
            == Some(true)
}
