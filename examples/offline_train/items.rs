//! The questions to train on, each with the gold of the turns before it.

use convfinqa::dataset::{Dataset, HistoryEntry, HistorySource, Question};
use finqa_agents::offline::RuleAnalyst;
use finqa_core::number::{Value, round5};
use finqa_core::program::official;

/// How many parts the pages are dealt into.
pub const FOLDS: usize = 5;

/// A question with the gold of the turns before it, and its gold program.
pub struct Item {
    pub question: Question,
    pub program: Option<String>,
    pub gold: Option<Value>,
    /// The first turn of its conversation, or a question by itself.
    pub first: bool,
    /// A question by itself.
    pub stand_alone: bool,
    pub fold: usize,
    /// Its page was met among the first records of its file.
    pub seen: bool,
}

impl Item {
    /// Whether a value is the gold.
    pub fn right(&self, value: &Value) -> bool {
        self.gold.as_ref() == Some(value)
    }

    /// What a program of this question's comes to, officially.
    pub fn value(&self, program: &str) -> Option<Value> {
        let table = &self.question.document.table;
        match official::evaluate(program, table, official::Dialect::ConvFinQa) {
            (true, value) => value,
            _ => None,
        }
    }
}

/// The questions of a file; pages of its first `split` records are marked as seen.
pub fn items(dataset: &Dataset, split: usize) -> Vec<Item> {
    let seen: Vec<&str> = dataset
        .records
        .iter()
        .take(split)
        .map(|record| record.document.filename.as_str())
        .collect();
    let mut out = Vec::new();
    for record in &dataset.records {
        let page = record.document.filename.as_str();
        let byte = blake3::hash(page.as_bytes()).as_bytes().first().copied();
        for cases in [&record.questions, &record.turns] {
            let mut history = Vec::new();
            for case in cases {
                let mut question = case.question.clone();
                let stand_alone = question.key.part.starts_with("qa");
                if !stand_alone {
                    question.history.clone_from(&history);
                }
                history.push(HistoryEntry {
                    question: question.text.clone(),
                    value: case.gold.exe_ans.clone(),
                    program: case.gold.program.clone(),
                    label: None,
                    source: HistorySource::Gold,
                });
                out.push(Item {
                    first: question.history.is_empty(),
                    question,
                    program: case.gold.program.clone(),
                    gold: case.gold.exe_ans.clone(),
                    stand_alone,
                    fold: usize::from(byte.unwrap_or(0)) % FOLDS,
                    seen: seen.contains(&page),
                });
            }
        }
    }
    out
}

/// A conversation turn over our own history, as the solver answers it.
pub struct Answered<'a> {
    pub item: &'a Item,
    /// With its own earlier answers as history.
    pub question: Question,
    pub right: bool,
    pub signals: Vec<f64>,
}

/// Answers the items in order, each over the solver's own history.
pub fn converse<'a>(solver: &RuleAnalyst, items: &[&'a Item]) -> Vec<Answered<'a>> {
    let mut own: Vec<HistoryEntry> = Vec::new();
    let mut out = Vec::new();
    for item in items {
        if item.first {
            own.clear();
        }
        let mut question = item.question.clone();
        question.history.clone_from(&own);
        let page = solver.index(&question.document);
        let guess = solver.answer(&page, &question);
        let program = guess.as_ref().map(|g| g.program.clone());
        let value = program.as_deref().and_then(|p| item.value(p));
        let rounded = |v: &Value| v.number().map_or(v.clone(), |x| Value::Number(round5(x)));
        own.push(HistoryEntry {
            question: question.text.clone(),
            value: value.as_ref().map(rounded),
            program,
            label: None,
            source: HistorySource::Own,
        });
        out.push(Answered {
            item,
            question,
            right: value.as_ref().is_some_and(|v| item.right(v)),
            signals: guess.map(|g| g.signals).unwrap_or_default(),
        });
    }
    out
}
