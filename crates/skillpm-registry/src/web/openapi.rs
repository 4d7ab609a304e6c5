//! The description of the server's interface in the format OpenAPI 3.1, made of its routes.

use std::sync::LazyLock;

use axum::Extension;
use axum::http::HeaderMap;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::interface;
use super::response::{Answer, Keep, ProblemBody};
use super::route::{Route, Schemas, Signature};
use crate::access::Caller;
use crate::app::File;

/// The document, which is the same as long as the server runs.
static DOCUMENT: LazyLock<File> = LazyLock::new(|| File::json(document(&interface()).to_string()));

/// Answers with the document.
pub(super) async fn answer(Extension(caller): Extension<Caller>, headers: HeaderMap) -> Answer {
    Ok(DOCUMENT.answer(&headers, Keep::Ask.to(&caller)))
}

/// Returns the document about `routes`.
fn document(routes: &[Route]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.definitions_path = "/components/schemas".into();
    });
    let mut schemas = Schemas {
        requests: settings
            .clone()
            .with(|settings| settings.inline_subschemas = true)
            .for_deserialize()
            .into_generator(),
        answers: settings.for_serialize().into_generator(),
    };
    let problem = schemas.answers.subschema_for::<ProblemBody>();
    let mut paths = Map::new();
    for route in routes {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route, &mut schemas);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "skillpm-registry",
            "version": "1",
            "description": "The interface of a server of a registry of skills, with the routes that the client of ClawHub reads. The files of the registry lie beside it.",
        },
        "servers": [{ "url": "/api/v1" }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer" },
                "basic": { "type": "http", "scheme": "basic", "description": "Any name, and the token as the password" },
            },
            "parameters": {
                "name": in_path("name", "The name of a skill", "pdf"),
                "version": in_path("version", "A version", "1.0.0"),
                "account": in_path("account", "An account of the server", "bob"),
            },
            "responses": {
                "Problem": {
                    "description": "What went wrong",
                    "content": { "application/problem+json": { "schema": problem } },
                },
                "Line": {
                    "description": "What went wrong",
                    "content": {
                        "text/plain": { "schema": { "type": "string" } },
                        "application/problem+json": { "schema": problem },
                    },
                },
            },
            "schemas": schemas.answers.take_definitions(true),
        },
    })
}

/// Describes what one route does.
fn operation(route: &Route, schemas: &mut Schemas) -> Value {
    let Signature { queries, body, answer } = (route.signature)(schemas);
    let mut parameters: Vec<Value> = in_braces(route.path)
        .map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }))
        .collect();
    parameters.extend(queries.iter().flat_map(in_query));
    let content: Map<String, Value> = match answer {
        Some(schema) => [("application/json".to_owned(), json!({ "schema": schema }))].into_iter().collect(),
        None => route.media.iter().map(|media| ((*media).to_owned(), json!({}))).collect(),
    };
    let mut responses: Map<String, Value> = route
        .answers
        .iter()
        .map(|(status, about)| {
            (status.as_str().to_owned(), json!({ "description": about, "content": content }))
        })
        .collect();
    if responses.is_empty() {
        responses.insert("200".to_owned(), json!({ "description": "The answer", "content": content }));
    }
    let (suffix, error) = if route.is_clawhub { (" (ClawHub)", "Line") } else { ("", "Problem") };
    responses.insert("default".to_owned(), json!({ "$ref": format!("#/components/responses/{error}") }));
    let mut security = vec![json!({ "bearer": [] }), json!({ "basic": [] })];
    if !route.takes_token {
        security.insert(0, json!({}));
    }
    let mut operation = json!({
        "operationId": route.id,
        "summary": format!("{}{suffix}", route.summary),
        "responses": responses,
        "security": security,
    });
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some((media, schema)) = body {
        // A type that may be empty has no required fields.
        let is_required = schema.as_ref().is_none_or(|schema| schema.get("required").is_some());
        let content = schema.map_or_else(|| json!({}), |schema| json!({ "schema": schema }));
        operation["requestBody"] = json!({ "required": is_required, "content": { media: content } });
    }
    operation
}

fn in_path(name: &str, about: &str, example: &str) -> Value {
    json!({
        "name": name, "in": "path", "required": true, "description": about,
        "schema": { "type": "string" }, "example": example,
    })
}

/// Returns the names in a path that are in braces.
fn in_braces(path: &str) -> impl Iterator<Item = &str> {
    path.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0))
}

/// Describes the members of an object as parameters of a query.
fn in_query(query: &Schema) -> Vec<Value> {
    let is_required = |name: &String| {
        query.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|is| is == name))
    };
    let members = query.get("properties").and_then(Value::as_object);
    let parameter = |(name, schema): (&String, &Value)| {
        let mut parameter = json!({ "name": name, "in": "query", "required": is_required(name) });
        let mut schema = schema.clone();
        let Some(facts) = schema.as_object_mut() else { return parameter };
        if let Some(about) = facts.remove("description") {
            parameter["description"] = about;
        }
        if let Some(example) = facts.remove("examples").and_then(|examples| examples.get(0).cloned()) {
            parameter["example"] = example;
        }
        // An address has no null: a missing value is left out.
        if let Some(kind) = facts.get_mut("type").filter(|kind| kind.is_array()) {
            *kind = kind[0].clone();
        }
        parameter["schema"] = schema;
        parameter
    };
    members.into_iter().flatten().map(parameter).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use axum::body::Body;
    use axum::extract::Request;

    use super::super::error_format::ErrorFormat;
    use super::*;

    #[test]
    fn references_of_the_document_lead_somewhere() {
        let document = document(&interface());
        let text = document.to_string();
        let references: Vec<_> =
            text.split("\"$ref\":\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(references.len() > 50);
        for reference in references {
            assert!(document.pointer(reference).is_some(), "{reference}");
        }
        assert!(!text.contains("[`"), "links of Rust's documentation lead nowhere here");
    }

    #[test]
    fn each_operation_has_a_name_of_its_own_and_says_what_it_sends() {
        let routes = interface();
        let ids: BTreeSet<_> = routes.iter().map(|route| route.id).collect();
        assert_eq!(ids.len(), routes.len());
        let document = document(&routes);
        for path in document["paths"].as_object().expect("paths").values() {
            for operation in path.as_object().expect("methods").values() {
                for (status, response) in operation["responses"].as_object().expect("responses") {
                    let content = response["content"].as_object().is_some_and(|content| !content.is_empty());
                    assert!(status == "default" || content, "{} {status}", operation["operationId"]);
                }
            }
        }
    }

    #[test]
    fn errors_have_the_form_that_the_document_says() {
        for route in interface() {
            let request = Request::builder().method(&route.method).uri(format!("/api/v1{}", route.path));
            let format = ErrorFormat::of(&request.body(Body::empty()).expect("a request"));
            assert_eq!(format == ErrorFormat::Text, route.is_clawhub, "{} {}", route.method, route.path);
        }
    }
}
