//! Submits a call to the batch queue and awaits its result.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::queue::{BatchAnswer, BatchHistory, UnitKey, WaitingCall};
use super::{BatchClient, BatchQueue};
use crate::llm::budget::Spending;
use crate::llm::protocol::{ApiDialect, EncodedRequest};
use crate::llm::types::{ChatRequest, RequestOrigin, Stop};

/// The way into a queue for the requests of one model.
pub(in crate::llm) struct BatchSender {
    pub(super) queue: BatchQueue,
    pub(super) client: Arc<BatchClient>,
}

impl BatchSender {
    /// The features that the model accepts, shared by all calls of equal models.
    pub(in crate::llm) fn dialect(&self) -> Arc<Mutex<ApiDialect>> {
        Arc::clone(&self.client.dialect)
    }

    /// A call of a conversation, until it is dropped: no wave is complete unless it waits.
    pub(in crate::llm) fn begin(&self, origin: &RequestOrigin) -> BatchCall {
        let unit = (origin.question.clone(), origin.epoch);
        let mut state = self.queue.0.state.lock();
        state.begun += 1;
        *state.under_way.entry(unit.clone()).or_default() += 1;
        BatchCall {
            queue: self.queue.clone(),
            unit,
        }
    }

    /// Notes that the result of the request of this key is not a reply.
    pub(in crate::llm) fn note_unusable(&self, key: String) {
        self.queue.0.state.lock().unusable.insert(key);
    }

    /// Puts a request of a call that was begun into the next wave and waits for its result,
    /// however long that takes; says how long it was.
    ///
    /// # Errors
    /// That the request cannot be written.
    pub(crate) async fn send(
        &self,
        request: &ChatRequest,
        encoded: &EncodedRequest,
        upper: Option<Spending>,
        stop: &Stop,
    ) -> Result<(BatchAnswer, Duration), serde_json::Error> {
        let began = Instant::now();
        // The calls that the conversation makes at the same time begin before one of them waits.
        tokio::task::yield_now().await;
        let (sender, mut answer) = oneshot::channel();
        let place = {
            let mut state = self.queue.0.state.lock();
            let number = state.next;
            state.next += 1;
            let call = WaitingCall {
                client: Arc::clone(&self.client),
                key: key(&state.id, request)?,
                body: Arc::clone(&encoded.json),
                upper,
                is_sent: false,
                history: BatchHistory::default(),
                answer: sender,
            };
            state.calls.insert(number, call);
            PlaceInWave {
                queue: &self.queue,
                number,
            }
        };
        self.queue.0.changed.notify_one();
        let received = tokio::select! {
            biased;
            answer = &mut answer => Some(answer.unwrap_or(BatchAnswer::Stopped)),
            // The provider may take a day; the batch is found again.
            () = stop.drain.cancelled() => None,
            () = stop.abort.cancelled() => None,
        };
        drop(place);
        // Sent between the stop and the end of the wait.
        let answer = received.or_else(|| answer.try_recv().ok());
        let answer = answer.unwrap_or(BatchAnswer::Stopped);
        Ok((answer, began.elapsed()))
    }
}

/// A call that has not ended.
pub(in crate::llm) struct BatchCall {
    queue: BatchQueue,
    unit: UnitKey,
}

impl Drop for BatchCall {
    fn drop(&mut self) {
        let mut state = self.queue.0.state.lock();
        state.begun -= 1;
        if let Some(calls) = state.under_way.get_mut(&self.unit) {
            *calls -= 1;
            if *calls == 0 {
                state.under_way.remove(&self.unit);
            }
        }
        drop(state);
        self.queue.0.changed.notify_one();
    }
}

/// The `custom_id` of a request: the same for the same request of the same question in
/// another process of the run, also if that one has to learn again how to write it; different for
/// equal requests whose replies must not be shared.
fn key(run: &str, request: &ChatRequest) -> serde_json::Result<String> {
    let RequestOrigin {
        question,
        epoch,
        repeat,
        ..
    } = &request.origin;
    let parts = (run, question, epoch, repeat, request);
    let mut hasher = blake3::Hasher::new();
    serde_json::to_writer(&mut hasher, &parts)?;
    // Half of it: providers take 64 characters at most, and this many never collide.
    let hash = hasher.finalize().to_hex();
    Ok(hash.as_str().get(..32).unwrap_or_default().to_owned())
}

/// A call's place in the queue, given up when the call is.
struct PlaceInWave<'q> {
    queue: &'q BatchQueue,
    number: u64,
}

impl Drop for PlaceInWave<'_> {
    fn drop(&mut self) {
        self.queue.0.state.lock().calls.remove(&self.number);
        self.queue.0.changed.notify_one();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::llm::batch) fn request(question: &str) -> ChatRequest {
        ChatRequest {
            origin: RequestOrigin {
                question: question.to_owned(),
                ..RequestOrigin::default()
            },
            ..ChatRequest::new("analyst", Vec::new())
        }
    }

    fn key(run: &str, request: &ChatRequest) -> String {
        super::key(run, request).unwrap()
    }

    #[test]
    fn equal_requests_share_a_key_only_within_a_run_a_question_a_pass_and_a_node() {
        let asked = request("a");
        let sample = ChatRequest {
            node: "analyst#2".to_owned(),
            ..asked.clone()
        };
        let mut keys = vec![
            key("other", &asked),
            key("run", &asked),
            key("run", &sample),
            key("run", &request("b")),
        ];
        for change in [
            |origin: &mut RequestOrigin| origin.epoch = 1,
            |origin: &mut RequestOrigin| origin.repeat = 1,
        ] {
            let mut changed = asked.clone();
            change(&mut changed.origin);
            keys.push(key("run", &changed));
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 6);
        // Failed calls before it differ between processes.
        let mut again = asked.clone();
        again.origin.call = 3;
        assert_eq!(key("run", &again), key("run", &asked));
    }
}
