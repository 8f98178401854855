//! The state shared by all connections: the data and tools, the options, the open sessions,
//! the queues of tool calls, and the shutdown signal.

pub(crate) mod answer_memory;
pub(crate) mod metrics;
pub(crate) mod query_queue;
pub(crate) mod sessions;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::episode::{Environment, EpisodeRules};
use crate::server::options::ServerOptions;
use crate::server::state::answer_memory::AnswerMemory;
use crate::server::state::metrics::Metrics;
use crate::server::state::query_queue::QueryQueue;
use crate::server::state::sessions::SessionTable;
use crate::tools::Tools;

/// The server's shared state.
pub(crate) struct ServerState {
    pub tools: Arc<Tools>,
    pub rules: EpisodeRules,
    pub options: ServerOptions,
    pub sessions: Arc<SessionTable>,
    pub metrics: Arc<Metrics>,
    /// The queue in which queries run with the brief budget.
    pub(crate) brief: QueryQueue,
    /// The queue for queries that need the full budget. They run one at a time. A lock in `Tools`
    /// ensures that too, but a query that waits in the queue takes no thread.
    pub(crate) long: QueryQueue,
    pub(crate) answers: AnswerMemory,
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
            brief: QueryQueue::new(brief_queries()),
            long: QueryQueue::new(1),
            answers: AnswerMemory::new(options.answer_bytes),
            tracker: TaskTracker::new(),
            tools,
            rules,
            options,
            shutdown,
        })
    }

    /// A new environment without an episode. The seed for its order of questions comes from the
    /// random bits of a version 4 UUID, so that no client can guess it. The halves are combined so
    /// that the fixed bits of each meet random bits of the other.
    pub(crate) fn environment(&self) -> Environment {
        let (high, low) = Uuid::new_v4().as_u64_pair();
        let seed = high ^ low.rotate_left(32);
        Environment::new(Arc::clone(self.tools.catalog()), self.rules, seed)
    }
}

/// The number of brief queries that run at the same time: one per processor, but at least two (set
/// by hand). In addition, one long query can run.
fn brief_queries() -> usize {
    std::thread::available_parallelism().map_or(2, |processors| processors.get().max(2))
}
