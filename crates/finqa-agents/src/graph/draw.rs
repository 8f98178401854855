//! Drawings of the graph that runs, in Mermaid and DOT.

use std::fmt::{Display, Write};

use petgraph::dot::{Config, Dot, RankDir};
use petgraph::visit::EdgeRef;

use super::build::{CompiledGraph, Vertex};

impl<S, R: Copy + Eq + Display, E> CompiledGraph<S, R, E> {
    /// A Mermaid flowchart, as GitHub renders it.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        for vertex in self.graph.node_weights() {
            let id = id(vertex.name());
            let label = escaped(vertex.name());
            let _ = match vertex {
                Vertex::Work { .. } => writeln!(out, "    {id}[\"{label}\"]"),
                Vertex::Start | Vertex::End => writeln!(out, "    {id}([\"{label}\"])"),
            };
        }
        for edge in self.graph.edge_references() {
            let [from, to] = [edge.source(), edge.target()].map(|at| id(self.graph[at].name()));
            let _ = match edge.weight() {
                Some(route) => writeln!(out, "    {from} -->|{}| {to}", edge_label(route)),
                None => writeln!(out, "    {from} --> {to}"),
            };
        }
        out
    }

    /// A Graphviz digraph.
    pub fn dot(&self) -> String {
        let named = self.graph.map(
            |_, vertex| vertex.name(),
            |_, route| route.map(|route| route.to_string()).unwrap_or_default(),
        );
        Dot::with_config(&named, &[Config::RankDir(RankDir::LR)]).to_string()
    }
}

/// A name as a Mermaid identifier. `end` in lower case is a keyword there.
fn id(name: &str) -> String {
    let id: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if id == "end" { "end_".to_string() } else { id }
}

fn escaped(text: &str) -> String {
    text.replace('"', "#quot;")
}

/// Quoted only if it must be.
fn edge_label(route: impl Display) -> String {
    let route = route.to_string();
    if route
        .chars()
        .all(|c| c.is_alphanumeric() || " _-".contains(c))
    {
        route
    } else {
        format!("\"{}\"", escaped(&route))
    }
}
