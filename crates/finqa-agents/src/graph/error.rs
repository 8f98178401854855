//! The errors of compiling and running a graph.

use finqa_core::error::{Kind, Kinded};
use thiserror::Error;

/// The errors of compiling a graph. Each error names the node, and the route if it is about a
/// route.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    #[error("the graph has no start: name one with `start`")]
    NoStart,
    #[error("two nodes are called `{node}`")]
    DuplicateNode { node: String },
    #[error("{referrer} names `{node}`, which is not a node")]
    UnknownNode {
        node: String,
        /// The place that names the unknown node: `the start`, or an edge such as
        /// `the edge critic -revise-> analyst`.
        referrer: String,
    },
    #[error("node `{node}` has two edges for route `{route}`: to `{first}` and to `{second}`")]
    TwoEdges {
        node: String,
        route: String,
        first: String,
        second: String,
    },
    #[error("node `{node}` declares route `{route}`, which has no edge")]
    Unwired { node: String, route: String },
    #[error("node `{node}` has an edge for route `{route}`, which it does not declare")]
    Undeclared { node: String, route: String },
    #[error("node `{node}` cannot be reached from the start `{start}`")]
    Unreachable { node: String, start: String },
    #[error("node `{node}` is a trap: no path leads from it to {}", super::END)]
    Trap { node: String },
}

/// Graphs are built in code, so a malformed one is a bug.
impl Kinded for GraphError {
    fn kind(&self) -> Kind {
        Kind::Bug
    }
}

/// The reason why a run did not reach the end.
#[derive(Debug, Error)]
pub enum GraphRunError<E> {
    /// The step limit was reached; the state holds the work so far.
    #[error(
        "stopped after {limit} steps, before node `{next}`: raise the step limit, or end the loop earlier"
    )]
    StepLimit { limit: usize, next: String },
    /// The run was cancelled between two steps. The state contains the work so far.
    #[error("cancelled before node `{next}`")]
    Cancelled { next: String },
    #[error("node `{node}` failed")]
    Node {
        node: String,
        #[source]
        source: E,
    },
    /// A node returned a route that it does not declare, which is a bug in that node.
    #[error("node `{node}` took route `{route}`, which it does not declare")]
    Undeclared { node: String, route: String },
}
