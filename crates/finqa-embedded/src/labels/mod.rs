//! Questions about a table of the user's own, read by its labels alone: an answer counts only
//! if every word of the question is a label, a period, or an operation. All other questions
//! are left to the ranked candidates.
//!
//! The dataset's pages are not read this way: their questions name rows loosely, and the
//! weights learn what they mean.

pub(crate) use scales::aligned;

mod asked_spans;
mod axis;
mod changes;
mod comparisons;
mod compute;
mod counting;
mod figure_list;
mod figures;
mod follow_up;
mod keys;
mod lines;
mod periods;
mod phrase;
mod quantities;
mod scales;
mod shares;
mod terms;
mod values;
mod which;

use crate::expr::Expr;
use crate::question::operations::is_operation;
use crate::reading::facts::Facts;
use crate::reading::words::is_weak;
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

use axis::label_words;
use compute::{SPANNING, per};
use finqa_core::page::period::CalendarSpan;
use lines::LabelledTable;
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

    fn number(name: &'static str, expr: Expr) -> Self {
        Self::new(name, expr, UnitKind::Number)
    }

    fn percent(name: &'static str, expr: Expr) -> Self {
        Self::new(name, expr, UnitKind::Percent)
    }

    /// A percentage of a figure as the fraction that percentages are.
    fn with_fractions(self) -> Self {
        let points = ["change", "difference"].contains(&self.name);
        match fraction(&self.expr).filter(|_| !points && self.label.is_none()) {
            Some(expr) => Self {
                expr,
                kind: UnitKind::Percent,
                ..self
            },
            None => self,
        }
    }
}

/// A result times 100, sums and averages of such results, without the factor.
fn fraction(expr: &Expr) -> Option<Expr> {
    let hundred = |expr: &Expr| expr.is_constant() && expr.number() == Some(100.0);
    match expr {
        Expr::Step(Op::Multiply, a, b) if hundred(b) => Some((**a).clone()),
        Expr::Step(op @ (Op::Add | Op::Subtract), a, b) => {
            Some(Expr::step(*op, fraction(a)?, fraction(b)?))
        }
        Expr::Step(Op::Divide, a, b) if b.is_constant() => {
            Some(Expr::step(Op::Divide, fraction(a)?, (**b).clone()))
        }
        _ => None,
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
                self.reader.doubt_unread(&answer);
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

/// Currencies that an answer is asked for in.
const CURRENCIES: [&str; 4] = ["in dollars", "in usd", "in euros", "in eur"];

/// Words of questions that no figure of a table answers.
const BEYOND: [&str; 10] = [
    "if", "would", "expected", "forecast", "deviation", "correlation", "why", "who", "where",
    "whether",
];

/// How questions for a label begin.
const WHICH: [&str; 9] = [
    "which", "in which", "what year", "in what", "when", "what quarter", "what month",
    "during which", "for which",
];

/// Words that limit or relate a figure, and that only some operations read.
const RELATING: [&str; 12] = [
    "over", "under", "above", "below", "beyond", "than", "per", "within", "versus", "vs",
    "against", "between",
];

/// Periods that depend on the day of the question.
const RELATIVE_TIMES: [&str; 12] = [
    "last year", "last quarter", "last month", "last week", "previous year", "previous quarter",
    "previous month", "following year", "following quarter", "following month", "this year",
    "years ago",
];

impl DirectReader<'_> {
    /// The first operation that the question asks for and whose parts it names.
    fn answer(&mut self) -> Reading<DirectAnswer> {
        let wording = &self.asked.wording;
        // A ratio of amounts in different scales is in units.
        let per_one = per(self.asked.text()).is_some();
        let money = wording.says(&CURRENCIES) && !per_one;
        if money || wording.of_all().scale.is_some() || wording.says(&BEYOND) {
            return Err(NoReading::Open);
        }
        if wording.asks_yes_no() {
            return self.comparison();
        }
        let of_item = wording.starts(&["what is the", "what was the", "what's the"]);
        if wording.starts(&WHICH) || of_item && self.superlative_noun().is_some() {
            return self.which();
        }
        if wording.compound() {
            return self.compound();
        }
        if wording.says(&["median"]) {
            return self.median();
        }
        if let Some(count) = self.row_count()? {
            return Ok(count);
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

    /// A doubt if the answer does not account for a word that changes what is asked for.
    fn doubt_unread(&mut self, answer: &DirectAnswer) {
        let wording = &self.asked.wording;
        let time = RELATIVE_TIMES
            .into_iter()
            .find(|time| wording.says(&[time]));
        if let Some(time) = time.filter(|_| self.asked.spans().is_empty()) {
            self.doubt(format!("the page does not say what {time:?} is"));
        }
        let seasons = self.table.periods.iter().any(|span| span.season);
        let bare = |span: &&CalendarSpan| span.months.is_none() && !span.season;
        let year = self.asked.spans().iter().find(bare).filter(|_| seasons);
        if let Some(year) = year.copied() {
            self.doubt(format!("{year} is a part of two seasons"));
        }
        self.doubt_length(answer);
        let wording = &self.asked.wording;
        let of_labels = [
            "look-up", "sum", "extreme", "label of the extreme", "average", "median",
        ];
        let over_time = self.asked.spans_through()
            || self.asked.spans().len() > 1
            || wording.says(&SPANNING)
            || wording.periods_named().is_some();
        let mean = answer.name == "average";
        let unread = RELATING
            .into_iter()
            .find(|word| wording.says(&[word]) && !(mean && *word == "per"));
        if let Some(word) = unread.filter(|_| of_labels.contains(&answer.name) && !over_time) {
            self.doubt(format!("the word {word:?} is not understood here"));
        }
    }
}
