//! The critic's effect as a flow diagram: first drafts, right or wrong, through the critic
//! to the answers, right or wrong.

use std::collections::HashMap;

use serde::Serialize;

use super::figures::percent;

/// Empty space between two nodes of a column, in percent of the height.
const GAP: f64 = 14.0;
/// Half the width of a node, in percent of the width.
const HALF: f64 = 0.9;
/// Positions of the columns, in percent of the width.
const COLUMNS: [f64; 3] = [1.0, 50.0, 99.0];
/// The names of the columns' nodes, upper first.
const NODES: [[&str; 2]; 3] = [
    ["right draft", "wrong draft"],
    ["not revised", "revised"],
    ["right", "wrong"],
];

/// The ways through the columns, in the order of drawing: name, title, and the node in each
/// column, of which 0 is the upper one.
const WAYS: [(&str, &str, [usize; 3]); 8] = [
    ("unneeded", "right and not revised", [0, 0, 0]),
    (
        "lost",
        "right and not revised, but without an answer",
        [0, 0, 1],
    ),
    ("missed", "wrong and not revised", [1, 0, 1]),
    (
        "gained",
        "wrong and not revised, but right as returned",
        [1, 0, 0],
    ),
    (
        "kept_right",
        "revised though right, and still right",
        [0, 1, 0],
    ),
    (
        "broken",
        "broken: right at first, wrong in the end",
        [0, 1, 1],
    ),
    (
        "fixed",
        "fixed: wrong at first, right in the end",
        [1, 1, 0],
    ),
    ("kept_wrong", "revised and still wrong", [1, 1, 1]),
];

/// Questions by the nodes that they go through.
#[derive(Default)]
pub(super) struct FlowCounts(HashMap<[usize; 3], usize>);

impl FlowCounts {
    /// Counts a question: whether its first draft is right, whether it was revised, and
    /// whether its answer is right.
    pub(super) fn add(&mut self, before: bool, revised: bool, after: bool) {
        let nodes = [!before, revised, !after].map(usize::from);
        *self.0.entry(nodes).or_default() += 1;
    }
}

/// The flow with its geometry, in percent of width and height.
#[derive(Debug, Serialize)]
pub(super) struct Flow {
    n: usize,
    nodes: Vec<FlowNode>,
    strands: Vec<FlowBand>,
}

#[derive(Debug, Serialize)]
struct FlowNode {
    name: &'static str,
    column: usize,
    count: usize,
    /// Left edge.
    x: f64,
    y: f64,
    height: f64,
}

/// Questions that go the same way.
#[derive(Debug, Serialize)]
struct FlowBand {
    /// `kept_right`, `broken`, `fixed`, `kept_wrong`, `unneeded`, `missed`.
    name: &'static str,
    title: &'static str,
    count: usize,
    /// An SVG path from the first column to the last.
    path: String,
}

/// A way that questions go.
struct FlowPath {
    name: &'static str,
    title: &'static str,
    nodes: [usize; 3],
    count: usize,
}

impl Flow {
    /// `None` if no question has both a judged first draft and a judged answer.
    pub(super) fn of(counts: &FlowCounts) -> Option<Self> {
        let ways = WAYS.into_iter().filter_map(|(name, title, nodes)| {
            Some(FlowPath {
                name,
                title,
                nodes,
                count: *counts.0.get(&nodes)?,
            })
        });
        let ways: Vec<FlowPath> = ways.collect();
        let n = ways.iter().map(|way| way.count).sum();
        (n > 0).then(|| Self::laid_out(&ways, n))
    }

    fn laid_out(ways: &[FlowPath], n: usize) -> Self {
        let high = |count: usize| (100.0 - GAP) / 100.0 * percent(count, n);
        let mut nodes = Vec::new();
        // For each way, its upper edge in each column.
        let mut edges = vec![[0.0; 3]; ways.len()];
        for (column, names) in NODES.iter().enumerate() {
            let mut y = 0.0;
            for (node, name) in names.iter().enumerate() {
                let through = |way: &FlowPath| way.nodes.get(column) == Some(&node);
                let count = ways
                    .iter()
                    .filter(|way| through(way))
                    .map(|way| way.count)
                    .sum();
                nodes.push(FlowNode {
                    name,
                    column,
                    count,
                    x: COLUMNS.get(column).copied().unwrap_or_default() - HALF,
                    y,
                    height: high(count),
                });
                for (way, edges) in ways.iter().zip(&mut edges) {
                    if through(way) {
                        if let Some(edge) = edges.get_mut(column) {
                            *edge = y;
                        }
                        y += high(way.count);
                    }
                }
                y += GAP;
            }
        }
        let strands = ways
            .iter()
            .zip(edges)
            .map(|(way, edges)| FlowBand {
                name: way.name,
                title: way.title,
                count: way.count,
                path: path(edges, high(way.count)),
            })
            .collect();
        Self { n, nodes, strands }
    }
}

/// A band of one height through the three columns.
fn path(edges: [f64; 3], height: f64) -> String {
    let [x0, x1, x2] = COLUMNS;
    let [y0, y1, y2] = edges;
    let (m0, m1) = (x0.midpoint(x1), x1.midpoint(x2));
    let (z0, z1, z2) = (y0 + height, y1 + height, y2 + height);
    format!(
        "M{x0:.2} {y0:.2}C{m0:.2} {y0:.2} {m0:.2} {y1:.2} {x1:.2} {y1:.2}C{m1:.2} {y1:.2} {m1:.2} {y2:.2} {x2:.2} {y2:.2}\
         V{z2:.2}C{m1:.2} {z2:.2} {m1:.2} {z1:.2} {x1:.2} {z1:.2}C{m0:.2} {z1:.2} {m0:.2} {z0:.2} {x0:.2} {z0:.2}Z"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_fill_their_nodes_and_nothing_leaves_the_plot() {
        let counts = WAYS.iter().zip([30, 1, 12, 1, 3, 2, 7, 4]);
        let counts = counts.map(|((.., nodes), count)| (*nodes, count));
        let flow = Flow::of(&FlowCounts(counts.collect())).unwrap();
        assert_eq!(flow.n, 60);
        for column in 0..3 {
            let of = || flow.nodes.iter().filter(move |node| node.column == column);
            assert_eq!(of().map(|node| node.count).sum::<usize>(), 60);
            let bottom = of().map(|node| node.y + node.height).fold(0.0, f64::max);
            assert!((bottom - 100.0).abs() < 1e-6, "{bottom}");
        }
        let right = flow.nodes.iter().find(|node| node.name == "right").unwrap();
        assert_eq!(right.count, 30 + 1 + 3 + 7);
    }
}
