//! Computes an upper bound for the error rate of the answers that are given.

use std::collections::HashSet;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use super::rate::Rate;

/// The one-sided confidence of [`ErrorBound`], set by hand.
const LEVEL: f64 = 0.95;

/// The error rate of a set of answers and its upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBound {
    /// Number of answers.
    pub n: usize,
    /// Number of wrong answers.
    pub errors: usize,
    /// Number of distinct pages of the answers.
    pub pages: usize,
    /// The number of independent answers that carry as much information as these.
    pub effective: f64,
    /// An upper bound for the error rate, from 0 to 1, with 95 % confidence.
    pub bound: f64,
}

impl ErrorBound {
    /// Computes the bound from answers, each with its page, its question and whether it is wrong.
    /// `None` if there are no answers.
    ///
    /// Answers on one page tend to be wrong together. The numbers of answers and errors are
    /// therefore divided by the page design effect before they are passed to `clopper_pearson`.
    /// With few errors the design effect is uncertain, so the bound is never below the bound for
    /// one error-free answer per page. If pages have several answers, the bound is approximate;
    /// `examples/stated_error.rs` measures how often it is wrong.
    pub fn of<P: Hash + Eq + Clone, Q: Hash + Eq>(
        marks: impl IntoIterator<Item = (P, Q, bool)>,
    ) -> Option<Self> {
        let mut pages = HashSet::new();
        let marks = marks.into_iter().inspect(|(page, ..)| {
            pages.insert(page.clone());
        });
        let rate = Rate::of(marks)?;
        let effective = rate.n as f64 / rate.design_effect;
        let bound = clopper_pearson(rate.hits as f64 / rate.design_effect, effective, LEVEL);
        let of_pages = pages.len() as f64;
        let least = clopper_pearson(0.0, of_pages, LEVEL);
        Some(Self {
            n: rate.n,
            errors: rate.hits,
            pages: pages.len(),
            effective: if bound < least { of_pages } else { effective },
            bound: bound.max(least),
        })
    }

    /// The observed error rate, from 0 to 1.
    pub fn rate(&self) -> f64 {
        self.errors as f64 / self.n.max(1) as f64
    }
}

/// The number of independent answers that are needed to show, with 95 % confidence, that at most
/// the share `most` is wrong, if the share `wrong` of them is wrong. `None` if more than 2^20
/// answers are needed, and if `wrong` is not below `most`.
pub fn answers_needed(wrong: f64, most: f64) -> Option<usize> {
    // Set by hand. The binary search needs an upper end.
    const ENOUGH: usize = 1 << 20;
    let shows = |n: usize| clopper_pearson(wrong * n as f64, n as f64, LEVEL) <= most;
    if !shows(ENOUGH) {
        return None;
    }
    let (mut too_few, mut enough) = (0, ENOUGH);
    while enough - too_few > 1 {
        let n = usize::midpoint(too_few, enough);
        if shows(n) {
            enough = n;
        } else {
            too_few = n;
        }
    }
    Some(enough)
}

/// The upper end of the one-sided interval of Clopper and Pearson (Biometrika 26, 1934, 404) for a
/// rate with `hits` of `n`. This is the rate for which at most so many hits have a probability of 1
/// − `level`. Neither number has to be an integer.
pub(crate) fn clopper_pearson(hits: f64, n: f64, level: f64) -> f64 {
    if hits >= n {
        return 1.0;
    }
    let (mut low, mut high) = (hits / n, 1.0);
    // 50 halvings reduce the error to less than 1e-15.
    for _ in 0..50 {
        let rate = f64::midpoint(low, high);
        // The beta function is the probability of at most `hits` hits.
        if incomplete_beta(1.0 - rate, n - hits, hits + 1.0) > 1.0 - level {
            low = rate;
        } else {
            high = rate;
        }
    }
    high
}

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (Abramowitz
/// and Stegun, Handbook of Mathematical Functions, 26.5.8) and Lentz's method.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    // Lentz's method replaces a denominator of 0 by a tiny number.
    const TINY: f64 = 1e-300;
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The continued fraction converges fast only below the mean.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    // Lentz's method divides by the terms, so it replaces zero by a tiny number.
    let kept = |term: f64| if term.abs() < TINY { TINY } else { term };
    let mut over = 1.0;
    let mut under = 1.0 / kept(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = under;
    // The limit is set by hand, so that the loop ends even without convergence.
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            under = 1.0 / kept(1.0 + term * under);
            over = kept(1.0 + term / over);
            change = over * under;
            fraction *= change;
        }
        // The fraction has converged up to rounding errors.
        if (change - 1.0).abs() < 1e-13 {
            break;
        }
    }
    let log_beta = ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
    (a * x.ln() + b * (-x).ln_1p() - log_beta).exp() * fraction / a
}

/// The natural logarithm of the gamma function of a positive number, by Stirling's series. The
/// series is inexact for small arguments, so they are shifted up to 10 first: the
/// first term left out, 1 / (1680 x^7), is then below 1e-10.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse / 1260.0)) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without errors, the bound is 1 − 0.05^(1/n). The other expected values are roots of binomial
    /// sums.
    #[test]
    fn the_bound_is_clopper_and_pearsons() {
        for (hits, n, bound) in [
            (0.0, 59.0, 0.049_506),
            (0.0, 149.0, 0.019_905),
            (3.0, 153.0, 0.049_895),
            (10.0, 336.0, 0.049_960),
            (1.0, 2.0, 0.974_679),
            (5.0, 5.0, 1.0),
        ] {
            let found = clopper_pearson(hits, n, 0.95);
            assert!((found - bound).abs() < 2e-6, "{hits} of {n}: {found}");
        }
        assert!(ErrorBound::of::<usize, usize>([]).is_none());
    }

    #[test]
    fn answers_on_one_page_count_as_one() {
        let marks = |pages: usize, errors: usize| {
            let wrong = errors * pages / 120;
            ErrorBound::of((0..120).map(move |i| (i % pages, i, i % pages < wrong))).unwrap()
        };
        for errors in [0, 3, 6] {
            let (apart, together) = (marks(120, errors), marks(40, errors));
            assert_eq!((together.errors, together.n), (errors, 120));
            assert!(together.bound > apart.bound, "{errors}");
        }
        assert_eq!(marks(40, 0).bound, clopper_pearson(0.0, 40.0, 0.95));
    }

    #[test]
    fn an_error_never_lowers_the_bound_and_one_page_shows_nothing() {
        let on_one_page = |errors| ErrorBound::of((0..200).map(|i| ("page", i, i < errors)));
        let bounds = [0, 1, 2, 200].map(|errors| on_one_page(errors).unwrap().bound);
        assert!((bounds[0] - 0.95).abs() < 1e-9, "{bounds:?}");
        assert!(bounds.is_sorted(), "{bounds:?}");
    }

    #[test]
    fn the_answers_needed_are_those_of_the_bound() {
        assert_eq!(answers_needed(0.0, 0.05), Some(59));
        assert_eq!(answers_needed(0.0, 0.02), Some(149));
        for (wrong, most) in [(0.02, 0.05), (0.03, 0.05), (0.01, 0.02), (0.08, 0.1)] {
            let n = answers_needed(wrong, most).unwrap() as f64;
            assert!(
                clopper_pearson(wrong * n, n, 0.95) <= most,
                "{wrong} {most}"
            );
            assert!(clopper_pearson(wrong * (n - 1.0), n - 1.0, 0.95) > most);
        }
        assert_eq!(answers_needed(0.05, 0.05), None);
    }
}
