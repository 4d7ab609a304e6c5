//! Every hint is run: where one is printed, its command is typed as printed, and does what the hint says.
//!
//! A situation arranges files, runs a command that prints hints, and says of each command in them how it ends and what is
//! so afterwards. Each is typed in a situation of its own: hints offer alternatives.
//!
//! Debug builds tell which places in the source made the printed hints. Places of which none was run are counted in
//! `hints/not_yet.tsv`, by file; the numbers only become smaller.

#![cfg(unix)]

mod places;
mod situations;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use self::situations::SITUATIONS;
use crate::support::{Forge, Output, Sandbox};

/// A machine with a GitHub of its own.
pub(super) struct Scene {
    pub(super) forge: Forge,
    pub(super) sandbox: Sandbox,
}

/// A situation in which hints are printed.
pub(super) struct Situation {
    /// What it is, for messages.
    name: &'static str,
    /// What is there before.
    arrange: fn(&mut Scene),
    /// The command that prints hints, and its exit code.
    typed: (&'static str, i32),
    /// The commands and options in the hints, as printed.
    told: &'static [Told],
}

/// A command or an option in a hint, and what comes of it.
pub(super) struct Told {
    /// As printed.
    printed: &'static str,
    /// What to type instead: the command with the option, or with the values of its placeholders.
    typed: Option<&'static str>,
    /// How it ends.
    code: i32,
    /// What is so afterwards.
    check: fn(&Scene, &Output),
}

/// A command that is typed as printed, and ends well.
pub(super) const fn run(printed: &'static str, check: fn(&Scene, &Output)) -> Told {
    Told { printed, typed: None, code: 0, check }
}

/// As [`run`], for a command that reports something by its exit code.
pub(super) const fn ends(printed: &'static str, code: i32, check: fn(&Scene, &Output)) -> Told {
    Told { printed, typed: None, code, check }
}

/// An option, or a command with placeholders: `typed` has it, with values.
pub(super) const fn with(printed: &'static str, typed: &'static str, check: fn(&Scene, &Output)) -> Told {
    Told { printed, typed: Some(typed), code: 0, check }
}

impl Scene {
    fn new(situation: &Situation) -> Self {
        let forge = Forge::start();
        let mut sandbox = Sandbox::in_memory();
        sandbox.forge(&forge);
        let mut scene = Self { forge, sandbox };
        (situation.arrange)(&mut scene);
        scene
    }

    /// Types `line` in a shell in the project. `[HOST]` is that of the forge, there and in what is printed.
    pub(super) fn shell(&self, line: &str) -> Output {
        let host = self.forge.api_host();
        let output = self.sandbox.output(&mut self.sandbox.shell(&line.replace("[HOST]", &host)));
        let shown = |text: &str| text.replace(&host, "[HOST]");
        Output { code: output.code, stdout: shown(&output.stdout), stderr: shown(&output.stderr) }
    }

    /// Types `line`, which has to end well.
    pub(super) fn ok(&self, line: &str) -> Output {
        let output = self.shell(line);
        assert_eq!(output.code, Some(0), "`{line}`: {output}");
        output
    }

    /// The names in the directory of installed skills.
    pub(super) fn installed(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.sandbox.project().join(".agents/skills"));
        let mut names: Vec<_> = entries
            .map(|all| {
                all.map(|one| one.expect("an entry").file_name().into_string().expect("UTF-8")).collect()
            })
            .unwrap_or_default();
        names.sort();
        names
    }
}

/// The lines of hints in `output`.
fn hints(output: &Output) -> impl Iterator<Item = &str> {
    output.stderr.lines().filter_map(|line| line.strip_prefix("hint: "))
}

/// The commands and options in `hint`, as printed.
fn told(hint: &str) -> impl Iterator<Item = &str> {
    let literal = hint.split('`').skip(1).step_by(2);
    literal.filter(|text| ["skillpm ", "--", "printf "].iter().any(|start| text.starts_with(start)))
}

/// Runs a situation. Returns the places that made its hints.
fn play(situation: &Situation) -> Vec<String> {
    let (line, code) = situation.typed;
    let begin = || {
        let mut scene = Scene::new(situation);
        let sites = scene.sandbox.root().join("sites");
        scene.sandbox.env("SKILLPM_TEST_HINT_SITES", &sites.display().to_string());
        let output = scene.shell(line);
        scene.sandbox.env("SKILLPM_TEST_HINT_SITES", "");
        assert_eq!(output.code, Some(code), "`{line}`: {output}");
        let sites = std::fs::read_to_string(sites).unwrap_or_default();
        (scene, output, sites.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let (scene, first, sites) = begin();
    let printed: Vec<_> = hints(&first).flat_map(told).map(str::to_owned).collect();
    let expected: Vec<_> = situation.told.iter().map(|told| told.printed).collect();
    assert_eq!(printed, expected, "the commands in the hints of `{line}`: {first}");
    let mut begun = Some((scene, first));
    for told in situation.told {
        let (scene, before) = begun.take().unwrap_or_else(|| {
            let (scene, output, _) = begin();
            (scene, output)
        });
        let typed = told.typed.unwrap_or(told.printed);
        let output = scene.shell(typed);
        assert_eq!(
            output.code,
            Some(told.code),
            "`{typed}`, which a hint advises: {output}\nbefore: {before}"
        );
        let checked = catch_unwind(AssertUnwindSafe(|| (told.check)(&scene, &output)));
        assert!(checked.is_ok(), "`{typed}` did not do what the hint says: {output}\nbefore: {before}");
    }
    sites
}

/// No hint is printed that nobody ever typed.
#[test]
fn every_hint_is_run() {
    let (sites, wrong) = (Mutex::new(BTreeSet::new()), Mutex::new(Vec::new()));
    let next = Mutex::new(SITUATIONS.iter().flat_map(|some| some.iter()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some(situation) = next.lock().expect("a list").next() else { break };
                    match catch_unwind(|| play(situation)) {
                        Ok(made) => sites.lock().expect("a set").extend(made),
                        Err(reason) => {
                            let text = reason.downcast_ref::<String>().cloned().unwrap_or_default();
                            wrong.lock().expect("a list").push(format!("{}: {text}", situation.name));
                        }
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("a list");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    places::check(&sites.into_inner().expect("a set"));
}
