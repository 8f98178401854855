//! Boosted trees that rank the candidates of a question (LambdaMART): each raises right ones
//! over wrong ones, by how much an exchange of the two would gain at the top of the ranking.

use finqa_embedded::training::{Tree, TreeSplit};

use crate::random::Random;

/// A candidate as the trees see it.
pub struct Row {
    pub detail: Vec<f64>,
    pub right: bool,
}

pub struct Growth {
    pub trees: usize,
    /// The most leaves of a tree.
    pub leaves: usize,
    pub rate: f64,
    pub l2: f64,
    /// The fewest candidates in a leaf.
    pub least: usize,
    /// Only pairs with one of so many of the best count.
    pub top: usize,
    /// Share of the features that a tree may use, and of the questions that it learns from.
    pub features: f64,
    pub questions: f64,
}

impl Default for Growth {
    fn default() -> Self {
        Self {
            trees: 200,
            leaves: 31,
            rate: 0.05,
            l2: 3.0,
            least: 20,
            top: 3,
            features: 0.3,
            questions: 0.7,
        }
    }
}

/// The most values of a feature that are distinguished.
const BINS: usize = 64;

struct Feature {
    /// The upper ends of the bins but the last.
    ends: Vec<f64>,
    bins: Vec<u8>,
}

/// Half of the bins hold as many rows each, half as many distinct values: most features are
/// the same for most rows.
fn feature(rows: &[&Row], at: usize) -> Feature {
    let mut values: Vec<f64> = rows.iter().map(|row| row.detail[at]).collect();
    values.sort_by(f64::total_cmp);
    let mut ends: Vec<f64> = Vec::new();
    for _ in 0..2 {
        let parts = BINS / 2;
        ends.extend((1..parts).map(|k| values[k * (values.len() - 1) / parts]));
        ends.push(values[0]);
        values.dedup();
    }
    let last = values[values.len() - 1];
    ends.retain(|end| *end < last);
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    let bin = |v: f64| ends.partition_point(|end| *end < v) as u8;
    Feature {
        bins: rows.iter().map(|row| bin(row.detail[at])).collect(),
        ends,
    }
}

/// Fits trees to questions, each a list of candidates.
pub fn fit(questions: &[Vec<Row>], growth: &Growth, seed: u64) -> Vec<Tree> {
    let rows: Vec<&Row> = questions.iter().flatten().collect();
    let Some(width) = rows.first().map(|row| row.detail.len()) else {
        return Vec::new();
    };
    let features: Vec<Feature> = (0..width).map(|at| feature(&rows, at)).collect();
    let usable: Vec<usize> = (0..width)
        .filter(|at| !features[*at].ends.is_empty())
        .collect();
    let mut scores = vec![0.0; rows.len()];
    let mut random = Random::new(seed);
    let mut gradient = vec![(0.0_f64, 0.0_f64); rows.len()];
    let mut trees = Vec::new();
    for _ in 0..growth.trees {
        let mut from = 0;
        let mut learnt: Vec<u32> = Vec::new();
        for question in questions {
            let to = from + question.len();
            let use_it = random.below(1000) < (growth.questions * 1000.0) as usize;
            if use_it {
                derive(
                    &scores[from..to],
                    question,
                    growth.top,
                    &mut gradient[from..to],
                );
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

/// First and second derivatives by the score of each candidate of a question.
fn derive(scores: &[f64], question: &[Row], top: usize, out: &mut [(f64, f64)]) {
    out.fill((0.0, 0.0));
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let discount = |place: usize| 1.0 / libm::log2(2.0 + place as f64);
    let right = question.iter().filter(|row| row.right).count();
    let ideal: f64 = (0..right.min(top)).map(discount).sum();
    let spread = scores[order[0]] - scores[order[order.len() - 1]];
    let mut pushed = 0.0;
    for i in 0..top.min(order.len()) {
        for j in i + 1..order.len() {
            let (a, b) = (order[i], order[j]);
            if question[a].right == question[b].right {
                continue;
            }
            let (better, worse) = if question[a].right { (a, b) } else { (b, a) };
            let lead = scores[better] - scores[worse];
            let mut gain = (discount(i) - discount(j)) / ideal;
            if spread > 0.0 {
                gain /= 0.01 + lead.abs();
            }
            let p = 1.0 / (1.0 + libm::exp(lead));
            let (push, curve) = (gain * p, gain * p * (1.0 - p));
            out[better].0 -= push;
            out[worse].0 += push;
            out[better].1 += curve;
            out[worse].1 += curve;
            pushed += 2.0 * push;
        }
    }
    if pushed > 0.0 {
        let scale = libm::log2(1.0 + pushed) / pushed;
        for (g, h) in out {
            *g *= scale;
            *h *= scale;
        }
    }
}

/// A leaf that may be split.
struct Leaf {
    rows: Vec<u32>,
    /// Where the step to it is kept: the split, and whether it is the high side.
    parent: Option<(usize, bool)>,
    split: Option<Split>,
}

#[derive(Clone, Copy)]
struct Split {
    gain: f64,
    feature: usize,
    bin: usize,
}

/// A tree whose leaves are split in the order of what it gains.
fn grow(
    features: &[Feature],
    tried: &[usize],
    rows: &[u32],
    gradient: &[(f64, f64)],
    growth: &Growth,
) -> Tree {
    let mut tree = Tree::default();
    let leaf = |rows: Vec<u32>, parent| Leaf {
        split: best_split(features, tried, &rows, gradient, growth),
        rows,
        parent,
    };
    let mut leaves = vec![leaf(rows.to_vec(), None)];
    let gain = |leaf: &Leaf| leaf.split.map_or(0.0, |split| split.gain);
    while leaves.len() < growth.leaves {
        let best = (0..leaves.len()).max_by(|a, b| gain(&leaves[*a]).total_cmp(&gain(&leaves[*b])));
        let Some((best, split)) = best.and_then(|i| Some((i, leaves[i].split?))) else {
            break;
        };
        let Leaf { rows, parent, .. } = leaves.swap_remove(best);
        let feature = &features[split.feature];
        let at = tree.splits.len();
        let threshold = feature.ends[split.bin];
        tree.splits
            .push(TreeSplit(split.feature as u16, threshold, -1, -1));
        lead(&mut tree, parent, at as i16);
        let (low, high): (Vec<u32>, Vec<u32>) = rows
            .iter()
            .partition(|row| usize::from(feature.bins[**row as usize]) <= split.bin);
        leaves.push(leaf(low, Some((at, false))));
        leaves.push(leaf(high, Some((at, true))));
    }
    for leaf in leaves {
        let (g, h) = sum(&leaf.rows, gradient);
        let value = -growth.rate * g / (h + growth.l2);
        tree.values.push((value * 1e4).round() / 1e4);
        let step = !((tree.values.len() - 1) as i16);
        lead(&mut tree, leaf.parent, step);
    }
    tree
}

/// Lets a side of a split lead to a step.
fn lead(tree: &mut Tree, parent: Option<(usize, bool)>, step: i16) {
    match parent {
        Some((split, true)) => tree.splits[split].3 = step,
        Some((split, false)) => tree.splits[split].2 = step,
        None => {}
    }
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
    growth: &Growth,
) -> Option<Split> {
    let (g, h) = sum(rows, gradient);
    let worth = |g: f64, h: f64| g * g / (h + growth.l2);
    let mut best: Option<Split> = None;
    for at in tried {
        let feature = &features[*at];
        let mut bins = [(0.0_f64, 0.0_f64, 0_usize); BINS + 2];
        for row in rows {
            let (dg, dh) = gradient[*row as usize];
            let bin = &mut bins[usize::from(feature.bins[*row as usize])];
            bin.0 += dg;
            bin.1 += dh;
            bin.2 += 1;
        }
        let (mut low_g, mut low_h, mut low) = (0.0, 0.0, 0);
        for (bin, (dg, dh, n)) in bins.iter().enumerate().take(feature.ends.len()) {
            low_g += dg;
            low_h += dh;
            low += n;
            let (high_g, high_h) = (g - low_g, h - low_h);
            if low.min(rows.len() - low) < growth.least || low_h.min(high_h) < 1e-3 {
                continue;
            }
            let gain = worth(low_g, low_h) + worth(high_g, high_h) - worth(g, h);
            if gain > 1e-9 && best.is_none_or(|most| gain > most.gain) {
                best = Some(Split {
                    gain,
                    feature: *at,
                    bin,
                });
            }
        }
    }
    best
}
