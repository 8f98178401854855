//! Applies a function to many items on several threads.

use std::num::NonZeroUsize;

/// Below this many items a thread costs more than it saves.
const WORTH_A_THREAD: usize = 32;
/// Starting the server must not occupy a large machine.
const MOST_THREADS: usize = 8;

/// The result of `work` for each item, in their order.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = processors
        .min(MOST_THREADS)
        .min(items.len() / WORTH_A_THREAD)
        .max(1);
    let mut shares = items.chunks(items.len().div_ceil(threads).max(1));
    let own = shares.next().unwrap_or_default();
    std::thread::scope(|scope| {
        let others: Vec<_> = shares
            .map(|share| (share, scope.spawn(|| share.iter().map(&work).collect())))
            .collect();
        let mut made: Vec<R> = own.iter().map(&work).collect();
        for (share, other) in others {
            match other.join() {
                Ok(more) => made.extend::<Vec<R>>(more),
                // It panicked. So will this, on the caller's thread.
                Err(_) => made.extend(share.iter().map(&work)),
            }
        }
        made
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_whatever_the_number() {
        for n in [0, 1, 31, 64, 65, 1000] {
            let items: Vec<usize> = (0..n).collect();
            assert_eq!(
                map(&items, |x| x * 2),
                (0..n).map(|x| x * 2).collect::<Vec<_>>()
            );
        }
    }
}
