//! The state shared by connections: clients, sessions, the queue of queries, and the limits
//! on memory and rate.

pub(crate) mod app;
pub(crate) mod clients;
pub(crate) mod memory_budget;
pub(crate) mod metrics;
pub(crate) mod query_queue;
pub(crate) mod rate_limit;
pub(crate) mod sessions;
