//! Runs a compiled graph, one node after another.

use std::fmt::Display;

use tokio_util::sync::CancellationToken;

use super::build::{CompiledGraph, Vertex, target};
use super::error::GraphRunError;

/// Step limit of a run without its own limit. It stops a graph that never reaches its end. Set by
/// hand: the agents set their own limit.
const DEFAULT_STEP_LIMIT: usize = 50;

/// A function that is called after every step with the node's name and the current state.
pub(crate) type Hook<'a, S> = &'a (dyn Fn(&str, &S) + Send + Sync);

/// The limits of one run of a graph, and a function that observes it.
pub struct RunOptions<'a, S> {
    /// Maximum number of node runs. At the limit, the run ends with [`GraphRunError::StepLimit`].
    pub step_limit: usize,
    /// Checked only between steps, so that a step in progress finishes and its paid result is kept.
    /// A node that must stop in the middle of a step needs its own token.
    pub cancel: CancellationToken,
    /// Called after every step, for example to record it in a trace.
    pub hook: Option<Hook<'a, S>>,
}

impl<S> Default for RunOptions<'_, S> {
    fn default() -> Self {
        Self {
            step_limit: DEFAULT_STEP_LIMIT,
            cancel: CancellationToken::new(),
            hook: None,
        }
    }
}

impl<S, R: Copy + Eq + Display, E> CompiledGraph<S, R, E> {
    /// Runs from the start to the end.
    ///
    /// # Errors
    /// If the step limit is reached, the run is cancelled, a node fails, or a node returns a route
    /// that it does not declare. The state keeps the work done so far.
    pub async fn run(
        &self,
        state: &mut S,
        options: RunOptions<'_, S>,
    ) -> Result<(), GraphRunError<E>> {
        let mut steps = 0;
        let mut at = self.first;
        while let Vertex::Work { name, node } = &self.graph[at] {
            if options.cancel.is_cancelled() {
                return Err(GraphRunError::Cancelled { next: name.clone() });
            }
            if steps >= options.step_limit {
                return Err(GraphRunError::StepLimit {
                    limit: options.step_limit,
                    next: name.clone(),
                });
            }
            let route = node
                .run(state)
                .await
                .map_err(|source| GraphRunError::Node {
                    node: name.clone(),
                    source,
                })?;
            let next = target(&self.graph, at, route).ok_or_else(|| GraphRunError::Undeclared {
                node: name.clone(),
                route: route.to_string(),
            })?;
            steps += 1;
            if let Some(hook) = options.hook {
                hook(name, state);
            }
            at = next;
        }
        Ok(())
    }
}
