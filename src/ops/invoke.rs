//! `invoke`: what an agent would get.

use super::validate::lint_file;
use crate::context::Context;
use crate::document::Document;
use crate::engine::{Skill, activate, find, load};
use crate::error::Result;
use crate::lint::Severity;
use crate::skill::{self, Loaded};

/// Which skill, with what.
#[derive(Debug, Clone, Default)]
pub struct InvokeRequest {
    /// The skill's name.
    pub name: String,
    /// The arguments, as one text.
    pub arguments: String,
}

/// What an agent would get.
#[derive(Debug, Clone)]
pub struct InvokeOutcome {
    /// The processed content.
    pub content: String,
    /// What was wrong with the skill and did not matter.
    pub warnings: Vec<String>,
}

/// Returns what an agent would get. Nothing is run and nothing is written.
///
/// # Errors
///
/// An unknown skill, or one that cannot be loaded.
pub fn invoke(context: &Context, request: &InvokeRequest) -> Result<InvokeOutcome> {
    let hit = find(context, &request.name)?;
    let file = &hit.skill.file;
    let document = load::document(file).map_err(|reason| reason.into_error(&request.name, file))?;
    let Loaded { body, .. } = skill::load(&document)
        .map_err(|reason| load::Unusable::from(reason).into_error(&request.name, file))?;
    // The blank line that authors leave after the frontmatter is no part of the instructions.
    let content = activate(body.trim_start_matches(['\r', '\n']), &hit.skill.dir, &request.arguments);
    let mut warnings = hit.warnings;
    warnings.extend(off_specification(&hit.skill, &document));
    Ok(InvokeOutcome { content, warnings })
}

/// One line for everything that is against the specification and did not matter, repairs included.
fn off_specification(skill: &Skill, document: &Document) -> Option<String> {
    let findings = lint_file(document, &skill.real, &skill.file);
    let mut errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
    let first = errors.next()?;
    let more = match errors.count() {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    let (name, file) = (&skill.meta.name, skill.file.display());
    Some(format!(
        "`{name}` is off the specification: {}{more}; `skillpm validate {file}` tells all",
        first.message
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::World;
    use crate::error::ErrorKind;
    use crate::fs;

    fn invoked(world: &World, name: &str, arguments: &str) -> Result<InvokeOutcome> {
        let request = InvokeRequest { name: name.to_owned(), arguments: arguments.to_owned() };
        invoke(&world.context(), &request)
    }

    /// S0-US3.1, S0-US3.4, S0-US5.5, S0-FR-011, S0-FR-021, S0-FR-022, S0-FR-027.
    #[test]
    fn the_body_comes_without_the_frontmatter_and_the_file_stays() {
        let world = World::new();
        let text = "---\nname: review\ndescription: x $ARGUMENTS\n---\n# Review $ARGUMENTS\n";
        world.write(".claude/skills/review/SKILL.md", text);
        let outcome = invoked(&world, "review", "a.py  b.py").expect("works");
        let dir = world.project().join(".claude/skills/review");
        assert_eq!(
            outcome.content,
            format!("Base directory for this skill: {}\n\n# Review a.py  b.py\n", dir.display())
        );
        assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
        assert_eq!(fs::read_text(&dir.join("SKILL.md"), 999).expect("reads").as_deref(), Some(text));
    }

    /// What agents load is loaded, and what is wrong with it is told in one line.
    #[test]
    fn a_skill_that_is_off_the_specification_works_with_a_warning() {
        let world = World::new();
        let text = "---\nname: My Skill\ndescription: PDF: all of it\n---\nbody";
        world.write(".agents/skills/mine/SKILL.md", text);
        let outcome = invoked(&world, "My Skill", "").expect("works");
        assert!(outcome.content.ends_with("\n\nbody"));
        let [warning] = &outcome.warnings[..] else { panic!("{:?}", outcome.warnings) };
        assert!(warning.starts_with("`My Skill` is off the specification: the name `"), "{warning}");
        assert!(warning.contains(", and ") && warning.contains(" more; `skillpm validate "), "{warning}");
        assert!(warning.ends_with("SKILL.md` tells all"), "{warning}");
    }

    /// S0-E1, S0-E2, S0-US5.2, S0-FR-014.
    #[test]
    fn a_skill_that_cannot_be_loaded_is_an_error_with_path_and_reason() {
        let world = World::new();
        for (text, reason) in [
            ("", "the file is empty"),
            ("---\ndescription: x\n---\n", "the required field `name` is missing"),
            ("---\nname: bad\ndescription: x\nnonsense\n---\n", "not valid YAML"),
        ] {
            world.write(".agents/skills/bad/SKILL.md", text);
            let error = invoked(&world, "bad", "").expect_err(reason);
            assert_eq!(error.kind(), ErrorKind::Findings);
            let message = error.to_string();
            assert!(message.contains("bad/SKILL.md`: ") && message.contains(reason), "{message}");
        }
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let world = World::new();
        world.skill(".agents/skills/big", "big");
        let text = crate::engine::testing::skill_text("big") + &"x".repeat(11 << 20);
        world.write(".agents/skills/big/SKILL.md", &text);
        let error = invoked(&world, "big", "").expect_err("refused");
        assert!(error.to_string().ends_with("it has more than 10 MiB"), "{error}");
    }
}
