//! Tests of what the filters decide.

use super::calls::{GETXATTRAT, NEW_TIME, SHARED};
use super::*;

/// The identifier of this machine in a filter: `AUDIT_ARCH_*` of `linux/audit.h`.
const HERE: u32 = if cfg!(target_arch = "aarch64") {
    0xc000_00b7
} else if cfg!(target_arch = "riscv64") {
    0xc000_00f3
} else {
    0xc000_003e
};

/// The identifier of i386.
const OTHER: u32 = 0x4000_0003;

/// Runs `filters` on the call `number` with `args`, as the kernel does, and returns the answer. The low half of each
/// argument comes first.
fn answer_of(filters: &[BpfProgram], machine: u32, number: u32, args: &[(u32, u32)]) -> u32 {
    let mut call = vec![number, machine, 0, 0];
    call.extend(args.iter().flat_map(|(low, high)| [*low, *high]));
    call.resize(16, 0);
    let answers = filters.iter().map(|filter| answer_of_one(filter, &call));
    // The kernel compares the actions with their signs.
    answers.min_by_key(|answer| (answer & libc::SECCOMP_RET_ACTION_FULL).cast_signed()).expect("a filter")
}

/// Runs `filter` on the `data` about a call, and returns its answer.
fn answer_of_one(filter: &BpfProgram, data: &[u32]) -> u32 {
    let (mut at, mut value) = (0, 0);
    loop {
        let step = &filter[at];
        at += 1;
        let (code, k) = (u32::from(step.code), step.k);
        let is = match (code & 0x07, code & 0xf0) {
            (libc::BPF_RET, _) => return k,
            (libc::BPF_LD, _) => {
                value = data[k as usize / 4];
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

fn call(number: i64) -> u32 {
    number.try_into().expect("numbers of calls are small")
}

fn answer(filters: &[BpfProgram], number: u32, args: &[u32]) -> u32 {
    let args: Vec<_> = args.iter().map(|arg| (*arg, 0)).collect();
    answer_of(filters, HERE, number, &args)
}

/// THREATS 3: a call is decided by each of its numbers, even if a kernel has the x32 interface.
#[test]
fn a_call_is_answered_by_its_number() {
    let error = |error: i32| libc::SECCOMP_RET_ERRNO + error.unsigned_abs();
    let (allowed, denied, absent) = (libc::SECCOMP_RET_ALLOW, error(libc::EPERM), error(libc::ENOSYS));
    let plan = |keep_mark, no_network| Plan {
        keep_mark,
        no_network,
        no_unix_sockets: no_network,
        ..Plan::default()
    };
    let of = |plan| filters(plan).expect("are compiled");
    assert!(of(plan(false, false)).is_none(), "nothing is forbidden");
    assert_eq!(answer(&of(plan(true, true)).expect("filters"), call(libc::SYS_bind), &[]), denied);
    let kept = &of(plan(true, false)).expect("filters");
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
        (call(libc::SYS_clone3), &[], absent),
        (call(libc::SYS_setns), &[], denied),
        (call(libc::SYS_userfaultfd), &[], denied),
        (call(libc::SYS_inotify_init1), &[], absent),
        (call(libc::SYS_fanotify_init), &[], absent),
        (call(libc::SYS_getxattr), &[], error(libc::EOPNOTSUPP)),
        (call(GETXATTRAT), &[], error(libc::EOPNOTSUPP)),
        (call(libc::SYS_fgetxattr), &[], allowed),
        (call(libc::SYS_sched_getaffinity), &[7], allowed),
    ] {
        assert_eq!(answer(kept, number, args), expected, "{number}");
    }
    let apart = &of(plan(false, true)).expect("filters");
    for (filters, calls) in
        [(kept, SHARED), (apart, &[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind][..])]
    {
        for number in calls {
            assert_eq!(answer(filters, call(*number), &[]), denied, "{number}");
        }
    }
    assert_eq!(answer(apart, u32::MAX, &[]), allowed);
    assert_eq!(answer(kept, u32::MAX, &[]), allowed);
    assert_eq!(answer(apart, call(libc::SYS_socket), &[]), denied);
    assert_eq!(answer(apart, X32 | call(libc::SYS_socket), &[]), absent);
    assert_eq!(answer(apart, call(libc::SYS_openat2), &[]), allowed, "files are not kept away");
}

/// THREATS 3: unix sockets can be blocked alone, and can be allowed alone.
#[test]
fn unix_sockets_and_the_network_are_kept_apart() {
    let (unix, inet) = (libc::AF_UNIX.unsigned_abs(), libc::AF_INET.unsigned_abs());
    let [stream, messages] = [libc::SOCK_STREAM, libc::SOCK_DGRAM].map(i32::unsigned_abs);
    // Whether each is allowed: a unix socket, another socket, a pair of streams, a pair of datagrams, and connecting.
    for (no_network, no_unix_sockets, expected) in [
        (false, false, [true; 5]),
        (false, true, [false, true, true, false, true]),
        (true, false, [true, false, true, true, true]),
        (true, true, [false, false, true, false, false]),
    ] {
        let plan = Plan { keep_mark: true, no_network, no_unix_sockets, ..Plan::default() };
        let filters = filters(plan).expect("are compiled").expect("filters");
        let is_allowed = [
            (libc::SYS_socket, &[unix, stream][..]),
            (libc::SYS_socket, &[inet, stream]),
            (libc::SYS_socketpair, &[unix, stream]),
            (libc::SYS_socketpair, &[unix, messages]),
            (libc::SYS_connect, &[3, 8, 16]),
        ]
        .map(|(number, args)| answer(&filters, call(number), args) == libc::SECCOMP_RET_ALLOW);
        assert_eq!(is_allowed, expected, "{plan:?}");
    }
}

/// A program with other call numbers is not judged by these numbers.
#[test]
fn a_program_for_another_machine_is_ended() {
    let plan = |keep_mark, no_network| Plan {
        keep_mark,
        no_network,
        no_unix_sockets: no_network,
        ..Plan::default()
    };
    for plan in [plan(true, false), plan(false, true), plan(true, true)] {
        let filters = filters(plan).expect("are compiled").expect("filters");
        for number in [0, 11, 102, call(libc::SYS_read), call(libc::SYS_openat2), X32, u32::MAX] {
            let answer = answer_of(&filters, OTHER, number, &[]);
            assert_eq!(answer, libc::SECCOMP_RET_KILL_PROCESS, "{number}");
        }
    }
}

/// Only pairs of streams and of ordered messages only connect to each other.
#[test]
fn only_two_kinds_of_pairs_are_fixed() {
    let unix = libc::AF_UNIX.unsigned_abs();
    let allowed = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(i32::unsigned_abs);
    for no_network in [false, true] {
        let plan = Plan { no_network, no_unix_sockets: true, ..Plan::default() };
        let filters = filters(plan).expect("are compiled").expect("filters");
        for kind in 0..16 {
            for flags in [0, libc::SOCK_CLOEXEC.unsigned_abs(), libc::SOCK_NONBLOCK.unsigned_abs()] {
                let answer = answer(&filters, call(libc::SYS_socketpair), &[unix, kind | flags]);
                assert_eq!(answer == libc::SECCOMP_RET_ALLOW, allowed.contains(&kind), "{kind}");
            }
        }
    }
}

/// THREATS 3: each argument that matters is checked, in each of its halves.
#[test]
fn a_call_is_answered_by_its_arguments() {
    let plan = Plan { keep_mark: true, no_network: true, no_unix_sockets: true, ..Plan::default() };
    let filters = filters(plan).expect("are compiled").expect("filters");
    let (locks, files) = (libc::RLIMIT_LOCKS, libc::RLIMIT_NOFILE);
    let (make, hidden) = (libc::O_CREAT.unsigned_abs(), libc::O_TMPFILE.unsigned_abs());
    let (unix, inet) = (libc::AF_UNIX.unsigned_abs(), libc::AF_INET.unsigned_abs());
    let [stream, packets, messages] =
        [libc::SOCK_STREAM, libc::SOCK_SEQPACKET, libc::SOCK_DGRAM].map(i32::unsigned_abs);
    let cloexec = libc::SOCK_CLOEXEC.unsigned_abs();
    for (number, args, is_allowed) in [
        (libc::SYS_prlimit64, &[(0, 0), (locks, 0), (0, 0)][..], true),
        (libc::SYS_prlimit64, &[(0, 0), (locks, 0), (8, 0)], false),
        (libc::SYS_prlimit64, &[(0, 0), (locks, 0), (0, 8)], false),
        (libc::SYS_prlimit64, &[(0, 0), (files, 0), (8, 0)], true),
        (libc::SYS_prlimit64, &[(7, 0), (files, 0), (8, 0)], false),
        (libc::SYS_prlimit64, &[(7, 0), (files, 0), (0, 0)], true),
        (libc::SYS_setrlimit, &[(locks, 0), (8, 0)], false),
        (libc::SYS_setrlimit, &[(files, 0), (8, 0)], true),
        (libc::SYS_fchmod, &[(3, 0), (0o4755, 0)], false),
        (libc::SYS_fchmod, &[(3, 0), (0o2755, 0)], true),
        (libc::SYS_fchmodat, &[(3, 0), (8, 0), (0o4000, 0)], false),
        (libc::SYS_fchmodat2, &[(3, 0), (8, 0), (0o4000, 0)], false),
        (libc::SYS_mknodat, &[(3, 0), (8, 0), (0o4644, 0)], false),
        (libc::SYS_mknodat, &[(3, 0), (8, 0), (0o644, 0)], true),
        (libc::SYS_openat, &[(3, 0), (8, 0), (make, 0), (0o4755, 0)], false),
        (libc::SYS_openat, &[(3, 0), (8, 0), (hidden, 0), (0o4755, 0)], false),
        (libc::SYS_openat, &[(3, 0), (8, 0), (make, 0), (0o755, 0)], true),
        // No file is created, so the mode means nothing.
        (libc::SYS_openat, &[(3, 0), (8, 0), (0, 0), (0o4755, 0)], true),
        (libc::SYS_openat, &[(3, 0), (8, 0), (libc::O_DIRECTORY.unsigned_abs(), 0), (0o4755, 0)], true),
        (libc::SYS_sendto, &[(3, 0), (8, 0), (1, 0), (0, 0), (0, 0)], true),
        (libc::SYS_sendto, &[(3, 0), (8, 0), (1, 0), (0, 0), (8, 0)], false),
        (libc::SYS_sendto, &[(3, 0), (8, 0), (1, 0), (0, 0), (0, 8)], false),
        (libc::SYS_socketpair, &[(unix, 0), (stream | cloexec, 0)], true),
        (libc::SYS_socketpair, &[(unix, 0), (packets, 0)], true),
        (libc::SYS_socketpair, &[(unix, 0), (messages, 0)], false),
        (libc::SYS_socketpair, &[(unix, 0), (0, 0)], false),
        (libc::SYS_socketpair, &[(inet, 0), (stream, 0)], false),
        (libc::SYS_clone, &[(libc::SIGCHLD.unsigned_abs(), 0)], true),
        (libc::SYS_clone, &[(libc::CLONE_THREAD.unsigned_abs(), 0)], true),
        // After the first byte, which is a signal, this bit means nothing.
        (libc::SYS_clone, &[(NEW_TIME, 0)], true),
        (libc::SYS_clone, &[((libc::CLONE_NEWUSER | libc::SIGCHLD).unsigned_abs(), 0)], false),
        (libc::SYS_unshare, &[(libc::CLONE_FILES.unsigned_abs(), 0)], true),
        (libc::SYS_unshare, &[(libc::CLONE_NEWNS.unsigned_abs(), 0)], false),
        (libc::SYS_unshare, &[(NEW_TIME, 0)], false),
        (libc::SYS_setpriority, &[(0, 0), (0, 0), (5, 0)], true),
        (libc::SYS_setpriority, &[(1, 0), (0, 0), (5, 0)], true),
        (libc::SYS_setpriority, &[(0, 0), (7, 0), (5, 0)], false),
        (libc::SYS_setpriority, &[(2, 0), (0, 0), (5, 0)], false),
        (libc::SYS_ioprio_set, &[(1, 0), (0, 0)], true),
        (libc::SYS_ioprio_set, &[(1, 0), (7, 0)], false),
        (libc::SYS_ioprio_set, &[(3, 0), (0, 0)], false),
        (libc::SYS_sched_setaffinity, &[(0, 0)], true),
        (libc::SYS_sched_setaffinity, &[(7, 0)], false),
        (libc::SYS_sched_setscheduler, &[(7, 0)], false),
        // For these, the kernel reads only the low half.
        (libc::SYS_prlimit64, &[(0, 0), (locks, 1), (8, 0)], false),
        (libc::SYS_prlimit64, &[(0, 1), (files, 0), (8, 0)], true),
        (libc::SYS_setrlimit, &[(locks, 1), (8, 0)], false),
        (libc::SYS_fchmod, &[(3, 0), (0o4755, 1)], false),
        (libc::SYS_openat, &[(3, 0), (8, 0), (make, 1), (0o4755, 1)], false),
        (libc::SYS_socketpair, &[(unix, 1), (messages, 1)], false),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, &[(8, 0), (0o4755, 0)], false),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, &[(8, 0), (0o755, 0)], true),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, &[(8, 0), (0o4755, 0)], false),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, &[(8, 0), (0o4755, 0)], false),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, &[(8, 0), (make, 0), (0o4755, 0)], false),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, &[(8, 0), (0, 0), (0o4755, 0)], true),
    ] {
        let told = answer_of(&filters, HERE, call(number), args);
        assert_eq!(told == libc::SECCOMP_RET_ALLOW, is_allowed, "{number} {args:?} {told:x}");
    }
}
