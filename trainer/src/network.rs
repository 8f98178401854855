//! Trains the network that ranks candidates: a conditional logit over the candidates of a question,
//! as in `choice`, but with scores from a small neural network. Several networks are trained, and
//! their mean is written as one. Where no reason is given, a number is set by hand.

use finqa_embedded::training::{InputRange, Network};

use crate::choice::Row;
use crate::logit::Choices;
use crate::random::Random;

/// The inputs of a candidate that are not zero, as index and value. `usize` would double their
/// memory.
type Sparse = Vec<(u32, f32)>;

/// Number of networks that are trained for the answers, with consecutive seeds. Six had no more
/// right answers than three (docs/embedded-analyst.md, "What was tried").
pub const NETWORKS: u64 = 3;
/// Number of hidden units of each. A multiple of 16, because the analyst sums 16 units at a time.
const UNITS: usize = 64;
/// Number of passes over the questions.
const PASSES: usize = 8;
/// Number of questions in a batch.
const BATCH: usize = 32;
/// The learning rate of the first step; it falls to a twentieth.
const RATE: f32 = 3e-3;
/// L2 penalty of all weights but the biases.
const L2: f32 = 1e-3;
/// Dropout: the share of the inputs that is left out of a question, drawn anew in every pass.
const LEFT_OUT: f32 = 0.3;

/// Where the weights of a network are in one list: first those from each input to the hidden units,
/// input by input; then the direct ones from the inputs to the score; then the biases of the hidden
/// units; and last those from the hidden units to the score.
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

    /// The weights from an input to the hidden units.
    fn of_input<'a>(&self, weights: &'a [f32], at: usize) -> impl Iterator<Item = &'a f32> {
        weights[at * UNITS..(at + 1) * UNITS].iter()
    }
}

/// How an input is scaled for the training: `(value - mean) * scale`.
struct Scaling {
    mean: f32,
    scale: f32,
}

/// The range of a feature without the lowest and highest 0.5 % of its values, and the scaling that
/// gives the values, clamped to it, mean 0 and deviation 1.
fn range_and_scaling(rows: &[&Row], at: usize) -> (InputRange, Scaling) {
    let mut values: Vec<f64> = rows.iter().map(|row| row[at].into()).collect();
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
        // A divisor, so more than 0, also for a feature with a single value.
        scale: (1.0 / (variance.sqrt() + 1e-3)) as f32,
    };
    (range, scaling)
}

/// Rounds to four significant digits; a value close to 0 becomes 0.
fn rounded(x: f32) -> f32 {
    if x.abs() < 1e-6 {
        return 0.0;
    }
    format!("{x:.3e}").parse().unwrap_or(x)
}

/// Trains a number of networks, with consecutive seeds, and folds them into one.
pub fn fit(questions: &[&Choices<Row>], networks: u64, seed: u64) -> Network {
    let rows: Vec<&Row> = questions
        .iter()
        .flat_map(|q| q.iter().map(|(row, _)| row))
        .collect();
    let Some(features) = rows.first().map(|row| row.len()) else {
        return Network::default();
    };
    let (ranges, mut scalings): (Vec<InputRange>, Vec<Scaling>) =
        (0..features).map(|at| range_and_scaling(&rows, at)).unzip();
    let layout = Layout {
        inputs: Network::width(features),
    };
    // The other inputs are 0 or 1, for the values of categories, and are not scaled.
    scalings.resize_with(layout.inputs, || Scaling {
        mean: 0.0,
        scale: 1.0,
    });
    let of_row = |(row, right): &(Row, bool)| (scaled(&ranges, &scalings, row), *right);
    let of_question = |question: &&Choices<Row>| question.iter().map(of_row).collect();
    let inputs: Vec<Choices<Sparse>> = questions.iter().map(of_question).collect();
    let all: Vec<Vec<f32>> = (seed..seed + networks)
        .map(|seed| train(&inputs, &layout, seed))
        .collect();
    fold(&all, &layout, ranges, &scalings)
}

/// The scaled inputs of a candidate, as index and value.
fn scaled(ranges: &[InputRange], scalings: &[Scaling], row: &Row) -> Sparse {
    let scale = |(at, value): (usize, f32)| {
        let Scaling { mean, scale } = scalings[at];
        (at as u32, (value - mean) * scale)
    };
    let features: Vec<f64> = row.iter().map(|value| f64::from(*value)).collect();
    let mut inputs: Vec<_> = Network::inputs(ranges, &features).map(scale).collect();
    inputs.shrink_to_fit();
    inputs
}

/// Merges networks into one that computes the mean of their scores. It has the hidden units of all
/// of them and takes inputs without scaling. Its scores differ from the mean by a constant, which
/// is left out because it changes no order; the confidence is fitted to the scores without it.
fn fold(
    all: &[Vec<f32>],
    layout: &Layout,
    ranges: Vec<InputRange>,
    scalings: &[Scaling],
) -> Network {
    let share = 1.0 / all.len() as f32;
    let of_all = |values: &dyn Fn(&[f32]) -> Vec<f32>| -> Vec<f32> {
        let values = all.iter().flat_map(|weights| values(weights));
        values.map(rounded).collect()
    };
    // The features that are inputs. A feature that numbers a category is not one; each of its
    // values has an input of its own, without a scaling.
    let features = ranges.len();
    let nothing = vec![0.0; features];
    let inputs = Network::inputs(&ranges, &nothing);
    let used: Vec<usize> = inputs
        .map(|(at, _)| at)
        .filter(|at| *at < features)
        .collect();
    Network {
        hidden: (0..layout.inputs)
            .map(|at| {
                let scale = scalings[at].scale;
                of_all(&|weights| layout.of_input(weights, at).map(|w| w * scale).collect())
            })
            .collect(),
        bias: of_all(&|weights| {
            let mut bias = weights[layout.bias()..layout.output()].to_vec();
            for at in &used {
                let offset = scalings[*at].mean * scalings[*at].scale;
                for (bias, weight) in bias.iter_mut().zip(layout.of_input(weights, *at)) {
                    *bias -= offset * weight;
                }
            }
            bias
        }),
        output: of_all(&|weights| {
            let output = weights[layout.output()..].iter();
            output.map(|weight| weight * share).collect()
        }),
        direct: (0..layout.inputs)
            .map(|at| {
                let direct = all.iter().map(|weights| weights[layout.direct() + at]);
                rounded(direct.sum::<f32>() * share * scalings[at].scale)
            })
            .collect(),
        ranges,
    }
}

/// Trains one network with Adam over batches of questions. Returns its weights in the order of the
/// layout.
fn train(questions: &[Choices<Sparse>], layout: &Layout, seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    let mut weights = vec![0.0_f32; layout.all()];
    // The sum of twelve uniform numbers is nearly normal, with deviation 1.
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
        // The questions that are left over wait for another pass, which has another order.
        for batch in order.chunks_exact(BATCH) {
            // The gradient starts with that of the penalty.
            for (i, (g, w)) in gradient.iter_mut().zip(&weights).enumerate() {
                let free = (layout.bias()..layout.output()).contains(&i);
                *g = if free { 0.0 } else { L2 * w };
            }
            for question in batch {
                derive(
                    &questions[*question], layout, &weights, &mut random, &mut gradient,
                );
            }
            step += 1;
            let rate = RATE * (1.0 - 0.95 * step as f32 / steps as f32);
            let unbiased = |decay: f32| 1.0 - decay.powi(step);
            // The decays and the 1e-8 are those that the paper on Adam proposes.
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

/// Adds the gradient of a question's loss, with dropout. The loss is that of the probability of all
/// right candidates together.
fn derive(
    question: &Choices<Sparse>,
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
                // Larger, so that the mean input is the same as without dropout.
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
            let input = *input as usize;
            let value = value * kept[input];
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
    // A divisor, so more than 0.
    let right = of_right.map(|(m, _)| m).sum::<f32>().max(1e-12);
    for ((m, (inputs, is_right)), sums) in mass.iter().zip(question).zip(&units) {
        let push = (m / total - if *is_right { m / right } else { 0.0 }) / BATCH as f32;
        // A smaller push would hardly change the gradient, so the loops below are skipped.
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
            let input = *input as usize;
            let value = value * kept[input];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folded_network_differs_from_the_mean_of_its_parts_by_a_constant() {
        let features = 12;
        let layout = Layout {
            inputs: Network::width(features),
        };
        let mut random = Random::new(1);
        let mut number = || random.below(2001) as f32 / 1000.0 - 1.0;
        let ranges: Vec<InputRange> = (0..features)
            .map(|at| InputRange {
                low: -(at as f32),
                high: 2.0,
            })
            .collect();
        let scalings: Vec<Scaling> = (0..layout.inputs)
            .map(|at| match at < features {
                true => Scaling {
                    mean: number(),
                    scale: 1.5 + number(),
                },
                false => Scaling {
                    mean: 0.0,
                    scale: 1.0,
                },
            })
            .collect();
        let parts: Vec<Vec<f32>> = (0..2)
            .map(|_| (0..layout.all()).map(|_| number()).collect())
            .collect();
        let candidates: Vec<Row> = (0..6_u8)
            .map(|k| {
                let mut candidate: Row = (0..features).map(|_| number()).collect();
                candidate[5] = f32::from(k);
                candidate[11] *= 9.0;
                candidate
            })
            .collect();
        let score = |weights: &Vec<f32>, inputs: &[(u32, f32)]| {
            let mut units = weights[layout.bias()..layout.output()].to_vec();
            let mut score = 0.0;
            for (at, value) in inputs {
                let at = *at as usize;
                let weights_of = layout.of_input(weights, at);
                units
                    .iter_mut()
                    .zip(weights_of)
                    .for_each(|(u, w)| *u += value * w);
                score += value * weights[layout.direct() + at];
            }
            let outputs = units.iter().zip(&weights[layout.output()..]);
            score + outputs.map(|(unit, w)| unit.max(0.0) * w).sum::<f32>()
        };
        let expected: Vec<f64> = candidates
            .iter()
            .map(|candidate| {
                let inputs = scaled(&ranges, &scalings, candidate);
                let sum: f32 = parts.iter().map(|part| score(part, &inputs)).sum();
                f64::from(sum / parts.len() as f32)
            })
            .collect();
        let folded = fold(&parts, &layout, ranges, &scalings);
        let exact = |row: &Row| row.iter().map(|value| f64::from(*value)).collect();
        let rows: Vec<Vec<f64>> = candidates.iter().map(exact).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let scores = folded.scores(&rows);
        let constant = scores[0] - expected[0];
        for (score, expected) in scores.iter().zip(&expected) {
            let difference = score - expected - constant;
            assert!(difference.abs() < 0.02, "{scores:?} {expected:?}");
        }
        let spread = |of: &[f64]| of.iter().fold(f64::MIN, |m, x| m.max(*x)) - of[0];
        assert!(spread(&expected) > 0.5, "{expected:?}");
    }
}
