//! The agents' state machine as files, drawn from the object that runs.

use crate::run::RunKind;
use finqa_agents::agents::{Backend, Pair, PairOptions};
use finqa_agents::graph::GraphError;

/// The same graph in three languages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Drawings {
    pub mermaid: String,
    pub dot: String,
    /// A picture, which MLflow's pages show.
    pub svg: String,
}

impl Drawings {
    /// Draws the graph that a run of this kind runs; an episode has none.
    pub(crate) fn of_run(kind: RunKind) -> Result<Option<Self>, GraphError> {
        match kind {
            RunKind::Questions => Self::of_agents().map(Some),
            RunKind::Episodes => Ok(None),
        }
    }

    /// Draws the graph of analyst and critic.
    pub(crate) fn of_agents() -> Result<Self, GraphError> {
        let pair = Pair::new(&PairOptions::new(Backend::Offline))?;
        let graph = pair.graph();
        Ok(Self {
            mermaid: graph.mermaid(),
            dot: graph.dot(),
            svg: graph.svg(),
        })
    }
}
