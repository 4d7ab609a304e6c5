//! The files in which authors keep requests for their skills, and which skill each is meant for.
//!
//! There is no standard. The shapes are those that well-known repositories have: lists of `{query, should_trigger}`, the
//! `evals` of the specification's guide, `cases` and lists with an `expected_skill`, and `scenarios` in YAML.

use std::ops::Range;

use jsonc_parser::common::Ranged as _;

use super::ForeignError;
use super::json::{Part, Reader};
use crate::document::{Node, Value, read_yaml};
use crate::text::line_column;

/// The names of these files, in the skill's directory or in `evals` in it.
pub const EVAL_FILES: [&str; 9] = [
    "evals.json",
    "eval.json",
    "trigger-eval.json",
    "trigger-evals.json",
    "trigger_eval.json",
    "trigger_evals.json",
    "eval_set.json",
    "eval.yaml",
    "eval.yml",
];
/// The directory in a skill that has them.
pub const EVALS_DIR: &str = "evals";

/// The keys under which a request stands.
const QUERIES: [&str; 3] = ["query", "prompt", "question"];
/// The keys that say whether the skill is the right one.
const FLAGS: [&str; 2] = ["should_trigger", "expect_activation"];
/// The keys of an object that hold the list of requests.
const LISTS: [&str; 4] = ["evals", "cases", "scenarios", "queries"];

/// A request, and the skill that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalCase {
    /// What the file calls it: an `id` or a `name`; else its number, from 1.
    pub id: String,
    /// What a person asks for.
    pub query: String,
    /// The skill, if the file names one; else the one whose directory has the file.
    pub skill: Option<String>,
    /// Whether the skill is the right one for it.
    pub should_trigger: bool,
    /// Where the request stands, in bytes.
    pub span: Range<usize>,
}

/// The requests of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evals {
    /// The requests, in the order of the file.
    pub cases: Vec<EvalCase>,
    /// The number of entries without a request.
    pub unread: usize,
}

/// Reads the requests in `text`, which is YAML if `is_yaml`, else JSON. A file of another shape has none.
///
/// # Errors
///
/// Fails with the place of what is neither.
pub fn evals(text: &str, is_yaml: bool) -> Result<Evals, ForeignError> {
    if !is_yaml {
        let hint = "correct it there";
        let reader = Reader::new(text).map_err(|error| ForeignError { hint, ..error })?;
        return Ok(cases(Item::Json(reader.root())));
    }
    let mut problems = Vec::new();
    let root = read_yaml(text, &mut problems).map_err(|problem| {
        let (line, column) = line_column(text, problem.span.start);
        let message = "it is not YAML".to_owned();
        ForeignError { line, column, message, hint: "check the indentation and the quotes there" }
    })?;
    Ok(root.as_ref().map(|root| cases(Item::Yaml(root))).unwrap_or_default())
}

fn cases(root: Item<'_>) -> Evals {
    let list = LISTS.iter().find_map(|key| root.get(key)).unwrap_or(root);
    let of_all = text(root, &["skill_name", "skill"]);
    let mut evals = Evals::default();
    for (number, item) in list.items().into_iter().enumerate() {
        let query = QUERIES.iter().find_map(|key| {
            let value = item.get(key)?;
            Some((value.text()?, value.span()))
        });
        let Some((query, span)) = query.filter(|(query, _)| !query.trim().is_empty()) else {
            evals.unread += 1;
            continue;
        };
        // NVIDIA's files say `null` where no skill is the right one.
        let expected = item.get("expected_skill").or_else(|| item.get("expected_skills"));
        let skill = expected.and_then(|one| one.text().or_else(|| one.items().first()?.text()));
        let is_none = expected.is_some_and(Item::is_null);
        evals.cases.push(EvalCase {
            id: text(item, &["id", "name"]).unwrap_or_else(|| (number + 1).to_string()),
            query,
            skill: skill.filter(|name| !name.trim().is_empty()).or_else(|| of_all.clone()),
            should_trigger: FLAGS.iter().find_map(|key| item.get(key)?.flag()).unwrap_or(!is_none),
            span,
        });
    }
    evals
}

/// Returns the first text among the values of `keys`.
fn text(item: Item<'_>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| item.get(key)?.text()).filter(|text| !text.trim().is_empty())
}

/// A value of JSON or YAML, with its place.
#[derive(Clone, Copy)]
enum Item<'a> {
    Json(Part<'a>),
    Yaml(&'a Node),
}

impl Item<'_> {
    fn get(self, key: &str) -> Option<Self> {
        match self {
            Self::Json(part) => {
                let mut properties = part.as_object()?.properties.iter().rev();
                properties
                    .find(|property| property.name.as_str() == key)
                    .map(|found| Self::Json(&found.value))
            }
            Self::Yaml(node) => node.get(key).map(Self::Yaml),
        }
    }

    fn items(self) -> Vec<Self> {
        match self {
            Self::Json(part) => part
                .as_array()
                .map(|array| array.elements.iter().map(Self::Json).collect())
                .unwrap_or_default(),
            Self::Yaml(Node { value: Value::Sequence { items, .. }, .. }) => {
                items.iter().map(Self::Yaml).collect()
            }
            Self::Yaml(_) => Vec::new(),
        }
    }

    /// Returns a text, or a number as it is written.
    fn text(self) -> Option<String> {
        match self {
            Self::Json(part) => {
                let text = part.as_string_lit().map(|text| text.value.as_ref());
                text.or_else(|| part.as_number_lit().map(|number| number.value)).map(str::to_owned)
            }
            Self::Yaml(node) => node.text().map(str::to_owned),
        }
    }

    /// Returns what a boolean says, or a word or a number that people write for one.
    fn flag(self) -> Option<bool> {
        if let Self::Json(part) = self
            && let Some(flag) = part.as_boolean_lit()
        {
            return Some(flag.value);
        }
        match self.text()?.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        }
    }

    fn is_null(self) -> bool {
        match self {
            Self::Json(part) => part.as_null_keyword().is_some(),
            Self::Yaml(node) => {
                node.is_absent() || node.text().is_some_and(|text| text == "null" || text == "~")
            }
        }
    }

    fn span(self) -> Range<usize> {
        match self {
            Self::Json(part) => part.start()..part.end(),
            Self::Yaml(node) => node.span.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each request: its id, the skill, whether that is the right one, and the text.
    fn read(text: &str, is_yaml: bool) -> Vec<String> {
        let evals = evals(text, is_yaml).expect("can be read");
        let show = |case: EvalCase| {
            let skill = case.skill.unwrap_or_else(|| "-".to_owned());
            let sign = if case.should_trigger { "+" } else { "!" };
            format!("{} {sign}{skill} {} @{}", case.id, case.query, line_column(text, case.span.start).0)
        };
        let mut lines: Vec<String> = evals.cases.into_iter().map(show).collect();
        if evals.unread > 0 {
            lines.push(format!("{} unread", evals.unread));
        }
        lines
    }

    #[test]
    fn the_shapes_of_well_known_repositories() {
        let json = |text: &str| read(text, false);
        assert_eq!(
            json(
                "[{\"query\": \"fill a form\", \"should_trigger\": true},\n{\"query\": \"a \\ud83d\\ude80\", \"should_trigger\": false, \"rationale\": \"x\"}]"
            ),
            ["1 +- fill a form @1", "2 !- a 🚀 @2"]
        );
        assert_eq!(
            json(
                "{\"skill_name\": \"pdf\", \"evals\": [\n{\"id\": 7, \"prompt\": \"p\", \"files\": [], \"assertions\": []}, {\"id\": 8}]}"
            ),
            ["7 +pdf p @2", "1 unread"]
        );
        assert_eq!(
            json(
                "[{\"id\": \"a-1\", \"question\": \"q\", \"expected_skill\": \"other\", \"ground_truth\": \"\"}]"
            ),
            ["a-1 +other q @1"]
        );
        assert_eq!(
            json(
                "{\"skill\": \"pdf\", \"cases\": [{\"id\": \"x\", \"question\": \"q\", \"expected_skill\": null}]}"
            ),
            ["x !pdf q @1"]
        );
        assert_eq!(
            json(
                "[{\"query\": \"a\", \"should_trigger\": \"false\"}, {\"query\": \"b\", \"should_trigger\": 0}, {\"query\": \"c\", \"expected_skills\": [\"x\", \"y\"]}]"
            ),
            ["1 !- a @1", "2 !- b @1", "3 +x c @1"]
        );
        assert_eq!(json("[]"), [""; 0]);
        assert_eq!(json("{\"agents\": {}}"), [""; 0]);
        let yaml = "scenarios:\n  - name: none\n    prompt: p\n    expect_activation: false\n  - name: first\n    prompt: |\n      do it\n    assertions: []\n  - {prompt: no, should_trigger: False}\n";
        assert_eq!(read(yaml, true), ["none !- p @3", "first +- do it\n @7", "3 !- no @9"]);
    }

    #[test]
    fn a_fault_has_its_place() {
        let fault = |text, is_yaml| evals(text, is_yaml).expect_err("a fault");
        assert_eq!(
            (fault("[\n  {\"query\": }]", false).line, fault("[\n  {\"query\": }]", false).column),
            (2, 13)
        );
        assert_eq!(fault("scenarios:\n  - {", true).line, 2);
    }

    proptest! {
        #[test]
        fn any_text(text in "\\PC{0,80}", is_yaml in any::<bool>()) {
            if let Ok(evals) = evals(&text, is_yaml) {
                for case in evals.cases {
                    prop_assert!(text.get(case.span).is_some());
                }
            }
        }
    }
}
