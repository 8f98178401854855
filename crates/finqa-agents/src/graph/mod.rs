//! A typed state graph on petgraph: nodes work on one state and name a route,
//! edges say where each route leads.
//!
//! [`Graph`] is built, [`Graph::compile`] rejects what could not run, and the
//! [`CompiledGraph`] both runs and draws itself: the runner asks the petgraph object for
//! the next node, so the picture cannot differ from what happens.
//!
//! The state is the caller's own type, not a bag of messages. Nothing here knows finance or
//! models, keeps checkpoints or prints: a hook sees every step.
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

/// The name of the end: an edge to it finishes the run.
pub const END: &str = "END";
/// The name of the entry in pictures.
pub const START: &str = "START";

/// A node works on the state and names the route to take.
#[async_trait]
pub trait Node<S, R, E>: Send + Sync {
    /// Every route that [`Node::run`] may name; each must be wired.
    fn routes(&self) -> &[R];

    /// Works on the state. An error ends the run and keeps the state as it is.
    async fn run(&self, state: &mut S) -> Result<R, E>;
}
