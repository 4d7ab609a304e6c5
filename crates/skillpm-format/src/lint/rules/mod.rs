//! The rules, one file each.

/// Repeats a text of an example sixteen times: constants have no `str::repeat`.
macro_rules! sixteen {
    ($text:expr) => {
        concat!(
            $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text, $text,
            $text, $text
        )
    };
}

mod absolute_path;
mod agent_specific;
mod allowed_tools;
mod body_conflict;
mod body_lines;
mod body_tokens;
mod byte_order_mark;
mod client_field;
mod comment_instruction;
mod compatibility;
mod control_character;
mod dependency_cycle;
mod dependency_self;
mod dependency_syntax;
mod description_brackets;
mod description_length;
mod description_markup;
mod description_missing;
mod description_person;
mod description_when;
mod dollar_digit;
mod encoding;
mod fence_unclosed;
mod file_junk;
mod file_large;
mod file_name;
mod file_opaque;
mod frontmatter_first_line;
mod frontmatter_limits;
mod frontmatter_mapping;
mod frontmatter_missing;
mod frontmatter_unclosed;
mod hidden_character;
mod injected_metadata;
mod legacy_field;
mod license_text;
mod license_unknown;
mod link_missing;
mod link_outside;
mod link_skill;
mod listing_length;
mod merge_conflict;
mod metadata_strings;
mod name_alphabet;
mod name_ascii;
mod name_device;
mod name_directory;
mod name_homoglyph;
mod name_hyphens;
mod name_length;
mod name_missing;
mod name_reserved;
mod name_twice;
mod path_missing;
mod quirk_closing_delimiter;
mod quirk_compatibility_length;
mod quirk_description_length;
mod quirk_empty_frontmatter;
mod quirk_file_name;
mod quirk_sibling_indent;
mod quirk_tab;
mod quirk_yaml_syntax;
mod reference_depth;
mod reference_link_missing;
mod script_executable;
mod script_unreferenced;
mod scripts;
mod secret_in_text;
mod template_text;
mod template_untouched;
mod text_out_of_sight;
mod tools_commas;
mod tools_unlimited;
mod unknown_field;
mod unknown_rule;
mod unused_switch;
mod value_truncated;
mod version_syntax;
mod windows_path;
mod yaml_alias;
mod yaml_documents;
mod yaml_duplicate_key;
mod yaml_flow_style;
mod yaml_syntax;
mod yaml_tab;
mod yaml_tag;
mod yaml_unquoted_colon;
mod yaml_unquoted_value;

use std::ops::Range;

pub(crate) use comment_instruction::{comments, instructions};
pub(crate) use description_markup::tag as markup;
pub(crate) use hidden_character::{message as hidden_message, runs as hidden_runs};
pub use name_twice::ID as NAME_TWICE;
pub(super) use quirk_file_name::is_other_file;
pub use scripts::has_wanted_text;
pub(crate) use scripts::{ENDINGS as SCRIPT_ENDINGS, ending};
use scripts::{ends_in, name};
pub use secret_in_text::ID as SECRET_IN_TEXT;
pub use template_untouched::ID as TEMPLATE_UNTOUCHED;
pub(crate) use text_out_of_sight::out_of_sight;
pub(super) use unused_switch::unused_switches;

use super::reference::Reading;
use super::{Finding, Rule, Subject};
use crate::document::Node;

/// The rules whose findings `install` reports before an agent gets the skill, in addition to violations of the
/// specification: text hidden from readers, links out of the skill, and files that cannot be reviewed. `validate` has
/// the same rules.
pub(super) const BEFORE_USE: [&Rule; 7] = [
    &hidden_character::RULE,
    &comment_instruction::RULE,
    &text_out_of_sight::RULE,
    &tools_unlimited::RULE,
    &description_markup::RULE,
    &link_outside::RULE,
    &file_opaque::RULE,
];

/// Every rule, in the order of the reference page: the file, the frontmatter, its YAML, the fields; then the quality of
/// a skill, and its readiness for publishing.
pub static RULES: &[&Rule] = &[
    &file_name::RULE,
    &encoding::RULE,
    &control_character::RULE,
    &byte_order_mark::RULE,
    &frontmatter_missing::RULE,
    &frontmatter_unclosed::RULE,
    &frontmatter_first_line::RULE,
    &frontmatter_limits::RULE,
    &frontmatter_mapping::RULE,
    &merge_conflict::RULE,
    &yaml_syntax::RULE,
    &yaml_unquoted_colon::RULE,
    &yaml_unquoted_value::RULE,
    &yaml_tab::RULE,
    &yaml_duplicate_key::RULE,
    &yaml_alias::RULE,
    &yaml_tag::RULE,
    &yaml_documents::RULE,
    &yaml_flow_style::RULE,
    &name_missing::RULE,
    &name_length::RULE,
    &name_alphabet::RULE,
    &name_hyphens::RULE,
    &name_directory::RULE,
    &name_device::RULE,
    &name_ascii::RULE,
    &name_homoglyph::RULE,
    &name_reserved::RULE,
    &description_missing::RULE,
    &description_length::RULE,
    &listing_length::RULE,
    &description_brackets::RULE,
    &compatibility::RULE,
    &metadata_strings::RULE,
    &allowed_tools::RULE,
    &tools_commas::RULE,
    &unknown_field::RULE,
    &client_field::RULE,
    &unknown_rule::RULE,
    &unused_switch::RULE,
    // Quality.
    &body_conflict::RULE,
    &body_lines::RULE,
    &body_tokens::RULE,
    &description_when::RULE,
    &description_person::RULE,
    &description_markup::RULE,
    &value_truncated::RULE,
    &hidden_character::RULE,
    &comment_instruction::RULE,
    &text_out_of_sight::RULE,
    &tools_unlimited::RULE,
    &template_text::RULE,
    &template_untouched::RULE,
    &fence_unclosed::RULE,
    &dollar_digit::RULE,
    &agent_specific::RULE,
    &link_missing::RULE,
    &link_outside::RULE,
    &absolute_path::RULE,
    &windows_path::RULE,
    &path_missing::RULE,
    &reference_link_missing::RULE,
    &reference_depth::RULE,
    &script_unreferenced::RULE,
    &script_executable::RULE,
    &file_opaque::RULE,
    // Package.
    &version_syntax::RULE,
    &legacy_field::RULE,
    &dependency_syntax::RULE,
    &dependency_self::RULE,
    &dependency_cycle::RULE,
    &link_skill::RULE,
    &name_twice::RULE,
    &license_text::RULE,
    &license_unknown::RULE,
    &injected_metadata::RULE,
    &secret_in_text::RULE,
    &file_junk::RULE,
    &file_large::RULE,
    // Quirks of the reference validator only.
    &quirk_file_name::RULE,
    &quirk_closing_delimiter::RULE,
    &quirk_empty_frontmatter::RULE,
    &quirk_tab::RULE,
    &quirk_sibling_indent::RULE,
    &quirk_yaml_syntax::RULE,
    &quirk_description_length::RULE,
    &quirk_compatibility_length::RULE,
];

/// Removes findings that only report a field as unknown, if another rule reports what to do about it.
pub(super) fn drop_told_twice(findings: &mut Vec<Finding>) {
    let told: Vec<_> = findings.iter().filter(|finding| finding.rule == legacy_field::RULE.id).collect();
    if told.is_empty() {
        return;
    }
    let told: Vec<_> = told.into_iter().map(|finding| finding.span.clone()).collect();
    findings.retain(|finding| finding.rule != unknown_field::RULE.id || !told.contains(&finding.span));
}

/// Returns the range of the first `character` in `node` as written, otherwise all of `node`.
fn character_span(subject: &Subject<'_>, node: &Node, character: char) -> Range<usize> {
    let source = &subject.document.text()[node.span.clone()];
    match source.find(character) {
        Some(at) => node.span.start + at..node.span.start + at + character.len_utf8(),
        None => node.span.clone(),
    }
}

/// Returns the range of `field` and its number of characters, if it has more than `max` only because the reference
/// validator counts the surrounding white space.
fn padded(subject: &Subject<'_>, field: &str, max: usize) -> Option<(Range<usize>, usize)> {
    Reading::with(subject, |reading| {
        let node = reading.view()?.get(field)?;
        let text = node.text()?;
        // A text that has no more bytes than that needs no count of characters.
        if text.len() <= max {
            return None;
        }
        let (all, trimmed) = (text.chars().count(), text.trim().chars().count());
        // A blank description is reported as missing, and not otherwise.
        let is_told = field == "description" && trimmed == 0;
        (all > max && trimmed <= max && !is_told).then(|| (node.span.clone(), all))
    })
}
