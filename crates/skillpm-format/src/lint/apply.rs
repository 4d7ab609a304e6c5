//! Applying repairs to a text.
//!
//! A repair is only kept if it does what it claims and nothing else: the text still loads, no field that it does not
//! touch changes its value, and the repaired fault is gone. Everything outside its edits stays byte for byte.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value as Json;

use super::{Edit, Finding, Fix, Safety, Severity};
use crate::document::{Document, Node};
use crate::skill;

/// The maximum number of times a text is checked and repaired again: each round may enable other repairs, and a reader
/// that stops at the first fault shows only one per round.
const MAX_ROUNDS: usize = 100;

/// A text after some repairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The text.
    pub text: String,
    /// The number of repairs made.
    pub applied: usize,
    /// The number of repairs that overlap one that was made, or do not fit the text.
    pub skipped: usize,
}

/// A text after all repairs.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// The new content.
    pub document: Document,
    /// The remaining findings in it.
    pub findings: Vec<Finding>,
    /// The number of repairs made.
    pub applied: usize,
    /// The number of requested repairs that could not be made.
    pub skipped: usize,
}

/// Makes the repairs of `findings` that are at least as safe as `safety`, in order; of two that overlap, the first one
/// wins. Nothing is checked: see [`fix_all`].
pub fn apply(text: &str, findings: &[Finding], safety: Safety) -> Applied {
    let fixes: Vec<&Fix> = wanted(findings, safety).filter_map(|finding| finding.fix.as_ref()).collect();
    let (chosen, skipped) = choose(text, &fixes);
    Applied { text: patched(text, &chosen), applied: chosen.len(), skipped }
}

/// Checks and repairs `document` until nothing is left to repair. `check` returns the findings of the current content.
///
/// With [`Safety::Safe`] only repairs that do not change the meaning are made, with [`Safety::Unsafe`] all.
pub fn fix_all(document: &Document, safety: Safety, check: impl Fn(&Document) -> Vec<Finding>) -> Fixed {
    let mut fixed = Fixed { document: document.clone(), findings: check(document), applied: 0, skipped: 0 };
    for _ in 0..MAX_ROUNDS {
        let Some((document, findings, count)) = round(&fixed, safety, &check) else { break };
        fixed = Fixed { document, findings, applied: fixed.applied + count, skipped: 0 };
    }
    fixed.skipped = wanted(&fixed.findings, safety).count();
    fixed
}

fn wanted(findings: &[Finding], safety: Safety) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(move |finding| finding.fix.as_ref().is_some_and(|fix| fix.safety <= safety))
}

/// A text after some successful repairs, its findings, and the number of repairs.
type Better = (Document, Vec<Finding>, usize);

/// Makes all repairs at once if that works, otherwise all of those that work alone, otherwise the first of these.
/// Returns `None` if none works.
fn round(before: &Fixed, safety: Safety, check: &impl Fn(&Document) -> Vec<Finding>) -> Option<Better> {
    let all: Vec<&Finding> = wanted(&before.findings, safety).collect();
    together(before, &all, check).or_else(|| {
        let mut first = None;
        let mut goes_alone = |one: &&Finding| match together(before, &[one], check) {
            Some(better) => {
                first.get_or_insert(better);
                true
            }
            None => false,
        };
        let good: Vec<&Finding> = all.iter().copied().filter(|one| goes_alone(one)).collect();
        if good.len() > 1 { together(before, &good, check).or(first) } else { first }
    })
}

/// Makes the repairs of `findings` at once. Returns `None` if the text does not improve.
fn together(
    before: &Fixed,
    findings: &[&Finding],
    check: &impl Fn(&Document) -> Vec<Finding>,
) -> Option<Better> {
    let fixes: Vec<&Fix> = findings.iter().filter_map(|finding| finding.fix.as_ref()).collect();
    let (chosen, _) = choose(before.document.text(), &fixes);
    if chosen.is_empty() {
        return None;
    }
    let document = Document::parse(patched(before.document.text(), &chosen));
    let found = check(&document);
    // After a syntax repair, or if a reader gets further, hidden faults come to light.
    let reveals = document.problems().len() < before.document.problems().len()
        || findings.iter().any(|finding| finding.ends);
    let rests = (before.document.text().len(), document.text().len());
    let better = is_no_worse(&before.document, &document, &chosen)
        && are_gone(findings, (&before.findings, &found), rests)
        && (reveals || !has_new_errors(&before.findings, &found));
    better.then_some((document, found, chosen.len()))
}

/// Picks the repairs that do not overlap any picked before, and returns how many are left.
fn choose<'a>(text: &str, fixes: &[&'a Fix]) -> (Vec<&'a Fix>, usize) {
    let mut taken = Taken::default();
    let mut chosen = Vec::new();
    for fix in fixes {
        let fits = |edit: &Edit| text.get(edit.span.clone()).is_some() && taken.near(&edit.span).is_none();
        if !fix.edits.is_empty() && fix.edits.iter().all(fits) {
            fix.edits.iter().for_each(|edit| taken.add(&edit.span));
            chosen.push(*fix);
        }
    }
    let skipped = fixes.len() - chosen.len();
    (chosen, skipped)
}

/// The parts of a text that repairs change, from start to end; no two share a byte or meet.
#[derive(Default)]
struct Taken(BTreeMap<usize, usize>);

impl Taken {
    /// Returns the last part that shares a byte with `span` or meets it: two insertions at one place would depend on
    /// their order.
    fn near(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let (start, end) = self.0.range(..=span.end).next_back()?;
        (*end >= span.start).then_some(*start..*end)
    }

    fn add(&mut self, span: &Range<usize>) {
        let mut whole = span.clone();
        while let Some(near) = self.near(&whole) {
            self.0.remove(&near.start);
            whole = whole.start.min(near.start)..whole.end.max(near.end);
        }
        self.0.insert(whole.start, whole.end);
    }
}

/// Returns `text` with the edits of `fixes`.
pub(super) fn patched(text: &str, fixes: &[&Fix]) -> String {
    let mut edits: Vec<&Edit> = fixes.iter().flat_map(|fix| &fix.edits).collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        // Edits of one repair may overlap by mistake: here too the first one wins.
        let Some(kept) = text.get(at..edit.span.start) else { continue };
        new.push_str(kept);
        new.push_str(&edit.text);
        at = edit.span.end;
    }
    new.push_str(text.get(at..).unwrap_or_default());
    new
}

/// Reports whether `new` loads as well as `old` did, with the same body and the same value for every field that no edit
/// touches.
fn is_no_worse(old: &Document, new: &Document, fixes: &[&Fix]) -> bool {
    let edits: Vec<&Edit> = fixes.iter().flat_map(|fix| &fix.edits).collect();
    let has_body =
        old.frontmatter().is_some() && edits.iter().all(|edit| edit.span.end <= old.body_span().start);
    (skill::load(old).is_err() || skill::load(new).is_ok())
        && new.problems().len() <= old.problems().len()
        && (!has_body || old.body() == new.body())
        && keeps_fields(old, new, &edits)
}

fn keeps_fields(old: &Document, new: &Document, edits: &[&Edit]) -> bool {
    let Some(root) = old.frontmatter() else { return true };
    let mut touched = Vec::new();
    let mut end = old.yaml_span().map_or(root.span.end, |yaml| yaml.end);
    // A field extends to the next one: a value that is not there yet is inserted between them.
    for (key, _) in root.pairs().iter().rev() {
        if edits.iter().any(|edit| reaches(edit, &(key.span.start..end))) {
            touched.extend(key.text());
        }
        end = key.span.start;
    }
    let (before, now) = (fields(old), fields(new));
    let same =
        |(key, value): (&String, &Json)| touched.contains(&key.as_str()) || now.get(key) == Some(value);
    // A new field comes from an edit that names it.
    let told = |key: &String| before.contains_key(key) || edits.iter().any(|edit| edit.text.contains(key));
    before.iter().all(same) && now.keys().all(told)
}

/// Reports whether `edit` changes something in `field`; an insertion before it does not.
fn reaches(edit: &Edit, field: &Range<usize>) -> bool {
    let Range { start, end } = edit.span;
    if start == end {
        field.start < start && start <= field.end
    } else {
        start < field.end && field.start < end
    }
}

fn fields(document: &Document) -> BTreeMap<String, Json> {
    let pairs = document.frontmatter().map(Node::pairs).unwrap_or_default();
    pairs.iter().map(|(key, value)| (key.flat_text().unwrap_or_default(), value.to_json())).collect()
}

/// Reports whether each of the rules of `repaired` finds less than before. If reading stopped early, the next place
/// where it stops may be of the same rule, after everything that was repaired.
///
/// `lengths` are those of the two texts.
fn are_gone(repaired: &[&Finding], (old, new): (&[Finding], &[Finding]), lengths: (usize, usize)) -> bool {
    let count = |findings: &[Finding], rule| findings.iter().filter(|finding| finding.rule == rule).count();
    // A text can have thousands of findings from a few rules.
    let rules: BTreeMap<&str, &Finding> = repaired.iter().map(|finding| (finding.rule, *finding)).collect();
    let is_behind = |last: &Finding| {
        let end = last.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span.end).max();
        let next = new.iter().find(|finding| finding.ends && finding.rule == last.rule);
        let rest = next.and_then(|next| lengths.1.checked_sub(next.span.start));
        let behind = end.and_then(|end| lengths.0.checked_sub(end));
        last.ends && rest.zip(behind).is_some_and(|(rest, behind)| rest <= behind)
    };
    rules.into_iter().all(|(rule, last)| {
        let (before, now) = (count(old, rule), count(new, rule));
        now < before || (now == before && is_behind(last))
    })
}

/// Reports whether there are more errors than before, and more that no repair removes.
fn has_new_errors(old: &[Finding], new: &[Finding]) -> bool {
    let errors = |findings: &[Finding]| {
        let all = || findings.iter().filter(|finding| finding.severity == Severity::Error);
        (all().count(), all().filter(|finding| finding.fix.is_none()).count())
    };
    let ((all_old, stuck_old), (all_new, stuck_new)) = (errors(old), errors(new));
    all_new > all_old && stuck_new > stuck_old
}

#[cfg(test)]
mod real;
#[cfg(test)]
mod tests;
