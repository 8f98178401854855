//! The report's figures: rates by slice, counts, distributions. Geometry is in
//! percent of a plot's width, so that the template can draw it at any width.

use serde::Serialize;

use finqa_core::stats::{Rate, percentile};

use super::list::{FACETS, FacetValue, QuestionList, rank};

/// Bars of a histogram.
const BINS: usize = 24;

/// FE over the questions of each value of a facet.
#[derive(Debug, Serialize)]
pub(super) struct FacetRates {
    facet: &'static str,
    title: &'static str,
    slices: Vec<FacetRate>,
}

/// One value of a facet.
#[derive(Debug, Serialize)]
struct FacetRate {
    value: String,
    /// Questions, those without gold too.
    count: usize,
    /// `count` in percent of the largest.
    width: f64,
    rate: Option<Rate>,
}

impl FacetRates {
    /// The slices of a facet; `None` if no question has a value.
    pub(super) fn of(facet: &'static str, list: &QuestionList) -> Option<Self> {
        let (_, title) = FACETS.iter().find(|(key, _)| *key == facet)?;
        let mut values: Vec<&FacetValue> = list.values(facet).iter().collect();
        // Numbers by size, words by alphabet.
        values.sort_unstable_by_key(|value| (rank(&value.name), &value.name));
        let largest = values.iter().map(|value| value.count).max()?;
        let slices = values.into_iter().map(|value| FacetRate {
            value: value.name.clone(),
            count: value.count,
            width: percent(value.count, largest),
            rate: value.right.rate(),
        });
        let slices = slices.collect();
        Some(Self {
            facet,
            title,
            slices,
        })
    }

    /// As [`FacetRates::of`], the most frequent first.
    pub(super) fn by_count(facet: &'static str, list: &QuestionList) -> Option<Self> {
        let mut slices = Self::of(facet, list)?;
        slices
            .slices
            .sort_by_key(|slice| std::cmp::Reverse(slice.count));
        Some(slices)
    }

    /// True if there is more than one value to compare.
    pub(super) fn differ(&self) -> bool {
        self.slices.len() > 1
    }
}

/// The distribution of a quantity over the questions.
#[derive(Debug, Serialize)]
pub(super) struct Histogram {
    /// Equal widths are equal ratios.
    logarithmic: bool,
    bins: Vec<Bin>,
    ticks: Vec<AxisMark>,
    quantiles: Vec<AxisMark>,
    most: usize,
    n: usize,
    sum: f64,
    mean: f64,
}

#[derive(Debug, Serialize)]
struct Bin {
    from: f64,
    to: f64,
    count: usize,
    x: f64,
    width: f64,
    height: f64,
}

#[derive(Debug, Serialize)]
struct AxisMark {
    name: String,
    value: f64,
    x: f64,
}

impl Histogram {
    /// `None` without values, and where all are 0: that says nothing.
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let (first, last) = (*values.first()?, *values.last()?);
        if last <= 0.0 {
            return None;
        }
        let positive = values.iter().copied().find(|value| *value > 0.0)?;
        let logarithmic = last / positive > 50.0 && percentile(&values, 0.5) * 8.0 < last;
        // Values below a millionth of the longest are drawn alike.
        let floor = positive.max(last / 1e6);
        let scale = |value: f64| {
            if logarithmic {
                value.max(floor).ln()
            } else {
                value
            }
        };
        let unscale = |x: f64| if logarithmic { x.exp() } else { x };
        let (low, high) = if logarithmic {
            (scale(first), scale(last))
        } else {
            (first.min(0.0), last)
        };
        let span = if high > low { high - low } else { 1.0 };
        let place = |value: f64| 100.0 * (scale(value) - low) / span;
        let mut counts = vec![0_usize; BINS];
        for value in &values {
            let share = (scale(*value) - low) / span;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share from 0 to 1 of a few bins"
            )]
            let at = ((share * BINS as f64) as usize).min(BINS - 1);
            if let Some(count) = counts.get_mut(at) {
                *count += 1;
            }
        }
        let most = counts.iter().copied().max().unwrap_or(1).max(1);
        let edge = |at: usize| unscale(low + span * at as f64 / BINS as f64);
        let bins = counts
            .into_iter()
            .enumerate()
            .map(|(at, count)| Bin {
                from: edge(at),
                to: edge(at + 1),
                count,
                x: percent(at, BINS),
                width: 100.0 / BINS as f64,
                height: percent(count, most),
            })
            .collect();
        let ticks = (0..=4)
            .map(|at| {
                let value = edge(at * BINS / 4);
                AxisMark {
                    name: short(value),
                    value,
                    x: 25.0 * at as f64,
                }
            })
            .collect();
        let quantiles = [("P50", 0.5), ("P95", 0.95)]
            .map(|(name, q)| {
                let value = percentile(&values, q);
                AxisMark {
                    name: name.to_owned(),
                    value,
                    x: place(value),
                }
            })
            .into();
        let sum: f64 = values.iter().sum();
        Some(Self {
            logarithmic,
            bins,
            ticks,
            quantiles,
            most,
            n: values.len(),
            sum,
            mean: sum / values.len() as f64,
        })
    }
}

/// A part of a bar: answers of one reason or cause, or pairs of answers that are marked alike.
#[derive(Serialize)]
pub(super) struct BarPart {
    pub name: String,
    /// The facet that shows them, if there is one.
    pub facet: Option<&'static str>,
    pub class: &'static str,
    /// From 0, the strongest, to 4.
    pub shade: usize,
    pub count: usize,
    /// In percent of the bar's width.
    pub x: f64,
    pub width: f64,
}

/// `part` in percent of `whole`.
pub(super) fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// A quantity in three digits.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    let decimals = if size >= 100.0 {
        0
    } else if size >= 10.0 {
        1
    } else if size >= 1.0 {
        2
    } else if size >= 0.01 {
        3
    } else if size >= 0.0001 {
        5
    } else {
        7
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_every_value_once_and_knows_its_quantiles() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        let histogram = Histogram::of(values.into_iter()).unwrap();
        let counted: usize = histogram.bins.iter().map(|bin| bin.count).sum();
        assert_eq!((counted, histogram.n), (1000, 1000));
        assert!(!histogram.logarithmic);
        assert!((histogram.quantiles[0].value - 500.5).abs() < 1.0);
        assert!(histogram.quantiles[1].x > histogram.quantiles[0].x);
    }

    #[test]
    fn a_long_tail_is_drawn_by_ratios_and_stays_within_the_plot() {
        let values = [0.0, 0.001, 0.002, 0.002, 0.003, 40.0];
        let histogram = Histogram::of(values.into_iter()).unwrap();
        assert!(histogram.logarithmic);
        let inside = |x: f64| (-1e-9..=100.0 + 1e-9).contains(&x);
        assert!(histogram.quantiles.iter().all(|mark| inside(mark.x)));
        assert_eq!(histogram.bins.iter().map(|bin| bin.count).sum::<usize>(), 6);
    }

    #[test]
    fn nothing_to_draw_is_nothing() {
        assert!(Histogram::of(std::iter::empty()).is_none());
        assert!(Histogram::of([0.0, 0.0].into_iter()).is_none());
        assert!(Histogram::of([f64::NAN].into_iter()).is_none());
        assert_eq!(Histogram::of([2.0].into_iter()).unwrap().n, 1);
    }

    #[test]
    fn quantities_are_short() {
        let cases = [
            (0.0, "0"),
            (0.023_456, "0.023"),
            (12.34, "12.3"),
            (1234.5, "1234"),
            (0.000_12, "0.00012"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }
}
