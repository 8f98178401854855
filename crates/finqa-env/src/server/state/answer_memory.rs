//! Limits the memory that all large answers take together. All connections share the limit, so that
//! a thousand clients that read slowly cannot make the server hold gigabytes. Small answers do not
//! count, so that they are sent even when large ones have used up the memory.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum size of an answer that does not count, in bytes. Set by hand.
const SMALL: usize = 16 * 1024;
const KIB: usize = 1024;

/// The free memory for large answers, as a semaphore with one permit per KiB.
pub(crate) struct AnswerMemory(Arc<Semaphore>);

/// The memory that one answer or connection has reserved. Dropping it frees the memory.
#[derive(Default)]
pub(crate) struct AnswerShare(Option<OwnedSemaphorePermit>);

impl AnswerShare {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl AnswerMemory {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / KIB)))
    }

    /// Increases a share to at least `bytes`. Returns false if too little memory is left. A small
    /// answer needs no share.
    pub(crate) fn reserve(&self, share: &mut AnswerShare, bytes: usize) -> bool {
        if bytes <= SMALL {
            return true;
        }
        let taken = share
            .0
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = bytes.div_ceil(KIB).saturating_sub(taken);
        let Ok(missing) = u32::try_from(missing) else {
            return false;
        };
        let Ok(more) = Arc::clone(&self.0).try_acquire_many_owned(missing) else {
            return false;
        };
        match &mut share.0 {
            Some(taken) => taken.merge(more),
            none => *none = Some(more),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_answers_share_the_memory_and_small_ones_always_pass() {
        let memory = AnswerMemory::new(100 * KIB);
        let (mut first, mut second) = (AnswerShare::default(), AnswerShare::default());
        assert!(first.is_empty());
        assert!(memory.reserve(&mut first, 60 * KIB));
        assert!(!first.is_empty());
        assert!(memory.reserve(&mut first, 80 * KIB), "its share grows");
        assert!(memory.reserve(&mut first, 20 * KIB), "and is kept");
        assert!(!memory.reserve(&mut second, 21 * KIB));
        assert!(memory.reserve(&mut second, 20 * KIB));
        assert!(memory.reserve(&mut AnswerShare::default(), SMALL));
        drop(first);
        assert!(memory.reserve(&mut second, 100 * KIB));
        assert!(!memory.reserve(&mut second, usize::MAX));
    }
}
