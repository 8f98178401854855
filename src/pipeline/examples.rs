//! The worked examples of a run: the labelled stand-alone questions of the downloaded train
//! file. Gold becomes text here; `finqa_agents::prompt` never shows a question an example
//! of the same company.

use finqa_agents::pair::verify::LiteralPlaces;
use finqa_agents::prompt::{ExampleStore, WorkedExample};
use finqa_core::program::Program;

use crate::dataset::{self, Case, Source};

use super::PipelineError;

/// Reads the train file.
pub(super) fn store() -> Result<ExampleStore, PipelineError> {
    let source = Source::downloaded().ok_or(PipelineError::NoExamples)?;
    let records = dataset::load(&source)?.records;
    let examples = records.iter().flat_map(|record| {
        let cases = record.questions.iter();
        cases.filter_map(|case| Some((&*record.document, example(case)?)))
    });
    Ok(examples.collect())
}

/// A worked example from a question that has a program, with the places of its figures in
/// the table.
fn example(case: &Case) -> Option<WorkedExample> {
    let text = case.gold.program.as_deref()?;
    let program = Program::parse(text).ok()?;
    let question = &case.question;
    let places = LiteralPlaces::of(question);
    let table = &question.document.page().table;
    let label = |id: &str| {
        let (row, column) = id.strip_prefix('r')?.split_once('c')?;
        let row = table.rows().get(row.parse::<usize>().ok()?)?;
        let column = table.columns().get(column.parse::<usize>().ok()?)?;
        Some(format!("{}, {}", row.label, column.label))
    };
    let figures = program.literals().map(|literal| {
        let found = places.find(literal);
        match found.iter().find_map(|place| label(&place.id)) {
            Some(label) => format!("{literal} ({label})"),
            None => format!("{literal} (in a sentence)"),
        }
    });
    Some(WorkedExample {
        question: question.text.clone(),
        figures: figures.collect(),
        program: text.to_owned(),
    })
}
