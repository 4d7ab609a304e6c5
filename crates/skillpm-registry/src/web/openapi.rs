//! The description of the server's interface in the format OpenAPI 3.1.

use axum::Extension;
use axum::http::HeaderMap;
use axum::response::Response;

use super::answer::{File, Keep};
use crate::access::Caller;

/// The document. A test holds it to the routes.
const DOCUMENT: &str = include_str!("openapi.json");

/// Answers with the document.
pub(super) async fn document(Extension(caller): Extension<Caller>, headers: HeaderMap) -> Response {
    File::json(DOCUMENT.as_bytes().to_vec()).answer(&headers, Keep::Ask.to(&caller))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::DOCUMENT;

    /// The methods and paths of the calls of `route` in `code`.
    fn routes(code: &str) -> BTreeSet<String> {
        let mut routes = BTreeSet::new();
        for call in code.split(".route(").skip(1) {
            let (_, rest) = call.split_once('"').expect("a path");
            let (path, handlers) = rest.split_once('"').expect("its end");
            for method in ["get", "put", "post", "delete"] {
                if handlers.contains(&format!("{method}(")) {
                    routes.insert(format!("{method} {path}"));
                }
            }
        }
        routes
    }

    /// The part of `code` from `start` to the next line that ends with `end`.
    fn part<'c>(code: &'c str, start: &str, end: &str) -> &'c str {
        let (_, rest) = code.split_once(start).expect(start);
        rest.split_once(end).expect(end).0
    }

    #[test]
    fn the_document_has_the_routes_of_the_interface() {
        let own = part(include_str!("mod.rs"), "let api = Router::new()", ";\n");
        let clawhub = part(include_str!("clawhub.rs"), "-> Router<Shared> {", "\n}\n");
        let expected: BTreeSet<_> = routes(own).union(&routes(clawhub)).cloned().collect();
        let document: Value = serde_json::from_str(DOCUMENT).expect("JSON");
        let paths = document["paths"].as_object().expect("paths");
        let documented: BTreeSet<_> = paths
            .iter()
            .flat_map(|(path, item)| {
                item.as_object().expect("an object").keys().map(move |method| format!("{method} {path}"))
            })
            .collect();
        assert_eq!(documented, expected);
    }

    #[test]
    fn references_of_the_document_lead_somewhere() {
        let document: Value = serde_json::from_str(DOCUMENT).expect("JSON");
        let text = document.to_string();
        let references: Vec<_> =
            text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(references.len() > 50);
        for reference in references {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
    }
}
