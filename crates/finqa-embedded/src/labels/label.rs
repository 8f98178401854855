//! The label of a row or a column, as questions name it.

use super::words::{LIGHT, lists_stem, same_word, stems};
use finqa_core::page::period::{CalendarSpan, spans};

#[derive(Clone, Debug, Default)]
pub(super) struct Label {
    /// As the page writes it, without periods unless it is nothing else.
    pub(super) name: String,
    /// Its words without periods, as a question's are compared with them.
    pub(super) words: Vec<String>,
    /// Those in brackets and of the section above it, which a question may leave out.
    aside: Vec<String>,
    pub(super) span: Option<CalendarSpan>,
    pub(super) total: bool,
}

/// How a label fits the words of a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameFit {
    /// Some word of the question is its own, or it has none.
    pub(super) named: bool,
    /// Less is better.
    pub(super) cost: usize,
}

/// The cost of a word that nobody asked for.
pub(super) const HEAVY: usize = 10;

/// Words of a total, in English and German.
const TOTALS: &str = "total subtotal gesamt summe all";

impl Label {
    pub(super) fn read(name: &str, section: &str, years: &[u16]) -> Self {
        // Columns of one name are numbered by the reader of headers.
        let name = name.split(" (group ").next().unwrap_or(name).trim();
        let named = spans(&name.to_lowercase());
        let span = match (named.as_slice(), years) {
            ([one], _) => Some(one.span),
            ([], [year]) => Some(CalendarSpan::default().in_year(*year)),
            _ => None,
        };
        let mut shown = name.to_owned();
        for named in named.into_iter().rev() {
            // Lower case may differ in length; the name then keeps its period.
            if shown.get(named.at.clone()).is_some() {
                shown.replace_range(named.at, " ");
            }
        }
        let (plain, aside) = shown.split_once(['(', '[']).unwrap_or((&shown, ""));
        let (aside, after) = aside.split_once([')', ']']).unwrap_or((aside, ""));
        let mut words = stems(&format!("{plain} {after}"));
        // "IT" is a name, "it" is not; a question never names it by chance.
        if words.is_empty() && span.is_none() && !name.is_empty() {
            words.push(name.to_owned());
        }
        let name = if words.is_empty() { name } else { &shown };
        Self {
            // "% of total" is a share.
            total: !name.contains('%') && words.iter().any(|word| lists_stem(TOTALS, word))
                || name == "Group",
            name: finqa_core::text::single_spaced(name).trim().to_owned(),
            words,
            aside: [stems(aside), stems(section)].concat(),
            span,
        }
    }

    pub(super) fn says(&self, word: &str) -> bool {
        let mut all = self.words.iter().chain(&self.aside);
        all.any(|own| same_word(own, word))
    }

    /// Whether its own name has one of the words of a list.
    pub(super) fn is_one_of(&self, list: &str) -> bool {
        self.words.iter().any(|own| lists_stem(list, own))
    }

    /// What it says beyond the words that a question asks for.
    pub(super) fn fit(&self, asked: &[String]) -> NameFit {
        if !self.words.is_empty() && !asked.iter().any(|word| self.says(word)) {
            let cost = if self.total { HEAVY / 2 } else { HEAVY };
            return NameFit { named: false, cost };
        }
        let unasked = |own: &&String| !asked.iter().any(|word| same_word(own, word));
        let costs = self.words.iter().filter(unasked);
        let costs = costs.map(|own| if lists_stem(LIGHT, own) { 1 } else { HEAVY });
        NameFit {
            named: true,
            cost: costs.sum(),
        }
    }
}
