//! The agents' state machine as files, drawn from the object that runs.

/// The same graph in three languages.
#[derive(Clone, Debug, Default)]
pub struct Drawings {
    /// Mermaid.
    pub mermaid: String,
    /// Graphviz.
    pub dot: String,
    /// A picture, which MLflow's pages show.
    pub svg: String,
}
