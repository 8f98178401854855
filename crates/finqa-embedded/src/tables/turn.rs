//! Reads the questions of a conversation one after another, and completes each by the one before
//! it.

use super::compute::direct_answer::DirectAnswer;
use super::compute::several::LIST;
use super::page::Tables;
use super::question::asked::{self, Asked};
use super::question::token::Token;
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
    /// Reads a question after the last one. A first question is read by itself. The result is `None` for a question about a single table that is not
    /// complete after earlier ones. `no_history` is true if no question comes before it; it is then
    /// read as it is, complete or not.
    pub(super) fn turn(&self, text: &str, last: Option<&Turn>, no_history: bool) -> Option<Turn> {
        let single = self.is_single_table();
        if let Some(last) = last.filter(|_| !single) {
            return Some(self.next_of_report(text, last));
        }
        let tokens = question::read(self, text);
        let dated = single && self.periods_of(0).len() > 1;
        let complete = follow_up::is_complete(self, &tokens, dated);
        let before = last.and_then(|last| last.asked.as_ref());
        let before = before.filter(|_| !complete);
        // A follow-up keeps parts of the question before it.
        let completed = before.and_then(|before| follow_up::completed(self, before, &tokens));
        if single && completed.is_none() && !complete && !no_history {
            return None;
        }
        let unsettled = completed.as_ref().and_then(|_| self.why_unsure(last?));
        Some(Turn {
            text: text.to_owned(),
            asked: completed.or_else(|| self.asked(&tokens, text)),
            unsettled,
        })
    }

    /// Reads a question about a report that may change a part of the last one or refer to its
    /// figure.
    fn next_of_report(&self, text: &str, last: &Turn) -> Turn {
        let before = last.asked.as_ref();
        let mut turn = Turn {
            text: follow_up::with_year(text, before),
            ..Turn::default()
        };
        // True if the question depends on the last one.
        let mut leans = turn.text != text;
        let text = turn.text.as_str();
        let tokens = question::read(self, text);
        let Some((tokens, refers)) = with_earlier_figure(tokens, text, before) else {
            return turn;
        };
        leans |= refers;
        let incomplete = before.filter(|_| !follow_up::is_complete(self, &tokens, false));
        let completed = incomplete.and_then(|before| {
            let whole = follow_up::of_whole(before, text);
            whole.or_else(|| follow_up::completed(self, before, &tokens))
        });
        leans |= completed.is_some();
        let Some(mut asked) = completed.or_else(|| self.asked(&tokens, text)) else {
            return turn;
        };
        turn.unsettled = follow_up::refers_back(&tokens);
        if let Some(before) = before {
            let undated = |asked: &Asked| asked.operands.iter().all(|of| of.spans.is_empty());
            let was_undated = undated(&asked);
            let unclear = follow_up::settle(before, &mut asked, &turn.text);
            turn.unsettled = turn.unsettled.or(unclear);
            leans |= was_undated && !undated(&asked);
        }
        if leans {
            turn.unsettled = self.why_unsure(last).or(turn.unsettled);
        }
        turn.asked = Some(asked);
        turn
    }

    /// What a question asks for by itself. In a report, a repeated label comes first, and a
    /// question that is not understood is read as one for the figure that its words name.
    fn asked(&self, tokens: &[Token], text: &str) -> Option<Asked> {
        if self.is_single_table() {
            return asked::read(tokens, true);
        }
        let said = !tokens.iter().any(Token::is_earlier);
        let whole = said.then(|| self.whole_label(text)).flatten();
        let asked = whole.or_else(|| asked::read(tokens, false));
        Some(asked.unwrap_or_else(|| asked::guess(tokens)))
    }

    /// The reason why the answer to a question that depends on this one is not sure; `None` if this
    /// one has a sure answer with one figure.
    fn why_unsure(&self, turn: &Turn) -> Option<String> {
        if self.spelled(&turn.text).is_some() {
            return Some("the question before it spells out a formula".to_owned());
        }
        match self.answer_of(turn) {
            Ok(one) if one.name == LIST => Some("the question before it lists figures".to_owned()),
            Ok(DirectAnswer { doubt: None, .. }) => None,
            _ => Some("the question before it is not sure".to_owned()),
        }
    }
}

/// The tokens of a question with the figure of the question before it, and true if it refers to
/// that figure or to a part of it. `None` if it refers to a figure that is not known.
fn with_earlier_figure(
    tokens: Vec<Token>,
    text: &str,
    before: Option<&Asked>,
) -> Option<(Vec<Token>, bool)> {
    let of_part = before.and_then(|before| {
        let margin = follow_up::margin_of(before, text);
        margin.or_else(|| follow_up::of_same_part(before, &tokens))
    });
    if let Some(of_part) = of_part {
        return Some((of_part, true));
    }
    let figure = match follow_up::pronoun(&tokens) {
        Some(at) => follow_up::with_figure(before?, &tokens, at),
        None if follow_up::leans(&tokens, before) => follow_up::with_first_side(before?, &tokens),
        None => return Some((tokens, false)),
    };
    Some((figure?, true))
}
