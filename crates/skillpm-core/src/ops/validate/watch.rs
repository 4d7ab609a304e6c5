//! Checking again what was changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::check::validate_by;
use super::config::Configs;
use super::one::contents;
use super::outcome::{Checked, ValidateOutcome};
use super::request::{LintOptions, ValidateRequest};
use crate::context::Context;
use crate::engine::files::{self, Contents};
use crate::error::{Error, Result};
use crate::fs::{self, Moment, Stamp};
use crate::lint::{Finding, Plan};
use crate::paths::{Searched, Target};

/// Remembers the state of everything that findings depend on, and what was reported about it.
///
/// A look at it costs one look at each of these files and directories, and nothing is read. Where one of them changed,
/// everything is checked again: a skill may be in a circle with others, or be found in another way by now.
#[derive(Debug)]
pub struct Watch {
    request: ValidateRequest,
    configs: Configs,
    /// Where skills were looked for, their files and what counts beside these, and where manifests may be.
    seen: BTreeMap<PathBuf, Seen>,
    /// The skills, by their files as they are shown.
    told: BTreeMap<PathBuf, Told>,
    trouble: Option<Trouble>,
}

/// The state of a file or directory when everything was checked.
#[derive(Debug)]
struct Seen {
    /// `None` if there was nothing.
    stamp: Option<Stamp>,
    /// Whether it may have changed since it was read and look the same.
    is_young: bool,
}

/// The report about a skill.
#[derive(Debug)]
struct Told {
    stamp: Option<Stamp>,
    findings: Vec<Finding>,
    /// The watched files of the directory, as [`files::watched`] lists them.
    beside: Vec<PathBuf>,
    contents: Contents,
}

/// The reason why not everything could be checked.
#[derive(Debug)]
struct Trouble {
    /// The error, as it was reported.
    message: String,
    /// Whether it was at the skills. A stamp does not show when an unreadable file becomes readable.
    is_at_skills: bool,
}

/// The news of a check.
#[derive(Debug, Default)]
pub struct News {
    /// The skills whose files or findings changed; `None` if none did.
    pub outcome: Option<ValidateOutcome>,
    /// Why not everything could be checked, if that was not reported before. What could be is in the outcome.
    pub error: Option<Error>,
}

impl Seen {
    /// Returns what is at `path`, which was read at `since`.
    fn now(path: &Path, since: Moment) -> Self {
        let stamp = fs::stamp(path);
        let is_young = stamp.as_ref().is_some_and(|stamp| stamp.is_young(since));
        Self { stamp, is_young }
    }

    fn may_differ(&self, path: &Path) -> bool {
        self.is_young || fs::stamp(path) != self.stamp
    }
}

impl Watch {
    /// Checks `targets` for the first time, as `options` and the manifests say.
    pub fn start(
        context: &Context,
        targets: Vec<Target>,
        options: LintOptions,
    ) -> Result<(Self, ValidateOutcome)> {
        let since = Moment::now();
        let request = ValidateRequest { targets, options, ..ValidateRequest::default() };
        let (mut configs, mut searched) = (Configs::new(context, &request.options)?, Searched::kept());
        let outcome = validate_by(context, &request, &mut configs, &mut searched)?;
        if let Some(error) = configs.error {
            return Err(error);
        }
        let (seen, told) = (BTreeMap::new(), BTreeMap::new());
        let mut watch = Self { request, configs, seen, told, trouble: None };
        watch.learn(&context.settings.cwd, since, &BTreeSet::new(), searched, &outcome.skills);
        Ok((watch, outcome))
    }

    /// Checks again if anything changed since the last call. Looks only at stamps until something did: how often it is
    /// called is the caller's choice.
    ///
    /// A failure does not end the watch: with an invalid manifest the rules stay as they were, and if one target cannot be
    /// checked the others are. When all is well again, everything is reported again, as the error was the last word.
    pub fn poll(&mut self, context: &Context) -> News {
        let cwd = &context.settings.cwd;
        let changed = self.seen.iter().filter(|(path, seen)| seen.may_differ(&cwd.join(path)));
        let changed: BTreeSet<PathBuf> = changed.map(|(path, _)| path.clone()).collect();
        if changed.is_empty() && !self.trouble.as_ref().is_some_and(|trouble| trouble.is_at_skills) {
            return News::default();
        }
        // Stamps are taken later than this: what is written while it is read is young then, and examined once more.
        let since = Moment::now();
        let renewed = Configs::after(context, &self.configs).map(|configs| self.configs = configs);
        let mut searched = Searched::kept();
        let checked = validate_by(context, &self.request, &mut self.configs, &mut searched);
        let is_at_skills = checked.is_err();
        let wrong = renewed.err().or(self.configs.error.take());
        let (mut outcome, error) = match checked {
            Ok(outcome) => (outcome, wrong),
            Err(error) => (self.rest(context, &mut searched), Some(wrong.unwrap_or(error))),
        };
        let before = self.trouble.take();
        if before.is_some() && error.is_none() {
            self.told.clear();
        }
        self.trouble =
            error.as_ref().map(|error| Trouble { message: error.with_causes().to_string(), is_at_skills });
        let message = |trouble: Option<&Trouble>| trouble.map(|trouble| trouble.message.clone());
        let is_known = message(before.as_ref()) == message(self.trouble.as_ref());
        let news = self.learn(cwd, since, &changed, searched, &outcome.skills);
        outcome.skills.retain(|skill| news.contains(&skill.file));
        News { outcome: (!outcome.skills.is_empty()).then_some(outcome), error: error.filter(|_| !is_known) }
    }

    /// Checks the targets that can be.
    fn rest(&mut self, context: &Context, searched: &mut Searched) -> ValidateOutcome {
        let wanted = self.request.clone();
        let request = |targets| ValidateRequest { targets, ..wanted.clone() };
        let mut check =
            |request, searched: &mut Searched| validate_by(context, &request, &mut self.configs, searched);
        let mut targets = wanted.targets.clone();
        targets.retain(|target| check(request(vec![target.clone()]), &mut Searched::kept()).is_ok());
        // One of them may have been removed by now, which the next check reports.
        check(request(targets), searched).unwrap_or_default()
    }

    /// Returns what the rules for each of `skills` need of its files.
    fn contents(&mut self, cwd: &Path, searched: &mut Searched, skills: &[Checked]) -> Vec<Contents> {
        let mut number = |skill: &Checked| {
            let at = cwd.join(&skill.file);
            let dir = at.parent().and_then(|dir| fs::real_path(dir).ok().flatten())?;
            self.configs.of_file((&dir, Path::new(at.file_name()?)), true, searched).ok().flatten()
        };
        let numbers: Vec<_> = skills.iter().map(|skill| number(skill).unwrap_or_default()).collect();
        let all: Vec<_> = self.configs.rulesets().iter().map(|rules| contents(&Plan::new(rules))).collect();
        numbers.into_iter().map(|number| all[number]).collect()
    }

    /// Remembers the stamps after `skills` were checked from `since` on, and returns those with news. Unchanged ones are not
    /// listed again.
    fn learn(
        &mut self,
        cwd: &Path,
        since: Moment,
        changed: &BTreeSet<PathBuf>,
        mut searched: Searched,
        skills: &[Checked],
    ) -> BTreeSet<PathBuf> {
        let contents = self.contents(cwd, &mut searched, skills);
        let mut paths: BTreeSet<PathBuf> = searched.into_paths().into_iter().collect();
        paths.extend(self.request.options.config.clone());
        if self.trouble.is_some() {
            // Not everything was searched.
            paths.extend(self.seen.keys().cloned());
        }
        let mut before = std::mem::take(&mut self.told);
        let mut news = BTreeSet::new();
        for (skill, contents) in skills.iter().zip(contents) {
            let at = cwd.join(&skill.file);
            let dir = at.parent().unwrap_or(cwd);
            let told = before.remove(&skill.file);
            let stamp = fs::stamp(&at);
            let is_told = |told: &Told| told.stamp == stamp && told.findings == skill.findings;
            if !told.as_ref().is_some_and(is_told) {
                news.insert(skill.file.clone());
            }
            let is_same = |told: &Told| {
                told.contents == contents && !told.beside.iter().any(|path| changed.contains(path))
            };
            let beside = match told {
                Some(told) if is_same(&told) => told.beside,
                _ => files::watched(dir, contents),
            };
            paths.extend(beside.iter().cloned());
            paths.insert(skill.file.clone());
            let told = Told { stamp, findings: skill.findings.clone(), beside, contents };
            self.told.insert(skill.file.clone(), told);
        }
        let seen = |path: PathBuf| (Seen::now(&cwd.join(&path), since), path);
        self.seen = paths.into_iter().map(seen).map(|(seen, path)| (path, seen)).collect();
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::testing::{World, skill_text};
    use crate::manifest;

    /// A watch of a world.
    struct Watched<'a> {
        world: &'a World,
        context: Context,
        watch: Watch,
    }

    /// Each file with the number of findings, and the error.
    type Polled = (Vec<(String, usize)>, Option<String>);

    impl<'a> Watched<'a> {
        fn new(world: &'a World, paths: &[&str]) -> Self {
            let context = world.context();
            let targets = paths.iter().map(|path| Target::Path(path.into())).collect();
            let (watch, _) = Watch::start(&context, targets, LintOptions::default()).expect("checks");
            Self { world, context, watch }
        }

        fn poll(&mut self) -> Polled {
            let News { outcome, error } = self.watch.poll(&self.context);
            let one =
                |skill: &Checked| (skill.file.to_string_lossy().replace('\\', "/"), skill.findings.len());
            let skills = outcome.unwrap_or_default().skills.iter().map(one).collect();
            (skills, error.map(|error| error.to_string()))
        }

        /// Checks the report, and that nothing more follows.
        #[track_caller]
        fn polled(&mut self) -> Vec<(String, usize)> {
            let (skills, error) = self.poll();
            assert_eq!(error, None);
            assert_eq!(self.poll(), (Vec::new(), None), "it was told");
            skills
        }

        fn make_dir(&self, dir: &str) {
            fs::create_dir_all(&self.world.project().join(dir)).expect("creates");
        }

        fn remove(&self, dir: &str) {
            fs::remove_tree(&self.world.project().join(dir)).expect("removes");
        }
    }

    fn told(file: &str, findings: usize) -> Vec<(String, usize)> {
        vec![(file.to_owned(), findings)]
    }

    fn linking(name: &str, file: &str) -> String {
        format!("{}See [it]({file}).\n", skill_text(name))
    }

    #[test]
    fn only_what_changed_is_checked_again() {
        let world = World::new();
        world.skill("skills/a", "a");
        world.skill("skills/b", "b");
        let mut watched = Watched::new(&world, &["skills"]);
        assert_eq!(watched.polled(), []);
        world.write("skills/a/SKILL.md", &(skill_text("other") + "more"));
        assert_eq!(watched.polled(), told("skills/a/SKILL.md", 1));
        world.skill("skills/a", "a");
        world.skill("skills/new", "new");
        let both = [told("skills/a/SKILL.md", 0), told("skills/new/SKILL.md", 0)].concat();
        assert_eq!(watched.polled(), both);
        watched.remove("skills/b");
        assert_eq!(watched.polled(), [], "nothing is left to be checked");
        world.write("skills/new/SKILL.md", &skill_text("changed"));
        assert_eq!(watched.polled(), told("skills/new/SKILL.md", 1));
        world.write("skills/new/SKILL.md", &(skill_text("changed") + "more"));
        assert_eq!(watched.polled(), told("skills/new/SKILL.md", 1), "an edit is answered");
    }

    /// An unreadable file that changes keeps its stamp.
    #[test]
    fn nothing_is_read_where_nothing_changed() {
        let world = World::new();
        world.skill("skills/a", "a");
        let mut watched = Watched::new(&world, &["skills/a/SKILL.md"]);
        world.skill("skills/a", "b");
        // As if a moment had passed, and all had looked so before.
        for (path, seen) in &mut watched.watch.seen {
            *seen = Seen { stamp: fs::stamp(&world.project().join(path)), is_young: false };
        }
        assert_eq!(watched.poll(), (Vec::new(), None));
        watched.watch.seen.values_mut().for_each(|seen| seen.is_young = true);
        assert_eq!(watched.poll(), (told("skills/a/SKILL.md", 1), None), "what is young is read again");
    }

    #[test]
    fn a_skill_is_found_wherever_it_was_looked_for() {
        for paths in [&["skills"][..], &["skills/**/SKILL.md"], &["skills/**"], &["skills/a", "."]] {
            let world = World::new();
            world.skill("skills/a", "a");
            world.write("skills/group/deep/README.md", "");
            let mut watched = Watched::new(&world, paths);
            let start = if paths.contains(&".") { "./" } else { "" };
            let at = |dir: &str| format!("{start}{dir}/SKILL.md");
            watched.make_dir("skills/new");
            assert_eq!(watched.polled(), [], "{paths:?}");
            world.write("skills/new/SKILL.md", "x");
            let news = watched.polled();
            assert!(news.len() == 1 && news[0].0 == at("skills/new") && news[0].1 > 0, "{paths:?}: {news:?}");
            world.skill("skills/group/deep/er", "er");
            assert_eq!(watched.polled(), told(&at("skills/group/deep/er"), 0), "{paths:?}");
            world.skill("skills/group/deep/er", "other");
            assert_eq!(watched.polled(), told(&at("skills/group/deep/er"), 1), "{paths:?}");
        }
        // A pattern looks into directories that it does not search.
        let world = World::new();
        world.skill("skills/a", "a");
        let mut watched = Watched::new(&world, &["skills/*"]);
        watched.make_dir("skills/new");
        assert_eq!(watched.polled(), []);
        world.skill("skills/new", "new");
        assert_eq!(watched.polled(), told("skills/new/SKILL.md", 0));
    }

    #[cfg(unix)]
    #[test]
    fn a_skill_is_found_behind_a_link() {
        let world = World::new();
        world.skill("skills/a", "a");
        world.link("../elsewhere/b", "skills/b");
        let mut watched = Watched::new(&world, &["skills"]);
        watched.make_dir("elsewhere/b");
        assert_eq!(watched.polled(), []);
        world.skill("elsewhere/b", "b");
        assert_eq!(watched.polled(), told("skills/b/SKILL.md", 0));
    }

    /// `link-missing`.
    #[test]
    fn linked_files_that_come_and_go_are_noticed() {
        let world = World::new();
        world.skill("skills/b", "b");
        for (file, dir) in [("y.md", ""), ("references/y.md", "references"), ("x/y/z.md", "x/y")] {
            world.write("skills/a/SKILL.md", &linking("a", file));
            let mut watched = Watched::new(&world, &["skills"]);
            watched.make_dir(&format!("skills/a/{dir}"));
            assert_eq!(watched.polled(), [], "{file}");
            let at = format!("skills/a/{file}");
            world.write(&at, "");
            assert_eq!(watched.polled(), told("skills/a/SKILL.md", 0), "{file}");
            watched.remove(&at);
            assert_eq!(watched.polled(), told("skills/a/SKILL.md", 1), "{file}");
            watched.make_dir("skills/a/other");
            assert_eq!(watched.polled(), [], "nothing else is found than was told");
        }
    }

    /// Rules that look into files see when these change.
    #[test]
    fn files_that_rules_read_are_watched() {
        let world = World::new();
        world.write("skills/a/SKILL.md", &linking("a", "a.md"));
        world.write("skills/a/a.md", "[b](b.md)");
        world.write("skills/a/b.md", "");
        let mut watched = Watched::new(&world, &["skills"]);
        assert_eq!(watched.polled(), []);
        world.write(manifest::FILE_NAME, "[lint]\nprofile = \"claude-code\"\n");
        assert_eq!(watched.polled(), told("skills/a/SKILL.md", 1));
        world.write("skills/a/a.md", "nothing");
        assert_eq!(watched.polled(), told("skills/a/SKILL.md", 0));
        world.write("skills/a/scripts/a.sh", "x");
        assert_eq!(watched.polled(), told("skills/a/SKILL.md", 1));
    }

    /// A skill that did not change may have other findings.
    #[test]
    fn a_circle_is_told_of_all_its_skills() {
        let world = World::new();
        let skill = |name: &str, needs: &str| {
            let metadata = format!("metadata:\n  skill-dependencies: {needs}\n---\n\n");
            world.write(&format!("skills/{name}/SKILL.md"), &skill_text(name).replace("---\n\n", &metadata));
        };
        skill("a", "b");
        skill("b", "c");
        let mut watched = Watched::new(&world, &["skills"]);
        skill("b", "a");
        let both = |findings| [told("skills/a/SKILL.md", findings), told("skills/b/SKILL.md", findings)];
        assert_eq!(watched.polled(), both(1).concat());
        skill("b", "c");
        assert_eq!(watched.polled(), both(0).concat());
    }

    #[test]
    fn the_manifest_is_watched_and_ends_nothing() {
        let world = World::new();
        world.write("skills/a/SKILL.md", &linking("a", "y.md"));
        world.skill("skills/b", "b");
        let mut watched = Watched::new(&world, &["skills"]);
        let lint = |line: &str| world.write(manifest::FILE_NAME, &format!("[lint.rules]\n{line}\n"));
        lint("link-missing = \"off\"");
        assert_eq!(watched.polled(), told("skills/a/SKILL.md", 0));
        lint("link-missing = \"nonsense\"");
        let (skills, error) = watched.poll();
        assert_eq!(skills, []);
        let error = error.expect("it is told");
        assert!(error.contains("skillpm.toml:2:"), "{error}");
        assert_eq!(watched.poll(), (Vec::new(), None), "once");
        world.skill("skills/b", "other");
        assert_eq!(watched.polled(), told("skills/b/SKILL.md", 1), "by the rules that there were");
        lint("link-missing = \"error\"");
        let all = [told("skills/a/SKILL.md", 1), told("skills/b/SKILL.md", 1)].concat();
        assert_eq!(watched.polled(), all, "the error is no more");
        watched.remove(manifest::FILE_NAME);
        // As a warning.
        assert_eq!(watched.polled(), told("skills/a/SKILL.md", 1));
    }

    #[test]
    fn a_target_that_is_gone_hides_no_other() {
        let world = World::new();
        world.skill("a", "a");
        world.skill("b", "b");
        let mut watched = Watched::new(&world, &["a", "b"]);
        watched.remove("a");
        assert_eq!(watched.poll(), (Vec::new(), Some("`a` does not exist".to_owned())));
        world.skill("b", "other");
        assert_eq!(watched.polled(), told("b/SKILL.md", 1));
        world.skill("a", "a");
        assert_eq!(watched.polled(), [told("a/SKILL.md", 0), told("b/SKILL.md", 1)].concat());
    }
}
