//! Boosted trees on top of the linear choice: each tree lowers the loss of a conditional
//! logit over the candidates of a question.

use finqa_agents::offline::Tree;

use crate::random::Random;

/// A candidate as the trees see it.
pub struct Row {
    pub detail: Vec<f64>,
    pub linear: f64,
    pub right: bool,
}

pub struct Growth {
    pub trees: usize,
    pub depth: usize,
    pub rate: f64,
    pub l2: f64,
    /// The least sum of second derivatives in a leaf.
    pub least: f64,
    /// Share of the features that a tree may use, and of the questions that it learns from.
    pub features: f64,
    pub questions: f64,
}

impl Default for Growth {
    fn default() -> Self {
        Self {
            trees: 150,
            depth: 4,
            rate: 0.1,
            l2: 3.0,
            least: 3.0,
            features: 0.3,
            questions: 0.7,
        }
    }
}

/// The most values of a feature that are told apart.
const BINS: usize = 32;

struct Feature {
    /// The upper ends of the bins but the last.
    ends: Vec<f64>,
    bins: Vec<u8>,
}

fn feature(rows: &[&Row], at: usize) -> Feature {
    let mut values: Vec<f64> = rows.iter().map(|row| row.detail[at]).collect();
    values.sort_by(f64::total_cmp);
    let mut ends: Vec<f64> = Vec::new();
    for k in 1..BINS {
        let end = values[k * (values.len() - 1) / BINS];
        if ends.last().is_none_or(|last| end > *last) && end < values[values.len() - 1] {
            ends.push(end);
        }
    }
    // A value that is rare among the others is told apart too.
    if ends.is_empty() && values[0] < values[values.len() - 1] {
        ends.push(values[0]);
    }
    let bin = |v: f64| ends.partition_point(|end| *end < v) as u8;
    Feature {
        bins: rows.iter().map(|row| bin(row.detail[at])).collect(),
        ends,
    }
}

/// Fits trees to questions, each a list of candidates.
pub fn fit(questions: &[Vec<Row>], growth: &Growth) -> Vec<Tree> {
    let rows: Vec<&Row> = questions.iter().flatten().collect();
    let Some(width) = rows.first().map(|row| row.detail.len()) else {
        return Vec::new();
    };
    let features: Vec<Feature> = (0..width).map(|at| feature(&rows, at)).collect();
    let usable: Vec<usize> = (0..width)
        .filter(|at| !features[*at].ends.is_empty())
        .collect();
    let mut scores: Vec<f64> = rows.iter().map(|row| row.linear).collect();
    let mut random = Random::new(14);
    let mut gradient = vec![(0.0_f64, 0.0_f64); rows.len()];
    let mut trees = Vec::new();
    for _ in 0..growth.trees {
        let mut from = 0;
        let mut learnt: Vec<u32> = Vec::new();
        for question in questions {
            let to = from + question.len();
            let use_it = random.below(1000) < (growth.questions * 1000.0) as usize;
            if use_it {
                derive(&scores[from..to], question, &mut gradient[from..to]);
                learnt.extend((from..to).map(|i| i as u32));
            }
            from = to;
        }
        let mut tried = usable.clone();
        random.shuffle(&mut tried);
        tried.truncate(((usable.len() as f64) * growth.features).ceil() as usize);
        let tree = grow(&features, &tried, &learnt, &gradient, growth);
        for (score, row) in scores.iter_mut().zip(&rows) {
            *score += tree.score(&row.detail);
        }
        trees.push(tree);
    }
    trees
}

/// First and second derivatives of the loss of one question.
fn derive(scores: &[f64], question: &[Row], out: &mut [(f64, f64)]) {
    let top = scores.iter().copied().fold(f64::MIN, f64::max);
    let mass: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
    let all: f64 = mass.iter().sum();
    let right: f64 = mass
        .iter()
        .zip(question)
        .filter(|(_, r)| r.right)
        .map(|(m, _)| m)
        .sum();
    for ((m, row), out) in mass.iter().zip(question).zip(out) {
        let p = m / all;
        let target = if row.right { m / right.max(1e-12) } else { 0.0 };
        *out = (p - target, (p * (1.0 - p)).max(1e-4));
    }
}

struct Node {
    rows: Vec<u32>,
    /// Where the step to it is kept: the split, and whether it is the high side.
    parent: Option<(usize, bool)>,
    depth: usize,
}

fn grow(
    features: &[Feature],
    tried: &[usize],
    rows: &[u32],
    gradient: &[(f64, f64)],
    growth: &Growth,
) -> Tree {
    let mut tree = Tree::default();
    let mut open = vec![Node {
        rows: rows.to_vec(),
        parent: None,
        depth: 0,
    }];
    while let Some(node) = open.pop() {
        let (g, h) = sum(&node.rows, gradient);
        let split = if node.depth < growth.depth {
            best_split(features, tried, &node.rows, gradient, (g, h), growth)
        } else {
            None
        };
        let step = match split {
            Some((at, bin)) => {
                let split = tree.features.len();
                tree.features.push(at as u16);
                tree.thresholds.push(features[at].ends[bin]);
                tree.low.push(-1);
                tree.high.push(-1);
                let (low, high): (Vec<u32>, Vec<u32>) = node
                    .rows
                    .iter()
                    .partition(|row| usize::from(features[at].bins[**row as usize]) <= bin);
                for (rows, is_high) in [(high, true), (low, false)] {
                    open.push(Node {
                        rows,
                        parent: Some((split, is_high)),
                        depth: node.depth + 1,
                    });
                }
                split as i16
            }
            None => {
                let value = -growth.rate * g / (h + growth.l2);
                tree.values.push((value * 1e4).round() / 1e4);
                !((tree.values.len() - 1) as i16)
            }
        };
        match node.parent {
            Some((split, true)) => tree.high[split] = step,
            Some((split, false)) => tree.low[split] = step,
            None => {}
        }
    }
    tree
}

fn sum(rows: &[u32], gradient: &[(f64, f64)]) -> (f64, f64) {
    rows.iter().fold((0.0, 0.0), |(g, h), row| {
        let (dg, dh) = gradient[*row as usize];
        (g + dg, h + dh)
    })
}

fn best_split(
    features: &[Feature],
    tried: &[usize],
    rows: &[u32],
    gradient: &[(f64, f64)],
    (g, h): (f64, f64),
    growth: &Growth,
) -> Option<(usize, usize)> {
    let worth = |g: f64, h: f64| g * g / (h + growth.l2);
    let mut best: Option<(f64, usize, usize)> = None;
    for at in tried {
        let feature = &features[*at];
        let mut bins = [(0.0_f64, 0.0_f64); BINS + 2];
        for row in rows {
            let (dg, dh) = gradient[*row as usize];
            let bin = &mut bins[usize::from(feature.bins[*row as usize])];
            bin.0 += dg;
            bin.1 += dh;
        }
        let (mut low_g, mut low_h) = (0.0, 0.0);
        for (bin, (dg, dh)) in bins.iter().enumerate().take(feature.ends.len()) {
            low_g += dg;
            low_h += dh;
            let (high_g, high_h) = (g - low_g, h - low_h);
            if low_h < growth.least || high_h < growth.least {
                continue;
            }
            let gain = worth(low_g, low_h) + worth(high_g, high_h) - worth(g, h);
            if gain > 1e-3 && best.is_none_or(|(most, _, _)| gain > most) {
                best = Some((gain, *at, bin));
            }
        }
    }
    best.map(|(_, at, bin)| (at, bin))
}
