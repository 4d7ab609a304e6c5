//! `explain`: describes what a rule looks for, and why.

use crate::advice::{Verb, message};
use crate::error::{Error, Result};
use crate::lint::{Rule, UnknownName, documented, rule};

/// A request to explain a rule; `None` means all.
#[derive(Debug, Clone, Default)]
pub struct ExplainRequest {
    /// The id of the rule.
    pub rule: Option<String>,
}

/// Returns the requested rule, or all rules in the order of the reference page.
///
/// # Errors
///
/// Fails if there is no such rule, with the most similar one.
pub fn explain(request: &ExplainRequest) -> Result<Vec<&'static Rule>> {
    let Some(id) = &request.rule else { return Ok(documented().collect()) };
    Ok(vec![rule(id).map_err(|name| unknown(&name))?])
}

/// Returns the error for an unknown name, with the most similar one.
pub fn unknown(name: &UnknownName) -> Error {
    let hint = match (name.closest, name.what) {
        (None, "rule") => message!(Verb::Explain, " lists the rules"),
        _ => name.hint(),
    };
    Error::usage(name.to_string()).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(rule: Option<&str>) -> Result<Vec<&'static Rule>> {
        explain(&ExplainRequest { rule: rule.map(str::to_owned) })
    }

    #[test]
    fn one_all_or_a_suggestion() {
        assert_eq!(explained(Some("name-length")).expect("a rule")[0].id, "name-length");
        assert_eq!(explained(Some("file-kind")).expect("a rule").len(), 1);
        assert_eq!(explained(None).expect("rules").len(), documented().count());
        let error = explained(Some("name-lenght")).expect_err("a slip");
        assert_eq!(error.to_string(), "there is no rule `name-lenght`");
        assert_eq!(error.hints(), ["did you mean `name-length`?"]);
        assert_eq!(explained(Some("zzz")).expect_err("nothing").hints(), ["`explain` lists the rules"]);
    }
}
