//! Questions about tables, read by their labels: the one table of a page of the user's own, or
//! those of a report or of an excerpt of one.
//!
//! Of a plain table, an answer counts only if every word of the question is of a label, a period
//! or an operation; all other questions are left to the ranked candidates. Of a report, the
//! figures whose labels, sections, headings and periods fit best answer; they are sure if these
//! have all words of the question, and no other figure that fits as well differs.
//!
//! In the order of reading: `words`; `table`; `names`, with `concepts.txt`, and `operand`;
//! `fit`; `page`; `question` and its `phrases`; `asked`, the operation as data; `find`, from an
//! operand to a figure; `unread`; `series`; `compute`; `follow_up`.
//!
//! The dataset's pages are not read this way: their questions name rows loosely, and the
//! weights learn what they mean.

mod asked;
mod compute;
mod find;
mod fit;
mod follow_up;
mod names;
mod operand;
mod page;
mod phrases;
mod question;
mod series;
mod statements;
mod table;
mod unread;
pub(crate) mod words;

use finqa_core::question::Document;

use crate::expr::{Expr, PageLeaf};
use crate::reading::facts::Facts;
use asked::Asked;
pub(crate) use compute::DirectAnswer;
use find::FigureExpr;
pub(crate) use names::ways_to_say;
use page::Reading;
pub(crate) use page::{Doubt, Tables};
use question::RELATIVE_TIME;
use table::Place;

/// A table of a report that answers.
pub(crate) struct ReportPlace<'r> {
    /// The table by itself.
    pub(crate) document: &'r Document,
    /// The row of the page that it begins in.
    pub(crate) first_row: usize,
}

impl Tables {
    /// The answer that the tables give; `None` if the question can be understood only with
    /// earlier ones, and does not change a part of the last.
    pub(crate) fn answer(&self, question: &str, earlier: &[&str]) -> Option<Reading<DirectAnswer>> {
        // In full, if it changes a part of the one before.
        let mut before: Option<Option<Asked>> = None;
        for text in earlier.iter().chain([&question]) {
            let tokens = question::read(self, text);
            let dated = self.is_plain() && self.periods_of(0).len() > 1;
            let complete = follow_up::is_complete(&tokens, dated, |word| self.says(word));
            let leaning = before
                .as_ref()
                .filter(|_| !complete)
                .and_then(Option::as_ref);
            let completed = leaning.and_then(|before| {
                follow_up::completed(before, &tokens, |new, old| self.is_alike(new, old))
            });
            before = match completed {
                Some(completed) => Some(Some(completed)),
                None if complete || earlier.is_empty() || !self.is_plain() => {
                    let asked = asked::read(&tokens, self.is_plain());
                    let guess = || (!self.is_plain()).then(|| asked::guess(&tokens));
                    Some(asked.or_else(guess))
                }
                None => None,
            };
        }
        let Some(asked) = before? else {
            return Some(Err(Doubt::Open));
        };
        if self.tables.iter().all(|table| table.rows.is_empty()) {
            let why = "the page has no table with figures".to_owned();
            return Some(Err(Doubt::InText(why)));
        }
        let mut answer = self.compute(&asked);
        if let (Err(why), false) = (&answer, self.is_plain()) {
            let of = asked.operands.first()?;
            let guess = self
                .figure(of, None, None)
                .map(|found| self.look_up(found, of));
            answer = guess.map(|guess| DirectAnswer {
                doubt: Some(why.clone()),
                ..guess
            });
        }
        if let Ok(answer) = &mut answer {
            self.print(&mut answer.expr);
        }
        let lower = question.to_lowercase();
        if let (Ok(answer), Some(time)) = (&mut answer, RELATIVE_TIME.find(&lower))
            && let Some(table) = place_of(&answer.expr).and_then(|place| self.table(place))
        {
            let heads: Vec<&str> = table
                .columns
                .iter()
                .skip(1)
                .map(|one| one.printed.as_str())
                .collect();
            let time = time.as_str();
            let why = format!("{time:?} may be any of {}", heads.join("; "));
            answer.doubt = Some(Doubt::Missing(why));
        }
        Some(answer)
    }

    /// Where an answer is on the page of a report.
    pub(crate) fn place(&self, answer: &DirectAnswer) -> Option<ReportPlace<'_>> {
        let place = place_of(&answer.expr)?;
        Some(ReportPlace {
            document: self.alone.get(place.table)?,
            first_row: self.tables.get(place.table)?.first_row,
        })
    }
}

impl DirectAnswer {
    /// Its expression over the facts of its table.
    pub(crate) fn expr(&self, facts: &Facts) -> Option<Expr> {
        let fact = |place: Place| {
            let cell = Some((place.row, place.column));
            facts.all.iter().position(|fact| fact.cell() == cell)
        };
        let expr = self
            .expr
            .with_sources(&mut |source: &Option<Place>| source.and_then(fact));
        let known = |leaf: &&PageLeaf| leaf.source.is_some() || leaf.is_constant();
        expr.leaves().iter().all(known).then_some(expr)
    }
}

/// The first cell of an expression.
fn place_of(expr: &FigureExpr) -> Option<Place> {
    expr.leaves().into_iter().find_map(|leaf| leaf.source)
}
