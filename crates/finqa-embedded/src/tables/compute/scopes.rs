//! Checks whose figures an answer has: those of the group, those of its parent company alone, or
//! those of what is held for sale.

use std::sync::LazyLock;

use finqa_core::regex;
use regex::Regex;

use super::direct_answer::DirectAnswer;
use crate::tables::page::{Doubt, Tables};

/// Words for the group in a question.
static GROUP: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"(?i)(?:^|[^-\w])(?P<word>consolidated|group)\b"));

/// Words of a title for the figures of a company without its subsidiaries.
static ALONE: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?i)\b(?P<word>stand[- ]?alone|unconsolidated|non-consolidated|separate (?:(?:annual|interim|quarterly|audited|unaudited|financial|income) )*(?:statements?|results|accounts))\b"
    )
});
/// The word of a title for the figures of the group.
static CONSOLIDATED: LazyLock<Regex> = LazyLock::new(|| regex!(r"(?i)(?:^|[^-\w])consolidated\b"));

/// Words for what a company is about to sell. Neither "held" nor "sale" is enough alone, because a
/// label need not have "held", and many labels have "sale".
static HELD_FOR_SALE: LazyLock<Regex> = LazyLock::new(|| regex!(r"(?i)\bheld[- ]for[- ]sale\b"));

impl Tables {
    /// The reason for doubt if the question asks for what is held for sale, but no label, heading
    /// or title of a figure says so.
    pub(crate) fn not_held_for_sale(&self, question: &str, answer: &DirectAnswer) -> Option<Doubt> {
        let said = HELD_FOR_SALE.find(question)?.as_str();
        let other = answer.places().find_map(|at| {
            let (table, row) = (self.table(at)?, self.row(at)?);
            let name = self.full_name(at);
            let texts = [name.as_str(), &row.heading, &table.above];
            let is_other = !texts.iter().any(|text| HELD_FOR_SALE.is_match(text));
            is_other.then_some(name)
        })?;
        let why = format!("the question says {said:?}, {other} does not");
        Some(Doubt::Missing(why))
    }

    /// The reason for doubt if the question asks for the group, but a figure is under a title such
    /// as "Standalone results".
    pub(crate) fn other_scope(&self, question: &str, answer: &DirectAnswer) -> Option<Doubt> {
        let said = GROUP.captures(question)?.name("word")?.as_str();
        let scope = answer.places().find_map(|at| {
            let (table, row, column) = (self.table(at)?, self.row(at)?, self.column(at)?);
            // The nearest text with either word decides. A text with both words decides nothing.
            let mut texts = [&*column.printed, &row.heading, &table.above, &self.head].into_iter();
            let (alone, group) = texts.find_map(|text| {
                let found = (ALONE.captures(text), CONSOLIDATED.is_match(text));
                (found.0.is_some() || found.1).then_some(found)
            })?;
            let word = alone.filter(|_| !group)?;
            Some(word.name("word")?.as_str().to_lowercase())
        })?;
        let why = format!("the question says {said:?}, the figures are {scope}");
        Some(Doubt::Missing(why))
    }
}
