//! The journal's writer: one thread that owns the connection. No question waits for the disk writes
//! of another, and entries that arrive together share a transaction.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::JoinHandle;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::oneshot;

use finqa_journal::run::{Journal, JournalEntry, JournalError};
use finqa_score::score::{Row, Stamp};

/// Maximum number of messages in one transaction, set by hand. A crash loses those whose
/// transaction is not yet committed.
const BATCH: usize = 256;

enum Message {
    /// An entry, and the channel that is notified after the commit.
    Entry(JournalEntry, Option<oneshot::Sender<()>>),
    /// An answer, which gets its stamp in the writer thread.
    Answer {
        row: Box<Row>,
        durable: oneshot::Sender<Arc<Row>>,
    },
}

/// A handle to the writer thread.
#[derive(Clone)]
pub(super) struct JournalWriter {
    messages: Sender<Message>,
}

/// The writer thread. It ends with its first error.
pub(super) type WriterThread = JoinHandle<Result<(), JournalError>>;

/// Starts the thread. It ends when every [`JournalWriter`] is dropped. Its stamps continue after
/// `last`.
pub(super) fn spawn(mut journal: Journal, last: Stamp) -> (JournalWriter, WriterThread) {
    // Unbounded, so that recording an entry never waits.
    let (messages, received) = mpsc::channel();
    let thread = std::thread::spawn(move || write_all(&mut journal, &received, last));
    (JournalWriter { messages }, thread)
}

/// Writes until every [`JournalWriter`] is dropped, or until the first error.
fn write_all(
    journal: &mut Journal,
    received: &Receiver<Message>,
    mut last: Stamp,
) -> Result<(), JournalError> {
    while let Ok(first) = received.recv() {
        let mut entries = Vec::new();
        let mut stored = Vec::new();
        let mut answered = Vec::new();
        for message in std::iter::once(first).chain(received.try_iter().take(BATCH - 1)) {
            match message {
                Message::Entry(entry, durable) => {
                    entries.push(entry);
                    stored.extend(durable);
                }
                Message::Answer { mut row, durable } => {
                    // Stamped here, because only this thread knows the order in which rows become
                    // durable.
                    last = last.next(jiff::Timestamp::now().as_millisecond());
                    row.stamp = Some(last);
                    let row = Arc::new(*row);
                    entries.push(JournalEntry::Answer(Arc::clone(&row)));
                    answered.push((durable, row));
                }
            }
        }
        // On an error, this returns and drops the channels. Every caller then learns that its entry
        // was not stored, instead of waiting for ever.
        journal.append(&entries)?;
        for durable in stored {
            // The caller may have stopped waiting.
            let _ = durable.send(());
        }
        for (durable, row) in answered {
            let _ = durable.send(row);
        }
    }
    Ok(())
}

impl JournalWriter {
    /// Records an entry without waiting.
    pub(super) fn record(&self, entry: JournalEntry) {
        // If the thread has ended, joining it returns the reason.
        let _ = self.messages.send(Message::Entry(entry, None));
    }

    /// Records an entry. The future returns `true` when the entry is durable, and `false` if
    /// writing has stopped.
    pub(super) fn store(&self, entry: JournalEntry) -> BoxFuture<'static, bool> {
        let (durable, written) = oneshot::channel();
        // If the thread has ended, `durable` is dropped, so `written` fails.
        let _ = self.messages.send(Message::Entry(entry, Some(durable)));
        async move { written.await.is_ok() }.boxed()
    }

    /// Records an answer, waits until it is durable, and returns it with its stamp. `None` if
    /// writing has stopped; the thread has the reason.
    pub(super) async fn answer(&self, row: Row) -> Option<Arc<Row>> {
        let (durable, written) = oneshot::channel();
        let row = Box::new(row);
        self.messages.send(Message::Answer { row, durable }).ok()?;
        written.await.ok()
    }
}
