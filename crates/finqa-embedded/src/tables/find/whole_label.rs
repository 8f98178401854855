//! Answers questions that repeat a whole label of a primary statement: "What was the net change in
//! cash in 2024?". The words of the label are not interpreted, so "change" is not an operation
//! here.

use std::ops::Range;

use finqa_core::page::period::Period;
use finqa_core::pattern;
use finqa_core::text::Pattern;

use super::keep;
use crate::reading::cues::Cue;
use crate::tables::page::Tables;
use crate::tables::page::table::{Place, ReportRow};
use crate::tables::question::operand::Operand;
use crate::tables::question::operands::{has, operand, says};
use crate::tables::question::request::{Asked, Operation};
use crate::tables::question::token::{Token, TokenRole};
use crate::tables::question::{self, follow_up};
use crate::tables::words::{brackets, lists, plain_stems, same_word};

/// Words that a question can add inside of a label: "debt that is due within one year".
const INSIDE: &str = "a an the that which is are was were";

/// Words with which a question leads to the section of a row: "under operating activities".
const LEADS: &str = "under within below section heading";

static WORD: Pattern = pattern!(r"[\p{Alphabetic}\p{N}]+");

/// The words of a text in lower case without punctuation, each with its place in bytes.
fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let words = WORD.find_iter(text);
    let words = words.map(|word| (word.range(), word.as_str().to_lowercase()));
    words.collect()
}

/// The words of a label, once with and once without what is in its brackets.
fn spellings(printed: &str) -> impl Iterator<Item = Vec<String>> {
    let spelled = |text: &str| words(text).into_iter().map(|(_, word)| word).collect();
    [spelled(printed), spelled(&brackets(printed).0)].into_iter()
}

/// The place where a text has the words of a label in order; `None` without one.
fn find(text: &[(Range<usize>, String)], label: &[String]) -> Option<Range<usize>> {
    let first = label.first()?;
    (0..text.len()).find_map(|at| {
        let rest = text.get(at..)?.iter();
        let (start, _) = rest.clone().next().filter(|(_, word)| word == first)?;
        let mut words = rest.filter(|(_, word)| label.contains(word) || !lists(INSIDE, word));
        let mut end = start.end;
        for own in label {
            let (range, _) = words.next().filter(|(_, word)| word == own)?;
            end = range.end;
        }
        Some(start.start..end)
    })
}

impl Tables {
    /// Reads a question that repeats a label and adds at most a period, the statement or the
    /// section. `None` for other questions.
    pub(crate) fn whole_label(&self, question: &str) -> Option<Asked> {
        let text = words(question);
        let statements = self.tables.iter().filter(|table| table.statement.is_some());
        let rows = statements.flat_map(|table| {
            let rows = table.body();
            rows.map(move |(row, read)| (table.place(row, 0), read))
        });
        let rows: Vec<(Place, &ReportRow)> = rows.collect();
        let mut labels: Vec<(Range<usize>, Vec<String>)> = (rows.iter())
            .filter(|(_, row)| row.cells.iter().any(Option::is_some))
            .flat_map(|(_, row)| spellings(&row.printed))
            .filter_map(|label| Some((find(&text, &label)?, label)))
            .collect();
        // The longest first, because it can contain a shorter one.
        labels.sort_by(|(_, a), (_, b)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        labels.dedup();
        let mut labels = labels.into_iter();
        let of = labels.find_map(|(at, label)| self.of_label(question, at, &label, &rows))?;
        Some(Asked::new(Operation::Figure, vec![of]))
    }

    /// The figure that a question with a label at `at` asks for, with those of `rows` that it can
    /// mean. `None` if the question says more, or if these rows lack its periods.
    fn of_label(
        &self,
        question: &str,
        at: Range<usize>,
        label: &[String],
        rows: &[(Place, &ReportRow)],
    ) -> Option<Operand> {
        let rest = [question.get(..at.start)?, question.get(at.end..)?].join(" , ");
        let tokens = question::read(self, &rest);
        let beside = self.beside_label(&tokens)?;
        // "Assets and cash" are two figures, although the row "Cash" is in the section "Assets".
        if !beside.is_empty() && has(&tokens, &[Cue::And]) {
            return None;
        }
        // "Is net income up in 2031?" asks for its change.
        if says(&tokens, "up down") {
            return None;
        }
        let led = tokens.iter().any(|token| token.is_in(LEADS));
        let of = operand(&tokens, None)?;
        let exactly = |row: &ReportRow| row.section.iter().all(|own| beside.contains(own));
        let fits = |row: &ReportRow| {
            let says = |word: &String| row.section.iter().any(|own| same_word(own, word));
            // "Operating net income" is not "Net income" under "Operating activities", so the words
            // must be the whole section unless "under" or the like leads to it.
            let is_section = led || beside.is_empty() || exactly(row);
            spellings(&row.printed).any(|own| own == label) && beside.iter().all(says) && is_section
        };
        let mut found = rows.to_vec();
        found.retain(|(_, row)| fits(row));
        // "(Gains) losses" and "Gains (losses)" have the same words. Keep the rows whose printed
        // label is in the question.
        let lower = question.to_lowercase();
        keep(&mut found, |(_, row)| {
            lower.contains(&row.printed.trim().to_lowercase())
        });
        keep(&mut found, |(_, row)| !beside.is_empty() && exactly(row));
        // "Under current liabilities" does not mean those that are not current.
        let negates = |words: &[String]| words.iter().any(|word| word.starts_with("non"));
        keep(&mut found, |(_, row)| {
            beside.is_empty() || negates(&row.section) == negates(&beside)
        });
        let rows: Vec<Place> = found.into_iter().map(|(place, _)| place).collect();
        // If no row of this label has a figure in the period, the question may mean another name.
        let dated = |span: &Period| {
            let mut figures = rows.iter().flat_map(|row| self.figures_of(*row));
            figures.any(|one| self.fits(one.period, Some(*span)))
        };
        // "Net income in %" is not the amount.
        let other = of.through || of.both_terms || of.percent;
        if rows.is_empty() || other || !of.spans.iter().all(dated) {
            return None;
        }
        Some(Operand {
            rows,
            spans: of.spans,
            each: of.each,
            counts: of.counts,
            balance: of.balance,
            statement: of.statement,
            ..Operand::default()
        })
    }

    /// The stems of what a question says besides the label, except periods, the company's name and
    /// words such as "under". `tokens` lack the label. The words of a cue are included, so that a
    /// question for an operation fits only a section that names it. `None` if the question refers
    /// to an earlier one.
    fn beside_label(&self, tokens: &[Token]) -> Option<Vec<String>> {
        let stems = |token: &Token| match token.role {
            TokenRole::Word(_) | TokenRole::Name(..) => token.stems().to_vec(),
            TokenRole::Cue(_) => plain_stems(&token.text),
            _ => Vec::new(),
        };
        let beside = tokens.iter().filter(|token| !token.is_in(LEADS));
        let beside = beside.flat_map(stems);
        let named = beside.filter(|word| !self.weights.is_of_company(word));
        (!follow_up::is_elliptical(tokens)).then(|| named.collect())
    }
}
