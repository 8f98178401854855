//! The journal's writer: one thread that owns the connection, so that no
//! question waits for another's disk, and entries that arrive together share
//! one transaction.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use finqa_agents::agents::{AgreementCount, Call};
use finqa_agents::models::{BatchRecord, BudgetLimit, Spending};

use super::journal::{Journal, JournalEntry, JournalError};
use crate::score::{Row, Stamp};

/// Entries in one transaction, at most: bounds what a crash in mid-write takes.
const BATCH: usize = 256;

enum Message {
    Call {
        question: usize,
        call: Box<Call>,
    },
    Answer {
        row: Box<Row>,
        durable: oneshot::Sender<Arc<Row>>,
    },
    Total(usize),
    Spending {
        id: u64,
        amount: Spending,
        durable: oneshot::Sender<()>,
    },
    Batches {
        batches: Vec<BatchRecord>,
        durable: oneshot::Sender<()>,
    },
    Paused(BudgetLimit),
    Pilot(AgreementCount),
}

/// A handle to the writer thread.
#[derive(Clone)]
pub(super) struct JournalWriter {
    messages: Sender<Message>,
}

/// The writer thread; joined for its first error.
pub(super) struct WriterThread {
    thread: JoinHandle<Result<(), JournalError>>,
}

impl WriterThread {
    /// Waits until everything is written; gives the error at which writing
    /// stopped, and as the outer error what the thread panicked with.
    pub(super) fn join(self) -> std::thread::Result<Result<(), JournalError>> {
        self.thread.join()
    }
}

/// Starts the thread, which continues after the stamp `last`. It ends when every
/// [`JournalWriter`] is dropped.
pub(super) fn spawn(mut journal: Journal, last: Stamp) -> (JournalWriter, WriterThread) {
    let (messages, received) = mpsc::channel();
    let thread = std::thread::spawn(move || write_all(&mut journal, &received, last));
    (JournalWriter { messages }, WriterThread { thread })
}

fn write_all(
    journal: &mut Journal,
    received: &Receiver<Message>,
    mut last: Stamp,
) -> Result<(), JournalError> {
    while let Ok(first) = received.recv() {
        let mut entries = Vec::new();
        let mut waiting = Vec::new();
        let (mut amounts, mut stored) = (Vec::new(), Vec::new());
        let mut batches = Vec::new();
        let mut paused = None;
        for message in std::iter::once(first).chain(received.try_iter().take(BATCH - 1)) {
            match message {
                Message::Call { question, call } => {
                    entries.push(JournalEntry::Call { question, call })
                }
                Message::Answer { mut row, durable } => {
                    // Here and not where it was answered: only one place knows
                    // the order in which rows become durable.
                    last = last.next(jiff::Timestamp::now().as_millisecond());
                    // A replay has those of its recording.
                    row.stamp.get_or_insert(last);
                    let row = Arc::new(*row);
                    entries.push(JournalEntry::Answer(Arc::clone(&row)));
                    waiting.push((durable, row));
                }
                Message::Total(total) => entries.push(JournalEntry::Total(total)),
                Message::Spending {
                    id,
                    amount,
                    durable,
                } => {
                    amounts.push((id, amount));
                    stored.push(durable);
                }
                Message::Batches {
                    batches: changed,
                    durable,
                } => {
                    batches.extend(changed);
                    stored.push(durable);
                }
                Message::Paused(limit) => paused = Some(limit),
                // Before every row that is chosen by it.
                Message::Pilot(count) => journal.store_pilot(count)?,
            }
        }
        // On an error the senders are dropped with the receiver, and every
        // waiting question learns that nothing is durable any more.
        if !amounts.is_empty() {
            journal.store_spending(&amounts)?;
        }
        journal.append(&entries)?;
        // After the calls: a batch has ended once its results are stored.
        if !batches.is_empty() {
            journal.store_batches(&batches)?;
        }
        for durable in stored {
            let _ = durable.send(());
        }
        if paused.is_some() {
            journal.pause(paused)?;
        }
        for (durable, row) in waiting {
            let _ = durable.send(row);
        }
    }
    Ok(())
}

impl JournalWriter {
    /// Records a call, without waiting.
    pub(super) fn call(&self, question: usize, call: &Call) {
        let _ = self.messages.send(Message::Call {
            question,
            call: Box::new(call.clone()),
        });
    }

    /// Records how many questions there are, without waiting.
    pub(super) fn total(&self, total: usize) {
        let _ = self.messages.send(Message::Total(total));
    }

    /// Records what a request may have spent; resolves once that is durable, to `false` if
    /// writing has stopped.
    pub(super) fn spending(&self, id: u64, amount: Spending) -> BoxFuture<'static, bool> {
        let (durable, written) = oneshot::channel();
        let _ = self.messages.send(Message::Spending {
            id,
            amount,
            durable,
        });
        async move { written.await.is_ok() }.boxed()
    }

    /// Records what the pilot has found, without waiting.
    pub(super) fn pilot(&self, count: AgreementCount) {
        let _ = self.messages.send(Message::Pilot(count));
    }

    /// Records batches; resolves once that is durable, to `false` if writing has stopped.
    pub(super) fn batches(&self, batches: Vec<BatchRecord>) -> BoxFuture<'static, bool> {
        let (durable, written) = oneshot::channel();
        let _ = self.messages.send(Message::Batches { batches, durable });
        async move { written.await.is_ok() }.boxed()
    }

    /// Records the limit that has paused the run, without waiting.
    pub(super) fn pause(&self, limit: BudgetLimit) {
        let _ = self.messages.send(Message::Paused(limit));
    }

    /// Records an answer, waits until it is durable and gives it back with
    /// its stamp; `None` if writing has stopped, the reason of which
    /// [`WriterThread::join`] gives.
    pub(super) async fn answer(&self, row: Row) -> Option<Arc<Row>> {
        let (durable, written) = oneshot::channel();
        let row = Box::new(row);
        self.messages.send(Message::Answer { row, durable }).ok()?;
        written.await.ok()
    }
}
