//! Reads a skill that is to be packed, and checks it by the rules for publishing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::select::{self, LeftOut, Selection};
use crate::advice::{Argument, Opt, Verb, Warning, message};
use crate::context::Context;
use crate::document::Document;
use crate::engine::files;
use crate::error::{Error, ErrorKind, Result};
use crate::hints;
use crate::lint::{Finding, Profile, RuleOptions, SECRET_IN_TEXT, Severity, Subject, check_with};
use crate::ops::validate::{Checked, LintOptions, ValidateOutcome, rules_of};
use crate::paths::{FileLocation, Finder, Searched};
use crate::refusal::{Limits, Refusal};
use crate::skill::MAX_SKILL_FILE;
use crate::tree::{FileEntry, FileSet, Memory, Node, Tree};

/// A skill that was read and checked.
#[derive(Debug, Clone)]
pub struct Examined {
    /// The skill's directory.
    pub(super) dir: PathBuf,
    /// The same as it was typed.
    typed: PathBuf,
    /// The file that makes the skill.
    pub(super) document: Document,
    /// The packed files, in memory: nothing can change them any more.
    pub(super) files: FileSet,
    /// The files that are not packed.
    pub(super) left_out: Vec<LeftOut>,
    /// The findings of the rules about the packed files.
    outcome: ValidateOutcome,
}

/// Reads the skill in the directory `dir`, which is relative to the working directory, and checks what would be packed
/// by the profile `publish`, in which `options` choose rules.
///
/// # Errors
///
/// Fails if there is no skill, if it cannot be read, and if it has files that no skill may have. Findings of the rules
/// are no error.
pub fn examine(context: &Context, dir: &Path, options: &RuleOptions) -> Result<Examined> {
    let place = skill_at(context, dir)?;
    let ignore = select::rules(&place.dir)?;
    let tree = select::scan(&place.dir, &ignore)?;
    let file_name = place.name.to_string_lossy();
    let document = Document::from_bytes(read_skill_file(&tree, &file_name)?);
    let Selection { tree, left_out } = select::select(&place.dir, tree, &ignore, document.name())?;
    let files = in_memory(&tree.skill("", &Limits::default())?)?;
    // The packed bytes count, should the file have changed since.
    let packed = files.get(&file_name).map(|file| files.read(file)).transpose()?;
    let document = packed.map_or(document, Document::from_bytes);
    let outcome = check(context, &place, &document, &files, options)?;
    Ok(Examined { dir: place.dir, typed: dir.to_owned(), document, files, left_out, outcome })
}

impl Examined {
    /// Returns the skill's directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the skill's directory as it was typed.
    pub(in crate::ops) fn typed(&self) -> &Path {
        &self.typed
    }

    /// Returns what the rules found, as `validate` returns it.
    pub fn findings(&self) -> &ValidateOutcome {
        &self.outcome
    }

    /// Reports whether the findings forbid to pack the skill.
    pub fn is_refused(&self) -> bool {
        self.errors().next().is_some()
    }

    /// Returns the findings that forbid to pack the skill.
    fn errors(&self) -> impl Iterator<Item = (&Checked, &Finding)> {
        let skills = self.outcome.skills.iter();
        let findings = skills.flat_map(|skill| skill.findings.iter().map(move |finding| (skill, finding)));
        findings.filter(|(_, finding)| finding.forbids_publishing())
    }

    /// Returns what the rules warn of, once for each rule.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        let Some(skill) = self.outcome.skills.first() else { return Vec::new() };
        let mut by_rule: Vec<(&Finding, usize)> = Vec::new();
        for finding in skill.findings.iter().filter(|finding| finding.severity == Severity::Warning) {
            match by_rule.iter_mut().find(|(first, _)| first.rule == finding.rule) {
                Some((_, more)) => *more += 1,
                None => by_rule.push((finding, 0)),
            }
        }
        let lines = self.document.line_index();
        let warning = |(finding, more): (&Finding, usize)| {
            let (file, line) = (skill.file.display(), lines.line(finding.span.start));
            let more = if more == 0 { String::new() } else { format!(", and {more} more") };
            Warning::new(
                finding.rule,
                format!("`{file}`, line {line}: {} ({}{more})", finding.message, finding.rule),
            )
        };
        let mut warnings: Vec<Warning> = by_rule.into_iter().map(warning).collect();
        let hint = hints::switch_off(warnings.iter().map(|warning| warning.code));
        if let Some(last) = warnings.last_mut() {
            last.hints.extend(hint);
        }
        warnings
    }

    /// Reports whether the rule for keys in texts found one: a setting or a comment may have switched it off.
    pub(super) fn reports_keys(&self) -> bool {
        self.outcome.findings().any(|finding| finding.rule == SECRET_IN_TEXT)
    }

    /// Fails with the first finding that forbids to pack the skill.
    pub(super) fn check_findings(&self) -> Result<()> {
        let errors = self.errors().count();
        let Some((skill, first)) = self.errors().next() else { return Ok(()) };
        let file = skill.file.display();
        let number = if errors == 1 { "an error".to_owned() } else { format!("{errors} errors") };
        Err(Error::new(
            ErrorKind::Findings,
            format!("`{file}` has {number} by the profile `publish`: {} ({})", first.message, first.rule),
        )
        .hint(message!(
            Verb::Validate.call().word(file).option(Opt::Profile, "publish"),
            " shows all findings"
        )))
    }
}

/// Returns `error` about the skill that was typed as `typed`: its hints name the directory, unless it is the current one.
/// That of an archive is not known.
pub(in crate::ops) fn about(error: Error, typed: &Path) -> Error {
    let named = match typed.extension() {
        _ if typed == "." => return error,
        Some(ending) if ending == "zip" => "DIR".to_owned(),
        _ => typed.to_string_lossy().into_owned(),
    };
    error.with_argument(Verb::Bump, &Argument::Word(named))
}

/// Returns the one skill that `dir` names.
pub(in crate::ops) fn skill_at(context: &Context, dir: &Path) -> Result<FileLocation> {
    let mut searched = Searched::default();
    let mut found = Finder::new(&context.settings.cwd, &mut searched).find(dir)?;
    // Skills inside it are files of it.
    found.retain(|place| place.is_named);
    match found.pop() {
        Some(place) if found.is_empty() => Ok(place),
        _ => Err(Error::usage(format!(
            "`{}` is not a skill, but a directory with skills in it",
            dir.display()
        ))
        .hint("name the directory of one skill")),
    }
}

/// Reads the file that makes the skill.
fn read_skill_file(tree: &Tree, name: &str) -> Result<Vec<u8>> {
    match tree.get(name).map(|entry| entry.node) {
        Some(Node::Symlink) => Err(Refusal::SkillSymlink(name.to_owned()).into()),
        Some(Node::Special(kind)) => Err(Refusal::special(name.to_owned(), kind).into()),
        _ => Ok(tree.read(name, MAX_SKILL_FILE)?),
    }
}

/// Returns the same files with their content in memory.
fn in_memory(set: &FileSet) -> Result<FileSet> {
    let (mut files, mut contents) = (Vec::new(), Vec::new());
    for file in set.files() {
        let bytes = set.read(file)?;
        files.push(FileEntry::new(file.path.clone(), file.executable, bytes.len() as u64, contents.len()));
        contents.push(bytes);
    }
    Ok(FileSet::new(files, Arc::new(Memory(contents)), &Limits::default())?)
}

/// Checks what is packed: a file that stays out can neither be at fault nor be linked to.
fn check(
    context: &Context,
    place: &FileLocation,
    document: &Document,
    set: &FileSet,
    options: &RuleOptions,
) -> Result<ValidateOutcome> {
    let rules = RuleOptions { profile: Some(Profile::Publish), ..options.clone() };
    let options = LintOptions { rules, ..LintOptions::default() };
    let rules = rules_of(context, &place.dir, Path::new(&place.name), &options)?;
    let directory = place.directory().map(|name| name.to_string_lossy());
    let file_name = place.name.to_string_lossy();
    let beside = files::of_set(set)?;
    let subject = Subject::new(document, directory.as_deref(), &file_name).with_files(&beside);
    let findings = check_with(&subject, &rules);
    let (file, text) = (place.shown.clone(), document.text().to_owned());
    let checked = Checked { file, profile: rules.profile, text, findings };
    Ok(ValidateOutcome { skills: vec![checked], ..ValidateOutcome::default() })
}
