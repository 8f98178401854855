//! Questions about tables, read by their labels: the one table of a page of the user's own, or
//! those of a report or of an excerpt of one.
//!
//! Of a plain table, an answer counts only if every word of the question is of a label, a period
//! or an operation; all other questions are left to the ranked candidates. Of a report, the
//! figures whose labels, sections, headings and periods fit best answer; they are sure if these
//! have all words of the question, and no other figure that fits as well differs.
//!
//! In the order of reading: `words`; `table`; `names`, with `concepts.txt`, and `operand`;
//! `fit`; `page`; `question` and its `phrases`; `operands`; `asked`, the operation as data; `find`,
//! from an operand to a figure; `statements`; `unread`; `tags`, with `tags.txt`; `whole_label`;
//! `measure`; `sentences`; `series`; `groups`; `pairs`; `parts`; `several`; `compute`; `concept`;
//! `follow_up`.
//!
//! The dataset's pages are not read this way: their questions name rows loosely, and the
//! weights learn what they mean.

mod asked;
mod compute;
mod concept;
mod find;
mod fit;
mod follow_up;
mod groups;
mod measure;
mod names;
mod operand;
mod operands;
mod page;
mod pairs;
mod parts;
mod phrases;
mod question;
mod sentences;
mod series;
mod several;
mod statements;
mod table;
mod tags;
mod unread;
mod whole_label;
mod witnesses;
pub(crate) mod words;

use finqa_core::number::Scale;
use finqa_core::page::Statement;

use crate::expr::{Expr, PageLeaf};
use crate::reading::facts::Facts;
use asked::{Asked, Operation};
pub(crate) use compute::DirectAnswer;
pub(crate) use find::FigureExpr;
pub use names::names_amount;
pub(crate) use names::ways_to_say;
pub use names::{names_amount, names_row};
use page::Reading;
pub(crate) use page::{Doubt, Tables};
use question::{RELATIVE_TIME, SEQUENTIAL, Token};
pub(crate) use sentences::StatedFact;
pub(crate) use table::Place;
use table::ReportTable;

impl Tables {
    /// The answer that the tables give; `None` if the question can be understood only with
    /// earlier ones, and does not change a part of the last.
    pub(crate) fn answer(&self, question: &str, earlier: &[&str]) -> Option<Reading<DirectAnswer>> {
        // In full, if it changes a part of the one before.
        let mut before: Option<Option<Asked>> = None;
        let mut unsettled = None;
        for text in earlier.iter().chain([&question]) {
            let text = match before.as_ref().filter(|_| !self.is_plain()) {
                Some(last) => follow_up::with_year(text, last.as_ref()),
                None => (*text).to_owned(),
            };
            let text = text.as_str();
            let mut tokens = question::read(self, text);
            if let Some(last) = before.as_ref().filter(|_| !self.is_plain()) {
                let (last, at) = (last.as_ref(), follow_up::pronoun(&tokens));
                if at.is_some() || follow_up::leans(&tokens, last) {
                    let figure = last.and_then(|last| match at {
                        Some(at) => follow_up::with_figure(last, &tokens, at),
                        None => follow_up::with_first_side(last, &tokens),
                    });
                    let Some(figure) = figure else {
                        before = Some(None);
                        continue;
                    };
                    tokens = figure;
                }
            }
            let dated = self.is_plain() && self.periods_of(0).len() > 1;
            let complete = follow_up::is_complete(&tokens, dated, |word| self.says(word));
            let leaning = before
                .as_ref()
                .filter(|_| !complete)
                .and_then(Option::as_ref);
            let completed = leaning.and_then(|before| {
                follow_up::completed(before, &tokens, |new, old| self.is_alike(new, old))
            });
            let last = before.take().flatten();
            before = match completed {
                Some(completed) => Some(Some(completed)),
                None if complete || earlier.is_empty() || !self.is_plain() => {
                    let said = !tokens.iter().any(Token::is_earlier);
                    let whole = || (said && !self.is_plain()).then(|| self.whole_label(text))?;
                    let asked = whole().or_else(|| asked::read(&tokens, self.is_plain()));
                    let guess = || (!self.is_plain()).then(|| asked::guess(&tokens));
                    Some(asked.or_else(guess))
                }
                None => None,
            };
            let asked = before.as_mut().and_then(Option::as_mut);
            let pair = last.as_ref().zip(asked).filter(|_| !self.is_plain());
            unsettled = pair.and_then(|(last, asked)| follow_up::settle(last, asked, text));
        }
        let Some(asked) = before? else {
            return Some(Err(Doubt::Open));
        };
        if self.tables.iter().all(|table| table.rows.is_empty()) {
            let why = "the page has no table with figures".to_owned();
            return Some(Err(Doubt::InText(why)));
        }
        let answer = self.compute(&asked);
        let mut answer = answer.and_then(|answer| self.with_side(answer));
        // A figure is no guess at a share or at a name.
        let looks_up = asked.operation == Operation::Figure && !self.is_plain();
        if let (Err(why), true) = (&answer, looks_up) {
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
            let others = answer.others.iter_mut();
            [&mut answer.expr]
                .into_iter()
                .chain(others)
                .for_each(|expr| {
                    self.print(expr);
                });
        }
        if let Ok(answer) = &mut answer {
            let days = self.lists_days(&asked, &answer.expr);
            answer.doubt = answer.doubt.take().or(days);
        }
        let lower = question.to_lowercase();
        // An annual report is of its latest year.
        let time = RELATIVE_TIME.find(&lower).filter(|time| {
            let last_year = time.as_str().starts_with("last") && time.as_str().ends_with("year");
            !(last_year && self.is_annual())
        });
        if let (Ok(answer), Some(time)) = (&mut answer, time)
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
        let compares = matches!(asked.operation, Operation::Difference | Operation::Compare);
        let undated = asked.operands.iter().all(|of| of.spans.len() < 2);
        if let (Ok(answer), Some(said)) = (&mut answer, SEQUENTIAL.find(&lower))
            && compares
            && undated
        {
            let why = format!(
                "{:?} is of the period before, the figures may not be",
                said.as_str()
            );
            answer.doubt = Some(Doubt::Missing(why));
        }
        if let (Ok(answer), Some(why)) = (&mut answer, unsettled) {
            answer.doubt = Some(Doubt::Missing(why));
        }
        Some(answer.and_then(|found| self.weighed(&asked, found)))
    }

    /// Whether all periods of a report's statements are years.
    fn is_annual(&self) -> bool {
        let flows = |table: &&ReportTable| table.statement == Some(Statement::Flows);
        let columns = self
            .tables
            .iter()
            .filter(flows)
            .flat_map(|table| &table.columns);
        let mut periods = columns.filter_map(|column| column.label.period).peekable();
        periods.peek().is_some() && periods.all(|period| period.length() == 12)
    }

    /// The id of a cell on the page of a report.
    pub(crate) fn cell_id(&self, place: Place) -> String {
        let first = self.table(place).map_or(0, |table| table.first_row);
        format!("r{}c{}", first + place.row, place.column)
    }

    /// The names of a cell's row and column, for people.
    pub(crate) fn cell_name(&self, place: Place) -> String {
        let table = self.table(place);
        let row = table.and_then(|table| table.rows.get(place.row));
        let column = table.and_then(|table| table.columns.get(place.column));
        let names = [
            row.map(|row| row.printed.trim()),
            column.map(|column| column.printed.as_str()),
        ];
        let names: Vec<&str> = names
            .into_iter()
            .flatten()
            .filter(|name| !name.is_empty())
            .collect();
        names.join(", ")
    }

    /// Whether a cell is a percentage, and the scale of its amount.
    pub(crate) fn unit_of_cell(&self, place: Place) -> (bool, Option<Scale>) {
        let cell = self.cell(place);
        cell.map_or((false, None), |cell| (cell.percent, cell.scale))
    }
}

impl DirectAnswer {
    /// All its expressions, over the cells of a report.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &FigureExpr> {
        [&self.expr].into_iter().chain(&self.others)
    }

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
