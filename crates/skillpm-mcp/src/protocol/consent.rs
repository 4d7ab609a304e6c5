//! Asks the person behind a client whether a script may run.
//!
//! A modern client gets the question as the result of its call, and calls again with the answer. An older one is asked
//! while it waits. A client that can do neither is refused.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequests, InputRequiredResult,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use skillpm_core::toolkit::Question;
use skillpm_format::digest::Digest;

use super::{is_modern, random_text};

/// The key of the question among the requests of a result.
const KEY: &str = "consent";
/// The field that a person fills in.
const FIELD: &str = "run";
/// The time that a person has for an answer.
const TIME: Duration = Duration::from_mins(5);
/// The number of questions that wait for an answer. If there are more, the oldest ones are dropped.
const MAX_OPEN: usize = 1_000;
/// The reason if the system does not allow asking.
const NOT_PUT: &str = "a person must agree, and the question could not be put";

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

/// The questions that wait for an answer, the oldest first. Each can be answered once.
#[derive(Debug, Default)]
pub(super) struct Questions(Mutex<VecDeque<Open>>);

/// A question that waits for an answer.
#[derive(Debug)]
struct Open {
    /// What a call must carry to answer it. Nobody can guess it.
    state: String,
    /// The call that it was asked for.
    subject: Digest,
    question: Question,
    until: Instant,
}

impl Questions {
    /// Returns the question to which a call carries the answer `yes`. Returns `None` for a call without an answer, and for
    /// another answer. The question is closed after that.
    pub(super) fn agreed(&self, call: &CallToolRequestParams) -> Result<Option<Question>, ErrorData> {
        let (Some(state), Some(answers)) = (&call.request_state, &call.input_responses) else {
            return Ok(None);
        };
        let question = self.close(state, subject(call), Instant::now()).ok_or_else(|| {
            let message = "no question for this call waits for an answer: it was answered already, or too long ago; call again \
                           without an answer";
            ErrorData::invalid_params(message, None)
        })?;
        let answer =
            answers.get(KEY).cloned().and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok());
        Ok(answer.is_some_and(|answer| is_yes(&answer)).then_some(question))
    }

    /// Adds a question for the call `subject`, and returns what the same call must carry to answer it.
    fn open(&self, question: &Question, subject: Digest, now: Instant) -> std::io::Result<String> {
        let state = random_text()?;
        let open = Open { state: state.clone(), subject, question: question.clone(), until: now + TIME };
        let mut questions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        questions.push_back(open);
        if questions.len() > MAX_OPEN {
            questions.pop_front();
        }
        Ok(state)
    }

    /// Takes out the question for the call `subject` that has this `state`, if there is one at the time `now`.
    fn close(&self, state: &str, subject: Digest, now: Instant) -> Option<Question> {
        let mut questions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        questions.retain(|open| open.until > now);
        let at = questions.iter().position(|open| open.state == state && open.subject == subject)?;
        questions.remove(at).map(|open| open.question)
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
            return Consent::Refused(NOT_PUT);
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
            let Ok(state) = self.open(question, subject(call), Instant::now()) else {
                return Consent::Refused(NOT_PUT);
            };
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
pub(super) fn unable(context: &RequestContext<RoleServer>) -> Result<&'static str, ErrorData> {
    if is_modern(context) {
        let required = ClientCapabilities::builder().enable_elicitation().build();
        return Err(ErrorData::missing_required_client_capability(required));
    }
    Ok("a person must agree, and this client cannot ask one")
}

/// Returns what an answer is bound to: the tool and its arguments.
fn subject(call: &CallToolRequestParams) -> Digest {
    // Values of this kind always serialize.
    Digest::of(&serde_json::to_vec(&(&call.name, &call.arguments)).unwrap_or_default())
}

fn is_yes(answer: &ElicitResult) -> bool {
    answer.action == ElicitationAction::Accept
        && answer.content.as_ref().and_then(|content| content.get(FIELD)).and_then(serde_json::Value::as_bool)
            == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> Question {
        Question { text: text.to_owned(), files: Digest::of(b"files") }
    }

    /// An answer counts once, for the call that it belongs to, and for five minutes.
    #[test]
    fn a_question_is_answered_once() {
        let (questions, now) = (Questions::default(), Instant::now());
        let (this, other) = (Digest::of(b"this call"), Digest::of(b"another call"));
        let state = questions.open(&question("a"), this, now).expect("random numbers");
        let next = questions.open(&question("a"), this, now).expect("random numbers");
        assert_ne!(state, next);
        assert_eq!(questions.close(&state, other, now), None);
        assert_eq!(questions.close("", this, now), None);
        assert_eq!(questions.close(&state, this, now), Some(question("a")));
        assert_eq!(questions.close(&state, this, now), None);
        assert_eq!(questions.close(&next, this, now + TIME), None);
        assert!(questions.0.into_inner().expect("no panic").is_empty());
    }

    /// A client that asks and never answers fills no memory.
    #[test]
    fn the_oldest_questions_are_dropped() {
        let (questions, now) = (Questions::default(), Instant::now());
        let call = Digest::of(b"call");
        let states: Vec<_> = (0..=MAX_OPEN)
            .map(|number| questions.open(&question(&number.to_string()), call, now).expect("random numbers"))
            .collect();
        assert_eq!(questions.close(&states[0], call, now), None);
        assert_eq!(questions.close(&states[1], call, now), Some(question("1")));
        assert_eq!(questions.0.into_inner().expect("no panic").len(), MAX_OPEN - 1);
    }
}
