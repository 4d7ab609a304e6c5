//! What a script may touch.
//!
//! Landlock and seccomp act on the thread that asks for them, and on all that it starts. So a thread
//! restricts itself and then starts the interpreter; the others of this process stay as they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

use super::plan::{Done, Open, Plan};
use crate::fs;

/// The newest rights that were tested; a kernel that knows fewer grants those.
const RIGHTS: ABI = ABI::V6;
/// Before this version files can be emptied through a right to nothing.
const ENOUGH: ABI = ABI::V3;
/// From here on lie the numbers of the x32 interface: the same calls by other numbers.
const X32: u32 = 0x4000_0000;

/// Where the system's programs and what they need lie.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/home/linuxbrew/.linuxbrew",
    "/snap",
    "/proc",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    // Where the addresses of name servers lie.
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager/resolv.conf",
    "/dev/random",
    "/dev/urandom",
];

/// Calls that give what other processes of the user have in common, and that no path leads to: memory, messages, keys.
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

/// Calls that change the mode of a file, wherever it lies, and which of their arguments is the mode: none makes a program
/// run as its owner. Directories that a group shares have the other bit, which is copied with them.
const MODES: &[(i64, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    // They make a file, which has the mode from the start.
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];

/// Calls that may make a file, and which of their arguments say how it is opened and what its mode is then. Where none is
/// made, the mode is whatever was left in its place.
const OPENS: &[(i64, u8, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
    (libc::SYS_openat, 2, 3),
];

/// Says what it wants where no filter can look: it is not there, and programs use what was there before.
const UNSEEN: u32 = call(libc::SYS_openat2);

/// Without a socket nothing is reached, also not what listens on this machine.
const SOCKETS: &[i64] = &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind];

/// Kinds of sockets of which pairs lead nowhere else. Others can be told anew where they lead, or by each message.
const PAIRS: [i32; 2] = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
/// The part of a socket's type that is its kind.
const KINDS: u64 = 0xf;

/// Devices that keep nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// A thread that is restricted, but for the files.
pub(super) struct Prepared {
    /// Which files it may touch so far, if it is to be kept from others.
    files: Option<(RulesetCreated, Vec<&'static Path>)>,
    /// Whether its system calls are filtered.
    seccomp: bool,
}

/// Takes from this thread, and all that it starts, what `plan` keeps from every script.
///
/// # Errors
///
/// What the system says where it knows the means and refuses them.
pub(super) fn prepare(plan: Plan) -> Result<Prepared, String> {
    let mut files = None;
    if plan.files {
        drop_powers().map_err(|error| error.to_string())?;
        let system: Vec<_> = SYSTEM.iter().map(Path::new).filter(|dir| !is_in_usr(dir)).collect();
        files = Some((ruleset(&system).map_err(|error| error.to_string())?, system));
    }
    let seccomp = match filter(plan)?.map(|filter| apply_filter(filter)) {
        Some(Ok(())) => true,
        Some(Err(error)) if plan.no_network => return Err(error.to_string()),
        Some(Err(_)) | None => false,
    };
    Ok(Prepared { files, seccomp })
}

impl Prepared {
    /// Keeps all files from this thread, and all that it starts, but those of the system and those that are `open`.
    ///
    /// # Errors
    ///
    /// What the system says where it knows the means and refuses them.
    pub(super) fn restrict(self, open: &Open) -> Result<Done, String> {
        let mut done = Done { seccomp: self.seccomp, ..Done::default() };
        if let Some((ruleset, system)) = self.files {
            let kept = keep_files(ruleset, &system, open).map_err(|error| error.to_string())?;
            (done.landlock, done.whole) = kept;
        }
        Ok(done)
    }
}

/// Gives up for good what root may do beyond files and users: with it the rest could be undone, the memory
/// of other processes read and limits raised. Others have none of it.
fn drop_powers() -> Result<(), rustix::io::Errno> {
    // Else the next program that root starts would have all of it again.
    set_no_new_privs(true)?;
    // Without `FSETID` a file that is written to loses the bits with which it would run as its owner.
    let kept = CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::FOWNER
        | CapabilitySet::KILL
        | CapabilitySet::NET_BIND_SERVICE
        | CapabilitySet::SETGID
        | CapabilitySet::SETUID;
    let own = capabilities(None)?;
    let sets = CapabilitySets {
        effective: own.effective & kept,
        permitted: own.permitted & kept,
        inheritable: own.inheritable & kept,
    };
    set_capabilities(None, sets)
}

/// What may be done to a file that may be read.
fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(RIGHTS)
}

/// What may be done to one that may be written: devices are not made, and none is asked to do what it likes.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(RIGHTS) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
}

/// Rules by which the directories of the `system` may be read.
fn ruleset(system: &[&Path]) -> Result<RulesetCreated, RulesetError> {
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(RIGHTS))?
        .scope(Scope::from_all(RIGHTS))?
        .create()?
        .add_rules(path_beneath_rules(system, reading()))?
        .add_rules(path_beneath_rules(DEVICES, device))
}

fn keep_files(
    ruleset: RulesetCreated,
    system: &[&Path],
    open: &Open,
) -> Result<(Option<u32>, bool), RulesetError> {
    let mut read = topmost(open.read.clone());
    read.retain(|path| !system.iter().any(|dir| path.starts_with(dir)));
    let status = ruleset
        .add_rules(path_beneath_rules(read, reading()))?
        .add_rules(path_beneath_rules(&open.write, writing()))?
        .restrict_self()?;
    let (LandlockStatus::Available { effective_abi, .. }, true) =
        (status.landlock, status.ruleset != RulesetStatus::NotEnforced)
    else {
        return Ok((None, false));
    };
    Ok((Some(effective_abi as u32), effective_abi >= ENOUGH))
}

/// Whether `dir` is a link into `/usr`, as `/bin` and others are on most systems.
fn is_in_usr(dir: &Path) -> bool {
    let is_link = matches!(fs::read_link(dir), Ok(Some(_)));
    is_link && matches!(fs::real_path(dir), Ok(Some(real)) if real.starts_with("/usr"))
}

/// `paths` but for those that lie in another of them: most of a system lies in `/usr`, and each rule takes time.
fn topmost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    // Each directory comes right before what lies in it.
    paths.sort_unstable();
    paths.dedup_by(|next, kept| next.starts_with(kept));
    paths
}

/// What is forbidden by its number; `None` where nothing is, and where this machine's numbers are not
/// known although nobody insists.
fn filter(plan: Plan) -> Result<Option<&'static BpfProgram>, String> {
    static FILTERS: [OnceLock<Option<BpfProgram>>; 3] = [const { OnceLock::new() }; 3];
    let at = match (plan.keep_mark, plan.no_network) {
        (false, false) => return Ok(None),
        (true, false) => 0,
        (false, true) => 1,
        (true, true) => 2,
    };
    // A program that runs many scripts puts it together once.
    if let Some(known) = FILTERS[at].get() {
        return Ok(known.as_ref());
    }
    let built = build(plan).map_err(|error| error.to_string())?;
    Ok(FILTERS[at].get_or_init(|| built).as_ref())
}

fn build(plan: Plan) -> Result<Option<BpfProgram>, seccompiler::BackendError> {
    let arch = match TargetArch::try_from(std::env::consts::ARCH) {
        Ok(arch) => arch,
        Err(_) if !plan.no_network => return Ok(None),
        Err(error) => return Err(error),
    };
    // The ring opens files and makes sockets past this filter. Programs go on without it, as in most containers.
    let mut denied = vec![libc::SYS_io_uring_setup];
    let mut rules = Rules::new();
    if plan.keep_mark {
        keep_mark(&mut rules)?;
        denied.extend(SHARED);
        keep_owner(&mut rules)?;
    }
    if plan.no_network {
        denied.extend(SOCKETS);
        keep_network(&mut rules)?;
    }
    let deny = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let by_arguments: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, deny, arch)?.try_into()?;
    let mut filter = by_number(&denied, plan.keep_mark);
    filter.extend(by_arguments);
    Ok(Some(filter))
}

/// By the number of a call when it is refused.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Refuses the calls that are `denied`, and says of others that they are not there: of those of the x32 interface, which
/// most kernels do not have either, and of the one that cannot be seen into, if that `hides_unseen`. All others are left
/// to what follows.
///
/// [`SeccompFilter`] knows one answer, no ranges, and takes five steps for a number. The kernel translates each step for
/// each script, and goes through them with each call.
fn by_number(denied: &[i64], hides_unseen: bool) -> BpfProgram {
    use libc::{BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
    let same = |number, is, isnt| step(BPF_JMP | BPF_JEQ | BPF_K, number, is, isnt);
    let answer = |error: i32| step(BPF_RET | BPF_K, libc::SECCOMP_RET_ERRNO | error.unsigned_abs(), 0, 0);
    // The end, from the last step to the first, so that each knows how far it leads.
    let mut back = vec![
        answer(libc::EPERM),
        answer(libc::ENOSYS),
        step(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 2),
        // What a debugger has answered already has this number, which is none.
        same(u32::MAX, 3, 0),
    ];
    if hides_unseen {
        back.push(same(UNSEEN, 2, 0));
    }
    let first: u8 = if hides_unseen { 4 } else { 3 };
    for (far, number) in (first..).zip(denied) {
        back.push(same(call(*number), far, 0));
    }
    // The number stands at the beginning of what is told of a call.
    back.push(step(BPF_LD | BPF_W | BPF_ABS, 0, 0, 0));
    back.reverse();
    back
}

/// The number of a call as a filter sees it.
#[expect(clippy::cast_possible_truncation, reason = "numbers of calls are small")]
const fn call(number: i64) -> u32 {
    number.unsigned_abs() as u32
}

/// A step of a filter, after which as many are left out as `is` says where it is a question that is true, else `isnt`.
#[expect(clippy::cast_possible_truncation, reason = "codes are small")]
fn step(code: u32, k: u32, is: u8, isnt: u8) -> sock_filter {
    sock_filter { code: code as u16, jt: is, jf: isnt, k }
}

/// That argument `arg`, of which `mask` is looked at, is `value`.
fn has(arg: u8, mask: u64, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(arg, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
}

/// That argument `arg` is an address.
fn is_given(arg: u8) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(arg, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)
}

fn keep_mark(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    let locks = u64::from(libc::RLIMIT_LOCKS);
    let is_locks = |arg| SeccompCondition::new(arg, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, locks);
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?;
    // The limits of another process, of which one ends it.
    let limits = vec![vec![is_locks(1)?, is_given(2)?], vec![other, is_given(2)?]];
    let limits: Result<Vec<_>, _> = limits.into_iter().map(SeccompRule::new).collect();
    rules.insert(libc::SYS_prlimit64, limits?);
    rules.insert(libc::SYS_setrlimit, vec![SeccompRule::new(vec![is_locks(0)?])?]);
    Ok(())
}

/// No program is made that runs as its owner.
fn keep_owner(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    let bit = u64::from(libc::S_ISUID);
    for (number, mode) in MODES {
        rules.insert(*number, vec![SeccompRule::new(vec![has(*mode, bit, bit)?])?]);
    }
    for (number, flags, mode) in OPENS {
        let makes = [libc::O_CREAT, libc::O_TMPFILE].map(|flag| {
            let flag = u64::from(flag.unsigned_abs());
            SeccompRule::new(vec![has(*flags, flag, flag)?, has(*mode, bit, bit)?])
        });
        rules.insert(*number, makes.into_iter().collect::<Result<_, _>>()?);
    }
    Ok(())
}

/// What is left are pairs that lead nowhere else.
fn keep_network(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    // What a message of another call says of its address lies where no filter can look.
    rules.insert(libc::SYS_sendto, vec![SeccompRule::new(vec![is_given(4)?])?]);
    let unix = u64::from(libc::AF_UNIX.unsigned_abs());
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, unix)?;
    let mut pairs = vec![SeccompRule::new(vec![other])?];
    let kept = PAIRS.map(|kind| u64::from(kind.unsigned_abs()));
    for kind in (0..=KINDS).filter(|kind| !kept.contains(kind)) {
        pairs.push(SeccompRule::new(vec![has(1, KINDS, kind)?])?);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `filter` answers to the call `number` with `args`, as the kernel goes through it.
    fn answer(filter: &BpfProgram, number: u32, args: &[u32]) -> u32 {
        let arch = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };
        let mut told = vec![number, arch, 0, 0];
        told.extend(args.iter().flat_map(|arg| [*arg, 0]));
        told.resize(16, 0);
        let (mut at, mut value) = (0, 0);
        loop {
            let step = &filter[at];
            at += 1;
            let (code, k) = (u32::from(step.code), step.k);
            let is = match (code & 0x07, code & 0xf0) {
                (libc::BPF_RET, _) => return k,
                (libc::BPF_LD, _) => {
                    value = told[k as usize / 4];
                    continue;
                }
                (libc::BPF_ALU, libc::BPF_AND) => {
                    value &= k;
                    continue;
                }
                (libc::BPF_JMP, libc::BPF_JA) => {
                    at += k as usize;
                    continue;
                }
                (libc::BPF_JMP, libc::BPF_JEQ) => value == k,
                (libc::BPF_JMP, libc::BPF_JGE) => value >= k,
                (libc::BPF_JMP, libc::BPF_JGT) => value > k,
                _ => panic!("step {code:#x}"),
            };
            at += usize::from(if is { step.jt } else { step.jf });
        }
    }

    /// THREATS 3: by each of its numbers, also where a kernel has the x32 interface.
    #[test]
    fn a_call_is_answered_by_its_number() {
        let error = |error: i32| libc::SECCOMP_RET_ERRNO + error.unsigned_abs();
        let (allowed, denied, absent) = (libc::SECCOMP_RET_ALLOW, error(libc::EPERM), error(libc::ENOSYS));
        let plan = |keep_mark, no_network| Plan { keep_mark, no_network, ..Plan::default() };
        let of = |plan| filter(plan).expect("is put together");
        assert!(of(plan(false, false)).is_none(), "nothing is forbidden");
        assert_eq!(answer(of(plan(true, true)).expect("a filter"), call(libc::SYS_bind), &[]), denied);
        let kept = of(plan(true, false)).expect("a filter");
        for number in 0..1024 {
            assert_eq!(answer(kept, X32 | number, &[]), absent, "{number}");
        }
        for (number, args, expected) in [
            (call(libc::SYS_read), &[][..], allowed),
            (call(libc::SYS_openat2), &[], absent),
            (call(libc::SYS_io_uring_setup), &[], denied),
            (call(libc::SYS_shmget), &[], denied),
            (call(libc::SYS_keyctl), &[], denied),
            (call(libc::SYS_fchmod), &[3, 0o4755], denied),
            (call(libc::SYS_fchmod), &[3, 0o755], allowed),
            (call(libc::SYS_socket), &[], allowed),
        ] {
            assert_eq!(answer(kept, number, args), expected, "{number}");
        }
        let apart = of(plan(false, true)).expect("a filter");
        assert_eq!(answer(apart, u32::MAX, &[]), allowed);
        assert_eq!(answer(kept, u32::MAX, &[]), allowed);
        assert_eq!(answer(apart, call(libc::SYS_socket), &[]), denied);
        assert_eq!(answer(apart, X32 | call(libc::SYS_socket), &[]), absent);
        assert_eq!(answer(apart, call(libc::SYS_openat2), &[]), allowed, "files are not kept away");
    }

    /// Names alone make nothing lie in another.
    #[test]
    fn a_directory_in_another_is_not_opened_twice() {
        let paths = ["/b/c", "/b", "/b-c", "/a", "/b", "/b/d/e"].map(PathBuf::from).to_vec();
        assert_eq!(topmost(paths), ["/a", "/b", "/b-c"].map(PathBuf::from));
    }
}
