//! The same work for many things, in as many threads as pay.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many things a thread takes at once: few enough that all end together. So many need no second thread.
pub(crate) const PIECE: usize = 64;

/// As [`PIECE`], of things that take long each, such as skills of which each file is read and written.
pub(crate) const FEW: usize = 8;

thread_local! {
    static SEAT: Cell<usize> = const { Cell::new(0) };
    static SEATS: Cell<usize> = const { Cell::new(1) };
}

/// The number of this thread among those that work together; 0 is the one that called them.
pub(crate) fn seat() -> usize {
    SEAT.get()
}

/// What each of the threads that work together with this one may have of `all`, which is one at least.
pub(crate) fn share(all: usize) -> usize {
    (all / SEATS.get()).max(1)
}

/// Gives this thread the number `seat` among `seats`.
pub(crate) fn take_seat(seat: usize, seats: usize) {
    SEAT.set(seat);
    SEATS.set(seats);
}

/// Calls `work` for each of `items` and returns the answers in their order. A thread takes `piece` items at once, and
/// so many are not worth a second one. Each has a state of its own, made by `state`.
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
    map_pieces(items, piece, state, move |state, piece| piece.iter().map(|item| work(state, item)).collect())
}

/// As [`map`], where `work` takes `piece` items that follow each other, and returns as many answers.
pub(crate) fn map_pieces<T, S, R>(
    items: &[T],
    piece: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &[T]) -> Vec<R> + Sync,
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
            done.push((at, work(&mut state, piece)));
        }
    };
    let mut done = if pieces.len() < 2 {
        // Asking how many threads there may be takes a dozen system calls.
        run()
    } else {
        let threads = thread::available_parallelism().map_or(1, Into::into).min(pieces.len());
        thread::scope(|scope| {
            let run = &run;
            let seated = |seat| {
                scope.spawn(move || {
                    take_seat(seat, threads);
                    run()
                })
            };
            let others: Vec<_> = (1..threads).map(seated).collect();
            let seats = SEATS.replace(threads);
            let mut done = run();
            SEATS.set(seats);
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
    // They are handed on piece by piece: in one list they would be there twice for a moment.
    done.into_iter().flat_map(|(_, answers)| answers)
}

#[cfg(test)]
mod tests {
    use super::{PIECE, map, share};

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

    /// Threads that work together share what there is; one that works alone has all of it.
    #[test]
    fn what_there_is_is_shared() {
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        let items: Vec<usize> = (0..64 * PIECE).collect();
        let shares: Vec<_> = map(&items, PIECE, || (), |(), _| (share(64), share(0))).collect();
        assert!(shares.iter().all(|share| *share == ((64 / threads.min(64)).max(1), 1)));
        assert_eq!(share(64), 64);
    }
}
