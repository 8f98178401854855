//! The calls that wait for a batch, and the conversations that they belong to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot};

use super::{
    BatchClient, BatchNotice, BatchOptions, BatchRecord, BatchRecorder, BatchSender, BatchStage,
};
use crate::llm::budget::{Budget, BudgetReservation, Spending};
use crate::llm::error::ModelError;
use crate::llm::event::{CallEvent, Observer};
use crate::llm::transport::HttpReply;
use crate::llm::types::Stop;

/// The requests of a run that are sent in batches.
#[derive(Clone)]
pub struct BatchQueue(pub(super) Arc<QueueShared>);

pub(super) struct QueueShared {
    pub options: BatchOptions,
    pub budget: Arc<Budget>,
    observer: Observer,
    pub state: Mutex<WaveQueueState>,
    /// Notified when the wave may have become complete.
    pub changed: Notify,
}

#[derive(Default)]
pub(super) struct WaveQueueState {
    /// Conversations that are being asked.
    units: usize,
    /// Units that have called a model, with the number of their open calls.
    pub under_way: HashMap<UnitKey, usize>,
    /// Calls that have not ended.
    pub begun: usize,
    /// The calls that wait for their results.
    pub calls: BTreeMap<u64, WaitingCall>,
    /// The keys of requests whose results cannot be read as replies, although the provider calls them
    /// successes; until the driver has seen them.
    pub unusable: HashSet<String>,
    pub next: u64,
    pub clients: Vec<Arc<BatchClient>>,
    /// The run's id.
    pub id: String,
    pub run: RunBatches,
    closed: bool,
}

/// The batches of a run in its journal, and the recorder of new ones.
#[derive(Default)]
pub struct RunBatches {
    /// The run's id.
    pub id: String,
    /// The folder of results that are not read yet.
    pub folder: PathBuf,
    pub earlier: Vec<BatchRecord>,
    /// The amount counted for each request of the run, if it has a limit.
    pub amounts: HashMap<u64, Spending>,
    pub recorder: Option<BatchRecorder>,
}

/// A question and its pass, which is one of the units in flight.
pub(super) type UnitKey = (String, u32);

/// A call that waits for its result.
pub(super) struct WaitingCall {
    pub client: Arc<BatchClient>,
    pub key: String,
    pub body: Arc<RawValue>,
    /// The upper bound of its spending, if the run has a limit.
    pub upper: Option<Spending>,
    /// It is in an open batch.
    pub is_sent: bool,
    pub history: BatchHistory,
    pub answer: oneshot::Sender<BatchAnswer>,
}

pub(in crate::llm) enum BatchAnswer {
    Reply(Box<BatchReply>),
    /// The call is to be sent live.
    Live(BatchHistory),
    /// The run is stopped.
    Stopped,
}

/// The result of a call that was in a batch.
pub(in crate::llm) struct BatchReply {
    /// The key of its request.
    pub key: String,
    pub reply: HttpReply,
    pub reservation: Option<BudgetReservation>,
    pub history: BatchHistory,
    /// It was in as many batches as `--attempts` allows.
    pub is_last: bool,
}

/// The batches that a call was in.
#[derive(Clone, Copy, Default)]
pub(in crate::llm) struct BatchHistory {
    pub sent: u32,
    /// Of these, those that may have been billed for nothing.
    pub lost: u32,
    /// The provider may have received one of them twice.
    pub repeated: bool,
}

impl BatchHistory {
    /// Counts a submission that may have arrived, although its batch was not found.
    pub(super) fn repeat(&mut self) {
        self.sent += 1;
        self.lost += 1;
        self.repeated = true;
    }
}

/// The events that the driver waits for.
pub(super) enum QueueEvent {
    /// Every conversation waits.
    Wave,
    /// No conversation is left.
    Closed,
}

impl BatchQueue {
    pub fn new(options: BatchOptions, budget: Arc<Budget>, observer: Observer) -> Self {
        Self(Arc::new(QueueShared {
            options,
            budget,
            observer,
            state: Mutex::default(),
            changed: Notify::new(),
        }))
    }

    /// Takes up the batches of a run.
    pub fn begin(&self, run: RunBatches) {
        for record in &run.earlier {
            if let (Some(client), Some(known)) = (self.0.client(&record.server), record.dialect) {
                client.set_dialect(known);
            }
        }
        let mut state = self.0.state.lock();
        state.id.clone_from(&run.id);
        state.run = run;
    }

    /// The process stays until every batch has ended.
    pub fn waits(&self) -> bool {
        self.0.options.waits
    }

    /// Ends the driver once what it does is stored: no call follows.
    pub fn close(&self) {
        self.0.state.lock().closed = true;
        self.0.changed.notify_one();
    }

    /// A conversation that is being asked, until it is dropped: no wave is complete
    /// without it.
    #[must_use]
    pub fn unit(&self) -> BatchUnit {
        self.0.state.lock().units += 1;
        BatchUnit(self.clone())
    }

    /// How many requests of an open batch have a result; `None` for any other.
    ///
    /// # Errors
    /// [`ModelError`] if the provider does not say.
    pub async fn look_up(
        &self,
        record: &BatchRecord,
        stop: &Stop,
    ) -> Result<Option<u64>, ModelError> {
        let client = self.0.client(&record.server);
        match (client, &record.batch, record.stage) {
            (Some(client), Some(id), BatchStage::Submitted) => {
                Ok(Some(client.state(id, stop).await?.done))
            }
            _ => Ok(None),
        }
    }

    /// The way into the queue for the requests of one model.
    pub(in crate::llm) fn sender(&self, client: BatchClient) -> BatchSender {
        let client = self.0.client(client.name()).unwrap_or_else(|| {
            let client = Arc::new(client);
            self.0.state.lock().clients.push(Arc::clone(&client));
            client
        });
        BatchSender {
            queue: self.clone(),
            client,
        }
    }
}

impl WaveQueueState {
    /// Conversations and calls that may make other calls before all of them wait.
    fn busy(&self) -> usize {
        let without_call = self.units.saturating_sub(self.under_way.len());
        without_call + self.begun.saturating_sub(self.calls.len())
    }
}

impl QueueShared {
    /// The client of this name.
    pub(super) fn client(&self, name: &str) -> Option<Arc<BatchClient>> {
        let state = self.state.lock();
        state.clients.iter().find(|it| it.name() == name).cloned()
    }

    pub(super) fn notify(&self, notice: BatchNotice) {
        tracing::info!("{notice}");
        (self.observer)("batch", &CallEvent::Batch(notice));
    }

    /// Waits until no call can follow.
    pub(super) async fn closed(&self) {
        loop {
            let changed = self.changed.notified();
            if self.state.lock().closed {
                return;
            }
            changed.await;
        }
    }

    /// Waits until few results are being read, so that the others wait in their files and not in
    /// memory.
    pub(super) async fn wait_for_few(&self) {
        const MOST: usize = 64;
        loop {
            let changed = self.changed.notified();
            if self.state.lock().busy() < MOST {
                return;
            }
            changed.await;
        }
    }

    /// Waits until every conversation waits, or none is left.
    pub(super) async fn next(&self) -> QueueEvent {
        loop {
            // One waiter, so a notification before this is kept.
            let changed = self.changed.notified();
            {
                let state = self.state.lock();
                if state.busy() == 0 && !state.calls.is_empty() {
                    return QueueEvent::Wave;
                }
                if state.closed {
                    return QueueEvent::Closed;
                }
            }
            changed.await;
        }
    }
}

/// A conversation that is being asked.
pub struct BatchUnit(BatchQueue);

impl Drop for BatchUnit {
    fn drop(&mut self) {
        self.0.0.state.lock().units -= 1;
        self.0.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::llm::batch::api::BatchApi;
    use crate::llm::batch::sender::tests::request;
    use crate::llm::batch::{FileBatches, MessageBatches};
    use crate::llm::http_model::HttpModel;
    use crate::llm::protocol::EncodedRequest;
    use crate::llm::settings::{ModelConnection, ModelSettings};
    use futures::FutureExt;

    fn queue() -> BatchQueue {
        let options = BatchOptions {
            waits: true,
            timeout: Duration::MAX,
            sends_late_live: false,
        };
        BatchQueue::new(options, Arc::default(), Arc::new(|_, _| {}))
    }

    #[tokio::test]
    async fn a_wave_is_complete_once_every_conversation_waits_or_has_ended() {
        let (queue, stop) = (queue(), Stop::default());
        let settings = ModelSettings {
            name: "m".to_owned(),
            base_url: Some("http://127.0.0.1:9/v1".to_owned()),
            ..ModelSettings::default()
        };
        let connection = ModelConnection::resolve(&|_| None, &settings).unwrap();
        let model = HttpModel::new(connection).unwrap();
        let _model = model.with_batches(Some(&queue));
        let sender = BatchSender {
            client: Arc::clone(&queue.0.state.lock().clients[0]),
            queue: queue.clone(),
        };
        let encoded = EncodedRequest {
            json: RawValue::from_string("{}".to_owned()).unwrap().into(),
            max_output_tokens: None,
        };
        let [first, second, third] = [(); 3].map(|()| queue.unit());
        let is_wave = || matches!(queue.0.next().now_or_never(), Some(QueueEvent::Wave));
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
        // A conversation that waits for one call and makes another one.
        let mut another = call("b");
        assert!(another.as_mut().now_or_never().is_none());
        assert!(!is_wave());
        assert!(another.as_mut().now_or_never().is_none());
        assert!(is_wave());
        // A call that has its result has not ended, although the conversation waits for another.
        let answered = queue.0.state.lock().calls.remove(&1).unwrap();
        let _ = answered.answer.send(BatchAnswer::Stopped);
        assert!(!is_wave());
        let begun = calls[1].as_mut().now_or_never().unwrap();
        assert!(!is_wave());
        drop(begun);
        assert!(is_wave());
        drop((first, second));
    }

    #[test]
    fn a_batch_ends_at_the_limits_of_its_api() {
        for (limits, requests, bytes) in [
            (FileBatches.limits(), 50_000, 200_000_000),
            (MessageBatches.limits(), 100_000, 256_000_000),
        ] {
            assert!(limits.fit(requests - 1, bytes - 10, 10));
            assert!(!limits.fit(requests, 0, 10));
            assert!(!limits.fit(0, bytes - 10, 11));
        }
    }
}
