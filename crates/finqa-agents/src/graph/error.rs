//! What is wrong with a graph, and how a run can end early.

use thiserror::Error;

/// Why a graph does not compile. Each names the node, and the route if there is one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    /// No start was named.
    #[error("the graph has no start: name one with `start`")]
    NoStart,
    /// Two nodes of one name.
    #[error("two nodes are called `{node}`")]
    DuplicateNode {
        /// Their name.
        node: String,
    },
    /// `START` and `END` are taken.
    #[error("a node cannot be called `{node}`: the name is reserved")]
    ReservedName {
        /// The name.
        node: String,
    },
    /// The start or an edge names a node that is not there.
    #[error("{referrer} names `{node}`, which is not a node")]
    UnknownNode {
        /// The unknown name.
        node: String,
        /// Who names it, e.g. `the edge critic -revise->`.
        referrer: String,
    },
    /// Two edges for one route.
    #[error("node `{node}` has two edges for route `{route}`: to `{first}` and to `{second}`")]
    TwoEdges {
        /// The node they leave.
        node: String,
        /// The route.
        route: String,
        /// Where the first leads.
        first: String,
        /// Where the second leads.
        second: String,
    },
    /// A declared route without an edge.
    #[error("node `{node}` declares route `{route}`, which no edge wires")]
    Unwired {
        /// The node.
        node: String,
        /// The route.
        route: String,
    },
    /// An edge for a route that its node does not declare.
    #[error("node `{node}` has an edge for route `{route}`, which it does not declare")]
    Undeclared {
        /// The node.
        node: String,
        /// The route.
        route: String,
    },
    /// A node that no path from the start reaches.
    #[error("node `{node}` cannot be reached from the start `{start}`")]
    Unreachable {
        /// The node.
        node: String,
        /// The start.
        start: String,
    },
    /// A node from which no path leads to the end.
    #[error("node `{node}` is a trap: no path leads from it to {}", super::END)]
    Trap {
        /// The node.
        node: String,
    },
}

/// How a run ended before the end.
#[derive(Debug, Error)]
pub enum GraphRunError<E> {
    /// The limit was reached; the state holds the work so far.
    #[error(
        "stopped after {limit} steps, before node `{next}`: raise the step limit, or end the loop earlier"
    )]
    StepLimit {
        /// The limit, in steps.
        limit: usize,
        /// The node that would have been next.
        next: String,
    },
    /// Cancelled between two steps; the state holds the work so far.
    #[error("cancelled before node `{next}`")]
    Cancelled {
        /// The node that would have been next.
        next: String,
    },
    /// A node failed.
    #[error("node `{node}` failed")]
    Node {
        /// Which.
        node: String,
        /// Why.
        #[source]
        source: E,
    },
    /// A node named a route that it does not declare: a bug in that node.
    #[error("node `{node}` took route `{route}`, which it does not declare")]
    Undeclared {
        /// The node.
        node: String,
        /// The route.
        route: String,
    },
}
