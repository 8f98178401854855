//! Draws a compiled graph in Mermaid and DOT.

use std::fmt::{Display, Write};

use petgraph::dot::{Config, Dot, RankDir};
use petgraph::visit::EdgeRef;

use super::build::{CompiledGraph, Vertex};

impl<S, R: Copy + Eq + Display, E> CompiledGraph<S, R, E> {
    /// The graph as a Mermaid flowchart, which GitHub renders. Names and routes are not escaped, so
    /// they must consist of plain words.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        for vertex in self.graph.node_weights() {
            let name = vertex.name();
            // Writing to a `String` cannot fail.
            let _ = match vertex {
                Vertex::Work { .. } => writeln!(out, "    {name}[\"{name}\"]"),
                Vertex::Start | Vertex::End => writeln!(out, "    {name}([\"{name}\"])"),
            };
        }
        for edge in self.graph.edge_references() {
            let [from, to] = [edge.source(), edge.target()].map(|at| self.graph[at].name());
            let _ = match edge.weight() {
                Some(route) => writeln!(out, "    {from} -->|{route}| {to}"),
                None => writeln!(out, "    {from} --> {to}"),
            };
        }
        out
    }

    /// The graph in Graphviz's DOT language.
    pub fn dot(&self) -> String {
        let named = self.graph.map(
            |_, vertex| vertex.name(),
            |_, route| route.map(|route| route.to_string()).unwrap_or_default(),
        );
        Dot::with_config(&named, &[Config::RankDir(RankDir::LR)]).to_string()
    }
}
