//! Hints about skills that are being written, and about registries.

use std::collections::BTreeSet;
use std::path::Path;

use crate::advice::{Call, Message, Opt, Verb, message};
use crate::document::Position;
use crate::error::{Error, ErrorKind};
use crate::lint::{self, Level, Rule, Safety, Severity};
use crate::ops::cache;
use crate::ops::fmt::{FmtOutcome, Form, Formatted};
use crate::ops::registry::{IndexOutcome, InitOutcome, VerifyOutcome};
use crate::ops::validate::{Repairs, ValidateOutcome};
use crate::registry::{Defect, DefectKind};

/// Returns how to read about one of `rules`.
pub fn explain(rules: &[&Rule]) -> Option<Message> {
    Some(message!(Verb::Explain.call().word(rules.first()?.id), " explains the first of them"))
}

/// Returns how to switch off those of `rules` that are not of the specification: a skill that breaks one of these is mended.
pub fn switch_off<'a>(rules: impl IntoIterator<Item = &'a str>) -> Option<Message> {
    let is_style = |rule: &&str| lint::rule(rule).is_ok_and(|rule| rule.levels.spec < Level::Error);
    let rules: BTreeSet<&str> = rules.into_iter().filter(is_style).collect();
    let levels: Vec<_> = rules.iter().map(|rule| format!("{rule} = \"off\"")).collect();
    let rules: Vec<_> = rules.into_iter().collect();
    let them = if rules.len() == 1 { "it" } else { "them" };
    (!rules.is_empty()).then(|| {
        message!(
            (Opt::Ignore, rules.join(",")),
            format_args!(
                " leaves {them} out once, `rules = {{ {} }}` under `[lint]` in `skillpm.toml` always",
                levels.join(", ")
            )
        )
    })
}

/// Returns how to repair the file at `real`, which a link out of the project leads to.
pub fn name_real(real: &Path) -> Message {
    message!(format_args!("to repair `{}`, name that path", real.display()))
}

/// Returns how to write the catalog again, by the command `update`.
pub fn update_file(update: Call) -> Message {
    message!(update, " updates it")
}

/// Returns how to change installed skills, `number` of which were left as locked.
pub fn installed(number: usize) -> Option<Message> {
    (number > 0).then(|| {
        message!(
            "to format it anyway, name the skill's own directory; ",
            Verb::Verify,
            " will then report it as edited"
        )
    })
}

impl FmtOutcome {
    /// Returns what to do next.
    pub fn hints(&self) -> Vec<Message> {
        installed(self.installed).into_iter().collect()
    }
}

impl Formatted {
    /// Returns the error of a file that has no canonical form.
    pub fn refusal(&self) -> Option<Error> {
        let Form::Refused { reason, at } = &self.form else { return None };
        let file = self.file.display();
        let message = match at {
            Some(Position { line, column }) => format!("`{file}`, line {line}, column {column}: {reason}"),
            None => format!("`{file}`: {reason}"),
        };
        // A text that is in no file cannot be named.
        let validate = Verb::Validate.call();
        let validate = if self.text.is_some() { validate } else { validate.path(&self.file) };
        let refused = Error::new(ErrorKind::Findings, message);
        Some(refused.hint(message!("the file was not changed; ", validate, " says more")))
    }
}

impl ValidateOutcome {
    /// Returns how to repair what is left, where an option can be `added`, and where to read more. `made` are the repairs
    /// that were made.
    pub fn hints(&self, added: bool, made: Repairs) -> Vec<Message> {
        // Repairs of installed skills have already been requested.
        let repair = self.repair(made).filter(|_| added && self.installed == 0);
        let of = |severity| self.findings().find(|finding| finding.severity == severity);
        let first = [Severity::Error, Severity::Warning, Severity::Note].into_iter().find_map(of);
        let explain = first.map(|first| message!(Verb::Explain.call().word(first.rule), " says more"));
        // With new findings, these would become known too.
        let gone = (self.left_out.gone > 0 && first.is_none())
            .then(|| message!(Opt::WriteBaseline, " takes what is gone out of the baseline"));
        repair.into_iter().chain(explain).chain(gone).chain(self.use_baseline()).collect()
    }

    /// Returns how to use a baseline that was written.
    fn use_baseline(&self) -> Option<Message> {
        let written = self.written.iter().find(|written| !written.is_configured)?;
        let (file, name) = (written.file.display(), written.file.file_name()?.to_string_lossy());
        Some(message!(
            (Opt::Baseline, file.to_string()),
            format_args!(
                " takes it from there; `baseline = \"{name}\"` under `[lint]` in the `skillpm.toml` beside it does always"
            )
        ))
    }

    /// Returns how to repair what can be repaired.
    fn repair(&self, made: Repairs) -> Option<Message> {
        let with = |wanted| {
            // The remaining ones of the requested repairs would do harm.
            if matches!(made, Repairs::Make(safety) if wanted <= safety) {
                return 0;
            }
            let fixes = self.findings().filter_map(|finding| finding.fix.as_ref());
            fixes.filter(|fix| fix.safety == wanted).count()
        };
        let what = if self.findings().nth(1).is_none() { " repairs it; " } else { " repairs some of them; " };
        let r#unsafe = || (Opt::Fix, "unsafe");
        // The number is only known afterwards: one repair enables another, or removes several findings.
        Some(match (with(Safety::Safe), with(Safety::Unsafe)) {
            (0, 0) => return None,
            (_, 0) => message!(Opt::Fix, what, Opt::Diff, " shows how"),
            (0, _) => message!(r#unsafe(), what, r#unsafe(), " with ", Opt::Diff, " shows how"),
            _ => message!(
                Opt::Fix,
                " repairs some of them, ",
                r#unsafe(),
                " more; with ",
                Opt::Diff,
                " they show how"
            ),
        })
    }

    /// Returns the refusal to do something to the skill at `typed` because of what was found: it was not `done`.
    pub fn refusal(&self, done: &str, typed: &Path) -> Error {
        let refused = Error::new(ErrorKind::Findings, format!("the skill was not {done}"));
        let fixes = self.findings().filter_map(|finding| finding.fix.as_ref());
        let validate = Verb::Validate.call().path(typed).option(Opt::Profile, "publish");
        let forbidden = self.findings().filter(|finding| finding.forbids_publishing());
        let refused =
            switch_off(forbidden.map(|finding| finding.rule)).into_iter().fold(refused, Error::hint);
        let repair = match fixes.map(|fix| fix.safety).min() {
            None => return refused,
            Some(Safety::Safe) => validate.flag(Opt::Fix),
            Some(_) => validate.option(Opt::Fix, "unsafe"),
        };
        refused.hint(message!(repair, " repairs what can be repaired"))
    }
}

impl cache::VerifyOutcome {
    /// Returns how to delete what is damaged, unless that was to be done.
    pub fn hints(&self, fix: bool) -> Vec<Message> {
        let damaged = (!fix && self.damaged.iter().any(|damaged| !damaged.kept)).then(|| {
            message!(
                Verb::Cache.call().word("verify").flag(Opt::Fix),
                " deletes damaged ones; they are fetched again when needed"
            )
        });
        damaged.into_iter().collect()
    }
}

/// Returns the call of an action of `registry` on the registry at `dir`; that in `cwd` needs no name.
fn registry(action: &str, dir: &str, cwd: &Path) -> Call {
    let call = Verb::Registry.call().word(action);
    if Path::new(dir) == cwd { call } else { call.option(Opt::Registry, dir) }
}

impl InitOutcome {
    /// Returns how to publish the first skill, in `cwd`.
    pub fn hints(&self, cwd: &Path) -> Vec<Message> {
        if self.dry_run {
            return Vec::new();
        }
        vec![message!(
            registry("add", &self.registry, cwd).word("DIR"),
            " publishes the skill in `DIR` there"
        )]
    }
}

impl IndexOutcome {
    /// Returns where to see why something was left out, in `cwd`.
    pub fn hints(&self, cwd: &Path) -> Vec<Message> {
        if self.left_out.is_empty() {
            return Vec::new();
        }
        vec![message!(
            registry("verify", &self.registry, cwd),
            " shows what is wrong; lists of what was left out stay as they were"
        )]
    }
}

impl VerifyOutcome {
    /// Returns how to write again what is derived, in `cwd`.
    pub fn hints(&self, cwd: &Path) -> Vec<Message> {
        let is_outdated = |defect: &Defect| defect.kind == DefectKind::Outdated;
        if !self.defects.iter().any(is_outdated) && self.pending.is_empty() {
            return Vec::new();
        }
        vec![message!(registry("index", &self.registry, cwd), " writes again what is derived from records")]
    }
}
