//! The memory that large messages, bodies and answers may take together. All
//! clients share it, so that a thousand of them, each within its own limits,
//! cannot make the server hold gigabytes. Small ones take none of it, so that
//! the large cannot shut them out.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Messages and bodies up to this size take nothing from the budget. It is more
/// than the longest query that is run.
pub(crate) const SMALL_REQUEST: usize = 16 * 1024;
/// Answers up to this size take nothing from the budget.
pub(crate) const SMALL_ANSWER: usize = 16 * 1024;
/// Memory that a growing message or body takes at a time.
pub(crate) const STEP: usize = 16 * 1024;

/// A number of bytes to reserve, or one client's share of it. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBudget {
    whole: Arc<Semaphore>,
    bytes: usize,
    share: Option<Arc<Semaphore>>,
}

/// Bytes reserved of the whole and of the share, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct MemoryReservation(Vec<OwnedSemaphorePermit>);

impl MemoryBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        let bytes = bytes.min(Semaphore::MAX_PERMITS);
        Self {
            whole: Arc::new(Semaphore::new(bytes)),
            bytes,
            share: None,
        }
    }

    /// The same budget, limited to one part in `part`.
    pub(crate) fn share(&self, part: usize) -> Self {
        Self {
            share: Some(Arc::new(Semaphore::new(self.bytes / part))),
            ..self.clone()
        }
    }

    /// Reserves `bytes`, or nothing if they are at most `small`; `None` if too few
    /// are left.
    pub(crate) fn take(&self, bytes: usize, small: usize) -> Option<MemoryReservation> {
        if bytes <= small {
            return Some(MemoryReservation::default());
        }
        let permits = u32::try_from(bytes).ok()?;
        let budgets = std::iter::once(&self.whole).chain(&self.share);
        let taken = budgets.map(|budget| Arc::clone(budget).try_acquire_many_owned(permits).ok());
        taken.collect::<Option<_>>().map(MemoryReservation)
    }
}

impl MemoryReservation {
    pub(crate) fn bytes(&self) -> usize {
        self.0.first().map_or(0, OwnedSemaphorePermit::num_permits)
    }

    /// Reserves more of the same budget; false, and nothing reserved, if too few
    /// bytes are left.
    pub(crate) fn grow(&mut self, budget: &MemoryBudget, bytes: usize) -> bool {
        let Some(MemoryReservation(more)) = budget.take(bytes, 0) else {
            return false;
        };
        if self.0.is_empty() {
            self.0 = more;
        } else {
            for (own, more) in self.0.iter_mut().zip(more) {
                own.merge(more);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_messages_pass_when_no_memory_is_left() {
        let budget = MemoryBudget::new(100_000);
        let mut first = budget.take(60_000, SMALL_REQUEST).unwrap();
        assert_eq!(first.bytes(), 60_000);
        assert!(budget.take(60_000, SMALL_REQUEST).is_none());
        assert!(first.grow(&budget, 40_000));
        assert!(!first.grow(&budget, 1));
        assert_eq!(first.bytes(), 100_000);
        assert_eq!(budget.take(16_000, SMALL_REQUEST).unwrap().bytes(), 0);
        drop(first);
        assert!(budget.take(100_000, SMALL_REQUEST).is_some());
        assert!(budget.take(usize::MAX, SMALL_REQUEST).is_none());
    }
}
