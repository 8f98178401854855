//! The state shared by all connections: the data and tools, the options, the open sessions,
//! the queues of tool calls, and the shutdown signal.

pub(crate) mod clients;
pub(crate) mod memory_budget;
pub(crate) mod metrics;
pub(crate) mod query_queue;
pub(crate) mod rate_limit;
pub(crate) mod sessions;
pub(crate) mod usage;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::episode::{Environment, EpisodeRules};
use crate::server::options::ServerOptions;
use crate::server::state::clients::Clients;
use crate::server::state::metrics::Metrics;
use crate::server::state::query_queue::QueryQueue;
use crate::server::state::sessions::SessionTable;
use crate::tools::Tools;

/// Additional seconds that a query waits for each second of recent query time of its
/// session; those who ask for long queries have used more.
const BRIEF_WEIGHT: f64 = 50.0;
const LONG_WEIGHT: f64 = 1000.0;

/// The server's shared state.
pub(crate) struct ServerState {
    pub tools: Arc<Tools>,
    pub rules: EpisodeRules,
    pub options: ServerOptions,
    pub sessions: Arc<SessionTable>,
    pub clients: Arc<Clients>,
    pub metrics: Arc<Metrics>,
    /// Queries that are done in milliseconds: each is tried here first.
    pub(crate) brief: Arc<QueryQueue>,
    /// The others, one at a time.
    pub long: Arc<QueryQueue>,
    pub(crate) shutdown: CancellationToken,
    /// The WebSockets, which outlive the HTTP requests that opened them.
    pub(crate) tracker: TaskTracker,
}

impl ServerState {
    pub(crate) fn new(
        tools: Arc<Tools>,
        rules: EpisodeRules,
        options: ServerOptions,
        shutdown: CancellationToken,
    ) -> Arc<Self> {
        let metrics = Arc::new(Metrics::new());
        Arc::new(Self {
            sessions: Arc::new(SessionTable::new(&options, Arc::clone(&metrics))),
            metrics,
            clients: Clients::new(&options),
            brief: QueryQueue::new(options.worker_count(), BRIEF_WEIGHT),
            long: QueryQueue::single_threaded(LONG_WEIGHT),
            tracker: TaskTracker::new(),
            tools,
            rules,
            options,
            shutdown,
        })
    }

    /// A fresh environment: no episode yet, and a new order of questions.
    pub(crate) fn environment(&self) -> Environment {
        Environment::new(Arc::clone(self.tools.catalog()), self.rules, seed())
    }
}

/// A seed that no client can guess: the random bits of a version 4 UUID.
fn seed() -> u64 {
    let (high, low) = Uuid::new_v4().as_u64_pair();
    high ^ low.rotate_left(32)
}
