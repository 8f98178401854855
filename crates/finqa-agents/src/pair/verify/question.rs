//! The request of a question, as far as its words are certain.

use std::sync::LazyLock;

use regex::Regex;

use finqa_core::table::years_in;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuestionCues {
    /// Years it names, in order.
    pub(crate) years: Vec<i32>,
    /// Asks for yes or no.
    pub yes_no: bool,
    /// Asks explicitly for a percent.
    pub percent: bool,
    /// Asks for a change over time (rule 1: later minus earlier).
    pub(crate) change: bool,
    /// Mentions an increase, and no other change.
    pub(crate) increase: bool,
    /// Asks for a share of a whole (rule 2).
    pub share: bool,
    /// Asks what would or will be.
    pub(crate) hypothetical: bool,
}

static YES_NO: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(and |but |so )?(did|do|does|is|are|was|were|has|have|had|can|could|will|would)\b",
    )
    .ok()
});
static PERCENT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bpercent\b|\bpercentage\b|%|\bpercentual\b").ok());
static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(chang\w*|increas\w*|decreas\w*|declin\w*|grow\w*|grew|growth|rise|rose|fell|drop\w*|variation)\b").ok()
});
static INCREASE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\b(increas\w*|grow\w*|grew|growth|rise|rose|gain\w*)\b").ok());
static OTHER_CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(chang\w*|decreas\w*|declin\w*|fell|drop\w*|variation|differ\w*|loss\w*)\b").ok()
});
static SHARE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(portion|proportion|share of|percent(age)? of|part of|fraction of)\b").ok()
});

static HYPOTHETICAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(would|will|if|assum\w*|suppos\w*|expect\w*|project\w*|forecast\w*|predict\w*|estimat\w*)\b").ok()
});

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

pub(crate) fn question_cues(question: &str) -> QuestionCues {
    let text = question.trim().to_lowercase();
    let change = matches(&CHANGE, &text);
    QuestionCues {
        years: years_in(&text),
        yes_no: matches(&YES_NO, &text) && !text.contains(" or what "),
        percent: matches(&PERCENT, &text)
            && !text.contains("percentage point")
            && (!text.starts_with("how many ") || text.starts_with("how many percent")),
        change,
        increase: matches(&INCREASE, &text) && !matches(&OTHER_CHANGE, &text),
        hypothetical: matches(&HYPOTHETICAL, &text),
        share: !change && matches(&SHARE, &text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "How many products have a margin above 20%?" was said to ask for a percent.
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
