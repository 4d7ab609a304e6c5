//! What a client learns about the server when it connects: how to find a skill, and as many skills as there is room for.

use skillpm_core::engine::Skill;
use skillpm_core::toolkit::{Toolkit, line};
use skillpm_sources::error::Result;

/// The maximum number of bytes. Claude Code shows no more of a server's instructions to its model.
const MAX: usize = 2_048;
/// The lengths that descriptions are cut to, in characters, until all skills fit; at the last, as many as fit are listed.
const LENGTHS: [usize; 5] = [1_024, 320, 200, 120, 80];

const START: &str = "This server has skills: instructions, with files, for particular kinds of work. Before you start a \
                     task, call `search_skills` with what the task is about. If a skill fits, call `load_skill` with its \
                     name and follow what it returns: it is more specific than what you know in general. Load only what \
                     fits, once per task.\n\n";

/// Returns the instructions: when to load which skill. Returns `None` if there are no skills
/// (S4-4), or no tools to load one with.
pub(crate) fn instructions(kit: &Toolkit) -> Result<Option<String>> {
    let view = kit.view()?;
    // The project's skills come first.
    let skills: Vec<&Skill> = view.for_models().map(AsRef::as_ref).collect();
    if skills.is_empty() || kit.selection.no_tools {
        return Ok(None);
    }
    let listed = LENGTHS.iter().map(|most| listed(&skills, *most));
    let best = listed.into_iter().reduce(|best, shorter| if best.1 == 0 { best } else { shorter });
    let (lines, left) = best.unwrap_or_default();
    let more = if left == 0 { String::new() } else { rest(left) };
    Ok(Some(format!("{START}{lines}{more}")))
}

/// Returns the lines of as many skills as fit, with at most `most` characters of each description, and how many do not.
fn listed(skills: &[&Skill], most: usize) -> (String, usize) {
    let mut lines = String::new();
    for (at, skill) in skills.iter().enumerate() {
        let line = line(skill, most);
        let left = skills.len() - at - 1;
        let end = if left == 0 { 0 } else { rest(left).len() };
        if START.len() + lines.len() + line.len() + end > MAX {
            return (lines, left + 1);
        }
        lines.push_str(&line);
    }
    (lines, 0)
}

fn rest(left: usize) -> String {
    format!("And {left} more: `search_skills` finds them.\n")
}
