//! Questions about a table of the user's own, read by its labels alone: an answer counts only
//! if every word of the question is a label, a period, or an operation. All other questions
//! are left to the ranked candidates.
//!
//! The dataset's pages are not read this way: their questions name rows loosely, and the
//! weights learn what they mean.

pub(crate) use scales::aligned;

mod asked_spans;
mod axis;
mod calendar;
mod changes;
mod comparisons;
mod compute;
mod figure_list;
mod figures;
mod follow_up;
mod keys;
mod labels;
mod periods;
mod phrase;
mod scales;
mod shares;
mod terms;
mod values;
mod which;

use crate::offline::expr::Expr;
use crate::offline::question::operations::is_operation;
use crate::offline::reading::facts::Facts;
use crate::offline::reading::words::is_weak;
use finqa_core::number::UnitKind;

use axis::label_words;
use labels::LabelledTable;
use phrase::AskedPhrase;
use values::{DirectReader, NoReading, Reading};

/// An answer from labels.
#[derive(Clone, Debug)]
pub(crate) struct DirectAnswer {
    /// The operation, for people.
    pub(crate) name: &'static str,
    pub(crate) expr: Expr,
    pub(crate) kind: UnitKind,
    /// The label that answers, where no number does.
    pub(crate) label: Option<String>,
    /// Why it is a guess, if so.
    pub(crate) doubt: Option<String>,
}

impl DirectAnswer {
    fn new(name: &'static str, expr: Expr, kind: UnitKind) -> Self {
        Self {
            name,
            expr,
            kind,
            label: None,
            doubt: None,
        }
    }
}

/// What the labels say to a question.
#[derive(Clone, Debug)]
pub(crate) enum DirectReading {
    Answer(DirectAnswer),
    /// The page lacks what the question asks for, or has it several times.
    Missing(String),
    /// What it asks for does not exist, such as a rate of growth from a loss.
    Undefined {
        why: String,
        /// Why even that is a guess, if so.
        doubt: Option<String>,
    },
    /// The labels alone do not answer it.
    Open,
}

/// A question on its page, and whether it can be understood without earlier ones.
pub(crate) struct DirectQuestion<'a> {
    reader: DirectReader<'a>,
    /// It names what it asks for.
    pub(crate) complete: bool,
    /// Why an answer from the table alone is a guess: only the text has what is asked for.
    pub(crate) text_only: Option<String>,
}

impl<'a> DirectQuestion<'a> {
    /// A question after earlier ones; one that changes a part of the last is read in full.
    pub(crate) fn new(facts: &'a Facts, question: &str, earlier: &[&str]) -> Self {
        let table = LabelledTable::read(facts);
        let full = follow_up::in_full(&table, earlier, question);
        let asked = AskedPhrase::read(&table, full.as_deref().unwrap_or(question));
        let complete = is_complete(&table, &asked);
        let text_only = text_only(&table, &asked);
        let reader = DirectReader {
            table,
            asked,
            doubts: Vec::new(),
        };
        Self {
            reader,
            complete,
            text_only,
        }
    }

    pub(crate) fn read(mut self) -> DirectReading {
        match self.reader.answer() {
            Ok(answer) => {
                let mut answer = answer.with_fractions();
                answer.expr = scales::aligned(self.reader.table.facts, answer.expr);
                answer.doubt = self.reader.doubts.into_iter().next();
                answer.doubt = answer.doubt.or(self.text_only);
                DirectReading::Answer(answer)
            }
            Err(NoReading::Missing(why) | NoReading::Several(why)) => DirectReading::Missing(why),
            Err(NoReading::Undefined(why)) => DirectReading::Undefined {
                why,
                doubt: self.reader.doubts.into_iter().next(),
            },
            Err(NoReading::Open) => DirectReading::Open,
        }
    }
}

/// The doubt that the page has what a question names in its text only: a word of it, or in
/// full the label of a row of another table.
fn text_only(table: &LabelledTable<'_>, asked: &AskedPhrase) -> Option<String> {
    let words = asked.operand(table, asked.text(), &[]).words;
    let mut unknown = words.iter().filter(|word| {
        word.chars().all(char::is_alphabetic)
            && table.facts.vocabulary.get(word).is_some()
            && !values::is_loose(word)
            && !is_operation(word)
            && !is_weak(word)
            && !table.means(word)
    });
    if let Some(word) = unknown.next() {
        let word = asked.wording.spelled(word);
        return Some(format!("the table does not mention {word:?}"));
    }
    let known: Vec<&String> = words.iter().filter(|word| table.knows(word)).collect();
    let named = |label: &[String]| {
        label.len() == known.len() && known.iter().all(|word| label.contains(word))
    };
    let of_table = table.rows.iter().any(|row| named(&row.words));
    let mut rows = table
        .facts
        .sentences
        .iter()
        .filter_map(|sentence| sentence.text.split_once(" : "));
    let row = rows.find(|(label, _)| !of_table && !known.is_empty() && named(&label_words(label)));
    row.map(|(label, _)| format!("another table has the row {label:?}"))
}

/// Whether a question names a row or column and says for when, and refers to nothing before.
fn is_complete(table: &LabelledTable<'_>, asked: &AskedPhrase) -> bool {
    let wording = &asked.wording;
    let elliptical = wording.starts(&follow_up::ELLIPTICAL);
    let refers = wording.says(&[
        "that", "this", "those", "these", "it", "them", "they", "its", "their",
    ]);
    let dated = !asked.spans().is_empty() || table.periods.len() < 2;
    let over_all = wording.extreme().is_some()
        || wording.says(&["median", "average", "when"])
        || wording.periods_named().is_some();
    !elliptical && !refers && asked.names_label(table) && (dated || over_all)
}

impl DirectReader<'_> {
    /// The first operation that the question asks for and whose parts it names.
    fn answer(&mut self) -> Reading<DirectAnswer> {
        let wording = &self.asked.wording;
        if wording.says(&["over quarter", "over month"]) {
            return Err(NoReading::Open);
        }
        let units = [
            "in dollars",
            "in usd",
            "in euros",
            "in eur",
            "in millions",
            "in thousands",
            "in billions",
            "in million",
            "in thousand",
            "in billion",
        ];
        let beyond = wording.says(&[
            "if",
            "would",
            "expected",
            "forecast",
            "deviation",
            "correlation",
            "why",
            "who",
            "where",
            "whether",
        ]);
        if wording.says(&units) || beyond {
            return Err(NoReading::Open);
        }
        if wording.asks_yes_no() {
            return self.comparison();
        }
        if wording.starts(&[
            "which",
            "in which",
            "what year",
            "in what",
            "when",
            "what quarter",
            "what month",
            "during which",
            "for which",
        ]) {
            return self.which();
        }
        if wording.compound() {
            return self.compound();
        }
        if wording.says(&["median"]) {
            return self.median();
        }
        self.lacks_figure()?;
        if let Some(answer) = self.product()? {
            return Ok(answer);
        }
        if self.says_complement() {
            return self.complement();
        }
        if self.says_ratio() {
            return self.ratio();
        }
        if self.says_change() {
            return self.change();
        }
        if self.says_average() {
            return self.average();
        }
        if self.asked.wording.extreme().is_some() {
            return self.extreme();
        }
        if self.says_sum() {
            return self.total();
        }
        self.doubt_count();
        self.look_up()
    }
}
