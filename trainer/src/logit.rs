//! Trains a conditional logit: a linear model that gives each choice of an example a score, from
//! which the probability of the choice follows.

/// The choices of an example: the features of each, and whether it is right.
pub type Choices<F> = Vec<(F, bool)>;

/// How a model is trained. All numbers are set by hand.
pub struct Descent {
    pub steps: usize,
    pub momentum: f64,
    /// The L2 penalty.
    pub l2: f64,
}

/// Minimises the mean log-loss plus `l2 * |w|^2 / 2` by gradient descent with momentum. The loss of
/// an example is that of the probability of all its right choices together.
pub fn train(all: &[Choices<Vec<f64>>], features: usize, descent: &Descent) -> Vec<f64> {
    let (mut weights, mut velocity) = (vec![0.0; features], vec![0.0; features]);
    let count = all.len().max(1) as f64;
    for _ in 0..descent.steps {
        let mut gradient: Vec<f64> = weights.iter().map(|w| descent.l2 * w).collect();
        for choices in all {
            let score = |of: &[f64]| -> f64 { of.iter().zip(&weights).map(|(x, w)| x * w).sum() };
            let scores: Vec<f64> = choices.iter().map(|(of, _)| score(of)).collect();
            let top = scores.iter().copied().fold(f64::MIN, f64::max);
            let mass: Vec<f64> = scores.iter().map(|s| libm::exp(s - top)).collect();
            let total: f64 = mass.iter().sum();
            let of_right = mass.iter().zip(choices).filter(|(_, (_, right))| *right);
            // A divisor, so more than 0.
            let right = of_right.map(|(m, _)| m).sum::<f64>().max(1e-12);
            for (m, (features, is_right)) in mass.iter().zip(choices) {
                let push = (m / total - if *is_right { m / right } else { 0.0 }) / count;
                // A smaller push would hardly change the gradient, so the loop over the features is
                // skipped.
                if push.abs() > 1e-9 {
                    for (g, x) in gradient.iter_mut().zip(features) {
                        *g += push * x;
                    }
                }
            }
        }
        // The step size is set by hand.
        let rate = 0.3;
        for ((w, v), g) in weights.iter_mut().zip(&mut velocity).zip(&gradient) {
            *v = descent.momentum * *v - rate * g;
            *w += *v;
        }
    }
    weights
}
