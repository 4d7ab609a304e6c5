//! Checks of skills, each by itself and among the others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::baseline::{BaselineRequest, Baselines, applies};
use super::config::Configs;
use super::one::{Again, Checker, Examined};
use super::outcome::{Checked, ValidateOutcome};
use super::repair::{self, Repairing};
use super::request::{Repairs, ValidateRequest};
use crate::context::Context;
use crate::error::Result;
use crate::fs;
use crate::lint::report::LeftOut;
use crate::lint::{NAME_TWICE, OtherSkill, Ruleset};
use crate::path::normal;
use crate::paths::{ChangedFiles, FileLocation, Finder, Searched, Target};
use crate::skill::SKILL_FILE;
use crate::workers;

/// Checks skills, each once, in the order of the targets and below one by the bytes of their paths.
///
/// # Errors
///
/// Fails for a path that is not there, cannot be read, or holds no skill, and for an invalid manifest.
pub fn validate(context: &Context, request: &ValidateRequest) -> Result<ValidateOutcome> {
    let mut configs = Configs::new(context, &request.options)?;
    let outcome = validate_by(context, request, &mut configs, &mut Searched::default());
    configs.error.map_or(outcome, Err)
}

/// Something to check.
enum Subject {
    File(FileLocation),
    Text { bytes: Vec<u8>, at: Option<PathBuf>, shown: PathBuf },
}

/// The number of the set of rules of something to check, and where its known findings are.
struct By {
    rules: usize,
    /// The directory of the skill.
    dir: PathBuf,
    baseline: Option<PathBuf>,
}

/// All that is to be checked.
#[derive(Default)]
struct Subjects {
    list: Vec<(Subject, By)>,
    baselines: Baselines,
    left_out: LeftOut,
}

/// Works like [`validate`], by `configs`, which may have met a wrong manifest. Where skills and manifests are looked for is
/// noted in `searched`, also if that fails.
pub(super) fn validate_by(
    context: &Context,
    request: &ValidateRequest,
    configs: &mut Configs,
    searched: &mut Searched,
) -> Result<ValidateOutcome> {
    let Subjects { list, baselines, mut left_out } = subjects(context, request, configs, searched)?;
    if configs.error.is_some() && !searched.is_kept() {
        // It fails anyway.
        return Ok(ValidateOutcome::default());
    }
    let (mut skills, mut by, mut again) = (Vec::new(), Vec::new(), Vec::new());
    let mut named = Named::new();
    let checkers = checkers(configs.rulesets(), &[]);
    let check = |(subject, by): &(Subject, By)| match subject {
        Subject::File(place) => checkers[by.rules].file(place),
        Subject::Text { bytes, at, shown } => {
            let checked = checkers[by.rules].text(bytes.clone(), at.as_deref(), shown.clone());
            Ok(Examined::Checked(checked, None, None))
        }
    };
    for (examined, (subject, one)) in
        workers::map(&list, workers::PIECE, || (), |(), one| check(one)).zip(&list)
    {
        match examined? {
            Examined::Gone => {}
            Examined::Unread => left_out.unread += 1,
            Examined::Checked(checked, name, needs) => {
                again.extend(needs.map(|needs| (skills.len(), needs)));
                if let (Some(name), Subject::File(place)) = (name, subject) {
                    named.entry(name).or_default().push((skills.len(), place));
                }
                skills.push(checked);
                by.push(one);
            }
        }
    }
    let others = among_each_other(&mut skills, &by, &again, configs.rulesets());
    twins(&mut skills, &by, &named, configs.rulesets(), &others)?;
    let checkers = self::checkers(configs.rulesets(), &others);
    let checker = |at: usize| &checkers[by[at].rules];
    let Repairing { repaired, installed, outside } = repair::repair(context, &mut skills, checker, request)?;
    let known = skills.iter_mut().zip(&by).filter_map(|(skill, by)| {
        Some((skill, &*by.dir, by.baseline.as_deref()?, &configs.rulesets()[by.rules]))
    });
    let mut written = Vec::new();
    if matches!(request.baseline, BaselineRequest::Write(_)) {
        written = baselines.write(known)?;
    } else {
        (left_out.known, left_out.gone) = baselines.quiet(known);
    }
    Ok(ValidateOutcome { skills, repaired, installed, outside, left_out, written })
}

/// The skills with each name: their numbers, and where they are.
type Named<'a> = BTreeMap<String, Vec<(usize, &'a FileLocation)>>;

/// Checks skills again that have the name of one before, and another text.
fn twins(
    skills: &mut [Checked],
    by: &[&By],
    named: &Named<'_>,
    rulesets: &[Ruleset],
    others: &[OtherSkill],
) -> Result<()> {
    for same in named.values().filter(|same| same.len() > 1) {
        let (first, rest) = (&same[0], &same[1..]);
        let text = first.1.read()?;
        for (at, place) in rest {
            if !applies(&rulesets[by[*at].rules], NAME_TWICE) || place.read()? == text {
                continue;
            }
            let twin = skills[first.0].file.display().to_string();
            let checker = Checker::new(&rulesets[by[*at].rules], others).beside(twin);
            if let Examined::Checked(checked, ..) = checker.file(place)? {
                skills[*at] = checked;
            }
        }
    }
    Ok(())
}

/// Returns a checker for each of `rulesets`.
fn checkers<'a>(rulesets: &'a [Ruleset], others: &'a [OtherSkill]) -> Vec<Checker<'a>> {
    rulesets.iter().map(|rules| Checker::new(rules, others)).collect()
}

/// Finds what is to be checked, and by which rules.
fn subjects(
    context: &Context,
    request: &ValidateRequest,
    configs: &mut Configs,
    searched: &mut Searched,
) -> Result<Subjects> {
    let cwd = &context.settings.cwd;
    let (mut found, mut subjects, mut changed) = (Vec::new(), Subjects::default(), ChangedFiles::default());
    let mut finder = Finder::new(cwd, searched).ignoring_unknown(request.options.ignore_unknown);
    for target in &request.targets {
        match target {
            Target::Text { .. } if request.repairs != Repairs::None => {
                return Err(Target::no_place("repaired"));
            }
            Target::Text { bytes, file } => {
                let at = file.as_ref().map(|file| located(&cwd.join(file))).transpose()?;
                let shown = Target::shown(file.as_deref());
                found.push(Subject::Text { bytes: bytes.clone(), at, shown });
            }
            Target::Path(typed) => found.extend(finder.find(typed)?.into_iter().map(Subject::File)),
        }
    }
    for subject in found {
        let (dir, name, is_named) = match &subject {
            Subject::File(place) => (&*place.dir, Path::new(&place.name), place.is_named),
            Subject::Text { at, .. } => {
                let at = at.as_deref().and_then(|at| Some((at.parent()?, Path::new(at.file_name()?))));
                let (dir, name) = at.unwrap_or((cwd, Path::new(SKILL_FILE)));
                (dir, name, true)
            }
        };
        let Some(rules) = configs.of_file((dir, name), is_named, searched)? else {
            subjects.left_out.excluded += 1;
            continue;
        };
        if matches!(subject, Subject::File(_)) && !changed.touch(context, &request.changes, dir)? {
            subjects.left_out.unchanged += 1;
            continue;
        }
        let (dir, config) = (dir.to_owned(), configs.of_dir(dir, searched)?);
        // A text without a file has no known findings.
        let is_place = !matches!(subject, Subject::Text { at: None, .. });
        let baseline = if is_place { subjects.baselines.of(&request.baseline, cwd, &config)? } else { None };
        if let Some(file) = &baseline {
            searched.at(|| file.clone());
        }
        subjects.list.push((subject, By { rules, dir, baseline }));
    }
    Ok(subjects)
}

/// Returns `file` with the real path of its directory, if that is there: its manifest is above that.
fn located(file: &Path) -> Result<PathBuf> {
    let (Some(dir), Some(name)) = (file.parent(), file.file_name()) else { return Ok(file.to_owned()) };
    Ok(fs::real_path(dir)?.map_or_else(|| normal(file), |dir| dir.join(name)))
}

/// Checks the skills that need others a second time, now that all of these are known. One that
/// needs none is in no circle. Returns all of these.
fn among_each_other(
    skills: &mut [Checked],
    by: &[&By],
    again: &[(usize, Box<Again>)],
    rulesets: &[Ruleset],
) -> Vec<OtherSkill> {
    if again.len() < 2 {
        return Vec::new();
    }
    let others: Vec<OtherSkill> = again.iter().map(|(_, again)| again.skill.clone()).collect();
    let checkers = checkers(rulesets, &others);
    for (index, again) in again {
        skills[*index] = checkers[by[*index].rules].again(again);
    }
    others
}
