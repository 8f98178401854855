//! The page of `compare`: the differences of two runs with their intervals, the causes of misses,
//! and the questions that only one of the runs answers right. `finqa_score::analysis` computes
//! them.

use std::path::Path;

use serde::Serialize;

use crate::output::staged::OutputError;
use crate::output::verdict::verdict_of_two;
use finqa_journal::run::short_id;
use finqa_score::analysis::{AnsweringRun, Answers, Comparison, RuleComparison};

use super::WrittenPage;

#[derive(Serialize)]
struct ComparisonView<'a> {
    comparison: &'a Comparison<'a>,
    names: [String; 2],
    headline: Option<&'a RuleComparison>,
    /// The verdict by the headline rule, in one sentence.
    verdict: String,
    /// Half of the width of the axis on which differences are drawn, in points.
    reach: f64,
}

/// Writes a page that compares the answers A and B. The file is written whole or not at all.
pub fn write_comparison(
    path: &Path,
    comparison: &Comparison<'_>,
    answers: [&Answers; 2],
) -> Result<(), OutputError> {
    let mut rules = comparison.rules.iter();
    let bounds = rules
        .clone()
        .flat_map(|rule| [rule.interval.low, rule.interval.high]);
    let widest = bounds.map(f64::abs).fold(0.0, f64::max);
    let headline = rules.find(|rule| rule.rule == comparison.rule);
    let names = answers.map(name);
    let page = WrittenPage {
        template: "compare.html",
        script: "",
        secret: &names.concat(),
    };
    let view = ComparisonView {
        comparison,
        verdict: verdict_of_two(comparison).unwrap_or_default(),
        headline,
        // The smallest multiple of ten points, from 10 to 100, that contains the widest interval.
        reach: 10.0 * (10.0 * widest).ceil().clamp(1.0, 10.0),
        names: names.clone(),
    };
    page.write(path, &view, None)
}

/// The name of one side: model and short id for a run, the file name for a file.
fn name(answers: &Answers) -> String {
    match (&answers.run, &answers.given_by) {
        (Some(id), Some(AnsweringRun { model, .. })) => {
            format!("{model} ({})", short_id(id))
        }
        _ => answers.path.file_name().map_or_else(
            || answers.path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        ),
    }
}
