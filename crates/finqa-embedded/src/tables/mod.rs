//! Answers questions from the labels of tables: the one table of a user's page, or those of a
//! report or an excerpt of one.
//!
//! - **In:** the tables of a page ([`Tables::read`]), a question, and the earlier questions.
//! - **Out:** a [`DirectAnswer`] with its confidence, or a [`Doubt`] that says why there is none.
//!
//! In a plain table (the only one of a user's page), an answer counts only if every word of the
//! question belongs to a label, a period or an operation; all other questions are left to the
//! ranked candidates. In a report, the figure whose labels, section, heading and period fit best is
//! the answer. It is sure if these have all words of the question, and no other figure that fits as
//! well has another value.
//!
//! Reading order: `words`, `figure` and `table` read a page; `names` (with `concepts.txt`),
//! `operand`, `phrases`, `question`, `operands` and `asked` read a question; `fit`, `page` and
//! `find` find the figure of an operand, with `statements`, `unread`, `tags` and `witnesses` (with
//! `tags.txt`), `whole_label`, `measure`, `parts` and `sentences`; `compute` applies the operation,
//! with `series`, `groups`, `ranking`, `ranked`, `pairs`, `several`, `counts`, `unmet` and
//! `scopes`; `concept` computes the confidence; `follow_up` completes a question by the last one;
//! `transactions` and `spent` read lists of payments.
//!
//! The dataset's pages are not read this way: their questions name rows loosely, and the
//! weights learn what they mean.
//!
//! Unless a comment gives another reason, the word lists, scores, tolerances and limits in this
//! folder are set by hand, with the reports of docs/embedded-analyst.md in view. `.ci/questions`,
//! `.ci/statement-rows` and `.ci/filings` measure the effect of a change.

mod asked;
mod compute;
mod concept;
mod counts;
mod explain;
mod figure;
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
mod ranked;
mod ranking;
mod scopes;
mod sentences;
mod series;
mod several;
mod spelled;
mod spent;
mod statements;
mod sum_question;
mod table;
mod tags;
mod transactions;
mod unmet;
mod unread;
mod whole_label;
mod witnesses;
pub(crate) mod words;

use finqa_core::number::Scale;
use finqa_core::page::Statement;

use crate::explanation::Explanation;
use crate::expr::{Expr, PageLeaf};
use crate::reading::facts::Facts;
use asked::{Asked, Operation};
pub(crate) use compute::DirectAnswer;
pub(crate) use find::FigureExpr;
pub(crate) use names::ways_to_say;
pub use names::{names_amount, names_row};
use page::TableResult;
pub(crate) use page::{Doubt, Tables};
use question::{RELATIVE_TIME, SEQUENTIAL, THAN_BEFORE, Token, YEAR_ON_YEAR};
pub(crate) use sentences::StatedFact;
pub(crate) use spent::SUM_OF_ROWS;
pub(crate) use table::Place;
use table::ReportTable;

/// Why a list of transactions does not answer.
const NO_SUM: &str = "of a list of transactions, only sums are read";

/// A question of a conversation, completed by the questions before it.
#[derive(Default)]
struct Turn {
    text: String,
    /// What it asks for; `None` if it is not understood.
    asked: Option<Asked>,
    /// The answer, if it asks for a sum over a list of transactions.
    sum: Option<TableResult<DirectAnswer>>,
    /// The reason why it may ask for something else, because it depends on earlier questions.
    unsettled: Option<String>,
}

impl Tables {
    /// The answer of the tables to a question. `None` if the question needs earlier ones and does
    /// not change a part of the last one.
    pub(crate) fn answer(
        &self,
        question: &str,
        earlier: &[&str],
    ) -> Option<TableResult<DirectAnswer>> {
        self.answer_of(&self.last_turn(question, earlier)?)
    }

    /// The same answer, and how it is found.
    pub(crate) fn explained(
        &self,
        question: &str,
        earlier: &[&str],
    ) -> (Option<TableResult<DirectAnswer>>, Explanation) {
        let Some(turn) = self.last_turn(question, earlier) else {
            return (None, Explanation::default());
        };
        let answer = self.answer_of(&turn);
        let (asked, unsettled) = (turn.asked.as_ref(), turn.unsettled.as_ref());
        let explanation = self.explain(asked, unsettled, answer.as_ref());
        (answer, explanation)
    }

    /// The question, read after those before it.
    fn last_turn(&self, question: &str, earlier: &[&str]) -> Option<Turn> {
        let mut before: Option<Turn> = None;
        for text in earlier.iter().chain([&question]) {
            before = self.turn(text, before.as_ref(), earlier.is_empty());
        }
        before
    }

    /// Completes a question that changes a part of the last one or refers to its figure. `None` if
    /// it is about a plain table and cannot be understood.
    fn turn(&self, text: &str, last: Option<&Turn>, alone: bool) -> Option<Turn> {
        let of_report = last.filter(|_| !self.is_plain());
        if let Some(sum) = self.of_list(text) {
            return Some(Turn {
                text: text.to_owned(),
                sum: Some(sum),
                ..Turn::default()
            });
        }
        let before = last.and_then(|last| last.asked.as_ref());
        let dated = of_report.map(|_| follow_up::with_year(text, before));
        let mut leans = dated.as_ref().is_some_and(|dated| dated != text);
        let text = dated.unwrap_or_else(|| text.to_owned());
        let mut tokens = question::read(self, &text);
        let open = |text: String| Turn {
            text,
            ..Turn::default()
        };
        let at = of_report.and_then(|_| follow_up::pronoun(&tokens));
        let of_part = of_report.and(before).and_then(|before| {
            let margin = follow_up::margin_of(before, &text);
            margin.or_else(|| follow_up::of_same_part(before, &tokens))
        });
        if let Some(of_part) = of_part {
            tokens = of_part;
            leans = true;
        } else if of_report.is_some() && (at.is_some() || follow_up::leans(&tokens, before)) {
            let figure = before.and_then(|before| match at {
                Some(at) => follow_up::with_figure(before, &tokens, at),
                None => follow_up::with_first_side(before, &tokens),
            });
            let Some(figure) = figure else {
                return Some(open(text));
            };
            tokens = figure;
            leans = true;
        }
        let dated = self.is_plain() && self.periods_of(0).len() > 1;
        let complete = follow_up::is_complete(&tokens, dated, |word| self.says(word));
        let whole = of_report
            .and(before)
            .and_then(|before| follow_up::of_whole(before, &text));
        let completed = before.filter(|_| !complete).and_then(|before| {
            let alike = |new: &[String], old: &String| self.is_alike(new, old);
            whole.or_else(|| follow_up::completed(before, &tokens, alike))
        });
        let mut asked = match completed {
            Some(completed) => {
                leans = true;
                completed
            }
            None if complete || alone || !self.is_plain() => {
                let said = !tokens.iter().any(Token::is_earlier);
                let whole = || (said && !self.is_plain()).then(|| self.whole_label(&text))?;
                let asked = whole().or_else(|| asked::read(&tokens, self.is_plain()));
                let guess = || (!self.is_plain()).then(|| asked::guess(&tokens));
                let Some(asked) = asked.or_else(guess) else {
                    return Some(open(text));
                };
                asked
            }
            None => return None,
        };
        let mut unsettled = of_report.and_then(|_| follow_up::refers_back(&tokens));
        if let Some(before) = of_report.and(before) {
            let undated = |asked: &Asked| asked.operands.iter().all(|of| of.spans.is_empty());
            let was_undated = undated(&asked);
            let unclear = follow_up::settle(before, &mut asked, &text);
            unsettled = unsettled.or(unclear);
            leans |= was_undated && !undated(&asked);
        }
        if let Some(last) = last.filter(|_| leans)
            && !matches!(
                self.answer_of(last),
                Some(Ok(DirectAnswer { doubt: None, .. }))
            )
        {
            unsettled = Some("the question before it is not sure".to_owned());
        }
        if last.is_some_and(|last| leans && self.spelled(&last.text).is_some()) {
            unsettled = Some("the question before it spells out a formula".to_owned());
        }
        Some(Turn {
            text,
            asked: Some(asked),
            sum: None,
            unsettled,
        })
    }

    /// The answer to a completed question.
    fn answer_of(&self, turn: &Turn) -> Option<TableResult<DirectAnswer>> {
        if let Some(sum) = &turn.sum {
            return Some(sum.clone());
        }
        let found = self.of_labels(turn);
        let sure = matches!(&found, Some(Ok(answer)) if answer.doubt.is_none());
        // The labels of a list of transactions are its dates, so a word that they lack says
        // nothing.
        match &self.list {
            Some(_) if !sure => Some(Err(Doubt::Missing(NO_SUM.to_owned()))),
            _ => found,
        }
    }

    /// The answer to a question in full, by the labels of its figures.
    fn of_labels(&self, turn: &Turn) -> Option<TableResult<DirectAnswer>> {
        let Some(asked) = &turn.asked else {
            return Some(Err(Doubt::Open));
        };
        if self.tables.iter().all(|table| table.rows.is_empty()) {
            let why = "the page has no table with figures".to_owned();
            return Some(Err(Doubt::InText(why)));
        }
        let answer = self
            .spelled(&turn.text)
            .map_or_else(|| self.compute(asked), Ok);
        let mut answer = answer.and_then(|answer| self.with_side(answer));
        // A look-up that fails becomes a guess, with the reason as its doubt. For other operations,
        // one figure would not be a guess at the result.
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
            let days = self.lists_days(asked, &answer.expr);
            answer.doubt = answer.doubt.take().or(days);
        }
        let lower = turn.text.to_lowercase();
        // In an annual report, "last year" is the latest year. Other relative times are doubtful,
        // because a report does not say when the question is asked.
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
        let which = matches!(asked.operation, Operation::Extreme { which: Some(_), .. });
        if let (Ok(answer), true) = (&mut answer, which && THAN_BEFORE.is_match(&lower)) {
            let why = "each is compared with itself at another time, which is not computed";
            answer.doubt = Some(Doubt::Missing(why.to_owned()));
        }
        let amount = asked.operation == Operation::Difference && !asked.relative;
        if let (Ok(answer), Some(said)) = (&mut answer, YEAR_ON_YEAR.find(&lower))
            && amount
            && !OF_AMOUNTS.iter().any(|of| lower.contains(of))
        {
            let why = format!("{:?} may ask for the change in percent", said.as_str());
            answer.doubt = answer.doubt.take().or(Some(Doubt::Missing(why)));
        }
        if let Ok(answer) = &mut answer
            && let Some(why) = self
                .other_scope(&turn.text, answer)
                .or_else(|| self.not_held_for_sale(&turn.text, answer))
        {
            answer.doubt = Some(why);
        }
        if let (Ok(answer), Some(why)) = (&mut answer, &turn.unsettled) {
            answer.doubt = Some(Doubt::Missing(why.clone()));
        }
        Some(answer.and_then(|found| self.weighed(asked, found)))
    }

    /// True if all columns of a report's statements of income, cash flows and equity are years.
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

    /// The printed row and column of a cell, for messages: "Revenue · 2031".
    pub(super) fn full_name(&self, place: Place) -> String {
        let table = self.table(place);
        let row = table.and_then(|table| Some(table.rows.get(place.row)?.printed.as_str()));
        let column =
            table.and_then(|table| Some(table.columns.get(place.column)?.printed.as_str()));
        format!(
            "{} · {}",
            row.unwrap_or_default(),
            column.unwrap_or_default()
        )
    }

    /// The names of a cell's row and column, as evidence shows them.
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

    /// Returns true if a cell is a percentage, and the scale of its amount.
    pub(crate) fn unit_of_cell(&self, place: Place) -> (bool, Option<Scale>) {
        let cell = self.cell(place);
        cell.map_or((false, None), |cell| (cell.percent, cell.scale))
    }
}

impl DirectAnswer {
    /// The expression of a single answer, or one for each figure of a list.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &FigureExpr> {
        [&self.expr].into_iter().chain(&self.others)
    }

    /// The row and the column of each cell that the expression uses.
    pub(crate) fn cells(&self) -> Vec<(usize, usize)> {
        let places = self.expr.leaves().into_iter();
        let places = places.filter_map(|leaf| leaf.source);
        places.map(|place| (place.row, place.column)).collect()
    }

    /// The expression over the facts of the page; `None` if a cell is not among them.
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

/// Words by which a question asks for the change as an amount and not in percent.
const OF_AMOUNTS: [&str; 7] = [
    "by how much", "amount", "dollar", "euro", "illion", "thousand", "point",
];

/// The first cell of an expression.
fn place_of(expr: &FigureExpr) -> Option<Place> {
    expr.leaves().into_iter().find_map(|leaf| leaf.source)
}
