//! A figure as a question names it, in each of the ways to say it.

use finqa_core::page::period::Period;

use super::names::{Concept, amount_named, quotients};

/// The most ways to say an operand that are tried.
const READINGS: usize = 60;

/// One way to say an operand.
#[derive(Clone, Debug)]
pub(super) struct Wording {
    pub(super) words: Vec<String>,
    /// It says the opposite of what the question does: a loss for a profit.
    pub(super) opposite: bool,
}

impl Wording {
    fn with(&self, more: &[String], opposite: bool) -> Self {
        Self {
            words: [self.words.as_slice(), more].concat(),
            opposite: self.opposite || opposite,
        }
    }
}

/// A figure by the words that name it.
#[derive(Clone, Debug, Default)]
pub(super) struct Operand {
    /// Stems, and the words as the question spells them.
    pub(super) words: Vec<(String, String)>,
    /// Names that have others, and which of them the question says.
    pub(super) names: Vec<(&'static Concept, usize)>,
    /// What it may be a part of: "sales" of "what share of sales".
    pub(super) of: Option<Box<Operand>>,
    pub(super) spans: Vec<Period>,
    /// The two periods are the ends of a longer one.
    pub(super) through: bool,
    pub(super) total: bool,
    /// A percentage that the page prints is meant.
    pub(super) percent: bool,
    /// A fall is asked for.
    pub(super) falls: bool,
    /// An improvement is asked for.
    pub(super) improves: bool,
    /// Its words are joined by "and".
    pub(super) joins: bool,
    /// "How many": no money.
    pub(super) counts: bool,
}

impl Operand {
    /// The same figure of other periods.
    pub(super) fn of_spans(&self, spans: Vec<Period>) -> Self {
        let same = self.clone();
        Self { spans, ..same }
    }

    /// The same figure without the words that have no other names.
    pub(super) fn without_words(&self) -> Self {
        let same = self.clone();
        let words = Vec::new();
        Self { words, ..same }
    }

    /// The same figure where nobody asks for a total.
    pub(super) fn of_parts(&self) -> Self {
        let same = self.clone();
        let total = false;
        Self { total, ..same }
    }

    /// As the question spells it.
    pub(super) fn spelled(&self) -> String {
        let words = self.words.iter().map(|(_, said)| said.clone());
        let names = self.names.iter();
        let names = names.map(|(one, said)| one.written(*said).to_owned());
        words.chain(names).collect::<Vec<_>>().join(" ")
    }

    /// Whether a word is one of its own, or of the names that it says.
    pub(super) fn says(&self, word: &str) -> bool {
        let names = self.names.iter();
        let mut named = names
            .filter_map(|(one, said)| one.names.get(*said))
            .flatten();
        self.words.iter().any(|(stem, _)| stem == word) || named.any(|stem| stem == word)
    }

    /// Whether it names a figure.
    pub(super) fn is_named(&self) -> bool {
        !self.words.is_empty() || !self.names.is_empty()
    }

    /// The operand in each of its ways to say it, as it is said first.
    pub(super) fn readings(&self) -> Vec<Wording> {
        let words = self.words.iter().map(|(stem, _)| stem.clone());
        let said = |(one, said): &(&Concept, usize)| {
            one.names
                .get(*said)
                .is_some_and(|name| name.iter().any(|word| word == "total"))
        };
        let total = self.total && !self.names.iter().any(said);
        let total = total.then(|| "total".to_owned());
        let mut readings = vec![Wording {
            words: words.chain(total).collect(),
            opposite: false,
        }];
        for (concept, said) in &self.names {
            let with = |name: usize| -> Vec<Wording> {
                let words = concept.names.get(name).map_or(&[][..], Vec::as_slice);
                let opposite = concept.differ(*said, name);
                let with = readings.iter().map(|one| one.with(words, opposite));
                with.collect()
            };
            let without = (concept.loose && self.names.len() > 1).then(|| readings.clone());
            let names = [*said].into_iter().chain(0..concept.names.len());
            let named = names.flat_map(with);
            let all = named.chain(without.into_iter().flatten());
            readings = all.take(READINGS).collect();
        }
        if let Some(of) = &self.of {
            let of = of.readings();
            let within = of.iter().flat_map(|of| {
                let within = readings.iter();
                within.map(|one| one.with(&of.words, of.opposite))
            });
            readings = within
                .chain(readings.iter().cloned())
                .take(READINGS)
                .collect();
        }
        readings
    }

    /// Whether a percentage that the page prints is meant.
    pub(super) fn wants_percent(&self) -> bool {
        self.percent || self.names.iter().any(|(one, _)| one.quotient.is_some())
    }

    /// The part and the whole, if it is called a quotient: "operating margin". "Gross margin"
    /// may be an amount too.
    pub(super) fn quotient(&self) -> Option<(Self, Self)> {
        let (at, of) = self
            .names
            .iter()
            .enumerate()
            .find_map(|(at, (one, said))| {
                let said = one.names.get(*said)?;
                let is_meant = |of: &&Concept| {
                    of.names.contains(said)
                        || self.percent && one.names.iter().any(|name| of.names.contains(name))
                };
                Some((at, quotients().find(is_meant)?))
            })?;
        let (part, whole) = of.quotient.as_ref()?;
        let named = |name: &Vec<String>| {
            let mut of = self.clone();
            of.percent = false;
            of.names.remove(at);
            match amount_named(name) {
                Some(concept) => of.names.push(concept),
                None => of
                    .words
                    .extend(name.iter().map(|word| (word.clone(), word.clone()))),
            }
            of
        };
        Some((named(part), named(whole)))
    }
}
