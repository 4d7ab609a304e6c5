//! `agents/openai.yaml` beside a skill: whether models may start it, and in which products it is.
//!
//! Measured with version 0.171.0. A file with any error in it, also in a field that matters nowhere else, hides nothing.

use std::path::Path;

use crate::agents::listing::Why;
use crate::document::{Node, ProblemKind, Value, read_yaml};
use crate::fs;

/// The largest such file that is read, in bytes.
const MAX_METADATA: u64 = 1 << 20;
/// The products, as the program spells them.
const PRODUCTS: [&str; 6] = ["codex", "CODEX", "chatgpt", "CHATGPT", "atlas", "ATLAS"];

/// What it says.
struct Policy {
    /// Whether models may start the skill.
    is_allowed: bool,
    /// Whether it is one of Codex.
    is_of_codex: bool,
}

/// Returns why the skill in `dir` is not listed, if its file says so.
pub(super) fn hides(dir: &Path) -> Option<Why> {
    let file = dir.join("agents/openai.yaml");
    let text = fs::read_text(&file, MAX_METADATA).ok()??;
    let mut problems = Vec::new();
    let node = read_yaml(text.strip_prefix('\u{feff}').unwrap_or(&text), &mut problems).ok()??;
    if problems.iter().any(|problem| matches!(problem.kind, ProblemKind::SeveralDocuments)) {
        return None;
    }
    match policy(&node)? {
        Policy { is_of_codex: false, .. } => Some(Why::Setting { file, key: "policy.products".to_owned() }),
        Policy { is_allowed: false, .. } => Some(Why::OpenAiPolicy),
        Policy { .. } => None,
    }
}

fn policy(node: &Node) -> Option<Policy> {
    let told = fields(node, ["interface", "dependencies", "policy"])?;
    let [interface, dependencies, policy] = told.map(|value| value.filter(|value| !is_null(value)));
    if let Some(interface) = interface {
        let names = [
            "display_name",
            "short_description",
            "icon_small",
            "icon_large",
            "brand_color",
            "default_prompt",
        ];
        texts(&fields(interface, names)?)?;
    }
    if let Some(dependencies) = dependencies {
        let [tools] = fields(dependencies, ["tools"])?;
        for tool in tools.map_or(Some(&[][..]), items)? {
            let names = ["oauth", "type", "value", "description", "transport", "command", "url"];
            let [oauth, told @ ..] = fields(tool, names)?;
            texts(&told)?;
            let is_right = |node: &Node| is_null(node) || matches!(node.value, Value::Mapping { .. });
            oauth.is_none_or(is_right).then_some(())?;
        }
    }
    let Some(policy) = policy else { return Some(Policy { is_allowed: true, is_of_codex: true }) };
    let [allow, products] = fields(policy, ["allow_implicit_invocation", "products"])?;
    let is_allowed = match allow.map(Node::to_typed_json) {
        None | Some(serde_json::Value::Null) => true,
        Some(serde_json::Value::Bool(is_allowed)) => is_allowed,
        Some(_) => return None,
    };
    let products = products.map_or(Some(&[][..]), items)?;
    let products: Vec<&str> = products.iter().map(Node::text).collect::<Option<_>>()?;
    if !products.iter().all(|product| PRODUCTS.contains(product)) {
        return None;
    }
    let is_of_codex =
        products.is_empty() || products.iter().any(|product| product.eq_ignore_ascii_case("codex"));
    Some(Policy { is_allowed, is_of_codex })
}

/// Returns the values of these fields of a mapping. `None` if it is none, has a key that is not text, or one of the fields
/// twice.
fn fields<'a, const N: usize>(node: &'a Node, names: [&str; N]) -> Option<[Option<&'a Node>; N]> {
    if !matches!(node.value, Value::Mapping { .. }) && !node.is_absent() {
        return None;
    }
    let mut values = [None; N];
    for (key, value) in node.pairs() {
        let key = key.text()?;
        let Some(at) = names.iter().position(|name| *name == key) else { continue };
        if values[at].replace(value).is_some() {
            return None;
        }
    }
    Some(values)
}

/// Returns the items of a list.
fn items(node: &Node) -> Option<&[Node]> {
    match &node.value {
        Value::Sequence { items, .. } => Some(items),
        _ => None,
    }
}

/// Returns something if all `values` are scalars.
fn texts(values: &[Option<&Node>]) -> Option<()> {
    values.iter().flatten().all(|node| node.text().is_some()).then_some(())
}

fn is_null(node: &Node) -> bool {
    node.text().is_some() && node.to_typed_json().is_null()
}
