//! The line of a skill in a listing, as each agent writes it.

use crate::agents::listing::config::Config;
use crate::agents::listing::{Candidate, State, Why};
use crate::agents::rules::{Form, Owner, Rules};
use crate::text::xml;

/// The line of one skill, whose description may be shortened.
#[derive(Debug)]
pub(super) struct Line {
    /// What the agent calls the skill.
    pub name: String,
    /// Its file.
    pub file: String,
    /// The description as it is listed when there is room.
    pub description: String,
    /// How much of it is listed when there is room.
    pub most: State,
    /// Why that is not all.
    pub why: Option<Why>,
    /// Whose it is, as Qwen Code says it.
    level: &'static str,
}

impl Line {
    pub(super) fn new(rules: &Rules, config: &Config, candidate: &Candidate) -> Self {
        let whole = candidate.texts.whole();
        let longest = rules.longest.map(|(most, mark)| (config.longest.unwrap_or(most), mark));
        let description = longest.map_or_else(|| whole.clone(), |(most, mark)| cut(&whole, most, mark));
        let names_only = || (rules.form == Form::Names).then_some(Why::NamesOnly);
        let no_text = || description.is_empty().then_some(Why::NoDescription);
        let (most, why) = match candidate.name_only.clone().or_else(names_only).or_else(no_text) {
            Some(why) => (State::NameOnly, Some(why)),
            None if description == whole => (State::Whole, None),
            None => (State::Cut(description.chars().count()), longest.map(|(most, _)| Why::Longest(most))),
        };
        let level = match candidate.found.owner {
            Owner::Project => "project",
            Owner::User | Owner::Managed => "user",
            Owner::Plugin => "extension",
            Owner::BuiltIn => "bundled",
        };
        let file = candidate.found.file.display().to_string();
        Self { name: candidate.name.clone(), file, description, most, why, level }
    }

    /// Returns the description as far as it is listed in `state`.
    pub(super) fn shown(&self, state: &State) -> &str {
        match state {
            State::NameOnly | State::Omitted => "",
            State::Cut(kept) => {
                let end =
                    self.description.char_indices().nth(*kept).map_or(self.description.len(), |(at, _)| at);
                &self.description[..end]
            }
            _ => &self.description,
        }
    }

    /// Returns the line with this description, in every form but that with a table of directories.
    pub(super) fn with(&self, form: Form, description: &str) -> String {
        let Self { name, file, level, .. } = self;
        match form {
            Form::Bullets if description.is_empty() => format!("- {name}"),
            Form::Bullets => format!("- {name}: {description}"),
            Form::Aliased => in_file(name, description, file),
            Form::Dots => format!("• {name} - {description}"),
            Form::Names => name.clone(),
            Form::Elements { escapes, escapes_location } => {
                let text = |text: &str, escapes| if escapes { xml(text) } else { text.to_owned() };
                format!(
                    "  <skill>\n    <name>{}</name>\n    <description>{}</description>\n    \
                     <location>{}</location>\n  </skill>",
                    text(name, escapes),
                    text(description, escapes),
                    text(file, escapes_location),
                )
            }
            Form::Levels => format!(
                "<skill>\n<name>\n{name}\n</name>\n<description>\n{description} ({level})\n</description>\n\
                 <location>\n{level}\n</location>\n</skill>"
            ),
            Form::Described(_) | Form::Unknown => format!("{name}: {description} ({file})"),
        }
    }
}

/// Returns Codex's line.
pub(super) fn in_file(name: &str, description: &str, file: &str) -> String {
    if description.is_empty() {
        format!("- {name}: (file: {file})")
    } else {
        format!("- {name}: {description} (file: {file})")
    }
}

/// Returns the start of `text`, which together with `mark` has at most `most` characters; `text` if that has no more.
fn cut(text: &str, most: usize, mark: &str) -> String {
    if text.chars().nth(most).is_none() {
        return text.to_owned();
    }
    let kept = most.saturating_sub(mark.chars().count());
    text.chars().take(kept).chain(mark.chars()).collect()
}

/// Returns the whole listing of `lines`, if its form is known to the byte.
pub(super) fn text(form: Form, lines: &[Line], states: &[State]) -> Option<String> {
    let listed = lines.iter().zip(states).filter(|(_, state)| **state != State::Omitted);
    let texts: Vec<_> = listed.map(|(line, state)| line.with(form, line.shown(state))).collect();
    match form {
        Form::Bullets | Form::Dots => Some(texts.join("\n")),
        Form::Names => Some(format!("Available skills: {}.", texts.join(", "))),
        Form::Elements { .. } if texts.is_empty() => Some(String::new()),
        Form::Elements { .. } => {
            Some(format!("<available_skills>\n{}\n</available_skills>", texts.join("\n")))
        }
        // That with a table is made where it is fitted.
        Form::Aliased | Form::Levels | Form::Described(_) | Form::Unknown => None,
    }
}
