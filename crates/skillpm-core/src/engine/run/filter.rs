//! Filters the system calls of a script.
//!
//! A filter decides about each call by its number and, if that is not enough, by its arguments. It cannot read the
//! memory that an argument points to.

use std::collections::BTreeMap;
use std::error::Error;
use std::num::TryFromIntError;
use std::sync::OnceLock;

use seccompiler::{BpfProgram, TargetArch, apply_filter, sock_filter};

use super::plan::Plan;

/// The first call number of the x32 interface, which offers the same calls under other numbers.
const X32: u32 = 0x4000_0000;

/// The offsets of the number and the machine in the data that a filter gets about a call.
const NUMBER: u32 = 0;
const MACHINE: u32 = 4;

/// Calls for objects that the user's processes share and that have no path: memory, messages, keys.
const SHARED: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// Calls that watch files by their paths, which Landlock does not check. Programs fall back to polling.
const WATCHES: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
    libc::SYS_inotify_add_watch,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
];

/// Calls that read or change the extended attributes of a file by its path, which Landlock does not check. They are
/// still accessible through an open file.
const ATTRIBUTES: &[i64] = &[
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    SETXATTRAT,
    GETXATTRAT,
    LISTXATTRAT,
    REMOVEXATTRAT,
];

/// The same calls since Linux 6.13, with numbers that are the same on all machines.
const SETXATTRAT: i64 = 463;
const GETXATTRAT: i64 = 464;
const LISTXATTRAT: i64 = 465;
const REMOVEXATTRAT: i64 = 466;

/// Calls that change how the system schedules a process. The first argument is the process; 0 is the caller.
const OF_PROCESS: &[i64] = &[
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// The same, with a first argument that gives the kind of the second: a process, a group or a user. Each call is listed
/// with the value for a user, who has other processes, too.
const OF_GROUP: &[(i64, u32)] = &[(libc::SYS_setpriority, 2), (libc::SYS_ioprio_set, 3)];

/// The namespaces that a process can be created in.
const NAMESPACES: i32 = libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS;
/// A namespace that a process can only enter later; for `clone`, this bit is part of a signal's number.
const NEW_TIME: i32 = 0x80;

/// Calls that set the mode of a file or create a file with a mode, with the index of the argument that is the mode:
/// none may make a program that runs as its owner. The setgid bit is allowed, because directories that a group shares
/// have it, and it is copied with them.
const MODES: &[(u8, &[i64])] = &[
    #[cfg(target_arch = "x86_64")]
    (1, &[libc::SYS_chmod, libc::SYS_creat, libc::SYS_mknod]),
    (1, &[libc::SYS_fchmod]),
    (2, &[libc::SYS_fchmodat, libc::SYS_fchmodat2, libc::SYS_mknodat]),
];

/// Calls that may create a file, with the indices of the arguments that are the flags and the mode. If no file is
/// created, the mode is undefined.
const OPENS: &[(i64, u8, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
    (libc::SYS_openat, 2, 3),
];

/// Calls whose arguments are in memory, where no filter can read them. They fail as if the kernel did not have them,
/// and programs use the older calls.
const UNSEEN: &[i64] = &[libc::SYS_openat2, libc::SYS_clone3];

/// Calls without which no other program can be reached, not even one that listens on this machine.
const SOCKETS: &[i64] = &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind];

/// Kinds of sockets whose pairs only connect to each other. Other kinds can be redirected, in general or per message.
const PAIRS: [i32; 2] = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
/// The bits of a socket's type that give its kind.
const KINDS: u32 = 0xf;

/// Installs the filter for this thread and everything that it starts. Returns whether that was possible.
///
/// # Errors
///
/// Fails with the system's error if `plan` requires the filter.
pub(super) fn apply(plan: Plan) -> Result<bool, String> {
    match filter(plan)?.map(|filter| apply_filter(filter)) {
        Some(Ok(())) => Ok(true),
        Some(Err(error)) if plan.no_network => Err(error.to_string()),
        Some(Err(_)) | None => Ok(false),
    }
}

/// Returns the filter for `plan`; `None` if it forbids nothing, or if the call numbers of this machine are unknown and
/// the filter is not required.
fn filter(plan: Plan) -> Result<Option<&'static BpfProgram>, String> {
    static FILTERS: [OnceLock<Option<BpfProgram>>; 8] = [const { OnceLock::new() }; 8];
    let said = [plan.keep_mark, plan.no_network, plan.no_unix_sockets];
    let at = said.iter().fold(0, |at, said| at << 1 | usize::from(*said));
    if at == 0 {
        return Ok(None);
    }
    // A program that runs many scripts builds each filter once.
    if let Some(known) = FILTERS[at].get() {
        return Ok(known.as_ref());
    }
    let built = build(plan).map_err(|error| error.to_string())?;
    Ok(FILTERS[at].get_or_init(|| built).as_ref())
}

fn build(plan: Plan) -> Result<Option<BpfProgram>, Box<dyn Error>> {
    let arch = match TargetArch::try_from(std::env::consts::ARCH) {
        Ok(arch) => arch,
        Err(_) if !plan.no_network => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut filter = Filter::new()?;
    // An io_uring opens files and creates sockets without passing this filter. Programs work without it, as in
    // containers.
    filter.deny(&[libc::SYS_io_uring_setup]);
    if plan.keep_mark {
        filter.deny(SHARED);
        filter.deny(&[libc::SYS_userfaultfd, libc::SYS_setns]);
        filter.all_at(UNSEEN, filter.absent);
        filter.all_at(WATCHES, filter.absent);
        filter.all_at(ATTRIBUTES, filter.unsupported);
        filter.keep_mark()?;
        filter.keep_owner()?;
        filter.keep_namespaces()?;
        filter.keep_priorities()?;
    }
    match (plan.no_network, plan.no_unix_sockets) {
        (true, true) => {
            filter.deny(SOCKETS);
            filter.keep_network()?;
        }
        (true, false) => filter.only_unix_sockets()?,
        (false, true) => filter.no_unix_sockets()?,
        (false, false) => {}
    }
    Ok(Some(filter.done(machine(arch))?))
}

/// Returns the machine's identifier in a filter: `AUDIT_ARCH_*` of `linux/audit.h`.
fn machine(arch: TargetArch) -> u32 {
    // 64 bits, little-endian.
    0xc000_0000
        | match arch {
            TargetArch::x86_64 => 62,
            TargetArch::aarch64 => 183,
            TargetArch::riscv64 => 243,
        }
}

/// A place in a filter, as the number of steps from there to the end.
type Offset = usize;
/// A place, unless it is too far away: a step can jump over at most 255 steps.
type OffsetResult = Result<Offset, TryFromIntError>;

/// A filter that is assembled from its last step to its first, so each step knows how far it jumps.
///
/// A filter from `seccompiler` compares one number after another, and repeats that for each condition. The kernel
/// translates each step for each script, and runs them once for every call number. This filter searches for the number,
/// which takes ten steps instead of a hundred, and has the steps that several calls share only once.
struct Filter {
    steps: BpfProgram,
    allowed: Offset,
    denied: Offset,
    /// Fails the call as if it did not exist.
    absent: Offset,
    /// Fails the call as if the file did not support it.
    unsupported: Offset,
    /// The places that decide about calls that are not simply allowed, by call number.
    answers: BTreeMap<u32, Offset>,
}

impl Filter {
    fn new() -> Result<Self, TryFromIntError> {
        let mut new = Self {
            steps: Vec::new(),
            allowed: 0,
            denied: 0,
            absent: 0,
            unsupported: 0,
            answers: BTreeMap::new(),
        };
        let error = |error: i32| libc::SECCOMP_RET_ERRNO | error.unsigned_abs();
        new.unsupported = new.end(error(libc::EOPNOTSUPP))?;
        new.denied = new.end(error(libc::EPERM))?;
        new.absent = new.end(error(libc::ENOSYS))?;
        new.allowed = new.end(libc::SECCOMP_RET_ALLOW)?;
        Ok(new)
    }

    /// Decides about the call `number` at `place`.
    fn answer(&mut self, number: i64, place: Offset) {
        self.answers.insert(call(number), place);
    }

    /// Decides about each of the calls `numbers` at `place`.
    fn all_at(&mut self, numbers: &[i64], place: Offset) {
        for number in numbers {
            self.answer(*number, place);
        }
    }

    fn deny(&mut self, numbers: &[i64]) {
        self.all_at(numbers, self.denied);
    }

    /// Forbids changing the mark of a run, and changing the limits of other processes, one of which would end them.
    fn keep_mark(&mut self) -> Result<(), TryFromIntError> {
        let locks = libc::RLIMIT_LOCKS;
        let sets = self.is_given(2, self.denied, self.allowed)?;
        let own = self.has(1, u32::MAX, locks, sets, self.allowed)?;
        let limits = self.has(0, u32::MAX, 0, own, sets)?;
        self.answer(libc::SYS_prlimit64, limits);
        let limits = self.has(0, u32::MAX, locks, self.denied, self.allowed)?;
        self.answer(libc::SYS_setrlimit, limits);
        Ok(())
    }

    /// Forbids making a program that runs as its owner.
    fn keep_owner(&mut self) -> Result<(), TryFromIntError> {
        let is_set = |filter: &mut Self, mode| {
            filter.has(mode, libc::S_ISUID, libc::S_ISUID, filter.denied, filter.allowed)
        };
        for (mode, calls) in MODES {
            let place = is_set(self, *mode)?;
            self.all_at(calls, place);
        }
        for (number, flags, mode) in OPENS {
            let makes = is_set(self, *mode)?;
            let mut place = self.allowed;
            for flag in [libc::O_TMPFILE, libc::O_CREAT] {
                place = self.has(*flags, flag.unsigned_abs(), flag.unsigned_abs(), makes, place)?;
            }
            self.answer(*number, place);
        }
        Ok(())
    }

    /// Forbids all sockets except pairs that only connect to each other.
    fn keep_network(&mut self) -> Result<(), TryFromIntError> {
        // The other calls that send have the address in memory, where no filter can read it.
        let send = self.is_given(4, self.denied, self.allowed)?;
        self.answer(libc::SYS_sendto, send);
        let pair = self.is_fixed_pair()?;
        let pair = self.is_unix(pair, self.denied)?;
        self.answer(libc::SYS_socketpair, pair);
        Ok(())
    }

    /// Forbids unix sockets except pairs that only connect to each other.
    fn no_unix_sockets(&mut self) -> Result<(), TryFromIntError> {
        let pair = self.is_fixed_pair()?;
        let pair = self.is_unix(pair, self.allowed)?;
        self.answer(libc::SYS_socketpair, pair);
        let socket = self.is_unix(self.denied, self.allowed)?;
        self.answer(libc::SYS_socket, socket);
        Ok(())
    }

    /// Forbids all sockets except unix sockets.
    fn only_unix_sockets(&mut self) -> Result<(), TryFromIntError> {
        let place = self.is_unix(self.allowed, self.denied)?;
        self.all_at(&[libc::SYS_socket, libc::SYS_socketpair], place);
        Ok(())
    }

    /// Allows a pair of sockets if neither can be redirected.
    fn is_fixed_pair(&mut self) -> OffsetResult {
        let mut pair = self.denied;
        for kind in PAIRS {
            pair = self.has(1, KINDS, kind.unsigned_abs(), self.allowed, pair)?;
        }
        Ok(pair)
    }

    /// Continues at `yes` if the socket is a unix socket, otherwise at `no`.
    fn is_unix(&mut self, yes: Offset, no: Offset) -> OffsetResult {
        self.has(0, u32::MAX, libc::AF_UNIX.unsigned_abs(), yes, no)
    }

    /// Forbids creating a namespace, in which a process could have the powers of root, and entering that of another
    /// process.
    fn keep_namespaces(&mut self) -> Result<(), TryFromIntError> {
        for (number, kinds) in [(libc::SYS_clone, NAMESPACES), (libc::SYS_unshare, NAMESPACES | NEW_TIME)] {
            let place = self.has(0, kinds.unsigned_abs(), 0, self.allowed, self.denied)?;
            self.answer(number, place);
        }
        Ok(())
    }

    /// Forbids changing the priority of other processes.
    fn keep_priorities(&mut self) -> Result<(), TryFromIntError> {
        let own = self.has(0, u32::MAX, 0, self.allowed, self.denied)?;
        self.all_at(OF_PROCESS, own);
        for (number, user) in OF_GROUP {
            let own = self.has(1, u32::MAX, 0, self.allowed, self.denied)?;
            let own = self.has(0, u32::MAX, *user, self.denied, own)?;
            self.answer(*number, own);
        }
        Ok(())
    }

    /// Continues at `yes` if the low half of argument `arg`, masked with `mask`, is `value`, otherwise at `no`.
    fn has(&mut self, arg: u8, mask: u32, value: u32, yes: Offset, no: Offset) -> OffsetResult {
        self.ask(libc::BPF_JEQ, value, yes, no)?;
        if mask != u32::MAX {
            self.put(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask, self.here(), self.here())?;
        }
        self.load(low(arg))
    }

    /// Continues at `yes` if argument `arg` is not null, otherwise at `no`.
    fn is_given(&mut self, arg: u8, yes: Offset, no: Offset) -> OffsetResult {
        let low_half = self.has(arg, u32::MAX, 0, no, yes)?;
        self.ask(libc::BPF_JEQ, 0, low_half, yes)?;
        self.load(low(arg) + 4)
    }

    /// Returns the complete filter for programs of this `machine`. Other machines have different call numbers, so their
    /// programs are killed. Calls of the x32 interface fail as if they did not exist, as on most kernels.
    fn done(mut self, machine: u32) -> Result<BpfProgram, TryFromIntError> {
        // The numbers at which the decision changes.
        let mut changes: Vec<(u32, Offset)> = Vec::new();
        let mut change = |from, place| match changes.last_mut() {
            Some(last) if last.0 == from => last.1 = place,
            _ => changes.push((from, place)),
        };
        for (number, place) in &self.answers {
            change(*number, *place);
            change(number + 1, self.allowed);
        }
        change(X32, self.absent);
        // This is the number of a call that a debugger has already answered.
        change(u32::MAX, self.allowed);
        changes.dedup_by_key(|(_, place)| *place);

        let killed = self.end(libc::SECCOMP_RET_KILL_PROCESS)?;
        self.search(self.allowed, &changes)?;
        let native = self.load(NUMBER)?;
        self.ask(libc::BPF_JEQ, machine, native, killed)?;
        self.load(MACHINE)?;
        self.steps.reverse();
        Ok(self.steps)
    }

    /// Searches for the loaded number in the sorted `changes`, and continues at the place found. Numbers below the
    /// first change continue at `first`.
    fn search(&mut self, first: Offset, changes: &[(u32, Offset)]) -> OffsetResult {
        let (below, [(from, place), above @ ..]) = changes.split_at(changes.len() / 2) else {
            return Ok(first);
        };
        let above = self.search(*place, above)?;
        let below = self.search(first, below)?;
        self.ask(libc::BPF_JGE, *from, above, below)
    }

    /// Adds a step that ends with `answer`.
    fn end(&mut self, answer: u32) -> OffsetResult {
        self.put(libc::BPF_RET | libc::BPF_K, answer, self.here(), self.here())
    }

    /// Adds a step that loads the value at offset `at` of the data about a call.
    fn load(&mut self, at: u32) -> OffsetResult {
        self.put(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, self.here(), self.here())
    }

    /// Adds a step that compares the loaded value with `value`, and continues at `yes` or at `no`.
    fn ask(&mut self, question: u32, value: u32, yes: Offset, no: Offset) -> OffsetResult {
        self.put(libc::BPF_JMP | question | libc::BPF_K, value, yes, no)
    }

    fn put(&mut self, code: u32, k: u32, yes: Offset, no: Offset) -> OffsetResult {
        let left_out = |place: Offset| u8::try_from(self.here() - place);
        let step = sock_filter { code: u16::try_from(code)?, jt: left_out(yes)?, jf: left_out(no)?, k };
        self.steps.push(step);
        Ok(self.here())
    }

    /// Returns the place of the last step that was added, which runs next.
    fn here(&self) -> Offset {
        self.steps.len()
    }
}

/// Returns the number of a call as a filter sees it.
#[expect(clippy::cast_possible_truncation, reason = "numbers of calls are small")]
const fn call(number: i64) -> u32 {
    number.unsigned_abs() as u32
}

/// Returns the offset of the low half of argument `arg` in the data that a filter gets about a call. The high half
/// follows it.
fn low(arg: u8) -> u32 {
    16 + 8 * u32::from(arg)
}

#[cfg(test)]
mod tests;
