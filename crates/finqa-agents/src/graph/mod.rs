//! A typed state graph on petgraph: each node works on a shared state and returns a route, and an
//! edge says to which node that route leads.
//!
//! [`Graph`] collects nodes and edges, [`Graph::compile`] rejects a graph that cannot run, and the
//! resulting [`CompiledGraph`] both runs and draws itself. The runner asks the petgraph object for
//! the next node, so a drawing cannot differ from what runs.
//!
//! The state is a type of the caller's. This module knows nothing about finance or models, writes
//! no checkpoints and prints nothing; a caller that needs such things passes a hook, which is
//! called after every step.
//!
//! ```
//! use finqa_agents::graph::{END, Graph, Node, RunOptions};
//!
//! #[derive(Clone, Copy, PartialEq, Eq, Debug)]
//! enum Route { Again, Done }
//! impl std::fmt::Display for Route {
//!     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
//!         f.write_str(match self { Self::Again => "again", Self::Done => "done" })
//!     }
//! }
//!
//! struct CountTo(u32);
//! #[async_trait::async_trait]
//! impl Node<u32, Route, std::io::Error> for CountTo {
//!     fn routes(&self) -> &[Route] { &[Route::Again, Route::Done] }
//!     async fn run(&self, n: &mut u32) -> Result<Route, std::io::Error> {
//!         *n += 1;
//!         Ok(if *n < self.0 { Route::Again } else { Route::Done })
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! let graph = Graph::builder()
//!     .node("count", Box::new(CountTo(3)))
//!     .start("count")
//!     .edge("count", Route::Again, "count")
//!     .edge("count", Route::Done, END)
//!     .compile()
//!     .unwrap();
//! let mut n = 0;
//! runtime.block_on(graph.run(&mut n, RunOptions::default())).unwrap();
//! assert_eq!(n, 3);
//! assert!(graph.mermaid().contains("count -->|again| count"));
//! ```

mod build;
mod draw;
mod error;
mod run;

use async_trait::async_trait;

pub use build::{CompiledGraph, Graph};
pub use error::{GraphError, GraphRunError};
pub use run::RunOptions;

/// Name of the end: an edge to it finishes the run.
pub const END: &str = "END";
/// Name of the entry in drawings.
pub const START: &str = "START";

/// A step of the graph, which works on the state and returns the route to take next.
#[async_trait]
pub trait Node<S, R, E>: Send + Sync {
    /// Every route that [`Node::run`] may return. [`Graph::compile`] requires an edge for each.
    fn routes(&self) -> &[R];

    /// Works on the state. An error ends the run; changes that were already made to the state are
    /// kept.
    async fn run(&self, state: &mut S) -> Result<R, E>;
}
