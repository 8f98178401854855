//! A drawing for pages that render neither Mermaid nor DOT: vertices from left to right by
//! their distance from the start, edges back to the left curved below.

use std::collections::HashMap;
use std::fmt::{Display, Write};

use petgraph::graph::NodeIndex;
use petgraph::visit::{Bfs, EdgeRef};

use super::build::{CompiledGraph, Vertex};

/// Pixels.
const BOX: (f64, f64) = (116.0, 40.0);
const GAP: (f64, f64) = (96.0, 48.0);
const MARGIN: f64 = 24.0;

impl<S, R: Copy + Eq + Display, E> CompiledGraph<S, R, E> {
    /// A picture in SVG that needs no script, no font and no network.
    pub fn svg(&self) -> String {
        let places = self.places();
        let right = places.values().map(|place| place.0).fold(0.0, f64::max);
        let below = places.values().map(|place| place.1).fold(0.0, f64::max);
        let bends = self.graph.edge_references().filter(|edge| {
            let x = |node: NodeIndex| places.get(&node).map_or(0.0, |place| place.0);
            x(edge.source()) >= x(edge.target())
        });
        let bend_room = if bends.count() > 0 { GAP.1 } else { 0.0 };
        let (width, height) = (
            right + BOX.0 / 2.0 + MARGIN,
            below + BOX.1 / 2.0 + MARGIN + bend_room,
        );
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"14\" role=\"img\">\n\
             <title>The agents' state machine</title>\n\
             <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">\
             <path d=\"M0 0 L8 4 L0 8 z\" fill=\"#444\"/></marker></defs>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        for edge in self.graph.edge_references() {
            if let (Some(from), Some(to)) = (places.get(&edge.source()), places.get(&edge.target()))
            {
                draw_edge(&mut out, *from, *to, edge.weight().as_ref());
            }
        }
        for (node, (x, y)) in self
            .graph
            .node_indices()
            .filter_map(|node| Some((node, *places.get(&node)?)))
        {
            if let Some(vertex) = self.graph.node_weight(node) {
                draw_vertex(&mut out, vertex, x, y);
            }
        }
        out.push_str("</svg>\n");
        out
    }

    /// The centre of each vertex: its column by the distance from the start, the end in the last
    /// column, its row by the order within the column.
    fn places(&self) -> HashMap<NodeIndex, (f64, f64)> {
        let is_end = |node: NodeIndex| {
            let vertex = self.graph.node_weight(node);
            vertex.is_some_and(|vertex| matches!(vertex, Vertex::End))
        };
        let mut columns = HashMap::from([(self.start, 0)]);
        let mut search = Bfs::new(&self.graph, self.start);
        while let Some(node) = search.next(&self.graph) {
            let column = columns.get(&node).copied().unwrap_or_default();
            for next in self.graph.neighbors(node) {
                columns.entry(next).or_insert(column + 1);
            }
        }
        let last = columns
            .iter()
            .filter(|(node, _)| !is_end(**node))
            .map(|(_, column)| *column)
            .max()
            .unwrap_or_default();
        let mut rows: HashMap<usize, usize> = HashMap::new();
        let mut places = HashMap::new();
        for node in self.graph.node_indices() {
            let Some(column) = columns.get(&node).copied() else {
                continue;
            };
            let column = if is_end(node) { last + 1 } else { column };
            let row = rows.entry(column).or_default();
            let place = |index: usize, size: f64, gap: f64| {
                MARGIN + size / 2.0 + index as f64 * (size + gap)
            };
            // Space above for edges that pass over a column.
            let y = place(*row, BOX.1, GAP.1) + GAP.1;
            places.insert(node, (place(column, BOX.0, GAP.0), y));
            *row += 1;
        }
        places
    }
}

fn draw_vertex<S, R, E>(out: &mut String, vertex: &Vertex<S, R, E>, x: f64, y: f64) {
    let (width, height) = BOX;
    let (left, top) = (x - width / 2.0, y - height / 2.0);
    let round = match vertex {
        Vertex::Work { .. } => 4.0,
        Vertex::Start | Vertex::End => height / 2.0,
    };
    let _ = writeln!(
        out,
        "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\" fill=\"#eef3fb\" stroke=\"#4668a8\"/>\
         <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        y + 5.0,
        escaped(vertex.name())
    );
}

fn draw_edge(out: &mut String, from: (f64, f64), to: (f64, f64), route: Option<&impl Display>) {
    let half = (BOX.0 / 2.0, BOX.1 / 2.0);
    let column = BOX.0 + GAP.0;
    let next = to.0 - from.0 > 0.0 && to.0 - from.0 < column * 1.5;
    let (path, label) = if next {
        let (start, end) = (from.0 + half.0, to.0 - half.0);
        let label = ((start + end) / 2.0, f64::midpoint(from.1, to.1) - 7.0);
        (format!("M{start} {} L{end} {}", from.1, to.1), label)
    } else {
        // Over the boxes between to the right, under them to the left.
        let side = if to.0 > from.0 { -1.0 } else { 1.0 };
        let shift = side * 14.0;
        let (start, end) = (from.1 + side * half.1, to.1 + side * half.1);
        let bend = f64::max(start * side, end * side) * side + side * GAP.1;
        let middle = f64::midpoint(from.0, to.0);
        // Halfway a curve has covered three quarters of the distance to its bend.
        let level = f64::midpoint(start, end);
        let depth = level + 0.75 * (bend - level);
        let label = (middle, depth + if side > 0.0 { 16.0 } else { -7.0 });
        (
            format!(
                "M{} {start} C{} {bend} {} {bend} {} {end}",
                from.0 + shift,
                from.0 + shift,
                to.0 + shift,
                to.0 + shift
            ),
            label,
        )
    };
    let _ = writeln!(
        out,
        "<path d=\"{path}\" fill=\"none\" stroke=\"#444\" marker-end=\"url(#tip)\"/>"
    );
    if let Some(route) = route {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"12\">{}</text>",
            label.0,
            label.1,
            escaped(&route.to_string())
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
