//! Doing the same work for many items, in as many threads as pay off.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The number of items that a thread takes at a time: small enough that all threads end together. So few
/// items need no second thread.
pub(crate) const PIECE: usize = 64;

/// Like [`PIECE`], for items that take long, such as skills of which each file is read and written.
pub(crate) const FEW: usize = 8;

/// Calls `work` for each of `items` and returns the results in the same order. A thread takes `piece` items
/// at a time, and so few items use no second thread. Each thread has a state of its own, made by `state`.
pub(crate) fn map<T, S, R>(
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
    };
    done.sort_unstable_by_key(|(at, _)| *at);
    // The results are passed on in pieces: collected in one list, they would be in memory twice for a moment.
    done.into_iter().flat_map(|(_, answers)| answers)
}

#[cfg(test)]
mod tests {
    use super::{PIECE, map};

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
        }
    }
}
