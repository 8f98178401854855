//! What all connections share: the data and tools, the options, the open
//! sessions, the room for tool calls, and the word to shut down.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::options::ServerOptions;
use super::room::Room;
use super::sessions::Sessions;
use crate::env::episode::{Environment, Rules};
use crate::env::tools::Tools;

/// The server's shared state.
pub(super) struct App {
    pub tools: Arc<Tools>,
    pub rules: Rules,
    pub options: ServerOptions,
    pub sessions: Arc<Sessions>,
    /// Tool calls that may run at once; the others wait their turn, so that a
    /// slow query holds one place and not the server.
    pub workers: Arc<Semaphore>,
    /// What large messages and bodies share while they are read.
    pub requests: Room,
    /// What large answers share until they are taken.
    pub answers: Room,
    pub shutdown: CancellationToken,
    /// The WebSockets, which outlive the HTTP requests that opened them.
    pub tracker: TaskTracker,
}

impl App {
    pub fn new(
        tools: Arc<Tools>,
        rules: Rules,
        options: ServerOptions,
        shutdown: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            sessions: Arc::new(Sessions::new(options.max_sessions, options.rate_limit)),
            workers: Arc::new(Semaphore::new(options.worker_count())),
            requests: Room::new(options.request_bytes),
            answers: Room::new(options.answer_bytes),
            tracker: TaskTracker::new(),
            tools,
            rules,
            options,
            shutdown,
        })
    }

    /// A fresh environment: no episode yet, and an order of its own.
    pub fn environment(&self) -> Environment {
        Environment::new(Arc::clone(self.tools.catalog()), self.rules, seed())
    }
}

/// A seed that no client can guess: the random bits of a version 4 UUID.
fn seed() -> u64 {
    let (high, low) = Uuid::new_v4().as_u64_pair();
    high ^ low.rotate_left(32)
}
