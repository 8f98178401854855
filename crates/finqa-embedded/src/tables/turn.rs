//! Reads the questions of a conversation one after another, and completes each by the one before
//! it.

use super::compute::direct_answer::DirectAnswer;
use super::compute::several::LIST;
use super::page::Tables;
use super::question::asked;
use super::question::request::Asked;
use super::question::token::Token;
use super::question::two_requests::unclear_periods;
use super::question::{self, follow_up};

/// A question of a conversation, completed by the questions before it.
#[derive(Default)]
pub(super) struct Turn {
    pub(super) text: String,
    /// What it asks for; `None` if it is not understood.
    pub(super) asked: Option<Asked>,
    /// The reason why it may ask for something else, because it depends on earlier questions.
    pub(super) unsettled: Option<String>,
}

impl Tables {
    /// Reads a question after the last one. A first question is read by itself. The result is
    /// `None` for a question about a single table that is not complete after earlier ones.
    /// `no_history` is true if no question comes before it; it is then read as it is, complete or
    /// not.
    pub(super) fn turn(&self, text: &str, last: Option<&Turn>, no_history: bool) -> Option<Turn> {
        let single = self.is_single_table();
        let before = last.and_then(|last| last.asked.as_ref());
        let mut turn = Turn {
            text: text.to_owned(),
            ..Turn::default()
        };
        // In a report, a question can also refer to the figure or the year of the last one.
        let may_refer = last.is_some() && !single;
        if may_refer {
            turn.text = follow_up::with_year(text, before);
        }
        let formula = self.without_formula(&turn.text);
        let (plain, other) = formula.unwrap_or_else(|| (turn.text.clone(), None));
        let mut tokens = question::read(self, &plain);
        // True if the question depends on the last one.
        let mut leans = turn.text != text;
        if may_refer {
            let Some((with_figure, refers)) = follow_up::with_earlier(self, tokens, before) else {
                return Some(turn);
            };
            tokens = with_figure;
            leans |= refers;
        }
        let dated = single && self.periods_of(0).len() > 1;
        let complete = follow_up::is_complete(self, &tokens, dated);
        let incomplete = before.filter(|_| !complete);
        // A follow-up keeps parts of the question before it.
        let completed = incomplete.and_then(|of| follow_up::completed(self, of, &tokens));
        if single && completed.is_none() && !complete && !no_history {
            return None;
        }
        leans |= completed.is_some();
        turn.asked = completed.or_else(|| self.asked(&tokens, &plain));
        if let Some(asked) = &mut turn.asked {
            asked.unused.extend(other);
        }
        if may_refer && let Some(asked) = &mut turn.asked {
            turn.unsettled = follow_up::refers_back(&tokens);
            if let Some(before) = before {
                let undated = |asked: &Asked| asked.operands.iter().all(|of| of.spans.is_empty());
                let was_undated = undated(asked);
                let unclear = follow_up::settle(before, asked, &turn.text);
                turn.unsettled = turn.unsettled.or(unclear);
                leans |= was_undated && !undated(asked);
            }
        }
        if let Some(last) = last.filter(|_| leans) {
            turn.unsettled = self.why_unsure(last).or(turn.unsettled);
        }
        Some(turn)
    }

    /// What a question asks for by itself. In a report, a repeated label comes first, and a
    /// question that is not understood is read as one for the figure that its words name.
    fn asked(&self, tokens: &[Token], text: &str) -> Option<Asked> {
        if self.is_single_table() {
            // A formula with several signs is no single operation.
            let spelled = || self.spelled(text).map(|_| asked::guess(tokens));
            let asked = asked::read(tokens, true).map(|asked| self.in_months(asked));
            return asked.or_else(spelled);
        }
        let said = !tokens.iter().any(Token::is_earlier);
        let whole = said.then(|| self.whole_label(text)).flatten();
        let asked = whole.or_else(|| asked::read(tokens, false));
        let mut asked = asked.unwrap_or_else(|| asked::guess(tokens));
        let unclear = unclear_periods(&asked, tokens);
        asked.unused.extend(unclear);
        Some(asked)
    }

    /// The reason why the answer to a question that depends on this one is not sure; `None` if this
    /// one has a sure answer with one figure.
    fn why_unsure(&self, turn: &Turn) -> Option<String> {
        if self.spelled(&turn.text).is_some() {
            return Some("the question before it spells out a formula".to_owned());
        }
        let asked = turn.asked.as_ref();
        if asked.is_some_and(|asked| asked.figure.is_some()) {
            return Some("the question before it asks for a figure and its change".to_owned());
        }
        match self.answer_of(turn) {
            Ok(one) if one.name == LIST => Some("the question before it lists figures".to_owned()),
            Ok(DirectAnswer { doubt: None, .. }) => None,
            _ => Some("the question before it is not sure".to_owned()),
        }
    }
}
