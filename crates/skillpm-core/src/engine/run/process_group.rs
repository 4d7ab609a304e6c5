//! The processes of one run, including those that left its process group.
//!
//! A process that creates a new session and loses its parent is in no list that its ancestors can read. A supervisor
//! that inherits such orphans would have to be a separate process, or change how the program that uses this library is
//! notified of its own children. So the processes of a run are marked in two ways: by their limit for file locks, a
//! number that no current kernel uses, which all descendants inherit and which the sandbox does not let them change;
//! and by a variable in their environment.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Child;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getpid, getrlimit, kill_process, kill_process_group,
    pidfd_open, pidfd_send_signal, prlimit,
};

use super::environment::RUN_ID;
use super::limits::Limits;
use super::run_id::Mark;
use crate::error::Result;
use crate::fs;

/// The number of bytes read of a file that describes a process.
const MAX_TEXT: u64 = 1 << 20;
/// A time in which PIDs do not wrap around.
const SHORT: Duration = Duration::from_millis(250);
/// The number of PIDs that are tried one by one instead of listing all processes.
const FEW: i32 = 512;
/// How long to follow processes that are started during a search.
const CHASE: Duration = Duration::from_millis(100);

/// Sets the limits of `child` as soon as possible after its start, while its interpreter is still starting. `before` is
/// the number of processes and threads on the machine before that. A limit that cannot be set stays at the user's
/// default.
pub(super) fn limit(child: &Child, limits: &Limits, before: Option<u64>) {
    limit_one(Pid::from_child(child), limits, before);
}

fn limit_one(pid: Pid, limits: &Limits, before: Option<u64>) {
    let set = |resource, soft: u64, hard: u64| {
        let _ = prlimit(Some(pid), resource, Rlimit { current: Some(soft), maximum: Some(hard) });
    };
    if let Some(bytes) = limits.file_size {
        set(Resource::Fsize, bytes, bytes);
    }
    if let Some(bytes) = limits.memory {
        set(Resource::Data, bytes, bytes);
    }
    if let Some(time) = limits.cpu {
        let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        // The soft limit asks the process to end, the hard limit kills it.
        set(Resource::Cpu, seconds, seconds + 1);
    }
    // A core dump would be written to the user's project.
    set(Resource::Core, 0, 0);
    // The system counts all processes of the user, which are at most those of all users. It does not count root's;
    // `is_more_than` does that.
    if let Some(before) = before {
        let most = before.saturating_add(limits.processes);
        set(Resource::Nproc, most, most);
    }
}

/// Ensures that only one process is started at a time.
static BIRTH: Mutex<()> = Mutex::new(());

/// Calls `spawn` to start the first process of a run, and passes it the number of processes and threads on the machine.
/// The process has the mark from its birth, because this process has the mark as its soft limit meanwhile.
///
/// Nothing depends on that limit, here or elsewhere. Processes that other threads of this process start at the same
/// time also get the mark, and lose it immediately.
pub(super) fn spawn<T>(
    mark: Mark,
    limits: &Limits,
    spawn: impl FnOnce(Option<u64>) -> Result<(Child, T)>,
) -> Result<(Child, T, ProcessGroup)> {
    let one = BIRTH.lock().unwrap_or_else(PoisonError::into_inner);
    let own = getrlimit(Resource::Locks);
    // Read before the start: afterwards, on a busy machine, the run may already have more processes.
    let (before, first) = load().unzip();
    // If this fails, the mark is set after the start.
    let is_set = prlimit(None, Resource::Locks, Rlimit { current: Some(mark.number()), ..own }).is_ok();
    let born = spawn(before);
    if is_set {
        // It was allowed before.
        let _ = prlimit(None, Resource::Locks, own);
        let leader = born.as_ref().ok().map(|(child, _)| Pid::from_child(child));
        release(mark, own, first, leader);
    }
    drop(one);
    born.map(|(child, done)| {
        let family = ProcessGroup::of(&child, mark, limits, before);
        (child, done, family)
    })
}

/// Removes the mark from processes that other threads of this process started, and from their descendants.
fn release(mark: Mark, own: Rlimit, first: Option<i32>, leader: Option<Pid>) {
    let last = load().map(|(_, last)| last);
    let all = match (first, last) {
        (Some(first), Some(last)) if (first..first.saturating_add(FEW)).contains(&last) => {
            (first..=last).filter_map(Pid::from_raw).collect()
        }
        _ => all_processes(),
    };
    let mut others = vec![getpid().as_raw_nonzero().get()];
    for pid in all.into_iter().filter(|pid| Some(*pid) != leader) {
        if stat(pid).is_some_and(|stat| others.contains(&stat.parent))
            && is_marked(&text(pid, "limits"), mark)
        {
            others.push(pid.as_raw_nonzero().get());
            // If this fails, it has already ended.
            let _ = prlimit(Some(pid), Resource::Locks, own);
        }
    }
}

fn all_processes() -> Vec<Pid> {
    let names = fs::list_dir(Path::new("/proc")).unwrap_or_default();
    let mut all: Vec<i32> = names.iter().filter_map(|name| name.parse().ok()).collect();
    all.sort_unstable();
    all.into_iter().filter_map(Pid::from_raw).collect()
}

/// The processes of one run.
pub(super) struct ProcessGroup {
    mark: Mark,
    leader: Pid,
    /// A handle for the leader: another part of this process may wait for it, and then its PID may be reused. Kernels
    /// before 5.3 have no such handles.
    held: Option<OwnedFd>,
    /// The session that the leader was started in; 0 if it was created outside this PID namespace, as in a container.
    session: Option<i32>,
    began: Instant,
    /// Whether the system lists processes by the PIDs that this process uses.
    told: bool,
    /// The lowest number of processes and threads on the machine, before the leader's start and since.
    before: u64,
    /// The leader's start time, in the system's ticks.
    start: u64,
}

impl ProcessGroup {
    /// Returns the group of the process `leader`, which was just started as the leader of its own process group, and
    /// sets its limits. `before` is the number of processes and threads on the machine before that.
    fn of(leader: &Child, mark: Mark, limits: &Limits, before: Option<u64>) -> Self {
        let leader = Pid::from_child(leader);
        let own = getpid().as_raw_nonzero().to_string();
        let told =
            fs::read_link(Path::new("/proc/self")).ok().flatten().is_some_and(|to| to == Path::new(&own));
        let (start, session) = stat(leader).map(|stat| (stat.start, stat.session)).unzip();
        let start = start.unwrap_or(0);
        let held = pidfd_open(leader, PidfdFlags::empty()).ok();
        let began = Instant::now();
        let family = Self { mark, leader, held, session, began, told, before: before.unwrap_or(0), start };
        let both = Rlimit { current: Some(mark.number()), maximum: Some(mark.number()) };
        // If this fails, the mark has already served its purpose.
        let _ = prlimit(Some(leader), Resource::Locks, both);
        // Processes that it started before it had limits.
        for pid in family.others() {
            limit_one(pid, limits, before);
        }
        family
    }

    /// Reports whether the system lists its processes.
    pub(super) fn is_told(&self) -> bool {
        self.told
    }

    /// Returns the live processes of the run except its leader.
    pub(super) fn others(&self) -> Vec<Pid> {
        self.look(true, |pid| self.member(pid).is_some())
    }

    /// Examines the processes that may belong to the run, including those that are started meanwhile: a process that
    /// forks and exits repeatedly has always moved on to another PID. Returns the processes for which `is_found`
    /// returns `true`; with `is_enough`, it may stop at the first ones.
    ///
    /// If none was found and no process was started since the last look, none is left: every live process was examined,
    /// or has a parent with a lower PID that was.
    fn look(&self, is_enough: bool, is_found: impl Fn(Pid) -> bool) -> Vec<Pid> {
        if !self.told {
            return Vec::new();
        }
        let is_found = |pid: &Pid| *pid != self.leader && is_found(*pid);
        let mut seen = load().map(|(_, last)| last);
        let candidates = self.candidates(seen);
        if candidates.is_empty() {
            // The leader is the newest process: it has no child, or is starting one right now and is examined again.
            return candidates;
        }
        let mut found: Vec<Pid> = candidates.into_iter().filter(is_found).collect();
        let began = Instant::now();
        while let (Some(from), Some((_, last))) = (seen, load())
            && from != last
            && (!is_enough || found.is_empty())
            && began.elapsed() < CHASE
        {
            let born = if (from..from.saturating_add(FEW)).contains(&last) {
                (from + 1..=last).filter_map(Pid::from_raw).collect()
            } else {
                all_processes()
            };
            found.extend(born.into_iter().filter(is_found));
            seen = Some(last);
        }
        found
    }

    /// Reports whether the run has more processes and threads than `limit`.
    pub(super) fn is_more_than(&mut self, limit: u64) -> bool {
        // In nearly all cases this number alone rules it out. Processes that end elsewhere lower it.
        let Some((entities, _)) = load() else { return false };
        self.before = self.before.min(entities);
        if entities - self.before < limit / 2 {
            return false;
        }
        // Stop the leader's group while counting, or it may grow faster than it can be counted.
        self.signal_leader(Signal::STOP);
        let mut count = stat(self.leader).map_or(0, |stat| stat.threads);
        for pid in self.candidates(load().map(|(_, last)| last)) {
            if count > limit {
                return true;
            }
            count += self.member(pid).map_or(0, |stat| stat.threads);
        }
        let is_more = count > limit;
        if !is_more {
            self.signal_leader(Signal::CONT);
        }
        is_more
    }

    /// Asks all processes of the run to end, or ends them with `kill`.
    pub(super) fn signal(&self, kill: bool) {
        let signal = if kill { Signal::KILL } else { Signal::TERM };
        self.signal_leader(signal);
        // A process that is asked to end may take its time, so new processes are not followed.
        self.look(!kill, |pid| {
            // In this order, so that the process that is examined is the one that the handle holds.
            let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
            let Some(stat) = self.member(pid) else { return false };
            // A signal to a whole group reaches all of its processes at once, including one that is just being forked.
            // A session that a process of the run created has no other processes.
            if kill
                && self.session.is_some_and(|session| session != stat.session && stat.session > 0)
                && let Some(group) = Pid::from_raw(stat.group)
            {
                let _ = kill_process_group(group, signal);
            }
            let _ = pidfd_send_signal(held, signal);
            true
        });
    }

    /// Sends `signal` to the leader and its group, which it may have left.
    fn signal_leader(&self, signal: Signal) {
        // If one of these fails, there is nothing left to end.
        let _ = kill_process_group(self.leader, signal);
        let _ = match &self.held {
            Some(held) => pidfd_send_signal(held, signal),
            None => kill_process(self.leader, signal),
        };
    }

    /// Returns the processes that may belong to the run, ordered by PID. `last` is the newest PID on the machine.
    fn candidates(&self, last: Option<i32>) -> Vec<Pid> {
        if !self.told {
            return Vec::new();
        }
        let leader = self.leader.as_raw_nonzero().get();
        if self.began.elapsed() < SHORT
            && let Some(last) = last
            && (leader..leader.saturating_add(FEW)).contains(&last)
        {
            return (leader + 1..=last).filter_map(Pid::from_raw).collect();
        }
        let mut all = all_processes();
        all.retain(|pid| *pid != self.leader);
        all
    }

    /// Returns the state of `pid`, if it is a live process of the run.
    fn member(&self, pid: Pid) -> Option<Stat> {
        let stat = stat(pid)?;
        // A process that is older does not belong to the run; this leaves few to examine.
        if !stat.is_alive || stat.start < self.start {
            return None;
        }
        let is_member = stat.group == self.leader.as_raw_nonzero().get()
            || is_marked(&text(pid, "limits"), self.mark)
            // For processes that could not be marked, as in the sandbox of another run.
            || self.has_variable(pid, &stat);
        (is_member && is_process(pid)).then_some(stat)
    }

    fn has_variable(&self, pid: Pid, stat: &Stat) -> bool {
        let wanted = format!("{RUN_ID}={}", self.mark.id());
        let is_in = |text: &[u8]| text.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
        if !stat.is_headless {
            return is_in(&text(pid, "environ"));
        }
        // A thread that has ended has no environment: read that of a live thread.
        let threads = format!("/proc/{}/task", pid.as_raw_nonzero());
        let threads = fs::list_dir(Path::new(&threads)).unwrap_or_default();
        threads.iter().any(|thread| is_in(&text(pid, &format!("task/{thread}/environ"))))
    }
}

/// The state of a process, as the system reports it.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    is_alive: bool,
    /// Whether its first thread has ended while others live.
    is_headless: bool,
    parent: i32,
    group: i32,
    session: i32,
    threads: u64,
    /// The start time, in the system's ticks.
    start: u64,
}

fn stat(pid: Pid) -> Option<Stat> {
    parse_stat(&String::from_utf8_lossy(&text(pid, "stat")))
}

/// Reports whether `pid` is a process. The files of a thread ID look the same, although no list shows it.
fn is_process(pid: Pid) -> bool {
    let status = text(pid, "status");
    let status = String::from_utf8_lossy(&status);
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    group.is_some_and(|group| group.trim() == pid.as_raw_nonzero().to_string())
}

/// Parses the state of a process. The name of the process is in parentheses and may contain anything.
fn parse_stat(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let threads = fields.get(17)?.parse().ok()?;
    let state = *fields.first()?;
    // The state is that of the first thread. The process lives as long as any thread does.
    let is_headless = state == "Z" && threads > 1;
    Some(Stat {
        is_alive: is_headless || !matches!(state, "Z" | "X" | "x"),
        is_headless,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        threads,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// Reports whether the soft or the hard limit is the mark.
fn is_marked(limits: &[u8], mark: Mark) -> bool {
    let limits = String::from_utf8_lossy(limits);
    let mark = mark.number().to_string();
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file locks"));
    line.is_some_and(|rest| rest.split_whitespace().take(2).any(|limit| limit == mark))
}

/// Returns the content of the file `what` about `pid`; empty if the process has ended.
fn text(pid: Pid, what: &str) -> Vec<u8> {
    let path = format!("/proc/{}/{what}", pid.as_raw_nonzero());
    fs::read_told(Path::new(&path), MAX_TEXT).unwrap_or_default()
}

/// Returns the number of processes and threads on the machine, and the newest PID.
fn load() -> Option<(u64, i32)> {
    let text = fs::read_told(Path::new("/proc/loadavg"), 1 << 10)?;
    parse_load(std::str::from_utf8(&text).ok()?)
}

fn parse_load(text: &str) -> Option<(u64, i32)> {
    let mut fields = text.split_whitespace().skip(3);
    let (_, entities) = fields.next()?.split_once('/')?;
    Some((entities.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells() {
        assert_eq!(parse_load("0.10 0.20 0.30 2/345 6789\n"), Some((345, 6789)));
        assert_eq!(parse_load(""), None);
        let line = "7 (a) b) (c) S 1 42 43 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 12 0 100";
        let alive = |is_headless| Stat {
            is_alive: true,
            is_headless,
            parent: 1,
            group: 42,
            session: 43,
            threads: 12,
            start: 100,
        };
        assert_eq!(parse_stat(line), Some(alive(false)));
        // The first thread has ended, and eleven others have not.
        assert_eq!(parse_stat(&line.replace(" S ", " Z ")), Some(alive(true)));
        let ended = parse_stat(&line.replace(" S ", " Z ").replace(" 12 ", " 1 ")).expect("is told");
        assert!(!ended.is_alive && !ended.is_headless);
        assert_eq!(parse_stat("7 (x) Z 1 42"), None);
        let mark = Mark::new();
        let limits =
            |soft, hard| format!("Limit Soft Hard Units\nMax file locks            {soft} {hard} locks\n");
        assert!(is_marked(limits(mark.number(), mark.number()).as_bytes(), mark));
        assert!(is_marked(limits(0, mark.number()).as_bytes(), mark), "the soft limit may be lowered");
        assert!(!is_marked(limits(mark.number() + 1, mark.number() - 1).as_bytes(), mark));
        assert!(!is_marked(b"", mark));
    }

    /// Reads the numbers of this process, as the kernel here writes them.
    #[test]
    fn this_process_is_told_of() {
        let own = stat(getpid()).expect("is told");
        assert!(own.is_alive && own.threads >= 1);
        assert!(load().is_some());
    }
}
