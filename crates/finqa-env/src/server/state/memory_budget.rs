//! Room for what is large: messages and bodies that are being read, answers
//! that their client has not taken yet. All clients share it, so that a
//! thousand of them, each within the limits of one, cannot make the server hold
//! gigabytes. What is small always has room, or the large would shut it out.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of a message or body that take no room: more than the longest query
/// that is run.
pub(crate) const SMALL_REQUEST: usize = 16 * 1024;
/// Bytes of an answer that take no room.
pub(crate) const SMALL_ANSWER: usize = 16 * 1024;

/// The room that there is, or the share of it that one client may take; clones
/// share it.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBudget {
    whole: Arc<Semaphore>,
    bytes: usize,
    share: Option<Arc<Semaphore>>,
}

/// Room that is taken, until it is dropped: of the whole, and of the share.
#[derive(Debug, Default)]
pub(crate) struct Reservation(Vec<OwnedSemaphorePermit>);

impl MemoryBudget {
    /// Room for so many bytes.
    pub fn new(bytes: usize) -> Self {
        let bytes = bytes.min(Semaphore::MAX_PERMITS);
        Self {
            whole: Arc::new(Semaphore::new(bytes)),
            bytes,
            share: None,
        }
    }

    /// The same room, of which this one takes a part at most.
    pub fn share(&self, part: usize) -> Self {
        Self {
            share: Some(Arc::new(Semaphore::new(self.bytes / part))),
            ..self.clone()
        }
    }

    /// Takes room for something of `bytes`, of which `small` take none; `None`
    /// where there is not so much left.
    pub fn take(&self, bytes: usize, small: usize) -> Option<Reservation> {
        if bytes <= small {
            return Some(Reservation::default());
        }
        let permits = u32::try_from(bytes).ok()?;
        let rooms = std::iter::once(&self.whole).chain(&self.share);
        let taken = rooms.map(|room| Arc::clone(room).try_acquire_many_owned(permits).ok());
        taken.collect::<Option<_>>().map(Reservation)
    }
}

impl Reservation {
    /// Bytes taken.
    pub fn bytes(&self) -> usize {
        self.0.first().map_or(0, OwnedSemaphorePermit::num_permits)
    }

    /// Takes more of the same room; false, and nothing taken, where there is not
    /// so much left.
    pub fn grow(&mut self, room: &MemoryBudget, bytes: usize) -> bool {
        let Some(Reservation(more)) = room.take(bytes, 0) else {
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

/// Lets a large answer hold its room until the client has taken it; `None` where
/// there is no room for it.
pub(crate) fn held(answer: Response, room: &MemoryBudget) -> Option<Response> {
    let bytes = answer.body().size_hint().exact().unwrap_or(0);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if bytes <= SMALL_ANSWER {
        return Some(answer);
    }
    let taken = room.take(bytes, SMALL_ANSWER)?;
    Some(answer.map(|body| {
        Body::new(BudgetedBody {
            body,
            _taken: taken,
        })
    }))
}

/// A body that holds room.
struct BudgetedBody {
    body: Body,
    _taken: Reservation,
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
    fn what_is_small_has_room_when_there_is_none() {
        let room = MemoryBudget::new(100_000);
        let mut first = room.take(60_000, SMALL_REQUEST).unwrap();
        assert_eq!(first.bytes(), 60_000);
        assert!(room.take(60_000, SMALL_REQUEST).is_none());
        assert!(first.grow(&room, 40_000));
        assert!(!first.grow(&room, 1));
        assert_eq!(first.bytes(), 100_000);
        assert_eq!(room.take(16_000, SMALL_REQUEST).unwrap().bytes(), 0);
        drop(first);
        assert!(room.take(100_000, SMALL_REQUEST).is_some());
        assert!(room.take(usize::MAX, SMALL_REQUEST).is_none());
    }
}
