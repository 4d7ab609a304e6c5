//! Pages for people.

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};

use super::Shared;
use super::response::{Answer, Keep};
use crate::access::Caller;
use crate::codes;
use crate::error::Result;
use crate::pages::{Address, POLICY, Query as Asked};
use crate::registry::{files, registry_version};

/// Answers with the page at the path of the address.
pub(super) async fn page(
    State(state): State<Shared>,
    Extension(caller): Extension<Caller>,
    uri: Uri,
    headers: HeaderMap,
) -> Answer {
    let app = &state.app;
    let query = Query::<Asked>::try_from_uri(&uri).map(|query| query.0).unwrap_or_default();
    let mut response = match answer(&state, &caller, &uri, &query, &headers).await {
        Err(error) if error.code() == codes::RELEASE_UNKNOWN => {
            let mut response = state.pages.missing(app, uri.path())?.answer(&HeaderMap::new(), Keep::AskOwn);
            *response.status_mut() = StatusCode::NOT_FOUND;
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        answer => answer?,
    };
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    Ok(response)
}

async fn answer(
    state: &Shared,
    caller: &Caller,
    uri: &Uri,
    query: &Asked,
    headers: &HeaderMap,
) -> Result<Response> {
    let path = uri.path();
    let Some(address) = Address::of(path) else {
        let last = path.rsplit('/').next().unwrap_or_default();
        return match Address::of(&format!("{path}/")) {
            // Links of pages are relative to a directory.
            Some(_) if !last.is_empty() => Ok(redirect(&format!("{last}/"))),
            _ => Err(crate::error::unknown(format!("there is no page `{path}`"))),
        };
    };
    let keep = if matches!(address, Address::Static(_)) { Keep::Always } else { Keep::Ask };
    if let Address::Compare(_) = address
        && let (Ok(from), Ok(to)) = (registry_version(&query.from), registry_version(&query.to))
    {
        return Ok(redirect(&format!("{}/{}/", files::version_key(&from), files::version_key(&to))));
    }
    let app = &state.app;
    let visible = app.visible(caller);
    Ok(state.pages.page(app, &visible, &address, query, true).await?.answer(headers, keep.to(caller)))
}

fn redirect(to: &str) -> Response {
    match HeaderValue::try_from(to) {
        Ok(to) => (StatusCode::SEE_OTHER, [(LOCATION, to)]).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}
