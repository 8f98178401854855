//! Builds a graph and checks that it can run.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, Reversed, Walker};

use super::error::GraphError;
use super::{END, Node, START};

type BoxedNode<S, R, E> = Box<dyn Node<S, R, E>>;

/// A graph under construction. Nodes and edges can be added in any order, because
/// [`Graph::compile`] checks everything at the end.
pub struct Graph<S, R, E> {
    nodes: Vec<(String, BoxedNode<S, R, E>)>,
    edges: Vec<(String, R, String)>,
    start: Option<String>,
}

/// A vertex of the graph in petgraph's form.
pub(super) enum Vertex<S, R, E> {
    Start,
    Work {
        name: String,
        node: BoxedNode<S, R, E>,
    },
    End,
}

impl<S, R, E> Vertex<S, R, E> {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Start => START,
            Self::Work { name, .. } => name,
            Self::End => END,
        }
    }
}

/// A checked graph: every node is reachable and can reach the end, and every
/// declared route has exactly one edge.
pub struct CompiledGraph<S, R, E> {
    /// The route of each edge; `None` on the edge from the start, which has no route.
    pub(super) graph: DiGraph<Vertex<S, R, E>, Option<R>>,
    /// The node that runs first.
    pub(super) first: NodeIndex,
}

impl<S, R, E> std::fmt::Debug for CompiledGraph<S, R, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.graph.node_weights().map(Vertex::name);
        f.debug_list().entries(names).finish()
    }
}

impl<S, R: Copy + Eq + Display, E> Graph<S, R, E> {
    /// An empty graph.
    pub fn builder() -> Self {
        Self {
            nodes: Vec::new(),
            edges: Vec::new(),
            start: None,
        }
    }

    #[must_use]
    pub fn node(mut self, name: impl Into<String>, node: BoxedNode<S, R, E>) -> Self {
        self.nodes.push((name.into(), node));
        self
    }

    /// Adds an edge: if node `from` returns `route`, the run continues at node `to`, or finishes if
    /// `to` is [`END`].
    #[must_use]
    pub fn edge(mut self, from: impl Into<String>, route: R, to: impl Into<String>) -> Self {
        self.edges.push((from.into(), route, to.into()));
        self
    }

    #[must_use]
    pub fn start(mut self, name: impl Into<String>) -> Self {
        self.start = Some(name.into());
        self
    }

    /// Checks the graph and makes it executable.
    ///
    /// # Errors
    /// The first fault: no start, a name that is used twice or not defined, two edges for one
    /// route, a declared route without an edge, an edge for an undeclared route, a node that cannot
    /// be reached, or a node from which the end cannot be reached (a trap).
    pub fn compile(self) -> Result<CompiledGraph<S, R, E>, GraphError> {
        let start_name = self.start.ok_or(GraphError::NoStart)?;
        let mut graph = DiGraph::new();
        let start = graph.add_node(Vertex::Start);
        let mut index: HashMap<String, NodeIndex> = HashMap::new();
        for (name, node) in self.nodes {
            let vertex = graph.add_node(Vertex::Work {
                name: name.clone(),
                node,
            });
            // [`END`] is reserved: an edge to it finishes the run.
            if name == END || index.insert(name.clone(), vertex).is_some() {
                return Err(GraphError::DuplicateNode { node: name });
            }
        }
        let end = graph.add_node(Vertex::End);
        let known = |name: &str, referrer: &str| match index.get(name) {
            Some(node) => Ok(*node),
            None => Err(GraphError::UnknownNode {
                node: name.to_owned(),
                referrer: referrer.to_owned(),
            }),
        };
        let first = known(&start_name, "the start")?;
        graph.add_edge(start, first, None);
        for (from, route, to) in self.edges {
            let referrer = format!("the edge {from} -{route}-> {to}");
            let tail = known(&from, &referrer)?;
            let head = if to == END {
                end
            } else {
                known(&to, &referrer)?
            };
            if let Some(other) = target(&graph, tail, route) {
                return Err(GraphError::TwoEdges {
                    node: from,
                    route: route.to_string(),
                    first: graph[other].name().to_string(),
                    second: to,
                });
            }
            graph.add_edge(tail, head, Some(route));
        }
        check_routes(&graph)?;
        check_paths(&graph, start, end, &start_name)?;
        Ok(CompiledGraph { graph, first })
    }
}

/// The node to which `route` leads from `node`; `None` if there is no such edge.
pub(super) fn target<S, R: Copy + Eq, E>(
    graph: &DiGraph<Vertex<S, R, E>, Option<R>>,
    node: NodeIndex,
    route: R,
) -> Option<NodeIndex> {
    use petgraph::visit::EdgeRef;
    graph
        .edges(node)
        .find(|edge| *edge.weight() == Some(route))
        .map(|edge| edge.target())
}

/// An error if a node declares a route that has no edge, or has an edge for a route that it does
/// not declare.
fn check_routes<S, R: Copy + Eq + Display, E>(
    graph: &DiGraph<Vertex<S, R, E>, Option<R>>,
) -> Result<(), GraphError> {
    for at in graph.node_indices() {
        let Vertex::Work { name, node } = &graph[at] else {
            continue;
        };
        let declared = node.routes();
        let wired: Vec<R> = graph.edges(at).filter_map(|edge| *edge.weight()).collect();
        if let Some(route) = declared.iter().find(|route| !wired.contains(route)) {
            return Err(GraphError::Unwired {
                node: name.clone(),
                route: route.to_string(),
            });
        }
        if let Some(route) = wired.iter().find(|route| !declared.contains(route)) {
            return Err(GraphError::Undeclared {
                node: name.clone(),
                route: route.to_string(),
            });
        }
    }
    Ok(())
}

/// An error if a node cannot be reached from the start, or cannot reach the end.
fn check_paths<S, R, E>(
    graph: &DiGraph<Vertex<S, R, E>, Option<R>>,
    start: NodeIndex,
    end: NodeIndex,
    start_name: &str,
) -> Result<(), GraphError> {
    let forth: HashSet<NodeIndex> = Dfs::new(graph, start).iter(graph).collect();
    let back: HashSet<NodeIndex> = Dfs::new(Reversed(graph), end)
        .iter(Reversed(graph))
        .collect();
    for at in graph.node_indices() {
        // If the end cannot be reached, every reachable node is a trap. If the start leads to a
        // trap, that trap is reported.
        if at != end && !forth.contains(&at) {
            return Err(GraphError::Unreachable {
                node: graph[at].name().to_string(),
                start: start_name.to_string(),
            });
        }
        if !back.contains(&at) && at != start {
            return Err(GraphError::Trap {
                node: graph[at].name().to_string(),
            });
        }
    }
    Ok(())
}
