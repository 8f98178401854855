//! Drawings of the graph that runs: Mermaid and DOT, in order of insertion.

use std::fmt::{Display, Write};

use petgraph::visit::EdgeRef;

use super::build::{CompiledGraph, Vertex};

impl<S, R: Copy + Eq + Display, E> CompiledGraph<S, R, E> {
    /// A Mermaid flowchart, as GitHub renders it.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n");
        for vertex in self.graph.node_weights() {
            let id = id(vertex.name());
            let label = escaped(vertex.name(), "#quot;");
            let _ = match vertex {
                Vertex::Work { .. } => writeln!(out, "    {id}[\"{label}\"]"),
                Vertex::Start | Vertex::End => writeln!(out, "    {id}([\"{label}\"])"),
            };
        }
        self.each_edge(|from, route, to| {
            let (from, to) = (id(from), id(to));
            let _ = match route {
                Some(route) => writeln!(out, "    {from} -->|{}| {to}", mermaid_label(route)),
                None => writeln!(out, "    {from} --> {to}"),
            };
        });
        out
    }

    /// A Graphviz digraph.
    pub fn dot(&self) -> String {
        let mut out = String::from("digraph agents {\n    rankdir=LR;\n    node [shape=box];\n");
        for vertex in self.graph.node_weights() {
            let name = escaped(vertex.name(), "\\\"");
            let _ = match vertex {
                Vertex::Work { .. } => writeln!(out, "    \"{name}\";"),
                Vertex::Start | Vertex::End => writeln!(out, "    \"{name}\" [shape=oval];"),
            };
        }
        self.each_edge(|from, route, to| {
            let (from, to) = (escaped(from, "\\\""), escaped(to, "\\\""));
            let _ = match route {
                Some(route) => {
                    let label = escaped(&route.to_string(), "\\\"");
                    writeln!(out, "    \"{from}\" -> \"{to}\" [label=\"{label}\"];")
                }
                None => writeln!(out, "    \"{from}\" -> \"{to}\";"),
            };
        });
        out.push_str("}\n");
        out
    }

    fn each_edge(&self, mut draw: impl FnMut(&str, Option<R>, &str)) {
        for edge in self.graph.edge_references() {
            let from = self.graph.node_weight(edge.source());
            let to = self.graph.node_weight(edge.target());
            if let (Some(from), Some(to)) = (from, to) {
                draw(from.name(), *edge.weight(), to.name());
            }
        }
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

fn escaped(text: &str, quote: &str) -> String {
    text.replace('"', quote)
}

/// Quoted only if it must be.
fn mermaid_label(route: impl Display) -> String {
    let route = route.to_string();
    if route
        .chars()
        .all(|c| c.is_alphanumeric() || " _-".contains(c))
    {
        route
    } else {
        format!("\"{}\"", escaped(&route, "#quot;"))
    }
}
