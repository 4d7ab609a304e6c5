//! The system calls that scripts may not make.

use super::Condition::{self, Has, Is, IsAddress, IsNot, Lacks};

/// Call numbers, and lists of conditions: a call matches if all conditions of one list hold.
pub(super) type Calls = (&'static [i64], &'static [&'static [Condition]]);

/// Matches any arguments.
const ALWAYS: &[&[Condition]] = &[];

/// An `io_uring` opens files and creates sockets without passing a filter. Programs work without it, as in containers.
pub(super) const RING: Calls = (&[libc::SYS_io_uring_setup], ALWAYS);

/// Calls that fail in the sandbox.
pub(super) const SANDBOX: &[Calls] = &[
    (SHARED, ALWAYS),
    (&[libc::SYS_userfaultfd, libc::SYS_setns], ALWAYS),
    // Changing the mark of a run, or the limits of another process, which could end it.
    (&[libc::SYS_prlimit64], &[&[IsAddress(2), IsNot(0, 0)], &[IsAddress(2), Is(1, MARK)]]),
    (&[libc::SYS_setrlimit], &[&[Is(0, MARK)]]),
    // Making a program that runs as its owner, wherever it is.
    #[cfg(target_arch = "x86_64")]
    (&[libc::SYS_chmod, libc::SYS_creat, libc::SYS_mknod], &[&[Has(1, OWNER)]]),
    (&[libc::SYS_fchmod], &[&[Has(1, OWNER)]]),
    (&[libc::SYS_fchmodat, libc::SYS_fchmodat2, libc::SYS_mknodat], &[&[Has(2, OWNER)]]),
    // If no file is created, the mode is undefined.
    #[cfg(target_arch = "x86_64")]
    (&[libc::SYS_open], &[&[Has(1, CREATE), Has(2, OWNER)], &[Has(1, TEMPORARY), Has(2, OWNER)]]),
    (&[libc::SYS_openat], &[&[Has(2, CREATE), Has(3, OWNER)], &[Has(2, TEMPORARY), Has(3, OWNER)]]),
    (&[libc::SYS_clone, libc::SYS_unshare], NAMESPACES),
    // For `clone`, this bit is part of a signal's number.
    (&[libc::SYS_unshare], &[&[Has(0, NEW_TIME)]]),
    // Changing the priority of another process. The first argument is the process; 0 is the caller.
    (SCHEDULING, &[&[IsNot(0, 0)]]),
    // The first argument gives the kind of the second: a process, a group or a user, who has other processes, too.
    (&[libc::SYS_setpriority], &[&[Is(0, PRIO_USER)], &[IsNot(1, 0)]]),
    (&[libc::SYS_ioprio_set], &[&[Is(0, IOPRIO_WHO_USER)], &[IsNot(1, 0)]]),
];

/// Calls that fail in the sandbox as if the kernel did not have them: programs use older calls, or poll.
pub(super) const ABSENT: &[Calls] = &[(UNSEEN, ALWAYS), (WATCHES, ALWAYS)];

/// Calls that fail in the sandbox as if the file did not support them.
pub(super) const UNSUPPORTED: &[Calls] = &[(ATTRIBUTES, ALWAYS)];

/// All sockets except pairs that only connect to each other. Without a socket no other program can be reached, not even
/// one that listens on this machine.
pub(super) const NO_SOCKETS: &[Calls] = &[
    (&[libc::SYS_socket, libc::SYS_connect, libc::SYS_bind], ALWAYS),
    // The other calls that send have the address in memory, where no filter can read it.
    (&[libc::SYS_sendto], &[&[IsAddress(4)]]),
    (&[libc::SYS_socketpair], &[&[IsNot(0, UNIX)], &[EVEN], &[WITH_2], &[WITH_8]]),
];

/// All sockets except unix sockets.
pub(super) const ONLY_UNIX_SOCKETS: &[Calls] =
    &[(&[libc::SYS_socket, libc::SYS_socketpair], &[&[IsNot(0, UNIX)]])];

/// Unix sockets except pairs that only connect to each other.
pub(super) const NO_UNIX_SOCKETS: &[Calls] = &[
    (&[libc::SYS_socket], &[&[Is(0, UNIX)]]),
    (&[libc::SYS_socketpair], &[&[Is(0, UNIX), EVEN], &[Is(0, UNIX), WITH_2], &[Is(0, UNIX), WITH_8]]),
];

/// Calls for objects that the user's processes share and that have no path: memory, messages, keys.
pub(super) const SHARED: &[i64] = &[
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

/// Calls whose arguments are in memory, where no filter can read them.
const UNSEEN: &[i64] = &[libc::SYS_openat2, libc::SYS_clone3];

/// Calls that watch files by their paths, which Landlock does not check.
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
pub(super) const GETXATTRAT: i64 = 464;
const LISTXATTRAT: i64 = 465;
const REMOVEXATTRAT: i64 = 466;

/// Calls that change how the system schedules a process.
const SCHEDULING: &[i64] = &[
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];
const PRIO_USER: u32 = 2;
const IOPRIO_WHO_USER: u32 = 3;

/// Creates a namespace, in which a process could have the powers of root.
const NAMESPACES: &[&[Condition]] = &[
    &[Has(0, libc::CLONE_NEWCGROUP.unsigned_abs())],
    &[Has(0, libc::CLONE_NEWIPC.unsigned_abs())],
    &[Has(0, libc::CLONE_NEWNET.unsigned_abs())],
    &[Has(0, libc::CLONE_NEWNS.unsigned_abs())],
    &[Has(0, libc::CLONE_NEWPID.unsigned_abs())],
    &[Has(0, libc::CLONE_NEWUSER.unsigned_abs())],
    &[Has(0, libc::CLONE_NEWUTS.unsigned_abs())],
];
/// A namespace that a process can only enter later.
pub(super) const NEW_TIME: u32 = 0x80;

/// The limit that is the mark of a run.
const MARK: u32 = libc::RLIMIT_LOCKS;

/// The bit of a mode that makes a program run as its owner. The setgid bit is allowed, because directories that a group
/// shares have it, and it is copied with them.
const OWNER: u32 = libc::S_ISUID;
/// The flags with which a call creates a file.
const CREATE: u32 = libc::O_CREAT.unsigned_abs();
const TEMPORARY: u32 = libc::O_TMPFILE.unsigned_abs();

const UNIX: u32 = libc::AF_UNIX.unsigned_abs();
/// Pairs of the kinds 1 (`SOCK_STREAM`) and 5 (`SOCK_SEQPACKET`) only connect to each other. Pairs of all other kinds can
/// be redirected, in general or per message, and each of these kinds has one of these properties. The low four bits are
/// the kind, and flags are above them.
const EVEN: Condition = Lacks(1, 1);
const WITH_2: Condition = Has(1, 2);
const WITH_8: Condition = Has(1, 8);
