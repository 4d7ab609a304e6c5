//! Tests of what a filter decides.

use super::*;

/// Runs `filter` on the call `number` with `args`, as the kernel does; returns its answer and the number of steps. The
/// low half of each argument comes first.
fn answer_of(filter: &BpfProgram, machine: u32, number: u32, args: &[(u32, u32)]) -> (u32, usize) {
    let mut told = vec![number, machine, 0, 0];
    told.extend(args.iter().flat_map(|(low, high)| [*low, *high]));
    told.resize(16, 0);
    let (mut at, mut value) = (0, 0);
    for steps in 1.. {
        let step = &filter[at];
        at += 1;
        let (code, k) = (u32::from(step.code), step.k);
        let is = match (code & 0x07, code & 0xf0) {
            (libc::BPF_RET, _) => return (k, steps),
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
    unreachable!("a filter ends")
}

/// Returns the machine that the tests run on.
fn here() -> u32 {
    machine(TargetArch::try_from(std::env::consts::ARCH).expect("a machine with filters"))
}

fn answer(filter: &BpfProgram, number: u32, args: &[u32]) -> u32 {
    let args: Vec<_> = args.iter().map(|arg| (*arg, 0)).collect();
    answer_of(filter, here(), number, &args).0
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
    let apart = of(plan(false, true)).expect("a filter");
    for (filter, calls) in [(kept, SHARED), (apart, SOCKETS)] {
        for number in calls {
            assert_eq!(answer(filter, call(*number), &[]), denied, "{number}");
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
        let filter = filter(plan).expect("is put together").expect("a filter");
        let is_allowed = [
            (libc::SYS_socket, &[unix, stream][..]),
            (libc::SYS_socket, &[inet, stream]),
            (libc::SYS_socketpair, &[unix, stream]),
            (libc::SYS_socketpair, &[unix, messages]),
            (libc::SYS_connect, &[3, 8, 16]),
        ]
        .map(|(number, args)| answer(filter, call(number), args) == libc::SECCOMP_RET_ALLOW);
        assert_eq!(is_allowed, expected, "{plan:?}");
    }
}

/// Most calls are in no list. The kernel evaluates the filter for every call number before each script.
#[test]
fn a_call_of_no_list_is_answered_soon() {
    let plan = Plan { keep_mark: true, no_network: true, no_unix_sockets: true, ..Plan::default() };
    let filter = filter(plan).expect("is put together").expect("a filter");
    let mut by_number = 0;
    for number in 0..1024 {
        let (answer, steps) = answer_of(filter, here(), number, &[]);
        if answer == libc::SECCOMP_RET_ALLOW && steps <= 12 {
            by_number += 1;
        }
    }
    assert!(by_number > 950, "{by_number}");
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
        let filter = filter(plan).expect("is put together").expect("a filter");
        for number in [0, 11, 102, call(libc::SYS_read), call(libc::SYS_openat2), X32, u32::MAX] {
            // A program for i386.
            let answer = answer_of(filter, 0x4000_0003, number, &[]).0;
            assert_eq!(answer, libc::SECCOMP_RET_KILL_PROCESS, "{number}");
        }
    }
}

/// Neighbouring numbers have different answers.
#[test]
fn a_search_finds_each_number() {
    let mut filter = Filter::new().expect("is short enough");
    filter.deny(&[3, 4, 8]);
    filter.answer(5, filter.absent);
    filter.answer(100, filter.absent);
    let odd = filter.has(0, 1, 1, filter.denied, filter.allowed).expect("is short enough");
    filter.answer(7, odd);
    let filter = filter.done(here()).expect("is short enough");
    let error = |error: i32| libc::SECCOMP_RET_ERRNO | error.unsigned_abs();
    for number in 0..200 {
        let expected = match number {
            3 | 4 | 7 | 8 => error(libc::EPERM),
            5 | 100 => error(libc::ENOSYS),
            _ => libc::SECCOMP_RET_ALLOW,
        };
        assert_eq!(answer(&filter, number, &[1]), expected, "{number}");
    }
    assert_eq!(answer(&filter, 7, &[2]), libc::SECCOMP_RET_ALLOW);
    assert_eq!(answer(&filter, X32 + 3, &[]), error(libc::ENOSYS));
}

/// THREATS 3: each argument that matters is checked, in each of its halves.
#[test]
fn a_call_is_answered_by_its_arguments() {
    let plan = Plan { keep_mark: true, no_network: true, no_unix_sockets: true, ..Plan::default() };
    let filter = filter(plan).expect("is put together").expect("a filter");
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
        (libc::SYS_clone, &[(NEW_TIME.unsigned_abs(), 0)], true),
        (libc::SYS_clone, &[((libc::CLONE_NEWUSER | libc::SIGCHLD).unsigned_abs(), 0)], false),
        (libc::SYS_unshare, &[(libc::CLONE_FILES.unsigned_abs(), 0)], true),
        (libc::SYS_unshare, &[(libc::CLONE_NEWNS.unsigned_abs(), 0)], false),
        (libc::SYS_unshare, &[(NEW_TIME.unsigned_abs(), 0)], false),
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
        let told = answer_of(filter, here(), call(number), args).0;
        assert_eq!(told == libc::SECCOMP_RET_ALLOW, is_allowed, "{number} {args:?} {told:x}");
    }
}
