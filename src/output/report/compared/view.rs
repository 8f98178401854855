//! The template's data above the list of pairs.

use serde::Serialize;

use crate::analysis::{Answers, Comparison, RuleComparison};

use super::super::figures::{BarPart, percent};
use super::pairs::{ListedPair, pair_class};

/// Everything that the template prints.
#[derive(Serialize)]
pub(super) struct ComparisonView<'a> {
    comparison: &'a Comparison<'a>,
    names: &'a [String; 2],
    headline: Option<&'a RuleComparison>,
    /// Half the width of the differences' axis, in points.
    reach: f64,
    ways: Vec<BarPart>,
}

impl<'a> ComparisonView<'a> {
    pub(super) fn of(
        comparison: &'a Comparison<'a>,
        names: &'a [String; 2],
        pairs: &[ListedPair<'_>],
    ) -> Self {
        let mut rules = comparison.rules.iter();
        let bounds = rules
            .clone()
            .flat_map(|rule| [rule.interval.low, rule.interval.high]);
        let widest = bounds.map(f64::abs).fold(0.0, f64::max);
        Self {
            comparison,
            names,
            headline: rules.find(|rule| rule.rule == comparison.rule),
            // A whole number of tens holds the widest interval.
            reach: 10.0 * (10.0 * widest).ceil().clamp(1.0, 10.0),
            ways: ways(pairs),
        }
    }
}

/// A run by its model and the start of its id, a file by its name.
pub(super) fn name(answers: &Answers) -> String {
    match (&answers.run, &answers.model) {
        (Some(id), Some(model)) => {
            // The end of an id tells runs of one minute apart.
            let short = id.rsplit('-').next().unwrap_or(id);
            format!("{model} ({})", short.get(..6).unwrap_or(short))
        }
        _ => answers.path.file_name().map_or_else(
            || answers.path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        ),
    }
}

fn ways(pairs: &[ListedPair<'_>]) -> Vec<BarPart> {
    let judged: Vec<(bool, bool)> = pairs.iter().filter_map(ListedPair::marks).collect();
    let mut x = 0.0;
    [
        ((true, true), "right", 3),
        ((false, true), "right", 0),
        ((true, false), "wrong", 0),
        ((false, false), "wrong", 3),
    ]
    .into_iter()
    .map(|(marks, class, shade)| {
        let count = judged.iter().filter(|found| **found == marks).count();
        let width = percent(count, judged.len());
        x += width;
        BarPart {
            name: pair_class(marks).to_owned(),
            facet: None,
            class,
            shade,
            count,
            x: x - width,
            width,
        }
    })
    .filter(|way| way.count > 0)
    .collect()
}
