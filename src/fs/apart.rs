//! Threads that open files for themselves.

/// Gives this thread a table of open files of its own, with the files in it that are open now.
///
/// Threads that share a table wait for each other in the kernel at every file that is opened, asked, read or closed:
/// of thousands of small files in the page cache that takes a tenth of the time. Where it is forbidden, or there is
/// no such thing, the table stays the common one.
///
/// A file that is opened from here on has its number in this thread only. So this is for a thread that ends soon, that
/// closes what it opens and hands none of it on, not even by a handle that others share ([`super::Base`]): to them it
/// is another file, or none. Returns whether the thread has its own table.
pub fn open_apart() -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::UnshareFlags;
        #[expect(deprecated, reason = "a thread could hand on what it opens; those that call this do not")]
        return rustix::thread::unshare(UnshareFlags::FILES).is_ok();
    }
    #[cfg(not(target_os = "linux"))]
    false
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;
    use std::thread;

    use super::*;

    /// Whether `path` is open in this thread.
    fn is_open(path: &Path) -> bool {
        let open = fs::read_dir("/proc/thread-self/fd").expect("lists").flatten();
        open.into_iter().any(|entry| fs::read_link(entry.path()).is_ok_and(|open| open == path))
    }

    /// What was open is open still, and what a thread opens is its own.
    #[test]
    fn a_thread_opens_files_for_itself() {
        let dir = tempfile::tempdir().expect("a directory");
        let [before, after] = ["before", "after"].map(|name| dir.path().join(name));
        for path in [&before, &after] {
            fs::write(path, "text").expect("writes");
        }
        let _open = File::open(&before).expect("opens");
        for apart in [true, false] {
            let (told, opened) = std::sync::mpsc::channel();
            let (end, ended) = std::sync::mpsc::channel::<()>();
            let paths = (before.clone(), after.clone());
            let other = thread::spawn(move || {
                let is_apart = apart && open_apart();
                let _open = File::open(&paths.1).expect("opens");
                told.send(is_apart).expect("is heard");
                let _ = ended.recv();
                (is_open(&paths.0), is_open(&paths.1))
            });
            let is_apart = opened.recv().expect("is told");
            assert_eq!(is_open(&after), !is_apart);
            drop(end);
            assert_eq!(other.join().expect("no panic"), (true, true));
            if apart && !is_apart {
                eprintln!("skipped: no thread may have files of its own here");
            }
        }
    }
}
