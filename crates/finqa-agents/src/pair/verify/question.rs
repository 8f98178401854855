//! Determines what a question asks for. Only words without ambiguity count. They are chosen by
//! hand.

use finqa_core::page::years_in;
use finqa_core::pattern;
use finqa_core::text::Pattern;

/// The kinds of answers that a question asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuestionCues {
    /// The years that the question names, in order.
    pub(crate) years: Vec<u16>,
    /// True if it asks for yes or no.
    pub yes_no: bool,
    /// True if it explicitly asks for a percent.
    pub percent: bool,
    /// True if it asks for a change over time.
    pub(crate) change: bool,
    /// True if it mentions an increase and no other change.
    pub(crate) increase: bool,
    /// True if it asks for a share of a whole and not for a change.
    pub share: bool,
    /// True if it asks about a hypothetical or future situation.
    pub(crate) hypothetical: bool,
}

static YES_NO: Pattern =
    pattern!(r"^(and |but |so )?(did|do|does|is|are|was|were|has|have|had|can|could|will|would)\b");
static PERCENT: Pattern = pattern!(r"\bpercent\b|\bpercentage\b|%|\bpercentual\b");
static CHANGE: Pattern = pattern!(
    r"\b(chang\w*|increas\w*|decreas\w*|declin\w*|grow\w*|grew|growth|rise|rose|fell|drop\w*|variation)\b"
);
static INCREASE: Pattern = pattern!(r"\b(increas\w*|grow\w*|grew|growth|rise|rose|gain\w*)\b");
static OTHER_CHANGE: Pattern =
    pattern!(r"\b(chang\w*|decreas\w*|declin\w*|fell|drop\w*|variation|differ\w*|loss\w*)\b");
static SHARE: Pattern =
    pattern!(r"\b(portion|proportion|share of|percent(age)? of|part of|fraction of)\b");

static HYPOTHETICAL: Pattern = pattern!(
    r"\b(would|will|if|assum\w*|suppos\w*|expect\w*|project\w*|forecast\w*|predict\w*|estimat\w*)\b"
);

/// Finds the cues in the text of a question.
pub(crate) fn question_cues(question: &str) -> QuestionCues {
    let text = question.trim().to_lowercase();
    let change = CHANGE.is_match(&text);
    QuestionCues {
        years: years_in(&text),
        yes_no: YES_NO.is_match(&text) && !text.contains(" or what "),
        // Neither a difference in percentage points nor a count of things is a percent.
        percent: PERCENT.is_match(&text)
            && !text.contains("percentage point")
            && (!text.starts_with("how many ") || text.starts_with("how many percent")),
        change,
        increase: INCREASE.is_match(&text) && !OTHER_CHANGE.is_match(&text),
        hypothetical: HYPOTHETICAL.is_match(&text),
        share: !change && SHARE.is_match(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "How many products have a margin above 20%?" was once read as a question for a percent.
    #[test]
    fn a_count_with_a_percentage_in_it_asks_for_no_percent() {
        for (question, percent) in [
            ("How many products have a margin above 20%?", false),
            ("How many percent did revenue rise?", true),
            ("What percentage of sales was Europe's?", true),
        ] {
            assert_eq!(question_cues(question).percent, percent, "{question}");
        }
    }
}
