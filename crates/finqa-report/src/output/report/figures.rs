//! The report's figures: rates and counts by facet. Positions and widths are in percent of a plot's
//! width, so that the template can draw it at any width.

use serde::Serialize;

use finqa_core::stats::Rate;
use finqa_core::text::{self, grouped};

use super::list::{FACETS, ReportQuestions, rank};

/// The rate by financial equivalence for each value of a facet.
#[derive(Debug, Serialize)]
pub(super) struct FacetRates {
    facet: &'static str,
    title: &'static str,
    slices: Vec<FacetRate>,
}

#[derive(Debug, Serialize)]
struct FacetRate {
    value: String,
    /// Number of questions, including those without gold.
    count: usize,
    /// `count` in percent of the largest count.
    width: f64,
    rate: Option<Rate>,
}

impl FacetRates {
    /// The rates of a facet. Numbers are sorted by size, other words in alphabetical order. `None`
    /// if no question has a value.
    pub(super) fn of(facet: &'static str, list: &ReportQuestions) -> Option<Self> {
        let (_, title) = FACETS.iter().find(|(key, _)| *key == facet)?;
        let mut values: Vec<_> = list.values(facet).collect();
        values.sort_by_key(|(name, _)| rank(name));
        let largest = values.iter().map(|(_, value)| value.count).max()?;
        let slices = values.into_iter().map(|(name, value)| FacetRate {
            value: name.clone(),
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

    /// Like [`FacetRates::of`], but with the most frequent value first. On a tie, its order remains.
    pub(super) fn by_count(facet: &'static str, list: &ReportQuestions) -> Option<Self> {
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

/// A part of a bar: the answers that share a reason or a cause.
#[derive(Serialize)]
pub(super) struct BarPart {
    pub name: String,
    /// The facet by which the list is filtered to show these answers.
    pub facet: &'static str,
    pub class: &'static str,
    /// The shade of the colour, from 0 (the strongest) to 4.
    pub shade: usize,
    pub count: usize,
    /// The start of the part, in percent of the bar's width.
    pub x: f64,
    pub width: f64,
}

/// `part` in percent of `whole`.
pub(super) fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// A number with about three significant digits.
pub(super) fn short(value: f64) -> String {
    let bounds = [(100.0, 0), (10.0, 1), (1.0, 2), (0.01, 3), (0.0001, 5)];
    let decimals = bounds.iter().find(|(least, _)| value.abs() >= *least);
    let decimals = decimals.map_or(7, |(_, decimals)| *decimals);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A time in seconds as text, with about three significant digits and a unit.
pub(super) fn seconds(value: f64) -> String {
    if value < 0.1 {
        format!("{} ms", short(1000.0 * value))
    } else {
        format!("{} s", short(value))
    }
}

/// A count with its noun, with commas between the thousands.
pub(super) fn counted(count: u64, noun: &str) -> String {
    let plain = text::counted(count, noun);
    let nouns = plain.split_once(' ').map_or("", |(_, nouns)| nouns);
    format!("{} {nouns}", grouped(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of one question said "1 questions on 1 pages".
    #[test]
    fn one_is_in_the_singular_and_thousands_have_commas() {
        assert_eq!(counted(1, "question"), "1 question");
        assert_eq!(counted(1_234, "model call"), "1,234 model calls");
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
        assert_eq!([0.00114, 1.5].map(seconds), ["1.14 ms", "1.5 s"]);
    }
}
