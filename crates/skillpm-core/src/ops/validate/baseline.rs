//! The baseline of each skill: its known findings are quiet, or are written down.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};

use super::config::Config;
use super::outcome::Checked;
use crate::advice::{Opt, message};
use crate::engine::load::skill_file;
use crate::error::{Error, ErrorKind, FilePosition, Result};
use crate::fs;
use crate::lint::{Baseline, Level, Ruleset, rule};

/// The name of the file, if none was chosen.
const FILE_NAME: &str = "skillpm-baseline.json";

/// The maximum size of the file in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// The baseline of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum BaselineRequest {
    /// The one that the manifest nearest to a skill names.
    #[default]
    Configured,
    /// This file, for all skills.
    Read(PathBuf),
    /// All findings are written into this file. Without one, into the one that the manifest names, or else into
    /// `skillpm-baseline.json` beside it.
    Write(Option<PathBuf>),
}

/// A baseline that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenBaseline {
    /// The file.
    pub file: PathBuf,
    /// The number of findings in it.
    pub findings: usize,
    /// Whether the manifest names the file.
    pub is_configured: bool,
}

/// The baselines that skills have.
#[derive(Debug, Default)]
pub(super) struct Baselines {
    files: BTreeMap<PathBuf, (Baseline, bool)>,
}

impl Baselines {
    /// Reads the baseline of `config`, unless it was read before, and returns its file; `None` if there is none.
    pub(super) fn of(
        &mut self,
        request: &BaselineRequest,
        cwd: &Path,
        config: &Config,
    ) -> Result<Option<PathBuf>> {
        let configured = config.lint.baseline.as_ref();
        let (file, is_configured) = match (request, configured) {
            (BaselineRequest::Read(file) | BaselineRequest::Write(Some(file)), _) => (cwd.join(file), false),
            (_, Some(named)) => (config.beside(&named.text), true),
            (BaselineRequest::Write(None), None) => (config.dir.join(FILE_NAME), false),
            (BaselineRequest::Configured, None) => return Ok(None),
        };
        if self.files.contains_key(&file) {
            return Ok(Some(file));
        }
        let baseline = match fs::read_text(&file, MAX_SIZE)? {
            Some(text) => Baseline::parse(&text).map_err(|error| {
                let place = FilePosition::new(&file, error.line, error.column);
                let wrong = format!("this is not a baseline: {}", error.message);
                Error::at(ErrorKind::Config, place, wrong).hint(message!(
                    "restore the file from version control, or name another one with ",
                    Opt::Baseline
                ))
            })?,
            None if matches!(request, BaselineRequest::Write(_)) => Baseline::default(),
            None => {
                let missing = format!("the baseline `{}` does not exist", file.display());
                let hint = message!(Opt::WriteBaseline, " writes it");
                let typed = if let BaselineRequest::Read(typed) = request { typed } else { &file };
                let named_hint = message!((Opt::WriteBaseline, typed.display().to_string()), " writes it");
                return Err(match configured.filter(|_| is_configured) {
                    Some(named) => config.error(named.error(missing, Some(hint))),
                    None => Error::usage(missing).hint(named_hint),
                });
            }
        };
        self.files.insert(file.clone(), (baseline, is_configured));
        Ok(Some(file))
    }

    /// Removes the known findings of `skills`: for each its directory, its baseline and its rules. Returns how many there
    /// were, and how many known ones no longer occur.
    pub(super) fn quiet<'a>(
        &self,
        skills: impl Iterator<Item = (&'a mut Checked, &'a Path, &'a Path, &'a Ruleset)>,
    ) -> (usize, usize) {
        let (mut known, mut gone, mut seen) = (0, 0, BTreeSet::new());
        for (skill, dir, file, rules) in skills {
            let Some((baseline, _)) = self.files.get(file) else { continue };
            let dir = relative(file, dir);
            let Checked { text, findings, .. } = skill;
            let (quiet, lost) = baseline.quiet(&dir, text, findings, |rule| applies(rules, rule));
            (known, gone) = (known + quiet, gone + lost);
            seen.insert((file, dir));
        }
        for (file, (baseline, _)) in &self.files {
            let unseen = baseline.skills().filter(|(dir, _)| !seen.contains(&(file, (*dir).to_owned())));
            gone += unseen.filter(|(dir, _)| !is_there(file, dir)).map(|(_, count)| count).sum::<usize>();
        }
        (known, gone)
    }

    /// Writes the findings of `skills` down. Skills that were not checked, and still exist, stay known.
    pub(super) fn write<'a>(
        mut self,
        skills: impl Iterator<Item = (&'a mut Checked, &'a Path, &'a Path, &'a Ruleset)>,
    ) -> Result<Vec<WrittenBaseline>> {
        for (skill, dir, file, rules) in skills {
            if let Some((baseline, _)) = self.files.get_mut(file) {
                let findings = std::mem::take(&mut skill.findings);
                baseline.replace(&relative(file, dir), &skill.text, &findings, |rule| applies(rules, rule));
            }
        }
        let mut written = Vec::new();
        for (file, (mut baseline, is_configured)) in self.files {
            baseline.retain(|dir| is_there(&file, dir));
            let findings = baseline.skills().map(|(_, count)| count).sum();
            if findings == 0 && fs::kind(&file)?.is_none() {
                continue;
            }
            fs::write_out(&file, baseline.to_text().as_bytes())?;
            written.push(WrittenBaseline { file, findings, is_configured });
        }
        Ok(written)
    }
}

/// Returns the directory `dir` relative to that of the baseline `file`.
fn relative(file: &Path, dir: &Path) -> String {
    let base = fs::resolved(file.parent().unwrap_or(Path::new("")));
    let path = fs::relative(&base, dir);
    if path.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        path.to_string_lossy().replace(MAIN_SEPARATOR_STR, "/")
    }
}

/// Reports whether there is a skill in the directory `dir` of the baseline `file`.
fn is_there(file: &Path, dir: &str) -> bool {
    skill_file(&file.with_file_name(dir)).map_or(true, |found| found.is_some())
}

/// Reports whether the rule `id` is on, or does not exist.
pub(super) fn applies(rules: &Ruleset, id: &str) -> bool {
    rule(id).map_or(true, |rule| rules.level(rule) != Level::Off)
}
