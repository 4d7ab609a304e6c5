//! Routes with their descriptions: the router and the OpenAPI document are made of the same rows. The types of a handler
//! describe everything that its row does not.

use std::marker::PhantomData;

use axum::Extension;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{FromRequest, Path, Request, State};
use axum::handler::Handler;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Shared;
use super::response::{Answer, Keep, Query, json};
use crate::access::Caller;
use crate::app::File;
use crate::codes;
use crate::error::{Error, Result};

/// The largest body of a request that is not an archive.
const SMALL_BODY: usize = 64 << 10;

/// A route below `/api/v1`.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// The name of the operation, which generated clients give their function.
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    /// The statuses of successful responses, each with its description.
    pub(super) answers: Vec<(StatusCode, &'static str)>,
    /// The media types of an answer that is no JSON of a known form.
    pub(super) media: &'static [&'static str],
    /// Whether it requires a token.
    pub(super) takes_token: bool,
    /// Whether ClawHub's client calls it, which reads an error as a line of text.
    pub(super) is_clawhub: bool,
    pub(super) signature: fn(&mut Schemas) -> Signature,
    pub(super) handler: MethodRouter<Shared>,
}

/// Makes a route. The status of its response is 200 unless set otherwise.
pub(super) fn route<Inputs, Extracted, H>(
    method: Method,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    handler: H,
) -> Route
where
    H: Described<Inputs> + Handler<Extracted, Shared>,
    Extracted: 'static,
{
    let filter = match method {
        Method::PUT => MethodFilter::PUT,
        Method::POST => MethodFilter::POST,
        Method::DELETE => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    };
    Route {
        method,
        path,
        id,
        summary,
        answers: Vec::new(),
        media: &[],
        takes_token: false,
        is_clawhub: false,
        signature: H::signature,
        handler: on(filter, handler),
    }
}

impl Route {
    /// Describes the response with `status`.
    pub(super) fn answers(mut self, status: StatusCode, about: &'static str) -> Self {
        self.answers.push((status, about));
        self
    }

    /// Sets the media types in which a file is sent.
    pub(super) fn sends(self, about: &'static str, media: &'static [&'static str]) -> Self {
        Self { media, ..self.answers(StatusCode::OK, about) }
    }

    /// Makes the route require a token.
    pub(super) fn takes_token(self) -> Self {
        Self { takes_token: true, ..self }
    }

    /// Marks the route as a change: it requires a token, and reports whether anything changed.
    pub(super) fn changes(self) -> Self {
        self.takes_token().answers(StatusCode::OK, "Whether it was not so before")
    }

    /// Marks the route as one of ClawHub's client.
    pub(super) fn of_clawhub(self) -> Self {
        Self { is_clawhub: true, ..self }
    }
}

/// Generates the schemas of a document.
pub(super) struct Schemas {
    /// For what requests have. A schema is where it is used.
    pub(super) requests: SchemaGenerator,
    /// Generates the schemas of responses, by their names.
    pub(super) answers: SchemaGenerator,
}

/// The description of a route that the types of its handler give.
#[derive(Default)]
pub(super) struct Signature {
    /// Objects with the parameters of the query as their members.
    pub(super) queries: Vec<Schema>,
    /// The media type of the body of a request, with its form if it is JSON.
    pub(super) body: Option<(&'static str, Option<Schema>)>,
    /// The form of an answer in JSON.
    pub(super) answer: Option<Schema>,
}

/// A handler whose types can be described.
pub(super) trait Described<Inputs> {
    fn signature(schemas: &mut Schemas) -> Signature;
}

/// An argument of a handler.
pub(super) trait Input {
    /// Adds what a client sends for it. The rest is the server's, or in the path.
    fn add_to(_: &mut Signature, _: &mut Schemas) {}
}

/// The result of a handler.
pub(super) trait Output {
    /// Returns the form of an answer in JSON.
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }
}

macro_rules! described {
    ($([$($input:ident)*])*) => {$(
        impl<Function, Answered, $($input: Input),*> Described<($($input,)*)> for Function
        where
            Function: Fn($($input),*) -> Answered,
            Answered: Future<Output: Output>,
        {
            fn signature(schemas: &mut Schemas) -> Signature {
                let answer = <Answered::Output as Output>::schema(&mut schemas.answers);
                let mut signature = Signature { answer, ..Signature::default() };
                $($input::add_to(&mut signature, schemas);)*
                signature
            }
        }
    )*};
}
described! { [A] [A B] [A B C] [A B C D] [A B C D E] [A B C D E F] }

impl<T> Input for State<T> {}
impl<T> Input for Extension<T> {}
impl<T> Input for Path<T> {}
impl Input for HeaderMap {}

impl<T: JsonSchema> Input for Query<T> {
    fn add_to(signature: &mut Signature, schemas: &mut Schemas) {
        signature.queries.push(schemas.requests.subschema_for::<T>());
    }
}

impl Output for Answer {}

impl<T: JsonSchema> Output for Answer<Reply<T>> {
    fn schema(answers: &mut SchemaGenerator) -> Option<Schema> {
        Some(answers.subschema_for::<T>())
    }
}

/// A `T` as JSON in the body of a request, which the handler reads when it is ready.
pub(super) struct Sent<T>(Body, PhantomData<fn() -> T>);

impl<T: JsonSchema> Input for Sent<T> {
    fn add_to(signature: &mut Signature, schemas: &mut Schemas) {
        signature.body = Some(("application/json", Some(schemas.requests.subschema_for::<T>())));
    }
}

impl<T, S: Send + Sync> FromRequest<S> for Sent<T> {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &S) -> std::result::Result<Self, Self::Rejection> {
        Ok(Self(request.into_body(), PhantomData))
    }
}

impl<T: DeserializeOwned> Sent<T> {
    /// Reads it.
    pub(super) async fn read(self) -> Result<T> {
        parse(&read(self.0, SMALL_BODY).await?)
    }

    /// Reads it; the default if nothing was sent.
    pub(super) async fn read_or_default(self) -> Result<T>
    where
        T: Default,
    {
        let bytes = read(self.0, SMALL_BODY).await?;
        if bytes.is_empty() { Ok(T::default()) } else { parse(&bytes) }
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes)
        .map_err(|error| Error::usage(format!("the body is not what is expected: {error}")))
}

/// An archive in the body of a request.
pub(super) struct SentArchive(Body);

impl Input for SentArchive {
    fn add_to(signature: &mut Signature, _: &mut Schemas) {
        signature.body = Some(("application/zip", None));
    }
}

impl<S: Send + Sync> FromRequest<S> for SentArchive {
    type Rejection = std::convert::Infallible;

    async fn from_request(request: Request, _: &S) -> std::result::Result<Self, Self::Rejection> {
        Ok(Self(request.into_body()))
    }
}

impl SentArchive {
    /// Reads it, if it has at most `limit` bytes.
    pub(super) async fn read(self, limit: u64) -> Result<Bytes> {
        read(self.0, usize::try_from(limit).unwrap_or(usize::MAX)).await
    }
}

/// Reads a body of at most `limit` bytes.
async fn read(body: Body, limit: usize) -> Result<Bytes> {
    let too_large = || Error::usage(format!("the body has more than {limit} bytes")).coded(codes::TOO_LARGE);
    // Refuse a body whose announced size is too large.
    if HttpBody::size_hint(&body).lower() > limit as u64 {
        return Err(too_large());
    }
    to_bytes(body, limit).await.map_err(|error| {
        let is_too_large =
            std::error::Error::source(&error).is_some_and(|source| source.to_string().contains("limit"));
        if is_too_large { too_large() } else { Error::usage("the body broke off") }
    })
}

/// An answer with a `T` in JSON.
#[derive(Debug)]
pub(super) struct Reply<T>(Response, PhantomData<fn() -> T>);

impl<T> IntoResponse for Reply<T> {
    fn into_response(self) -> Response {
        self.0
    }
}

impl<T: Serialize> Reply<T> {
    /// Returns an answer that no cache keeps: it is about the caller, or about this moment.
    pub(super) fn new(status: StatusCode, value: &T) -> Self {
        Self(json(status, value), PhantomData)
    }

    /// Returns the answer to a request of `caller` with `headers`, which caches keep as long as they ask each time whether it
    /// changed.
    pub(super) fn cacheable(value: &T, caller: &Caller, headers: &HeaderMap) -> Self {
        // It cannot fail: every key is text, and writing to memory has no errors.
        let bytes = serde_json::to_vec(value).unwrap_or_default();
        Self(File::json(bytes).answer(headers, Keep::Ask.to(caller)), PhantomData)
    }
}
