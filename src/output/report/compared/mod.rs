//! Two runs side by side, as a page: differences with their intervals, and the
//! questions in pairs with both answers and programs.
//!
//! It decides nothing: what differs and why is `analysis`'s.

mod pairs;
mod view;

use std::path::Path;

use crate::analysis::{Answers, Comparison};
use crate::output::staged::OutputError;

use super::WrittenPage;

/// Writes a page that compares the answers of A and B, whole or not at all.
pub(crate) fn write_comparison(
    path: &Path,
    comparison: &Comparison<'_>,
    answers: [&Answers; 2],
) -> Result<(), OutputError> {
    let pairs = pairs::listed_pairs(comparison);
    let names = answers.map(view::name);
    let view = view::ComparisonView::of(comparison, &names, &pairs);
    let elements = pairs::elements(&pairs, &names);
    let elements = elements.map_err(OutputError::at(path))?;
    WrittenPage {
        template: "compare.html",
        script: super::COMPARE_SCRIPT,
        secret: &uuid::Uuid::new_v4().to_string(),
    }
    .write(path, &view, elements)
}
