//! A figure as a question names it, in each of the ways to say it.

use finqa_core::page::period::Period;

use super::names::{Concept, Formula, Term, amount_named, instead_of, name_at, quotients};
use super::phrases::NamedStatement;
use super::words::stems;

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
    /// The period of the same figure in the question before.
    pub(super) before: Vec<Period>,
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
    /// A balance is asked for, which is of a day.
    pub(super) balance: bool,
    /// The current and the non-current part are asked for together.
    pub(super) both_terms: bool,
    /// Each of the last so many periods is asked for, of so many months.
    pub(super) each: Option<(Option<usize>, u8)>,
    /// The words of an exclusion, as stem and text: "outside", "us".
    pub(super) except: Vec<(String, String)>,
    /// The statement in which it is.
    pub(super) statement: Option<NamedStatement>,
    /// The rows that it names by their whole label, each with its table.
    pub(super) rows: Vec<(usize, usize)>,
}

impl Operand {
    /// The same figure of other periods.
    pub(super) fn of_spans(&self, spans: Vec<Period>) -> Self {
        let same = self.clone();
        Self { spans, ..same }
    }

    /// Whether another operand names the same figure, of any period.
    pub(super) fn is_same_figure(&self, other: &Self) -> bool {
        let names = |of: &Self| -> Vec<*const Concept> {
            of.names
                .iter()
                .map(|(one, _)| std::ptr::from_ref(*one))
                .collect()
        };
        let stems =
            |of: &Self| -> Vec<String> { of.words.iter().map(|(stem, _)| stem.clone()).collect() };
        self.rows == other.rows && names(self) == names(other) && stems(self) == stems(other)
    }

    /// A balance of a year is that of its last day.
    pub(super) fn on_its_day(&self, asked: Period) -> Period {
        let instant = asked.instant || self.balance;
        Period { instant, ..asked }
    }

    /// The same figure with what it leaves out.
    pub(super) fn of_whole(&self) -> Self {
        let same = self.clone();
        let except = Vec::new();
        Self { except, ..same }
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

    /// Takes the figure that the words beside a name make of it: income taxes that are paid.
    pub(super) fn rename(&mut self, beside: &dyn Fn(&String) -> bool) {
        let mut names = self.names.iter().enumerate();
        let found = names.find_map(|(at, (one, _))| Some((at, instead_of(one, beside)?)));
        if let Some((at, (other, words))) = found {
            self.words.retain(|(stem, _)| !words.contains(stem));
            if let Some(name) = self.names.get_mut(at) {
                *name = (other, 0);
            }
            let is_said = |name: &Vec<String>| name.iter().any(|word| words.contains(word));
            self.names
                .retain(|(one, said)| !(one.loose && one.names.get(*said).is_some_and(is_said)));
        }
    }

    /// What it is computed from, if it names a measure; its other words are of each part.
    pub(super) fn formula(&self) -> Option<(&'static Formula, Self)> {
        let mut names = self.names.iter();
        let (at, formula) = names
            .by_ref()
            .enumerate()
            .find_map(|(at, (one, _))| Some((at, one.formula.as_ref()?)))?;
        let mut rest = self.clone();
        rest.names.remove(at);
        rest.total = false;
        Some((formula, rest))
    }

    /// The figure of a term of a formula, with the words and periods of this operand.
    pub(super) fn of_term(&self, term: &Term) -> Self {
        let words: Vec<&str> = term.name.split(' ').collect();
        let mut of = self.clone();
        match name_at(&words).filter(|(length, ..)| *length == words.len()) {
            Some((_, concept, said)) => of.names.push((concept, said)),
            None => {
                let own = words.iter().flat_map(|word| stems(word));
                of.words.extend(own.map(|stem| (stem.clone(), stem)));
            }
        }
        of
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
        !self.words.is_empty() || !self.names.is_empty() || !self.rows.is_empty()
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
            // As it is said first, then without it, so that it is among those that are tried.
            let said = with(*said);
            let others = (0..concept.names.len()).flat_map(with);
            let all = said
                .into_iter()
                .chain(without.into_iter().flatten())
                .chain(others);
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
