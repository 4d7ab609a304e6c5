//! Faults at every call of the system that changes something: the program is killed there, or the call
//! fails once, or all calls fail from there on. Each skill is old, new or absent, the next ordinary run
//! mends, and nothing is left over. See docs/design/faults.md.

#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use rustix::thread::CpuSet;

use self::legal::{illegal, lost, project, rubbish, state, units};
use crate::support::numbers::tries_all;
use crate::support::snapshot::{self, Snapshot};
use crate::support::strace::{self, Call, Traced};
use crate::support::{Mount, Output, Sandbox};

mod legal;
mod scenarios;

/// A command, and the state in which it is given.
struct Scenario {
    what: &'static str,
    /// Makes that state.
    prepare: fn(&mut Sandbox),
    args: &'static [&'static str],
    /// What the command says when nothing fails.
    code: i32,
    /// The next ordinary command.
    next: &'static [&'static str],
    /// Texts of the user that no fault may take away.
    precious: &'static [&'static str],
    /// A directory of the project that is to be on a file system of its own.
    mount: Option<&'static str>,
    /// The call that fails in any case, by its name and a part of the path that it is about: what comes
    /// after it is what is disturbed.
    fails: Option<(&'static str, &'static str)>,
    /// Whether a skill may be absent for a moment that is there before and after: where a directory becomes
    /// a link, and that in two steps.
    absent: bool,
    /// Whether the command, given again after it was done, does the opposite.
    toggles: bool,
}

/// How the program is disturbed at a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Disturbance {
    /// It is killed in the place of the call.
    Kill,
    /// The call fails.
    Once(&'static str),
    /// The call fails, and so do all later ones that could fail in that way.
    From(&'static str),
}

/// What the disturbances at the calls of a command came to.
#[derive(Default)]
struct Tally {
    kills: usize,
    errors: usize,
    lasting: usize,
    /// States on disk right after it, without the random parts of names.
    states: BTreeSet<Snapshot>,
    /// How many runs left the state before, the one after, or one between.
    left: BTreeMap<&'static str, usize>,
}

/// The errors with which a call can fail.
fn errors(call: &Call) -> &'static [&'static str] {
    match call.name.as_str() {
        "open" | "openat" | "creat" => &["EACCES", "ENOSPC", "EIO", "EROFS", "EMFILE"],
        "mkdir" | "mkdirat" | "symlink" | "symlinkat" | "link" | "linkat" => {
            &["EACCES", "ENOSPC", "EIO", "EROFS"]
        }
        "write" | "writev" | "pwrite64" | "ftruncate" | "fallocate" | "copy_file_range" | "sendfile" => {
            &["ENOSPC", "EIO", "EDQUOT"]
        }
        "rename" | "renameat" | "renameat2" => &["EXDEV", "EACCES", "ENOSPC", "EIO", "EROFS"],
        "unlink" | "unlinkat" | "rmdir" => &["EACCES", "EIO", "EROFS"],
        "fsync" | "fdatasync" | "syncfs" => &["EIO", "ENOSPC"],
        "flock" => &["EIO", "ENOLCK"],
        _ => &["EIO", "EPERM"],
    }
}

/// The calls that fail on a disk without room.
const NEEDS_ROOM: [&str; 10] = [
    "write",
    "writev",
    "pwrite64",
    "copy_file_range",
    "mkdir",
    "mkdirat",
    "symlink",
    "symlinkat",
    "link",
    "fallocate",
];

/// What `strace` is to do at the call `at` of `calls`.
pub(crate) fn injections(calls: &[Call], at: usize, disturbance: Disturbance) -> Vec<String> {
    let call = &calls[at];
    match disturbance {
        Disturbance::Kill => vec![format!("{}:signal=KILL:when={}", call.name, call.nth)],
        Disturbance::Once(error) => vec![format!("{}:error={error}:when={}", call.name, call.nth)],
        Disturbance::From(error) => {
            // For each name, from its first call on that has not been made yet.
            let mut first: BTreeMap<&str, usize> = BTreeMap::new();
            for (index, call) in calls.iter().enumerate() {
                let name = call.name.as_str();
                if index < at {
                    first.insert(name, call.nth + 1);
                } else {
                    first.entry(name).or_insert(1);
                }
            }
            let of = |(name, nth): (&str, usize)| format!("{name}:error={error}:when={nth}+");
            first.into_iter().filter(|(name, _)| fails_with(name, error)).map(of).collect()
        }
    }
}

/// Whether calls of the name `name` fail from some moment on with `error`.
fn fails_with(name: &str, error: &str) -> bool {
    match error {
        "ENOSPC" => NEEDS_ROOM.contains(&name),
        // Messages can be written still, and what is there can be read.
        _ => !matches!(name, "write" | "open" | "openat" | "openat2" | "ioctl"),
    }
}

/// Returns the calls `points` of `calls`, each with every way in which the program is disturbed there.
pub(crate) fn all_disturbances(
    calls: &[Call],
    points: &[usize],
) -> impl Iterator<Item = (usize, Disturbance)> {
    let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
    points.iter().flat_map(move |at| {
        let turn = turns.entry(&calls[*at].name).or_default();
        let disturbances = disturbances(&calls[*at], *turn);
        *turn += 1;
        disturbances.map(|disturbance| (*at, disturbance))
    })
}

/// Returns how the program is disturbed at `call`, before which `turn` calls of its name were disturbed. It is killed at
/// each call. Where [`tries_all`] says so, each call fails with each error that it can give, once and from there on, which
/// takes four times as long. Otherwise one call fails once, and at the next one it and all later calls fail; each pair of
/// calls gets another error. Each rename also fails as it does between two disks.
fn disturbances(call: &Call, turn: usize) -> impl Iterator<Item = Disturbance> {
    let (pair, is_first, all) = (turn / 2, turn.is_multiple_of(2), tries_all());
    // From any other call on it would be the same as from the next one that fails.
    let lasting: Vec<_> =
        ["ENOSPC", "EIO"].into_iter().filter(|error| fails_with(&call.name, error)).collect();
    let errors = errors(call);
    let others = errors.iter().filter(|error| **error != "EXDEV").count();
    let fails_once = is_first || lasting.is_empty();
    // `EXDEV` is the first of the errors of a rename.
    let chosen = errors.len() - others + pair % others;
    let once = errors
        .iter()
        .enumerate()
        .filter(move |(index, error)| all || **error == "EXDEV" || fails_once && *index == chosen)
        .map(|(_, error)| Disturbance::Once(error));
    let count = lasting.len();
    let lasting = lasting
        .into_iter()
        .enumerate()
        .filter(move |(index, _)| all || !is_first && *index == pair % count)
        .map(|(_, error)| Disturbance::From(error));
    [Disturbance::Kill].into_iter().chain(once).chain(lasting)
}

/// An end that the next ordinary run may bring the machine to.
struct End {
    project: Snapshot,
    output: Output,
}

fn next_run(scenario: &Scenario, sandbox: &Sandbox) -> End {
    let output = sandbox.run(scenario.next);
    End { project: project(sandbox), output }
}

struct Bench {
    sandbox: Sandbox,
    /// A copy of what was prepared.
    saved: Sandbox,
    _mount: Option<Mount>,
}

impl Bench {
    fn new(scenario: &Scenario) -> Option<Self> {
        let (mut sandbox, saved) = (Sandbox::in_memory(), Sandbox::in_memory());
        let mount = match scenario.mount {
            Some(dir) => {
                let dir = sandbox.project().join(dir);
                std::fs::create_dir_all(&dir).expect("a directory");
                Some(Mount::tmpfs(&dir, "size=4m")?)
            }
            None => None,
        };
        (scenario.prepare)(&mut sandbox);
        snapshot::restore(sandbox.root(), saved.root());
        Some(Self { sandbox, saved, _mount: mount })
    }

    fn reset(&self) {
        snapshot::restore(self.saved.root(), self.sandbox.root());
    }
}

/// How many threads of this test program are pinned to each processor.
static PINNED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// A thread that is pinned to a processor, until this is dropped.
pub(crate) struct Pinned {
    cpu: usize,
    before: CpuSet,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        rustix::thread::sched_setaffinity(None, &self.before).expect("is set");
        *PINNED.lock().expect("no panic").entry(self.cpu).or_default() -= 1;
    }
}

/// Pins this thread, and what it starts, to one processor: threads of the program would make its calls
/// in another order each time. It takes the one to which the fewest are pinned.
pub(crate) fn pin() -> Pinned {
    let before = rustix::thread::sched_getaffinity(None).expect("a set");
    let mut pinned = PINNED.lock().expect("no panic");
    let all = (0..CpuSet::MAX_CPU).filter(|cpu| before.is_set(*cpu));
    let cpu = all.min_by_key(|cpu| pinned.get(cpu).copied().unwrap_or_default()).expect("a processor");
    *pinned.entry(cpu).or_default() += 1;
    let mut one = CpuSet::new();
    one.set(cpu);
    rustix::thread::sched_setaffinity(None, &one).expect("is set");
    Pinned { cpu, before }
}

fn inject(scenario: &Scenario) {
    if !strace::is_possible() {
        return;
    }
    let _pinned = pin();
    let Some(bench) = Bench::new(scenario) else { return };
    let sandbox = &bench.sandbox;
    // Where it leads without a fault, and with the next run.
    let before = state(sandbox);
    let end_before = next_run(scenario, sandbox);
    bench.reset();
    let mut plain = strace::run(sandbox, scenario.args, &[]);
    assert_eq!(plain.output.code, Some(scenario.code), "{}: {}", scenario.what, plain.output);
    let after = state(sandbox);
    assert_eq!(rubbish(&after), Vec::<&String>::new(), "{}", scenario.what);
    let ends = [end_before, next_run(scenario, sandbox)];
    let (mut base, mut start) = (Vec::new(), 0);
    if let Some((name, path)) = scenario.fails {
        let is_it =
            |call: &Call| call.name.starts_with(name) && call.path().to_string_lossy().ends_with(path);
        start = plain.calls.iter().position(is_it).expect("the call that is to fail");
        let call = &plain.calls[start];
        base = vec![format!("{}:error=EIO:when={}", call.name, call.nth)];
        bench.reset();
        plain = strace::run(sandbox, scenario.args, &base);
        assert_eq!(plain.output.code, Some(6), "{}: {}", scenario.what, plain.output);
        assert_eq!(units(&state(sandbox)), units(&before), "{}", scenario.what);
    }
    let points: Vec<usize> = (start..plain.calls.len())
        .filter(|at| plain.calls[*at].changes() && plain.calls[*at].is_below(sandbox.root()))
        // For one name, `strace` takes one injection only: there the call fails that is to fail.
        .filter(|at| base.is_empty() || plain.calls[*at].name != plain.calls[start].name)
        .collect();
    assert!(points.len() > 5, "{}: the calls were seen", scenario.what);

    let mut tally = Tally::default();
    let mut mended: BTreeSet<Snapshot> = BTreeSet::new();
    let mut faults = Vec::new();
    for (at, disturbance) in all_disturbances(&plain.calls, &points) {
        let call = &plain.calls[at];
        bench.reset();
        let mut inject = injections(&plain.calls, at, disturbance);
        inject.extend(base.iter().cloned());
        let traced = strace::run(sandbox, scenario.args, &inject);
        if was_left_out(call, &traced, sandbox) || came_to_a_read(&traced) {
            continue;
        }
        let now = state(sandbox);
        tally.add(disturbance, &now, &before, &after);
        let looked = check_run(disturbance, &traced)
            .and_then(|()| illegal(scenario, &now, &before, &after))
            .and_then(|()| check_done(scenario, &traced, &now, &after))
            .and_then(|()| {
                if mended.insert(now) { check_mended(scenario, sandbox, &ends, &after) } else { Ok(()) }
            });
        if let Err(fault) = looked {
            let root = sandbox.root().display().to_string();
            let text =
                format!("{disturbance:?} at {} {}\n{fault}\nit said: {}", call.nth, call.text, traced.output);
            faults.push(text.replace(&root, "[DIR]"));
        }
    }
    tally.print(scenario.what);
    let shown: Vec<&String> = faults.iter().take(8).collect();
    assert!(
        faults.is_empty(),
        "{}: {} faults\n{}",
        scenario.what,
        faults.len(),
        shown.iter().map(|s| s.as_str()).collect::<Vec<_>>().join("\n---\n")
    );
}

/// Whether `call` did not come this time, or not under its number: what a run remembers of trees depends on how old they
/// are, so a slow machine makes calls that a faster run does without.
fn was_left_out(call: &Call, traced: &Traced, sandbox: &Sandbox) -> bool {
    let cache = sandbox.root().join("home/.cache");
    // A call of another name fails in any case, where a scenario says so.
    let hit = traced.calls.iter().find(|other| other.injected && other.name == call.name);
    let came = traced.output.code.is_none() || hit.is_some();
    let alike = traced.calls.iter().filter(|other| other.name == call.name).count();
    let is_other = call.is_below(&cache) && hit.is_some_and(|hit| !hit.is_below(&cache));
    is_other || !came && (alike < call.nth || call.is_below(&cache))
}

/// Whether the fault came to a call that changes nothing: calls are counted by their names, so after one that a slow
/// machine makes or leaves out, the number is that of another one.
pub(crate) fn came_to_a_read(traced: &Traced) -> bool {
    traced.calls.iter().any(|call| call.injected && !call.changes())
}

pub(crate) fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// A killed program is dead; another one says what went wrong.
pub(crate) fn check_run(disturbance: Disturbance, traced: &Traced) -> Result<(), String> {
    let output = &traced.output;
    if disturbance == Disturbance::Kill {
        return require(output.code.is_none(), || "it was not killed".to_owned());
    }
    // On a full disk the message has no room either.
    let told = output.stderr.contains("error: ") || disturbance == Disturbance::From("ENOSPC");
    require(traced.calls.iter().any(|call| call.injected), || "nothing failed".to_owned())?;
    require(output.code.is_some_and(|code| code <= 1 || (code <= 6 && told)), || "a strange end".to_owned())?;
    require(!output.stderr.contains("panicked"), || "a panic".to_owned())
}

/// Who says that all is done has done it.
fn check_done(scenario: &Scenario, traced: &Traced, now: &Snapshot, after: &Snapshot) -> Result<(), String> {
    let done = traced.output.code != Some(scenario.code) || units(now) == units(after);
    require(done, || format!("it was not done: {}", snapshot::difference(after, now)))
}

/// The next ordinary run mends; what it leaves is whole, also what is in the store; and the command,
/// given again, reaches what it was to reach.
fn check_mended(
    scenario: &Scenario,
    sandbox: &Sandbox,
    ends: &[End; 2],
    after: &Snapshot,
) -> Result<(), String> {
    let end = next_run(scenario, sandbox);
    let codes: Vec<_> =
        ends.iter().filter(|known| known.project == end.project).map(|known| known.output.code).collect();
    if codes.is_empty() {
        let [old, new] = [&ends[0], &ends[1]].map(|known| snapshot::difference(&known.project, &end.project));
        return Err(format!(
            "the next run does not mend: {}\nagainst old:\n{old}against new:\n{new}",
            end.output
        ));
    }
    // What was begun can be mended where otherwise there would be nothing to do.
    let fine = end.output.code == Some(0) || codes.contains(&end.output.code);
    require(fine, || format!("mending: {}", end.output))?;
    lost(scenario, &state(sandbox))?;
    let verified = sandbox.run(&["cache", "verify"]);
    require(verified.code == Some(0), || format!("damage: {verified}"))?;
    // What was done may have no second time: a name that is gone cannot be removed again.
    let again = sandbox.run(scenario.args);
    let now = state(sandbox);
    if again.code == Some(scenario.code) && scenario.toggles {
        let expected = &ends[usize::from(end.project != ends[1].project)].project;
        let found = project(sandbox);
        require(*expected == found, || {
            format!("given again: {again}\n{}", snapshot::difference(expected, &found))
        })?;
    } else if again.code == Some(scenario.code) {
        require(units(&now) == units(after), || {
            format!("given again: {again}\n{}", snapshot::difference(after, &now))
        })?;
    } else {
        require(end.project == ends[1].project && project(sandbox) == end.project, || {
            format!("given again: {again}")
        })?;
    }
    let pruned = sandbox.run(&["cache", "prune"]);
    require(pruned.code == Some(0), || format!("pruning: {pruned}"))?;
    let now = state(sandbox);
    require(rubbish(&now).is_empty(), || format!("left over: {:?}", rubbish(&now)))
}

impl Tally {
    fn add(&mut self, disturbance: Disturbance, now: &Snapshot, before: &Snapshot, after: &Snapshot) {
        match disturbance {
            Disturbance::Kill => self.kills += 1,
            Disturbance::Once(_) => self.errors += 1,
            Disturbance::From(_) => self.lasting += 1,
        }
        let [seen, old, new] = [now, before, after].map(units);
        let what = if seen == old {
            "old"
        } else if seen == new {
            "new"
        } else {
            "between"
        };
        *self.left.entry(what).or_default() += 1;
        self.states.insert(now.clone());
    }

    fn print(&self, what: &str) {
        let left = |what| self.left.get(what).copied().unwrap_or_default();
        println!(
            "| {what} | {} | {} | {} | {} | {} | {} | {} |",
            self.kills,
            self.errors,
            self.lasting,
            self.states.len(),
            left("old"),
            left("between"),
            left("new")
        );
    }
}
