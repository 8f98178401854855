//! Answers questions from the labels of tables: the one table of a user's page, or those of a
//! report or an excerpt of one.
//!
//! - **In:** the tables of a page ([`Tables::read`]), a question, and the earlier questions.
//! - **Out:** a [`DirectAnswer`] with its confidence, or a [`Doubt`] that says why there is none.
//!
//! In a single table (the only one of a user's page), an answer counts only if every word of the
//! question belongs to a label, a period or an operation; all other questions are left to the
//! ranked candidates. In a report, the figure whose labels, section, heading and period fit best is
//! the answer. It is sure if these have all words of the question, and no other figure that fits as
//! well has another value.
//!
//! Reading order; each folder uses only those before it:
//!
//! - `words` defines the stems by which labels and questions are compared, and sets of them.
//! - `page` reads the tables into labels, periods, tags and figures.
//! - `question` reads a question: its tokens, its operation and its operands, and what it keeps of
//!   the question before it.
//! - `find` finds the figures that operands name: alone, together, or as the parts of a whole.
//! - `compute` applies the operation to these figures.
//! - `confidence` says how likely the answer is right, and `explain` how it was found.
//! - `turn` reads the questions of a conversation, each completed by the one before it. It calls
//!   `answer_of` below, because a question that depends on an answer in doubt is in doubt itself.
//!
//! The way of a question, in the order of the calls. A step further right is called by the step
//! above it; `answering/analyst.rs` calls those at the left, but for the last, which `finqa-ask` calls.
//!
//! ```text
//! step                                     function                     file
//! read the page, once                      Tables::read                 page/mod.rs
//!   a table, its labels and periods        ReportTable::read            page/table.rs
//!     which rows are totals (own table)    settle_totals                page/totals.rs
//!   the weights of the words               Weights::read                page/word_weights.rs
//!   (later) the period of a cell           period_of                    page/cells.rs
//! the earlier questions, then this         answer                       mod.rs
//!   write out abbreviations                question::written_out        question/mod.rs
//!   read a question after the last one     turn                         turn.rs
//!     split the text into tokens           question::read               question/mod.rs
//!       plain words for its phrases        simplified                   question/plain.rs
//!       periods for "both years" and such  with_periods                 question/plain_periods.rs
//!     complete a follow-up                 follow_up::completed         question/follow_up.rs
//!     a whole label is repeated (report)   whole_label                  find/whole_label.rs
//!     otherwise operation and operands     asked::read                  question/asked.rs
//!       months for a quarter (own table)   in_months                    question/plain_periods.rs
//!       a figure and its change            add_figure                   question/two_requests.rs
//!   answer by the labels, with doubts      answer_by_labels             mod.rs
//!     a formula that the question gives    spelled                      compute/spelled.rs
//!     otherwise one result or a list       one_or_several               compute/several.rs
//!       by the operation                   compute                      compute/operation.rs
//!         the figure of an operand         figure, figure_near          find/mod.rs
//!           the best printed cell          printed                      find/printed.rs
//!             all cells that fit           fitting_figures              find/fit.rs
//!           a margin                       quotient                     find/mod.rs
//!           a measure by its formula       measure                      find/measure.rs
//!           the sum of its printed parts   in_parts                     find/parts.rs
//!         the rows with one text           of_category                  find/categories.rs
//!         the figures of a share or ratio  share_operands               compute/pairs.rs
//!           two figures of one part        of_one_part                  find/together.rs
//!           two figures of one table       pair_together                find/together.rs
//!           this pair or a surer one       surer_pair                   compute/pairs.rs
//!             a part that adds up          part_of                      find/groups.rs
//!             a line of a segment          of_segment                   compute/pairs.rs
//!         the first doubt of these         doubted                      compute/operation.rs
//!           what is asked for in vain      unmet                        compute/unmet.rs
//!             the scale of a figure        scale_doubt                  compute/count_doubt.rs
//!     doubts by the words of the question  doubt_wording                compute/doubts.rs
//!     confidence                           weighed                      confidence.rs
//!   a text of a cell, if not sure          text_answer                  compute/text_answer.rs
//! a sentence, if not sure (report)         stated                       find/sentences.rs
//! the answer for people                    from_tables                  answering/from_labels.rs
//! whether it is sure, for people           Session::doubts              finqa-ask/src/gate.rs
//! ```
//!
//! An answer has one doubt. It is decided in this order, and the first one is kept unless a step
//! says otherwise:
//!
//! 1. The figures. `printed` in `find/printed.rs` doubts, in this order: the figure is of another
//!    period or statement than the question names; another one fits as well, or the labels say more
//!    than the question; a label of a single table has the words in another sense; its tag
//!    contradicts it; it is a change, and a balance is asked for. In
//!    each of these cases, a figure with a tag of the right element replaces it (`by_tag` in
//!    `find/witnesses.rs`). The last doubt is an unclear year. Of two figures of one table
//!    (`find/together.rs`), the one by which the table was chosen also has the doubt that it has by
//!    itself. Computed figures have the doubts of their parts and those of `quotient` in
//!    `find/mod.rs` and `find/measure.rs`.
//! 2. The operation: `doubted` in `compute/operation.rs` takes the operation's own doubt, then the
//!    first of its figures, then what the question asks for in vain (`compute/unmet.rs`). The
//!    largest of a series (`compute/best_part.rs`) and a list of periods (`compute/series.rs`) have
//!    the doubt of their figures or that of `scale_doubt` (`compute/count_doubt.rs`). If one figure
//!    of a list is not sure (`compute/several.rs`), the list fails. If a look-up in a report fails,
//!    `answer_by_labels` makes a guess, and the reason is its doubt.
//! 3. The words of the question: most doubts of `compute/doubts.rs` replace those before them.
//! 4. A question that depends on an earlier one that is not sure: `answer_by_labels` replaces all
//!    others.
//! 5. `confidence.rs` drops a guess whose labels have too few names of the question, and a guess of
//!    one cell if words of the question are unused. Only the doubt is left. In a list of
//!    transactions, `answer_of` drops every answer that is in doubt or computed.
//! 6. In a report, a sentence that states the figure replaces an answer in doubt, if there is no
//!    earlier question (`report_answer` in `answering/analyst.rs`).
//! 7. `from_tables` in `answering/from_labels.rs` adds a doubt about units to an answer without
//!    one.
//! 8. `finqa-ask/src/gate.rs` doubts an answer without a doubt if the question asks for another
//!    currency and, in a report, if a tag contradicts the page, if the scale of a figure is unknown,
//!    or if the reader of the file may have misread it. If the file lacks the statement that the
//!    question names, that is the doubt.
//!
//! The dataset's pages are not read this way: their questions name rows loosely, and the
//! weights learn what they mean.
//!
//! Unless a comment gives another reason, the word lists, scores, tolerances and limits in this
//! folder are set by hand, with the reports of docs/embedded-analyst.md in view. `.ci/questions`,
//! `.ci/statement-rows` and `.ci/filings` measure the effect of a change.

mod compute;
mod confidence;
mod explain;
mod find;
mod page;
mod question;
mod turn;
pub(crate) mod words;

use crate::explanation::Explanation;
pub(crate) use compute::direct_answer::DirectAnswer;
pub(crate) use find::FigureExpr;
pub(crate) use find::sentences::StatedFact;
use page::TableResult;
pub(crate) use page::table::Place;
pub(crate) use page::{Doubt, Tables};
pub(crate) use question::names::ways_to_say;
pub use question::names::{names_amount, names_row};
use question::operand::Operand;
use question::request::Operation;
use turn::Turn;

impl Tables {
    /// The answer of the tables to a question. `None` if the question needs earlier ones and does
    /// not change a part of the last one. How it is found is recorded if `explanation` is given.
    pub(crate) fn answer(
        &self,
        question: &str,
        earlier: &[&str],
        explanation: Option<&mut Explanation>,
    ) -> Option<TableResult<DirectAnswer>> {
        let no_history = earlier.is_empty();
        let mut last: Option<Turn> = None;
        // An earlier question that is `None` leaves nothing for the next one to refer to.
        for text in earlier.iter().chain([&question]) {
            let text = question::written_out(self, text);
            last = self.turn(&text, last.as_ref(), no_history);
        }
        let turn = last?;
        let mut answer = self.answer_of(&turn);
        let is_sure = matches!(&answer, Ok(found) if found.doubt.is_none());
        if let Some(text) = self.text_answer(&turn.text).filter(|_| !is_sure) {
            answer = Ok(text);
        }
        if let Some(out) = explanation {
            *out = self.explain(&turn, &answer);
        }
        Some(answer)
    }

    /// The answer to a completed question by the labels. In a list of transactions, it is refused
    /// if it is not sure, or if it is computed: a sum may mix what came in with what went out.
    fn answer_of(&self, turn: &Turn) -> TableResult<DirectAnswer> {
        let found = self.answer_by_labels(turn);
        if !self.is_list {
            return found;
        }
        let is_printed = |expr: &FigureExpr| matches!(expr, FigureExpr::Leaf(_));
        let is_sure =
            |answer: &DirectAnswer| answer.doubt.is_none() && answer.exprs().all(is_printed);
        let dated = |of: &Operand| of.spans.iter().any(|span| span.end.day.is_some());
        let mut operands = turn.asked.iter().flat_map(|asked| &asked.operands);
        let by_day = operands.all(dated);
        let why = "nothing is computed from a list of transactions, and no printed figure of a day \
            is surely asked for";
        found
            .ok()
            .filter(|answer| by_day && is_sure(answer))
            .ok_or_else(|| Doubt::missing(why))
    }

    /// The answer to a completed question from figures that are found by their labels, with doubts
    /// and confidence. The error says why the tables have none.
    fn answer_by_labels(&self, turn: &Turn) -> TableResult<DirectAnswer> {
        let asked = turn.asked.as_ref().ok_or(Doubt::Open)?;
        if self.tables.iter().all(|table| table.rows.is_empty()) {
            let why = "the page has no table with figures".to_owned();
            return Err(Doubt::InText(why));
        }
        // A formula in the question is used instead of the known one for its name.
        let spelled = self.spelled(&turn.text);
        let answer = spelled.map_or_else(|| self.one_or_several(asked, &turn.text), Ok);
        let answer = answer.and_then(|answer| self.with_account_side(answer));
        // A look-up that fails becomes a guess, with the reason as its doubt. For other operations,
        // one figure would not be a guess at the result.
        let looks_up = asked.operation == Operation::Figure && self.is_report();
        let mut answer = answer.or_else(|why| {
            let Some(of) = asked.operands.first().filter(|_| looks_up) else {
                return Err(why);
            };
            let guess = self.look_up(self.figure(of, None)?, of);
            let doubt = Some(why);
            Ok(DirectAnswer { doubt, ..guess })
        })?;
        self.print(&mut answer.expr);
        for expr in &mut answer.others {
            self.print(expr);
        }
        self.doubt_wording(asked, &turn.text, &mut answer);
        if let Some(why) = &turn.unsettled {
            answer.doubt = Some(Doubt::missing(why));
        }
        self.weighed(asked, answer)
    }
}
