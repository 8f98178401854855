//! The calls that wait for a batch, and their conversations.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;
use rust_decimal::Decimal;
use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot};

use super::client::BatchClient;
use crate::llm::budget::{Budget, BudgetReservation};
use crate::llm::event::{CallEvent, Observer};
use crate::llm::protocol::EncodedRequest;
use crate::llm::transport::HttpReply;
use crate::llm::types::{ChatRequest, RequestOrigin, Stop};

/// The requests of a run that are sent in batches.
#[derive(Clone)]
pub struct BatchQueue(pub(super) Arc<QueueShared>);

/// The queue, which its clones and the driver share.
pub(super) struct QueueShared {
    pub budget: Arc<Budget>,
    observer: Observer,
    pub state: Mutex<QueueState>,
    /// Notified when the wave may be complete.
    changed: Notify,
}

/// The conversations in progress and their calls, by which the driver sees when a wave is complete.
#[derive(Default)]
pub(super) struct QueueState {
    /// The run's id.
    id: String,
    /// Number of conversations in progress.
    units: usize,
    /// Number of open calls of each conversation that has open calls.
    begun: HashMap<UnitKey, usize>,
    /// Number of open calls of all conversations.
    open: usize,
    /// The calls that wait for their results.
    pub calls: BTreeMap<u64, WaitingCall>,
    next: u64,
    /// The clients by their names.
    pub clients: HashMap<String, Arc<BatchClient>>,
    closed: bool,
}

/// The current question of a conversation, and the epoch.
type UnitKey = (String, u32);

/// A call that waits for its result.
pub(super) struct WaitingCall {
    pub client: Arc<BatchClient>,
    pub key: String,
    pub body: Arc<RawValue>,
    /// The upper bound of the call's spending, if the run has a limit.
    pub upper: Option<Decimal>,
    /// True if the call is in an open batch.
    pub is_sent: bool,
    pub answer: oneshot::Sender<BatchReply>,
}

/// The result of a call that was sent in a batch.
pub(in crate::llm) struct BatchReply {
    pub reply: HttpReply,
    pub reservation: Option<BudgetReservation>,
    /// True if the provider returned no result but may still bill the request.
    pub is_lost: bool,
}

impl BatchQueue {
    pub fn new(budget: Arc<Budget>, observer: Observer) -> Self {
        Self(Arc::new(QueueShared {
            budget,
            observer,
            state: Mutex::default(),
            changed: Notify::new(),
        }))
    }

    /// Sets the run to which the following requests belong.
    pub fn begin(&self, id: &str) {
        id.clone_into(&mut self.0.state.lock().id);
    }

    /// No more calls will come, so the driver returns after saving.
    pub fn close(&self) {
        self.0.state.lock().closed = true;
        self.0.changed.notify_one();
    }

    /// Registers a conversation in progress until the returned value is dropped.
    #[must_use]
    pub fn unit(&self) -> BatchPlace {
        self.0.state.lock().units += 1;
        self.place(HeldPlace::Unit)
    }

    fn place(&self, held: HeldPlace) -> BatchPlace {
        BatchPlace {
            queue: self.clone(),
            held,
        }
    }

    /// The sender for the requests of one model. Senders of the same model share one client.
    pub(in crate::llm) fn sender(&self, client: BatchClient) -> BatchSender {
        let name = client.name().to_owned();
        let mut state = self.0.state.lock();
        let client = state
            .clients
            .entry(name)
            .or_insert_with(|| Arc::new(client));
        BatchSender {
            queue: self.clone(),
            client: Arc::clone(client),
        }
    }
}

impl QueueState {
    /// Number of conversations and calls that do not wait. They may still make other calls.
    fn busy(&self) -> usize {
        let silent = self.units.saturating_sub(self.begun.len());
        silent + self.open.saturating_sub(self.calls.len())
    }
}

impl QueueShared {
    /// Reports to the user in one line what happened to a batch.
    pub(super) fn notify(&self, line: String) {
        tracing::info!("{line}");
        (self.observer)(&CallEvent::Batch(line));
    }

    /// Waits until `event` returns a value for the state of the queue. There is only one waiter, so
    /// `notify_one` is enough; it also keeps a notification that arrives before the wait.
    async fn wait_for<T>(&self, event: impl Fn(&QueueState) -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            if let Some(event) = event(&self.state.lock()) {
                return event;
            }
            changed.await;
        }
    }

    /// Waits until the queue is closed. No call comes after that.
    pub(super) async fn closed(&self) {
        self.wait_for(|state| state.closed.then_some(())).await;
    }

    /// Waits until every conversation waits, so that a wave is complete. Returns false if no call
    /// will come.
    pub(super) async fn next(&self) -> bool {
        self.wait_for(|state| {
            if state.busy() == 0 && !state.calls.is_empty() {
                Some(true)
            } else {
                state.closed.then_some(false)
            }
        })
        .await
    }
}

/// Puts the requests of one model into a queue.
pub(in crate::llm) struct BatchSender {
    queue: BatchQueue,
    client: Arc<BatchClient>,
}

impl BatchSender {
    /// Registers a call of a conversation until the returned value is dropped.
    pub(in crate::llm) fn begin(&self, origin: &RequestOrigin) -> BatchPlace {
        let unit = (origin.question.clone(), origin.epoch);
        let mut state = self.queue.0.state.lock();
        *state.begun.entry(unit.clone()).or_default() += 1;
        state.open += 1;
        // Unlocked first, because dropping a `BatchPlace` locks the queue.
        drop(state);
        self.queue.place(HeldPlace::Call(unit))
    }

    /// Puts a request of a registered call into the next wave and waits for its result, however
    /// long that takes. `None` if the run is stopped.
    pub(in crate::llm) async fn send(
        &self,
        request: &ChatRequest,
        encoded: &EncodedRequest,
        upper: Option<Decimal>,
        stop: &Stop,
    ) -> Option<BatchReply> {
        // Let other calls that the conversation makes at the same time begin before this call
        // waits.
        tokio::task::yield_now().await;
        let (sender, mut answer) = oneshot::channel();
        let place = {
            let mut state = self.queue.0.state.lock();
            let number = state.next;
            state.next += 1;
            let call = WaitingCall {
                client: Arc::clone(&self.client),
                key: key(&state.id, request),
                body: Arc::clone(&encoded.json),
                upper,
                is_sent: false,
                answer: sender,
            };
            state.calls.insert(number, call);
            // As in `begin`.
            drop(state);
            self.queue.place(HeldPlace::Wait(number))
        };
        self.queue.0.changed.notify_one();
        let received = tokio::select! {
            // Biased, so that a result that has arrived is used even if the run is stopped.
            biased;
            answer = &mut answer => answer.ok(),
            // The provider may take a day, so a stop does not wait for it. A resumed run finds the
            // batch again.
            () = stop.drain.cancelled() => None,
            () = stop.abort.cancelled() => None,
        };
        drop(place);
        // The result may have arrived between the stop and the end of the wait.
        received.or_else(|| answer.try_recv().ok())
    }
}

/// Registers a conversation, a call or a wait in the queue until the value is dropped.
pub struct BatchPlace {
    queue: BatchQueue,
    held: HeldPlace,
}

/// The kind of thing that a [`BatchPlace`] registers.
enum HeldPlace {
    /// A conversation in progress. No wave is complete while it makes no call.
    Unit,
    /// A call of a conversation. No wave is complete while it does not wait.
    Call(UnitKey),
    /// A call that waits for its result.
    Wait(u64),
}

impl Drop for BatchPlace {
    fn drop(&mut self) {
        let mut state = self.queue.0.state.lock();
        match &self.held {
            HeldPlace::Unit => state.units -= 1,
            HeldPlace::Wait(number) => drop(state.calls.remove(number)),
            HeldPlace::Call(unit) => {
                state.open -= 1;
                if let Some(calls) = state.begun.get_mut(unit) {
                    *calls -= 1;
                    if *calls == 0 {
                        state.begun.remove(unit);
                    }
                }
            }
        }
        // Unlocked first, so that the driver that this wakes need not wait for the lock.
        drop(state);
        self.queue.0.changed.notify_one();
    }
}

/// The `custom_id` of a request. For the same request of the same question, every process of the
/// run creates the same id, even if it has to learn again what the model accepts. Equal requests
/// that must not share a reply have different ids.
fn key(run: &str, request: &ChatRequest) -> String {
    let RequestOrigin {
        question,
        epoch,
        repeat,
    } = &request.origin;
    let parts = (run, question, epoch, repeat, request);
    // A request can always be serialised.
    let json = serde_json::to_vec(&parts).unwrap_or_default();
    // Use half of the hash, because providers accept at most 64 characters. 32 characters are
    // enough to rule out collisions.
    blake3::hash(&json).to_hex().chars().take(32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::http_model::HttpModel;
    use crate::llm::settings::{ModelConnection, ModelSettings};
    use futures::FutureExt;

    fn request(question: &str) -> ChatRequest {
        ChatRequest {
            origin: RequestOrigin {
                question: question.to_owned(),
                ..RequestOrigin::default()
            },
            ..ChatRequest::new("analyst", Vec::new())
        }
    }

    #[tokio::test]
    async fn a_wave_is_complete_once_every_conversation_waits_or_has_ended() {
        let queue = BatchQueue::new(Arc::default(), Arc::new(|_| {}));
        let stop = Stop::default();
        let settings = ModelSettings {
            name: "m".to_owned(),
            base_url: Some("http://127.0.0.1:9/v1".to_owned()),
            ..ModelSettings::default()
        };
        let connection = ModelConnection::resolve(&|_| None, &settings).unwrap();
        let model = HttpModel::new(connection).unwrap();
        let _model = model.with_batches(Some(&queue));
        let client = queue.0.state.lock().clients.values().next().cloned();
        let sender = BatchSender {
            client: client.unwrap(),
            queue: queue.clone(),
        };
        let encoded = EncodedRequest {
            json: RawValue::from_string("{}".to_owned()).unwrap().into(),
            max_output_tokens: None,
        };
        let [first, second, third] = [(); 3].map(|()| queue.unit());
        let is_wave = || queue.0.next().now_or_never() == Some(true);
        let call = |question: &'static str| {
            let (sender, encoded, stop) = (&sender, &encoded, &stop);
            Box::pin(async move {
                let request = request(question);
                let begun = sender.begin(&request.origin);
                let answer = sender.send(&request, encoded, None, stop).await;
                drop(answer);
                begun
            })
        };
        let mut calls = ["a", "b"].map(call);
        for call in &mut calls {
            assert!(call.as_mut().now_or_never().is_none());
            assert!(call.as_mut().now_or_never().is_none());
            assert!(!is_wave(), "the third makes no call yet");
        }
        drop(third);
        assert!(is_wave());
        // A conversation waits for one call while it makes another call.
        let mut another = call("b");
        assert!(another.as_mut().now_or_never().is_none());
        assert!(!is_wave());
        assert!(another.as_mut().now_or_never().is_none());
        assert!(is_wave());
        // A call with a result has not ended yet, although its conversation already waits for
        // another call.
        let answered = queue.0.state.lock().calls.remove(&1).unwrap();
        drop(answered.answer);
        assert!(!is_wave());
        let begun = calls[1].as_mut().now_or_never().unwrap();
        assert!(!is_wave());
        drop(begun);
        assert!(is_wave());
        drop((first, second));
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
    }
}
