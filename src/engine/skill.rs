//! A skill as it was found.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::path::{MAIN_SEPARATOR as SEPARATOR, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::discover::{Diagnostic, is_plain, key};
use super::load::{self, SKILL_FILE};
use super::memory::record::{Place, Record};
use super::memory::records::{Records, Window};
use super::sources::{Source, SourceKind};
use crate::fs::{self, FileStat, Listing};
use crate::policy::Policy;
use crate::skill::{self, Deviation, SkillMeta};

/// A skill that an agent can use. Its body has not been read.
///
/// It has the fields of [`SkillParts`]. They are made when somebody asks for the first of them: of thousands
/// of skills a catalog tells a name, a description and a path, and to make the other texts and paths takes
/// longer than that. What there is a method for does without them.
#[derive(Clone)]
pub struct Skill(Form);

#[derive(Clone)]
enum Form {
    /// All of it.
    Whole(Box<SkillParts>),
    /// What it is made of, and all of it once that was asked for.
    Brief(Brief, OnceLock<Box<SkillParts>>),
}

/// What is known of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillParts {
    /// What its frontmatter says.
    pub meta: SkillMeta,
    /// The name of the source in which it was found.
    pub source: Arc<str>,
    /// Whose source that is.
    pub kind: SourceKind,
    /// Its directory, below that of its source.
    pub dir: PathBuf,
    /// Its file.
    pub file: PathBuf,
    /// Its directory with all links followed.
    pub real: PathBuf,
    /// What is off in its file and was tolerated.
    pub deviations: Vec<Deviation>,
}

/// A skill with nothing off in it: its record, and where it lies.
#[derive(Clone)]
struct Brief {
    group: Arc<Group>,
    /// Its directory, by its place in the listing.
    at: usize,
    record: Place,
}

/// Skills that lie beside each other and were read together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) home: Arc<Home>,
    /// Where their records are.
    pub(super) records: Arc<Records>,
}

/// A directory with the directories of skills.
#[derive(Debug)]
pub(super) struct Home {
    source: Arc<str>,
    kind: SourceKind,
    dir: PathBuf,
    real: PathBuf,
    /// What lies in it.
    pub(super) listing: Arc<Listing>,
    /// The file system that it is on.
    pub(super) device: u64,
    /// By what its skills are read.
    policy: Arc<Policy>,
}

impl Home {
    /// The directory `dir` of `source`, which is `real` with links followed, for skills that are read by `policy`.
    pub(super) fn new(
        source: &Source,
        policy: Arc<Policy>,
        (dir, real): (&Path, &Path),
        listing: Arc<Listing>,
        device: u64,
    ) -> Self {
        let (source, kind) = (Arc::clone(&source.name), source.kind);
        Self { source, kind, dir: dir.to_owned(), real: real.to_owned(), listing, device, policy }
    }

    /// The directory at `at` of the listing, and the same with all links followed.
    pub(super) fn at(&self, at: usize) -> (PathBuf, PathBuf) {
        let name = self.listing.get(at).map_or("", |(name, _)| name);
        (self.dir.join(name), self.real.join(name))
    }
}

impl Brief {
    fn record(&self) -> Option<Record<'_>> {
        self.group.records.record(&self.record)
    }

    fn directory(&self) -> &str {
        self.group.home.listing.get(self.at).map_or("", |(name, _)| name)
    }

    /// The directory of the skill below `dir`, and `file` in it where that is not empty.
    fn below(&self, dir: &Path, file: &str) -> PathBuf {
        match dir.to_str() {
            Some(dir) => self.text_below(dir, file).into(),
            None if file.is_empty() => dir.join(self.directory()),
            None => dir.join(self.directory()).join(file),
        }
    }

    /// As [`Self::below`]. Whether it is text is seen by the directory that thousands have in common.
    fn text_below(&self, dir: &str, file: &str) -> String {
        // At once: a path that grows is moved each time.
        let mut path = String::with_capacity(dir.len() + self.directory().len() + file.len() + 2);
        self.push_below(dir, file, &mut path);
        path
    }

    /// As [`Self::text_below`], in an empty `path`.
    fn push_below(&self, dir: &str, file: &str, path: &mut String) {
        path.push_str(dir);
        // The names are one component each.
        for part in [self.directory(), file] {
            if !part.is_empty() && !path.ends_with(SEPARATOR) {
                path.push(SEPARATOR);
            }
            path.push_str(part);
        }
    }

    fn parts(&self) -> SkillParts {
        let home = &self.group.home;
        SkillParts {
            meta: self.record().map_or_else(|| self.again(), |record| record.meta(self.directory())),
            source: Arc::clone(&home.source),
            kind: home.kind,
            dir: self.below(&home.dir, ""),
            file: self.below(&home.dir, SKILL_FILE),
            real: self.below(&home.real, ""),
            deviations: Vec::new(),
        }
    }

    /// The metadata by the file of the skill. That is as it was when the record was made, but the record cannot be
    /// read any more: somebody damaged the file that it stands in.
    fn again(&self) -> SkillMeta {
        let home = &self.group.home;
        let document = load::frontmatter(&self.below(&home.dir, SKILL_FILE)).ok();
        let loaded = document
            .as_ref()
            .and_then(|document| skill::load_with(document, &home.policy, Some(self.directory())).ok());
        let nameless = || SkillMeta { name: self.directory().to_owned(), ..SkillMeta::default() };
        loaded.map_or_else(nameless, |loaded| loaded.meta)
    }
}

impl From<SkillParts> for Skill {
    fn from(parts: SkillParts) -> Self {
        Self(Form::Whole(Box::new(parts)))
    }
}

impl Deref for Skill {
    type Target = SkillParts;

    fn deref(&self) -> &SkillParts {
        match &self.0 {
            Form::Whole(parts) => parts,
            Form::Brief(brief, parts) => parts.get_or_init(|| Box::new(brief.parts())),
        }
    }
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SkillParts::fmt(self, f)
    }
}

impl PartialEq for Skill {
    fn eq(&self, other: &Self) -> bool {
        SkillParts::eq(self, other)
    }
}

impl Eq for Skill {}

impl Skill {
    /// The skill in the directory at `at` of the listing of `group`, among whose records its `record` is.
    pub(super) fn brief(group: Arc<Group>, at: usize, record: Place) -> Self {
        Self(Form::Brief(Brief { group, at, record }, OnceLock::new()))
    }

    fn as_brief(&self) -> Option<&Brief> {
        if let Form::Brief(brief, _) = &self.0 { Some(brief) } else { None }
    }

    /// The record that it is made of, if it is and that can be read.
    pub(super) fn record(&self) -> Option<Record<'_>> {
        self.as_brief().and_then(Brief::record)
    }

    /// What its file was, where its record says so.
    pub(super) fn stat(&self) -> Option<FileStat> {
        let brief = self.as_brief()?;
        brief.group.records.stat(&brief.record, brief.group.home.device)
    }

    /// What it calls itself.
    pub fn name(&self) -> &str {
        match self.as_brief() {
            Some(brief) if brief.record.signs().at_home => brief.directory(),
            Some(brief) => brief.record().map_or_else(|| &*self.meta.name, |record| record.name("")),
            None => &self.meta.name,
        }
    }

    /// What it does and when to use it.
    pub fn description(&self) -> &str {
        self.record().map_or_else(|| &*self.meta.description, |record| record.description())
    }

    /// Its name and description. Where they stand in a file, what is read of it stays in `window` only: whoever
    /// goes through thousands need not have all of them.
    pub(super) fn texts_in<'a>(&'a self, window: &'a mut Window) -> (&'a str, &'a str) {
        let texts = self.as_brief().and_then(|brief| {
            let record = brief.group.records.record_in(&brief.record, window)?;
            Some((record.name(brief.directory()), record.description()))
        });
        texts.unwrap_or_else(|| (self.name(), self.description()))
    }

    /// Its file.
    pub fn file(&self) -> Cow<'_, Path> {
        match self.as_brief() {
            Some(brief) => brief.below(&brief.group.home.dir, SKILL_FILE).into(),
            None => self.file.as_path().into(),
        }
    }

    /// The path of its file, as text, which is put into `path` where it is not there.
    pub(super) fn file_text_in<'a>(&'a self, path: &'a mut String) -> Cow<'a, str> {
        let Some(brief) = self.as_brief() else { return self.file.to_string_lossy() };
        let dir = &brief.group.home.dir;
        let Some(text) = dir.to_str() else { return fs::into_text(brief.below(dir, SKILL_FILE)).into() };
        path.clear();
        brief.push_below(text, SKILL_FILE, path);
        path.as_str().into()
    }

    /// The name of its directory.
    pub(super) fn directory(&self) -> Option<&std::ffi::OsStr> {
        match self.as_brief() {
            Some(brief) => Some(brief.directory().as_ref()),
            None => self.dir.file_name(),
        }
    }

    /// Whether it has fields that the specification does not have.
    pub(super) fn has_extra(&self) -> bool {
        self.as_brief().map_or_else(|| !self.meta.extra.is_empty(), |brief| brief.record.signs().extra)
    }

    /// Whether it says that only a person is to start it.
    pub fn is_for_people(&self) -> bool {
        if !self.has_extra() {
            return false;
        }
        match self.meta.extra.get("disable-model-invocation") {
            Some(Value::Bool(hidden)) => *hidden,
            Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// What is off in its file and was tolerated.
    pub(super) fn oddities(&self) -> &[Deviation] {
        // Of such a skill there is no record.
        if self.as_brief().is_some() { &[] } else { &self.deviations }
    }

    /// Whether it was found in the directory at `at` of `home`.
    pub(super) fn lies_at(&self, home: &Home, at: usize) -> bool {
        let Some((name, _)) = home.listing.get(at) else { return false };
        match self.as_brief() {
            Some(brief) => {
                let own = &brief.group.home;
                own.source == home.source
                    && own.dir.as_os_str() == home.dir.as_os_str()
                    && brief.directory() == name
            }
            None => self.source == home.source && self.dir.as_os_str() == home.dir.join(name).as_os_str(),
        }
    }

    /// How well it is served in `source` where others there have its name, the smallest best: 0 in the directory of
    /// its name right in the source, where a look at one path finds it; 1 in one of its name further below; else 2.
    pub(super) fn rank_in(&self, source: &Source) -> u8 {
        if self.directory().is_none_or(|dir| dir != &*key(self.name())) {
            return 2;
        }
        let parent = match self.as_brief() {
            Some(brief) => Some(&*brief.group.home.dir),
            None => self.dir.parent(),
        };
        u8::from(parent != Some(&*source.dir))
    }

    /// Whether it has the name of `other`: then only one of the two is used.
    pub fn has_name_of(&self, other: &Self) -> bool {
        key(self.name()) == key(other.name())
    }

    /// Whether it lies right in `source`, in a directory whose name is its own and can be spelled in one way
    /// only. Bytes are compared: components of paths take longer.
    pub(super) fn is_named_as_in(&self, source: &Source) -> bool {
        let parent = source.dir.as_os_str();
        if let Some(brief) = self.as_brief() {
            return brief.record.signs().at_home
                && brief.group.home.dir.as_os_str() == parent
                && is_plain(brief.directory());
        }
        let (dir, parent, name) =
            (self.dir.as_os_str().as_encoded_bytes(), parent.as_encoded_bytes(), &*self.meta.name);
        dir.len() == parent.len() + 1 + name.len()
            && dir.ends_with(name.as_bytes())
            && dir.starts_with(parent)
            && is_plain(name)
    }

    /// What is off in it and was tolerated, each with its file and place.
    pub(super) fn told(&self) -> impl Iterator<Item = Diagnostic> {
        self.oddities().iter().map(|deviation| {
            let (file, deviation) = (self.file.clone(), Box::new(deviation.clone()));
            Diagnostic::Deviation { file, deviation }
        })
    }

    /// What is to be said of the name of its file.
    pub(super) fn misspelled(&self) -> Option<Diagnostic> {
        if self.as_brief().is_some() {
            // Only of the right name there are records.
            return None;
        }
        // The name of a file of thousands: components of paths take longer.
        let right = self.file.as_os_str().as_encoded_bytes().ends_with(SKILL_FILE.as_bytes());
        (!right).then(|| Diagnostic::Spelling(self.file.clone()))
    }

    /// Where it lies below the directory of `source`, with `/` between the parts; `None` where it does not, and
    /// for names that are no text.
    pub fn path_below(&self, source: &Source) -> Option<String> {
        let below = self.dir.strip_prefix(&source.dir).ok()?;
        let parts: Option<Vec<_>> = below.iter().map(|part| part.to_str()).collect();
        Some(parts?.join("/"))
    }

    /// What is to be said where the skill in `used` is used in place of this one.
    pub(super) fn shadowed_by(&self, used: &Path) -> Diagnostic {
        let (name, hidden) = (self.meta.name.clone(), self.dir.clone());
        Diagnostic::Shadowed { name, used: used.to_owned(), hidden }
    }
}

#[cfg(test)]
mod tests;
