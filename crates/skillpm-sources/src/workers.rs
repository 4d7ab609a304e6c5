//! Doing the same work for many items, in as many threads as pay off.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// The number of items that a thread takes at a time: small enough that all threads end together. So few
/// items need no second thread.
pub const PIECE: usize = 64;

/// Like [`PIECE`], for items that take long, such as skills whose files are all read and written.
pub const FEW: usize = 8;

/// Calls `work` for each of `items` and returns the results in the same order. A thread takes `piece` items
/// at a time, and so few items use no second thread. Each thread has a state of its own, made by `state`.
pub fn map<T, S, R>(
    items: &[T],
    piece: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> impl Iterator<Item = R>
where
    T: Sync,
    R: Send,
{
    let pieces: Vec<&[T]> = items.chunks(piece).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        let mut state = state();
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(at) else { return done };
            done.push((at, piece.iter().map(|item| work(&mut state, item)).collect::<Vec<_>>()));
        }
    };
    let mut done = if pieces.len() < 2 {
        // Determining the possible number of threads takes a dozen system calls.
        run()
    } else {
        let threads = thread::available_parallelism().map_or(1, Into::into).min(pieces.len());
        in_threads(threads, run)
    };
    done.sort_unstable_by_key(|(at, _)| *at);
    // The results are passed on in pieces: collected in one list, they would be in memory twice for a moment.
    done.into_iter().flat_map(|(_, answers)| answers)
}

/// Calls `run` in as many `threads`, this one among them, and returns all results.
fn in_threads<R: Send>(threads: usize, run: impl Fn() -> Vec<R> + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let run = &run;
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let mut done = run();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

/// Calls `work` for each of `items`, which mostly waits, such as for a server, in at most `most` threads, and returns the
/// results in the same order.
pub(crate) fn map_waiting<T: Sync, R: Send>(
    items: &[T],
    most: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut done = in_threads(most.min(items.len()), run);
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Calls `work` for each of `items`, which mostly waits, such as for a server, in at most `most` threads. After the
/// first failure no further item is begun.
pub fn wait_for<T: Sync, E: Send>(
    items: &[T],
    most: usize,
    work: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<E>> = Mutex::new(None);
    // A failure is set or not, even after a panic of another thread.
    let failure = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let run = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failure().is_some() {
                return;
            }
            if let Err(error) = work(item) {
                failure().get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..most.min(items.len()) {
            scope.spawn(run);
        }
        run();
    });
    failure().take().map_or(Ok(()), Err)
}

/// Room in memory that threads share.
pub struct Room {
    size: u64,
    free: Mutex<u64>,
    freed: Condvar,
}

impl Room {
    /// Returns room for `size` bytes.
    pub fn new(size: u64) -> Self {
        Self { size, free: Mutex::new(size), freed: Condvar::new() }
    }

    /// Calls `work`, which needs `bytes`, once there is room. What needs more than there is gets all of it.
    pub fn with<R>(&self, bytes: u64, work: impl FnOnce() -> R) -> R {
        struct Taken<'a>(&'a Room, u64);
        impl Drop for Taken<'_> {
            fn drop(&mut self) {
                *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += self.1;
                self.0.freed.notify_all();
            }
        }
        let bytes = bytes.min(self.size);
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free =
            self.freed.wait_while(free, |free| *free < bytes).unwrap_or_else(PoisonError::into_inner);
        *free -= bytes;
        drop(free);
        let _taken = Taken(self, bytes);
        work()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{PIECE, Room, map, map_waiting, wait_for};

    #[test]
    fn a_failure_ends_the_waiting() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(wait_for(&items, 4, |_| Ok::<_, usize>(())), Ok(()));
        assert_eq!(wait_for(&items, 1, |item| if *item < 7 { Ok(()) } else { Err(*item) }), Err(7));
        assert_eq!(wait_for(&[], 4, |_: &usize| Err(0)), Ok(()));
    }

    #[test]
    fn answers_come_in_the_order_of_the_items() {
        for count in [0, 1, 63, 64, 65, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let answers = map(&items, PIECE, Vec::new, |seen: &mut Vec<usize>, item| {
                seen.push(*item);
                (*item, seen.is_empty())
            });
            let answers: Vec<_> = answers.collect();
            assert_eq!(answers, items.iter().map(|item| (*item, false)).collect::<Vec<_>>());
            assert_eq!(map_waiting(&items, 4, |item| *item), items);
        }
    }
    #[test]
    fn no_more_is_in_the_room_than_there_is_room_for() {
        let (room, now, most) = (Room::new(10), AtomicU64::new(0), AtomicU64::new(0));
        let items: Vec<u64> = (0..200).map(|at| at % 13).collect();
        let done = map_waiting(&items, 8, |bytes| {
            room.with(*bytes, || {
                let bytes = (*bytes).min(10);
                most.fetch_max(now.fetch_add(bytes, Ordering::SeqCst) + bytes, Ordering::SeqCst);
                std::thread::yield_now();
                now.fetch_sub(bytes, Ordering::SeqCst);
                bytes
            })
        });
        assert_eq!(done.len(), items.len());
        assert!(most.into_inner() <= 10);
        assert_eq!(*room.free.lock().expect("not poisoned"), 10);
    }
}
