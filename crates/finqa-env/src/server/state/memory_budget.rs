//! The memory that large messages, bodies and answers may take together. All
//! clients share it, so that a thousand of them, each within its own limits,
//! cannot make the server hold gigabytes. Small ones take none of it, so that
//! the large cannot shut them out.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Messages and bodies up to this size take nothing from the budget. It is more
/// than the longest query that is run.
pub(crate) const SMALL_REQUEST: usize = 16 * 1024;
/// Answers up to this size take nothing from the budget.
pub(crate) const SMALL_ANSWER: usize = 16 * 1024;

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

/// Reserves memory for a large answer until the client has taken it; `None` if it
/// does not fit.
pub(crate) fn reserve_for(answer: Response, budget: &MemoryBudget) -> Option<Response> {
    let bytes = answer.body().size_hint().exact().unwrap_or(0);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if bytes <= SMALL_ANSWER {
        return Some(answer);
    }
    let taken = budget.take(bytes, SMALL_ANSWER)?;
    Some(answer.map(|body| {
        Body::new(BudgetedBody {
            body,
            _taken: taken,
        })
    }))
}

/// A body with the memory reserved for it.
struct BudgetedBody {
    body: Body,
    _taken: MemoryReservation,
}

impl HttpBody for BudgetedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
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
