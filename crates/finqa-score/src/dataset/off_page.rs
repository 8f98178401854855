//! Finds figures of gold programs that are not on their page. For `data check`.

use std::collections::HashSet;
use std::sync::Arc;

use finqa_agents::pair::verify::unsupported_literals;
use finqa_core::program::Program;

use super::{Case, Dataset, HistoryEntry, Question, QuestionKey, Record};

/// The figures of gold programs that are neither constants nor on the page, in the texts of the
/// questions or among the golds of earlier turns, in file order. A figure is listed once for each
/// record, with the first question whose program has it.
pub fn figures_off_page(dataset: &Dataset) -> Vec<(QuestionKey, String)> {
    dataset.records.iter().flat_map(of_record).collect()
}

fn of_record(record: &Record) -> Vec<(QuestionKey, String)> {
    // A clone is dropped here with its parsed page. The page of the record itself would stay in
    // memory.
    let document = Arc::new((*record.document).clone());
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let mut add = |case: &Case, texts: &str, history: &[HistoryEntry]| {
        let program = case.gold.program.as_deref();
        let Some(program) = program.and_then(|text| Program::parse(text).ok()) else {
            return;
        };
        let question = Question {
            document: Arc::clone(&document),
            text: texts.to_owned(),
            history: history.to_vec(),
            ..case.question.clone()
        };
        for figure in unsupported_literals(&question, &program) {
            if seen.insert(figure.clone()) {
                found.push((case.question.key.clone(), figure));
            }
        }
    };
    for case in &record.questions {
        add(case, &case.question.text, &[]);
    }
    let mut texts = String::new();
    let mut history: Vec<HistoryEntry> = Vec::new();
    for case in &record.turns {
        // A figure that an earlier question states counts as stated for the later turns.
        texts.push(' ');
        texts.push_str(&case.question.text);
        add(case, &texts, &history);
        history.push(case.as_gold_history());
    }
    found
}
