//! Defines the tokens of a question: its words and phrases, each with its role in the question.

use finqa_core::page::period::Period;

use super::named_statement::NamedStatement;
use super::names::NamedConcept;
use super::operand::Operand;
use crate::reading::cues::Cue;
use crate::tables::words::{SaidWord, lists};

/// One word or phrase of a question.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// The text in lower case, without the punctuation around it.
    pub(crate) text: String,
    pub(crate) role: TokenRole,
}

/// The role of a token in a question.
#[derive(Clone, Debug)]
pub(crate) enum TokenRole {
    /// It names no figure, but its text may separate operands: "came", "from", "in".
    Filler,
    Cue(Cue),
    /// A word of a figure's name, as stems; some words have several.
    Word(Vec<String>),
    /// A name in `concepts.txt`.
    Name(NamedConcept),
    Period(Period),
    Statement(NamedStatement),
    /// The current and the non-current part together: "current and non-current debt".
    BothTerms,
    /// "Each of the last three years": the number of periods, if it is said, and the months of
    /// each.
    Each(Option<usize>, u8),
    /// "A year", "annually": the average of several years, or the figure of each.
    PerYear,
    /// The figure of an earlier question: "that" in "is that more than net income?"
    Earlier(Box<Operand>),
}

impl Token {
    pub(crate) fn new(text: impl Into<String>, role: TokenRole) -> Self {
        let text = text.into();
        Self { text, role }
    }

    /// True if its text is a word of a space-separated list.
    pub(crate) fn is_in(&self, list: &str) -> bool {
        lists(list, &self.text)
    }

    pub(crate) fn cue(&self) -> Option<Cue> {
        match self.role {
            TokenRole::Cue(cue) => Some(cue),
            _ => None,
        }
    }

    pub(crate) fn period(&self) -> Option<Period> {
        match self.role {
            TokenRole::Period(period) => Some(period),
            _ => None,
        }
    }

    pub(crate) fn is_earlier(&self) -> bool {
        matches!(self.role, TokenRole::Earlier(_))
    }

    /// True if it asks for the figure of a part of a year: "monthly", "a quarter".
    pub(crate) fn is_of_part(&self) -> bool {
        let shorter = ["quarter", "month", "week"];
        matches!(self.role, TokenRole::PerYear)
            && shorter.iter().any(|one| self.text.ends_with(one))
            || self.is_in("quarterly monthly weekly daily")
    }

    /// True if it asks for the figure of each year: "a year", "annually".
    pub(crate) fn is_of_each(&self) -> bool {
        let is_each = || self.text.contains("each") || self.text.contains("every");
        matches!(self.role, TokenRole::PerYear)
            || matches!(self.role, TokenRole::Each(..)) && is_each()
            || self.is_in("annualized yearly")
    }

    /// The words of a word or a name, each with the whole text.
    pub(crate) fn words(&self) -> impl Iterator<Item = SaidWord> {
        let stems = self.stems().iter();
        stems.map(|stem| SaidWord::new(stem, &self.text))
    }

    /// The stems of a word or a name; empty for all other roles.
    pub(crate) fn stems(&self) -> &[String] {
        match &self.role {
            TokenRole::Word(stems) => stems,
            TokenRole::Name(named) => &named.name.stems,
            _ => &[],
        }
    }
}
