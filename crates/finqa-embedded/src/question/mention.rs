//! Finds the parts of a question that name the operands of an operation: "sales" and "debt" in "the
//! ratio of sales to debt".

use super::wording::{Wording, split};
use crate::reading::text::{TextToken, TokenKind, tokenize};
use crate::reading::words::{is_stop, is_weak};

/// True for a word that is neither a stop word nor a word for an operation.
pub(crate) fn is_name(token: &TextToken<'_>) -> bool {
    token.kind == TokenKind::Word && !is_stop(&token.text) && !is_weak(&token.text)
}

/// True if a part of a question names a quantity.
pub(super) fn names_quantity(text: &str) -> bool {
    tokenize(text).iter().any(is_name)
}

/// True if a part of a question names a quantity or a year.
pub(super) fn says_anything(text: &str) -> bool {
    let tokens = tokenize(text);
    tokens.iter().any(|t| is_name(t) || t.year().is_some())
}

/// Splits a question at a connector: `("difference between", &["and"])` finds "sales" and "costs"
/// in "the difference between sales and costs". The first form that fits is taken. Its lead phrase
/// comes before the first operand; an empty one means the start of the question. `None` unless both
/// texts name a quantity or a year.
pub(crate) fn operands(asked: &Wording, forms: &[(&str, &[&str])]) -> Option<(String, String)> {
    forms.iter().find_map(|(lead, connectors)| {
        let rest = match *lead {
            "" => asked.phrase.as_str(),
            lead => after(asked, lead)?,
        };
        let found = connectors.iter().find_map(|c| split(rest, c));
        found.filter(|(a, b)| says_anything(a) && says_anything(b))
    })
}

/// [`operands`], if both texts name a quantity.
pub(super) fn quantities(asked: &Wording, forms: &[(&str, &[&str])]) -> Option<(String, String)> {
    operands(asked, forms).filter(|(a, b)| names_quantity(a) && names_quantity(b))
}

/// The texts that name numerator and denominator of a share or ratio. If the question names no
/// denominator ("what percent was rent?"), it is " total ". `None` if the question has none of
/// these forms.
///
/// The first form that fits decides, so "as a fraction of" comes before "fraction of".
pub(crate) fn ratio_operands(asked: &Wording) -> Option<(String, String)> {
    by_connector(asked)
        .or_else(|| before_ratio(asked))
        .or_else(|| after_ratio(asked))
        .or_else(|| share_of_whole(asked))
        .or_else(|| share_of_total(asked))
}

/// The text after a phrase.
fn after<'q>(asked: &'q Wording, lead: &str) -> Option<&'q str> {
    let at = asked.find(lead)?;
    asked.phrase.get(at + lead.len() + 1..)
}

/// "Rent as a percent of sales": the texts before and after the connector.
fn by_connector(asked: &Wording) -> Option<(String, String)> {
    let connectors = [
        "represent in relation to", "represents in relation to", "represented in relation to",
        "in relation to", "relative to", "divided by", "as a percent of", "as percent of",
        "as a portion of", "as a proportion of", "as a share of", "as a fraction of",
        "was what percent of", "were what percent of", "where what percent of",
        "is what percent of", "are what percent of", "made up what percent of",
    ];
    let (a, b) = connectors.iter().find_map(|it| asked.split(it))?;
    Some((tidy(&a), b))
}

/// "The sales to debt ratio": the texts before and after "to".
fn before_ratio(asked: &Wording) -> Option<(String, String)> {
    let (before, _) = asked.split("ratio")?;
    let (a, b) = split(&before, "to")?;
    let named = names_quantity(&a) && names_quantity(&b);
    (!asked.says(&["ratio of", "ratio between"]) && named).then(|| (tidy(&a), b))
}

/// "The ratio of sales to debt": the texts before and after "to" or another connector.
fn after_ratio(asked: &Wording) -> Option<(String, String)> {
    let connectors = ["to the", "to", "and", "over", "compared to", "compared"];
    let leads = ["ratio of", "ratio between", "fraction of"].into_iter();
    let mut rests = leads.filter_map(|lead| after(asked, lead));
    rests.find_map(|rest| connectors.iter().find_map(|it| split(rest, it)))
}

/// "What percent of sales did rent represent", "what portion of sales was rent": the part, then the
/// whole.
fn share_of_whole(asked: &Wording) -> Option<(String, String)> {
    let verbs = [
        "was attributable to", "is attributable to", "was attributed to", "was made of",
        "is made of", "was made up of", "consisted of", "consists of", "comprised of",
        "was due to", "were due to", "are due to", "due to", "attributable to", "came from",
        "comes from", "are from", "was from", "were from", "is from", "related to",
        "are related to", "is related to", "was related to", "dedicated to", "allocated to",
        "was allocated to", "is allocated to", "was", "were", "is", "are", "where", "will be",
        "comprised", "that", "associated with",
        // Last, because they also occur inside the whole.
        "from", "in", "for",
    ];
    let leads = [
        "percent of", "portion of", "proportion of", "share of", "part of", "fraction of",
        "much of", "percent from", "amount of",
    ];
    let mut rests = leads.into_iter().filter_map(|lead| after(asked, lead));
    rests.find_map(|rest| {
        let mut did = ["did", "does", "do"].iter();
        if let Some((whole, part)) = did.find_map(|verb| split(rest, verb)) {
            return Some((tidy(&part), whole));
        }
        let (whole, part) = verbs.iter().find_map(|verb| split(rest, verb))?;
        (!whole.trim().is_empty() && says_anything(&part)).then_some((part, whole))
    })
}

/// "What percent was rent", which names no denominator.
fn share_of_total(asked: &Wording) -> Option<(String, String)> {
    let mut verbs = ["did", "does", "do", "was", "were", "is"].iter();
    let rest = verbs.find_map(|verb| after(asked, &format!("percent {verb}")))?;
    Some((tidy(rest), String::from(" total ")))
}

/// Removes the question words before a numerator and the verb after it: "what did rent represent"
/// becomes "rent".
fn tidy(text: &str) -> String {
    let mut out = format!(" {} ", text.trim());
    for lead in [
        " did ", " does ", " do ", " what was ", " what were ", " what is ", " what are ",
    ] {
        if let Some(at) = out.rfind(lead) {
            out = format!(" {}", out.get(at + lead.len()..).unwrap_or_default());
        }
    }
    for tail in [
        " represent ", " represents ", " account for ", " comprise ", " constitute ", " make up ",
    ] {
        if let Some(at) = out.rfind(tail) {
            out.truncate(at + 1);
        }
    }
    out
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
