//! In which order things come to disk, from a trace of the calls: what outlasts a loss of power is old or
//! new as a whole, as it is after a kill. THREATS.md section 7, power loss.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};

use crate::support::strace::{self, Call};
use crate::support::{Sandbox, Snapshot};

const INSTALL: &[&str] = &["install", "./src", "-s", "*", "-a", "claude-code"];

fn sources(sandbox: &Sandbox, body: &str) {
    for name in ["one", "two"] {
        let text = format!("---\nname: {name}\ndescription: Does {name}. Use it in tests.\n---\n{body}\n");
        sandbox.write(&format!("src/{name}/SKILL.md"), text);
        sandbox.write(&format!("src/{name}/scripts/run.sh"), format!("echo {body}\n"));
    }
}

/// The calls of one run that changed something, in their order.
struct Trace {
    calls: Vec<Call>,
    project: PathBuf,
    home: PathBuf,
}

impl Trace {
    fn of(sandbox: &Sandbox, args: &[&str]) -> Self {
        let traced = strace::run(sandbox, args, &[]);
        assert_eq!(traced.output.code, Some(0), "{}", traced.output);
        let calls = traced.calls.into_iter().filter(|call| call.changes() && call.succeeded()).collect();
        Self { calls, project: sandbox.project(), home: sandbox.home() }
    }

    fn transaction(&self) -> PathBuf {
        self.project.join(".agents/.skillpm-tx")
    }

    fn first(&self, what: &str, is_it: impl Fn(&Call) -> bool) -> usize {
        self.calls.iter().position(is_it).unwrap_or_else(|| panic!("no {what} in {:#?}", self.texts()))
    }

    fn last(&self, what: &str, is_it: impl Fn(&Call) -> bool) -> usize {
        self.calls.iter().rposition(is_it).unwrap_or_else(|| panic!("no {what} in {:#?}", self.texts()))
    }

    fn texts(&self) -> Vec<&str> {
        self.calls.iter().map(|call| call.text.as_str()).collect()
    }

    /// The first sync of `path` after the call `at`.
    fn synced(&self, path: &Path, at: usize) -> usize {
        let is_it = |call: &Call| matches!(call.name.as_str(), "fsync" | "fdatasync") && call.path() == path;
        let found = self.calls[at..].iter().position(is_it);
        at + found
            .unwrap_or_else(|| panic!("`{}` is not synced after {}", path.display(), self.calls[at].text))
    }

    /// Checks that the file `path` came into its place by a rename, after its bytes were synced under the
    /// name that they had, and that its directory was synced next. Returns when: the rename, and that.
    fn durable(&self, path: &Path) -> (usize, usize) {
        let placed = self.first("rename", |call| call.is_rename() && call.path() == path);
        let (mut name, mut at) = (self.calls[placed].from(), placed);
        // It may have had other names before.
        while let Some(earlier) = self.calls[..at].iter().rposition(|c| c.is_rename() && c.path() == name) {
            (name, at) = (self.calls[earlier].from(), earlier);
        }
        let writes = |call: &Call| call.name.contains("write") && call.path() == name;
        let written = self.last("write", writes);
        assert!(written < self.synced(name, written), "written, then synced");
        assert!(self.synced(name, written) < at, "`{}` has its name before it is synced", path.display());
        (placed, self.synced(path.parent().expect("a parent"), placed))
    }

    /// Whether a call changes what agents see: a skill, or a link to one.
    fn is_visible(&self, call: &Call) -> bool {
        let dirs = [".agents/skills", ".claude/skills"].map(|dir| self.project.join(dir));
        call.paths.iter().any(|path| dirs.iter().any(|dir| path.starts_with(dir) && path != dir))
    }

    /// What holds for every run that changes skills.
    fn check(&self) {
        let journal = self.transaction().join("journal.json");
        let (journal_placed, journal_synced) = self.durable(&journal);

        // All that was prepared is on disk before a journal promises it.
        let prepares = |call: &Call| {
            let is_journal = call.paths.iter().all(|path| path.parent() == Some(&self.transaction()));
            call.is_below(&self.transaction()) && !call.name.contains("sync") && !is_journal
        };
        let prepared = self.calls[..journal_placed].iter().rposition(prepares).expect("trees are prepared");
        let synced = self
            .first("syncfs after the trees", |call| call.name == "syncfs" && self.is_after(call, prepared));
        assert!(synced < journal_placed, "trees are synced before the journal is there");

        // Nothing that can be seen changes before the journal is there, and only by a rename or as a link.
        let visible: Vec<usize> =
            (0..self.calls.len()).filter(|at| self.is_visible(&self.calls[*at])).collect();
        let (first, last) = (visible[0], visible[visible.len() - 1]);
        assert!(journal_synced < first, "the journal is synced before the first step");
        for call in visible.iter().map(|at| &self.calls[*at]) {
            let whole = call.paths.iter().all(|path| {
                let name = path.parent().and_then(Path::file_name);
                !path.starts_with(&self.project) || name != Some("scripts".as_ref())
            });
            assert!(whole, "a part of a skill is changed in its place: {}", call.text);
            assert!(call.is_rename() || call.name.starts_with("symlink"), "in its place: {}", call.text);
        }
        let skills = self.synced(&self.project.join(".agents/skills"), last);

        // The lockfile says it when it is so, the manifest comes last, and then the journal goes.
        let (lock_placed, lock_synced) = self.durable(&self.project.join("skillpm.lock"));
        assert!(skills < lock_placed, "the steps are synced before the lockfile says that they were done");
        let manifest = self.project.join("skillpm.toml");
        let mut done = lock_synced;
        if self.calls.iter().any(|call| call.is_rename() && call.path() == manifest) {
            let (placed, synced) = self.durable(&manifest);
            assert!(lock_synced < placed, "lockfile, then manifest");
            done = synced;
        }
        // It goes with the whole directory, which is kept for `undo`.
        let gone = self.first("end of the journal", |c| c.is_rename() && c.from() == self.transaction());
        assert!(done < gone, "the journal goes when all else is on disk");
    }

    fn is_after(&self, call: &Call, at: usize) -> bool {
        self.calls[at..].iter().any(|later| std::ptr::eq(later, call))
    }
}

#[test]
fn an_installation_and_an_update_are_written_in_order() {
    if !strace::is_possible() {
        return;
    }
    let sandbox = Sandbox::in_memory();
    sources(&sandbox, "first");
    let trace = Trace::of(&sandbox, INSTALL);
    trace.check();
    // Directories that were made are synced too, in the ones above them.
    for made in [".agents/skills", ".claude/skills", ".claude"] {
        let made = sandbox.project().join(made);
        let at = trace.first("mkdir", |call| call.name.starts_with("mkdir") && call.path() == made);
        let (placed, _) = trace.durable(&sandbox.project().join("skillpm.lock"));
        assert!(trace.synced(made.parent().expect("a parent"), at) < placed, "{}", made.display());
    }
    sources(&sandbox, "second");
    let trace = Trace::of(&sandbox, INSTALL);
    trace.check();
    let swaps = trace.calls.iter().filter(|call| call.text.contains("RENAME_EXCHANGE")).count();
    assert_eq!(swaps, 2, "each skill is exchanged");
}

/// The copy of what a user edited may be the only one that is left: it is on disk before the edited skill goes.
#[test]
fn a_kept_copy_is_on_disk_before_the_skill_is_replaced() {
    if !strace::is_possible() {
        return;
    }
    let sandbox = Sandbox::in_memory();
    sources(&sandbox, "first");
    assert_eq!(sandbox.run(INSTALL).code, Some(0));
    sources(&sandbox, "second");
    sandbox.write(".agents/skills/one/SKILL.md", "a line of the user's");
    for args in [&["install", "./src", "-s", "*", "--force"][..], &["remove", "one", "--force"]] {
        let trace = Trace::of(&sandbox, args);
        let replaced = trace.first("a step", |call| trace.is_visible(call));
        let store = trace.home.join(".local/share");
        let brings =
            |call: &Call| ["open", "write", "mkdir", "rename"].iter().any(|name| call.name.starts_with(name));
        let kept = trace.calls[..replaced].iter().rposition(|c| c.is_below(&store) && brings(c));
        let synced = trace.last("syncfs of the store", |call| call.name == "syncfs" && call.is_below(&store));
        assert!(kept < Some(synced) && synced < replaced, "{args:?}: {:#?}", trace.texts());
        assert!(Snapshot::of(&store).has("a line of the user's"));
        sandbox.write(".agents/skills/one/SKILL.md", "a line of the user's, again");
    }
}
