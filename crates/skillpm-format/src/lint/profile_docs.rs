//! What each profile is, for people: the table of the reference page.

use super::Profile;

/// What a profile is, for people.
#[derive(Debug, Clone, Copy)]
pub struct ProfileDocs {
    /// The agent or program whose view it takes.
    pub stands_for: &'static str,
    /// What its errors are.
    pub errors: &'static str,
    /// Who checks with it.
    pub used_by: &'static str,
}

impl Profile {
    /// Returns what it is.
    pub const fn docs(self) -> ProfileDocs {
        let (stands_for, errors, used_by) = match self {
            Self::Spec => (
                "the open specification",
                "what the specification's words forbid",
                "`validate` by default, and `install`, which warns",
            ),
            Self::Reference => (
                "the reference validator, `skills-ref` 0.1.0",
                "exactly the faults for which it calls a skill invalid",
                "who must pass it",
            ),
            Self::ClaudeCode => (
                "Claude Code",
                "faults that keep it from reading the skill as intended, by its documentation",
                "authors of skills for Claude Code",
            ),
            Self::ClaudeAi => (
                "claude.ai and the Claude API, with `quick_validate.py` of skill-creator",
                "what an upload is refused for",
                "who uploads the skill there",
            ),
            Self::Publish => (
                "the readers of a registry, with all kinds of agents",
                "what makes a skill unfit for some of them: the specification, package rules, quality",
                "`pack`, `publish`, registries and their pages",
            ),
            Self::Strict => (
                "no agent: a team that wants it all",
                "those of `spec`, `claude-code` and `publish` together; every note is a warning",
                "`validate` in CI, if `skillpm.toml` chooses it",
            ),
            Self::Lenient => (
                "tools that only load skills, such as skillpm",
                "what cannot be loaded",
                "`list`, `invoke` and the library, in deciding what they load",
            ),
        };
        ProfileDocs { stands_for, errors, used_by }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::lint::{Level, RULES};

    #[test]
    fn the_reference_page_shows_the_profiles() {
        let mut text = String::from(
            "| profile | whose view | errors are | who uses it | errors, warnings, notes |\n\
             | --- | --- | --- | --- | --- |\n",
        );
        for (name, profile) in Profile::ALL {
            let ProfileDocs { stands_for, errors, used_by } = profile.docs();
            let count = |wanted| RULES.iter().filter(|rule| rule.levels.of(profile) == wanted).count();
            let counts = [Level::Error, Level::Warning, Level::Note].map(|level| count(level).to_string());
            let _ =
                writeln!(text, "| `{name}` | {stands_for} | {errors} | {used_by} | {} |", counts.join(", "));
        }
        skillpm_testing::check_reference_part("profiles.md", "profile_docs.rs", text.trim_end());
    }
}
