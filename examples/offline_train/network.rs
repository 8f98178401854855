//! The network that ranks candidates with the trees: the mean of several, each a conditional logit
//! over the candidates of a question, as in `choice`, whose score is a network's.

use finqa_agents::offline::training::{InputRange, Network};

use crate::random::Random;
use crate::trees::Row;

/// How many are trained, each with the next seed.
const NETWORKS: u64 = 12;
/// The hidden units of each.
const UNITS: usize = 24;
const PASSES: usize = 25;
const BATCH: usize = 32;
const RATE: f32 = 3e-3;
const L2: f32 = 2e-3;
/// The share of the inputs that is left out for a question, other ones each time.
const LEFT_OUT: f32 = 0.15;

/// The weights in one list: of the hidden units input by input, of the inputs by themselves,
/// the bias, and the output.
struct Layout {
    inputs: usize,
}

impl Layout {
    const fn direct(&self) -> usize {
        self.inputs * UNITS
    }

    const fn bias(&self) -> usize {
        self.direct() + self.inputs
    }

    const fn output(&self) -> usize {
        self.bias() + UNITS
    }

    const fn all(&self) -> usize {
        self.output() + UNITS
    }

    /// An input's weight of each hidden unit.
    fn of_input<'a>(&self, weights: &'a [f32], at: usize) -> impl Iterator<Item = &'a f32> {
        weights[at * UNITS..(at + 1) * UNITS].iter()
    }
}

/// A question's candidates: the inputs of each, and whether it is right.
type Inputs = Vec<(Vec<(usize, f32)>, bool)>;

/// An input as the training sees it: `(value - mean) * scale`.
struct Scaling {
    mean: f32,
    scale: f32,
}

/// Cut to the range of all but a hundredth of the values.
fn range(rows: &[&Row], at: usize) -> (InputRange, Scaling) {
    let mut values: Vec<f64> = rows.iter().map(|row| row.detail[at]).collect();
    values.sort_by(f64::total_cmp);
    let part = values.len() / 200;
    let (low, high) = (values[part], values[values.len() - 1 - part]);
    let n = values.len() as f64;
    let cut = values.iter().map(|value| value.clamp(low, high));
    let mean = cut.clone().sum::<f64>() / n;
    let variance = cut.map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let range = InputRange {
        low: rounded(low as f32),
        high: rounded(high as f32),
    };
    let scaling = Scaling {
        mean: mean as f32,
        scale: (1.0 / (variance.sqrt() + 1e-3)) as f32,
    };
    (range, scaling)
}

/// To four digits.
fn rounded(x: f32) -> f32 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

/// Trains the networks and writes their mean as one: it has the hidden units of all, and takes the
/// inputs without scaling.
pub fn fit(questions: &[Vec<Row>], seed: u64) -> Network {
    let rows: Vec<&Row> = questions.iter().flatten().collect();
    let Some(features) = rows.first().map(|row| row.detail.len()) else {
        return Network::default();
    };
    let (ranges, mut scalings): (Vec<InputRange>, Vec<Scaling>) =
        (0..features).map(|at| range(&rows, at)).unzip();
    let layout = Layout {
        inputs: Network::width(features),
    };
    // What tells whether a category has a value stays as it is.
    scalings.resize_with(layout.inputs, || Scaling {
        mean: 0.0,
        scale: 1.0,
    });
    let of_row = |row: &Row| {
        let inputs = Network::inputs(&ranges, &row.detail);
        let scaled = inputs.map(|(at, value)| {
            let Scaling { mean, scale } = scalings[at];
            (at, (value - mean) * scale)
        });
        (scaled.collect(), row.right)
    };
    let of_question = |question: &Vec<Row>| question.iter().map(of_row).collect();
    let inputs: Vec<Inputs> = questions.iter().map(of_question).collect();
    let all: Vec<Vec<f32>> = (seed..seed + NETWORKS)
        .map(|seed| train(&inputs, &layout, seed))
        .collect();
    let share = 1.0 / all.len() as f32;
    let of_all = |values: &dyn Fn(&[f32]) -> Vec<f32>| -> Vec<f32> {
        let values = all.iter().flat_map(|weights| values(weights));
        values.map(rounded).collect()
    };
    // The inputs that every candidate has.
    let scaled = || {
        let inputs = Network::inputs(&ranges, &rows[0].detail);
        inputs.map(|(at, _)| at).filter(|at| *at < features)
    };
    Network {
        hidden: (0..layout.inputs)
            .map(|at| {
                let scale = scalings[at].scale;
                of_all(&|weights| layout.of_input(weights, at).map(|w| w * scale).collect())
            })
            .collect(),
        bias: of_all(&|weights| {
            let mut bias = weights[layout.bias()..layout.output()].to_vec();
            for at in scaled() {
                let offset = scalings[at].mean * scalings[at].scale;
                let of_input = layout.of_input(weights, at);
                bias.iter_mut()
                    .zip(of_input)
                    .for_each(|(b, w)| *b -= offset * w);
            }
            bias
        }),
        output: of_all(&|weights| {
            weights[layout.output()..]
                .iter()
                .map(|w| w * share)
                .collect()
        }),
        // Their offsets would be the same for all candidates.
        direct: (0..layout.inputs)
            .map(|at| {
                let sum: f32 = all
                    .iter()
                    .map(|weights| weights[layout.direct() + at])
                    .sum();
                rounded(sum * share * scalings[at].scale)
            })
            .collect(),
        ranges,
    }
}

/// Adam over batches of questions.
fn train(questions: &[Inputs], layout: &Layout, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let mut weights = vec![0.0_f32; layout.all()];
    let mut normal = |deviation: f32| {
        let sum: usize = (0..12).map(|_| random.below(10_000)).sum();
        (sum as f32 / 10_000.0 - 6.0) * deviation
    };
    weights[..layout.direct()].fill_with(|| normal(0.08));
    weights[layout.output()..].fill_with(|| normal(0.1));
    let (mut mean, mut square) = (vec![0.0_f32; weights.len()], vec![0.0_f32; weights.len()]);
    let mut gradient = vec![0.0_f32; weights.len()];
    let mut order: Vec<usize> = (0..questions.len()).collect();
    let steps = PASSES * (questions.len() / BATCH);
    let mut step = 0;
    for _ in 0..PASSES {
        random.shuffle(&mut order);
        for batch in order.chunks_exact(BATCH) {
            for (i, (g, w)) in gradient.iter_mut().zip(&weights).enumerate() {
                let free = (layout.bias()..layout.output()).contains(&i);
                *g = if free { 0.0 } else { L2 * w };
            }
            for question in batch {
                derive(
                    &questions[*question],
                    layout,
                    &weights,
                    &mut random,
                    &mut gradient,
                );
            }
            step += 1;
            let rate = RATE * (1.0 - 0.95 * step as f32 / steps as f32);
            let unbiased = |decay: f32| 1.0 - decay.powi(step);
            let (of_mean, of_square) = (unbiased(0.9), unbiased(0.999));
            for (((w, m), s), g) in weights
                .iter_mut()
                .zip(&mut mean)
                .zip(&mut square)
                .zip(&gradient)
            {
                *m = 0.9 * *m + 0.1 * g;
                *s = 0.999 * *s + 0.001 * g * g;
                *w -= rate * (*m / of_mean) / ((*s / of_square).sqrt() + 1e-8);
            }
        }
    }
    weights
}

/// Adds a question's part of the gradient.
fn derive(
    question: &Inputs,
    layout: &Layout,
    weights: &[f32],
    random: &mut Random,
    gradient: &mut [f32],
) {
    let kept: Vec<f32> = (0..layout.inputs)
        .map(|_| {
            let left_out = (random.below(1000) as f32) < 1000.0 * LEFT_OUT;
            if left_out {
                0.0
            } else {
                1.0 / (1.0 - LEFT_OUT)
            }
        })
        .collect();
    let of_output = &weights[layout.output()..];
    let mut units: Vec<[f32; UNITS]> = Vec::with_capacity(question.len());
    let mut scores: Vec<f32> = Vec::with_capacity(question.len());
    for (inputs, _) in question {
        let mut sums = [0.0; UNITS];
        sums.copy_from_slice(&weights[layout.bias()..layout.output()]);
        let mut score = 0.0;
        for (input, value) in inputs {
            let value = value * kept[*input];
            if value == 0.0 {
                continue;
            }
            let of_input = &weights[input * UNITS..(input + 1) * UNITS];
            for (sum, weight) in sums.iter_mut().zip(of_input) {
                *sum += value * weight;
            }
            score += value * weights[layout.direct() + input];
        }
        let outputs = sums.iter().zip(of_output);
        score += outputs
            .map(|(sum, weight)| sum.max(0.0) * weight)
            .sum::<f32>();
        units.push(sums);
        scores.push(score);
    }
    let top = scores.iter().copied().fold(f32::MIN, f32::max);
    let mass: Vec<f32> = scores.iter().map(|score| libm::expf(score - top)).collect();
    let total: f32 = mass.iter().sum();
    let of_right = mass.iter().zip(question).filter(|(_, (_, right))| *right);
    let right = of_right.map(|(m, _)| m).sum::<f32>().max(1e-12);
    for ((m, (inputs, is_right)), sums) in mass.iter().zip(question).zip(&units) {
        let push = (m / total - if *is_right { m / right } else { 0.0 }) / BATCH as f32;
        if push.abs() < 1e-8 {
            continue;
        }
        let mut of_units = [0.0; UNITS];
        for (k, sum) in sums.iter().enumerate() {
            gradient[layout.output() + k] += push * sum.max(0.0);
            if *sum > 0.0 {
                of_units[k] = push * of_output[k];
            }
            gradient[layout.bias() + k] += of_units[k];
        }
        for (input, value) in inputs {
            let value = value * kept[*input];
            if value == 0.0 {
                continue;
            }
            let of_input = &mut gradient[input * UNITS..(input + 1) * UNITS];
            for (g, unit) in of_input.iter_mut().zip(&of_units) {
                *g += value * unit;
            }
            gradient[layout.direct() + input] += push * value;
        }
    }
}
