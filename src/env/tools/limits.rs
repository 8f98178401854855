//! What a tool call may use.

use std::time::Duration;

/// Bounds of one query. An honest query over a filed table stays far below them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolLimits {
    /// Longest statement, in bytes.
    pub statement_bytes: usize,
    /// Most rows a query may return.
    pub result_rows: usize,
    /// Longest result text, in bytes.
    pub result_bytes: usize,
    /// Longest single text or blob a query may make, in bytes.
    pub value_bytes: usize,
    /// Real time a query may run before it is interrupted.
    pub query_time: Duration,
    /// Prepared in-memory databases kept for reuse, over all tables.
    pub idle_connections: usize,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            statement_bytes: 10_000,
            result_rows: 20_000,
            result_bytes: 2_000_000,
            value_bytes: 100_000,
            query_time: Duration::from_millis(250),
            idle_connections: 256,
        }
    }
}
