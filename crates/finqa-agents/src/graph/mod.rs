//! A typed state graph on petgraph. Each node works on a shared state and returns a route, and the
//! edge for that route leads to the next node.
//!
//! [`Graph`] collects nodes and edges, [`Graph::compile`] rejects a graph that cannot run, and the
//! resulting [`CompiledGraph`] both runs and draws itself. The runner takes the next node from the
//! petgraph object, so the drawing always shows the graph that runs.
//!
//! The caller chooses the type of the state. This module knows nothing about finance or models,
//! writes no checkpoints and prints nothing. A caller that needs such things passes a hook, which
//! is called after every step.
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

/// Name of the end. An edge to it finishes the run.
pub const END: &str = "END";
/// Name of the start in drawings.
pub const START: &str = "START";

/// A step of the graph, which works on the state and returns the route to take next.
#[async_trait]
pub trait Node<S, R, E>: Send + Sync {
    /// Every route that [`Node::run`] may return. [`Graph::compile`] requires an edge for each.
    fn routes(&self) -> &[R];

    /// Works on the state. An error ends the run, but earlier changes of the state remain.
    async fn run(&self, state: &mut S) -> Result<R, E>;
}
