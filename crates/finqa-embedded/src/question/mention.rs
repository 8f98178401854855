//! The parts of a question that name an operation's operands.

use super::wording::{Wording, plain};
use crate::reading::text::{TokenKind, tokenize};
use crate::reading::words::{is_stop, is_weak};

/// A part of a question.
pub(crate) struct OperandSpan {
    content: usize,
    years: usize,
}

impl OperandSpan {
    pub(crate) fn names(&self) -> bool {
        self.content > 0
    }

    pub(crate) fn says_anything(&self) -> bool {
        self.content + self.years > 0
    }
}

/// Reads a part.
pub(crate) fn span(text: &str) -> OperandSpan {
    let tokens = tokenize(text);
    OperandSpan {
        content: tokens
            .iter()
            .filter(|t| t.kind == TokenKind::Word && !is_stop(&t.text) && !is_weak(&t.text))
            .count(),
        years: tokens.iter().filter(|t| t.year().is_some()).count(),
    }
}

/// Splits a question at the first connector that fits, after the lead phrase.
pub(crate) fn operands(asked: &Wording, forms: &[(&str, &[&str])]) -> Option<(String, String)> {
    forms.iter().find_map(|(lead, connectors)| {
        let found = if lead.is_empty() {
            connectors.iter().find_map(|c| asked.split(c))
        } else {
            let rest = asked.phrase.get(asked.find(lead)? + lead.len() + 1..)?;
            connectors.iter().find_map(|c| split(rest, c))
        };
        found.filter(|(a, b)| span(a).says_anything() && span(b).says_anything())
    })
}

/// The text on each side of a connector of whole words.
pub(crate) fn split(text: &str, connector: &str) -> Option<(String, String)> {
    text.match_indices(' ').find_map(|(at, _)| {
        let after = text.get(at + 1..)?.strip_prefix(connector)?;
        let right = after.strip_prefix(' ')?;
        Some((plain(text.get(..at)?), plain(right)))
    })
}

/// What is between a numerator and its denominator.
const OVER: [&str; 18] = [
    "represent in relation to", "represents in relation to", "represented in relation to",
    "in relation to", "relative to", "divided by", "as a percent of", "as percent of",
    "as a portion of", "as a proportion of", "as a share of", "as a fraction of",
    "was what percent of", "were what percent of", "where what percent of", "is what percent of",
    "are what percent of", "made up what percent of",
];

/// What leads to a numerator, and what is then between it and its denominator.
const RATIO_OF: [&str; 3] = ["ratio of", "ratio between", "fraction of"];
const TO: [&str; 6] = ["to the", "to", "and", "over", "compared to", "compared"];

/// What leads to a whole, and what is then between it and its part.
const PART_OF: [&str; 9] = [
    "percent of", "portion of", "proportion of", "share of", "part of", "fraction of", "much of",
    "percent from", "amount of",
];
const IS_MADE_OF: [&str; 37] = [
    "was attributable to", "is attributable to", "was attributed to", "was made of", "is made of",
    "was made up of", "consisted of", "consists of", "comprised of", "was due to", "were due to",
    "are due to", "due to", "attributable to", "came from", "comes from", "are from", "was from",
    "were from", "is from", "related to", "are related to", "is related to", "was related to",
    "dedicated to", "allocated to", "was allocated to", "is allocated to", "was", "were", "is",
    "are", "where", "will be", "comprised", "that", "associated with",
];
/// The same, where nothing of these is said.
const WEAK: [&str; 3] = ["from", "in", "for"];

/// Numerator and denominator of a share or ratio, as the question names them.
pub(crate) fn ratio_operands(asked: &Wording) -> Option<(String, String)> {
    let after = |lead: &str| asked.phrase.get(asked.find(lead)? + lead.len() + 1..);
    let over = || OVER.iter().find_map(|connector| asked.split(connector));
    let named_before = || {
        let (before, _) = asked.split("ratio")?;
        let (a, b) = split(&before, "to")?;
        let named = span(&a).names() && span(&b).names();
        (named && !asked.says(&["ratio of", "ratio between"])).then_some((a, b))
    };
    let named_after = || {
        let mut rests = RATIO_OF.iter().filter_map(|lead| after(lead));
        rests.find_map(|rest| TO.iter().find_map(|connector| split(rest, connector)))
    };
    let part_of_whole = |rest: &str| {
        let mut verbs = IS_MADE_OF.iter().chain(&WEAK);
        let (whole, part) = verbs.find_map(|verb| split(rest, verb))?;
        let named = !whole.trim().is_empty() && span(&part).says_anything();
        named.then_some((part, whole))
    };
    let of_whole = || {
        let mut rests = PART_OF.iter().filter_map(|lead| after(lead));
        rests.find_map(part_of_whole)
    };
    let of_total = || {
        let mut verbs = ["did", "does", "do", "was", "were", "is"].into_iter();
        let part = verbs.find_map(|verb| after(&format!("percent {verb}")))?;
        Some((part.to_owned(), " total ".to_owned()))
    };
    over()
        .or_else(named_before)
        .or_else(named_after)
        .or_else(of_whole)
        .or_else(of_total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_names_its_operands_before_or_after_it() {
        for text in [
            "what is the ratio of sales to debt?",
            "what is the sales to debt ratio in 2013?",
        ] {
            let (a, b) = ratio_operands(&Wording::read(text)).unwrap();
            assert!(
                a.ends_with(" sales ") && b.trim() == "debt",
                "{text}: {a}, {b}"
            );
        }
    }
}
