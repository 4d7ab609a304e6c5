//! What a script may touch.
//!
//! Landlock and seccomp act on the thread that asks for them, and on all that it starts. So a thread
//! restricts itself and then starts the interpreter; the others of this process stay as they are.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::plan::{Done, Plan};

/// The newest rights that were tested; a kernel that knows fewer grants those.
const RIGHTS: ABI = ABI::V6;
/// Before this version files can be emptied through a right to nothing.
const ENOUGH: ABI = ABI::V3;
/// Calls of the x32 interface have numbers of their own.
const X32: i64 = 0x4000_0000;

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

/// Calls that say what they want where no filter can look: they are not there, and programs use those that were there before.
const UNSEEN: &[i64] = &[libc::SYS_openat2];

/// Kinds of sockets of which pairs lead nowhere else. Others can be told anew where they lead, or by each message.
const PAIRS: [i32; 2] = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
/// The part of a socket's type that is its kind.
const KINDS: u64 = 0xf;

/// Devices that keep nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Restricts this thread and all that it starts.
///
/// # Errors
///
/// What the system says where it knows the means and refuses them.
pub(super) fn restrict(plan: &Plan) -> Result<Done, String> {
    let mut done = Done::default();
    if plan.files {
        drop_powers().map_err(|error| error.to_string())?;
        (done.landlock, done.whole) = keep_files(plan).map_err(|error| error.to_string())?;
    }
    let filters = filters(plan).map_err(|error| error.to_string())?;
    if !filters.is_empty() {
        done.seccomp = match filters.iter().try_for_each(|filter| apply_filter(filter)) {
            Ok(()) => true,
            Err(error) if plan.no_network => return Err(error.to_string()),
            Err(_) => false,
        };
    }
    Ok(done)
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

fn keep_files(plan: &Plan) -> Result<(Option<u32>, bool), landlock::RulesetError> {
    let read = AccessFs::from_read(RIGHTS);
    // Devices are not made, and none is asked to do what it likes.
    let all = AccessFs::from_all(RIGHTS);
    let write = all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    let device: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate;
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(RIGHTS))?
        .create()?
        .add_rules(path_beneath_rules(SYSTEM, read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(&plan.read, read))?
        .add_rules(path_beneath_rules(&plan.write, write))?
        .restrict_self()?;
    let (LandlockStatus::Available { effective_abi, .. }, true) =
        (status.landlock, status.ruleset != RulesetStatus::NotEnforced)
    else {
        return Ok((None, false));
    };
    Ok((Some(effective_abi as u32), effective_abi >= ENOUGH))
}

/// What is forbidden by its number; empty where nothing is, and where this machine's numbers are not
/// known although nobody insists.
fn filters(plan: &Plan) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    if !plan.keep_mark && !plan.no_network {
        return Ok(Vec::new());
    }
    let arch = match TargetArch::try_from(std::env::consts::ARCH) {
        Ok(arch) => arch,
        Err(_) if !plan.no_network => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut rules = Rules::new();
    // The ring opens files and makes sockets past this filter. Programs go on without it, as in most containers.
    rules.insert(libc::SYS_io_uring_setup, Vec::new());
    if plan.keep_mark {
        keep_mark(&mut rules)?;
        rules.extend(SHARED.iter().map(|number| (*number, Vec::new())));
        keep_owner(&mut rules)?;
    }
    if plan.no_network {
        keep_network(&mut rules)?;
    }
    let mut filters = vec![program(rules, libc::EPERM, arch)?];
    if plan.keep_mark {
        let unseen = UNSEEN.iter().map(|number| (*number, Vec::new())).collect();
        filters.push(program(unseen, libc::ENOSYS, arch)?);
    }
    Ok(filters)
}

/// By the number of a call when it is refused; always, where there is no rule.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// A filter that answers what `rules` say with `error`.
fn program(mut rules: Rules, error: i32, arch: TargetArch) -> Result<BpfProgram, seccompiler::BackendError> {
    if cfg!(target_arch = "x86_64") {
        let again: Vec<_> = rules.iter().map(|(number, rules)| (number | X32, rules.clone())).collect();
        rules.extend(again);
    }
    let deny = SeccompAction::Errno(error.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, deny, arch)?.try_into()
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

/// Without a socket nothing is reached, also not what listens on this machine; what is left are pairs that lead nowhere
/// else.
fn keep_network(rules: &mut Rules) -> Result<(), seccompiler::BackendError> {
    for number in [libc::SYS_socket, libc::SYS_connect, libc::SYS_bind] {
        rules.insert(number, Vec::new());
    }
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
