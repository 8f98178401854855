//! Defines the operand: one figure as the question names it, in each of the ways to say it.

use finqa_core::page::period::Period;

use super::named_statement::NamedStatement;
use super::names::{Concept, ConceptName, Formula, NamedConcept, instead_of, name_at, quotients};
use crate::reading::text::stem;
use crate::tables::page::table::Place;
use crate::tables::words::{SaidWord, stems};

/// Maximum number of ways to say an operand that are tried, which limits the time: each is compared
/// with the labels of each figure. Further names in `concepts.txt` are not tried.
const READINGS: usize = 60;

/// One way to say an operand, in stems.
#[derive(Clone, Debug)]
pub(crate) struct Phrasing {
    pub(crate) words: Vec<String>,
    /// True if it says the opposite of the question: "net loss" for "net income".
    pub(crate) opposite: bool,
    /// True if it has the words of the whole of which the operand is a part.
    pub(crate) within: bool,
}

impl Phrasing {
    /// True if it names only a loss: "loss before income taxes", but not "net income (loss)".
    pub(crate) fn loses(&self) -> bool {
        let gains = ["income", "earnings", "profit"].map(stem);
        let mut words = self.words.iter().enumerate();
        let is_tax = |at: usize| self.words.get(at + 1).is_some_and(|next| next == "tax");
        let gain = words.any(|(at, word)| gains.iter().any(|own| own == word) && !is_tax(at));
        self.words.iter().any(|word| *word == stem("loss")) && !gain
    }

    fn with(&self, more: &[String], opposite: bool) -> Self {
        Self {
            words: [self.words.as_slice(), more].concat(),
            opposite: self.opposite || opposite,
            within: self.within,
        }
    }
}

/// One figure that a question asks for or computes with.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operand {
    /// The words that are not in a known name.
    pub(crate) words: Vec<SaidWord>,
    /// The known names in the question.
    pub(crate) names: Vec<NamedConcept>,
    /// A copy of the other operand of a share, in a report only: "sales" in "what share of sales
    /// came from Europe". `readings` adds its names, because a row "Sales" under "Europe" may be
    /// the part.
    pub(crate) whole: Option<Box<Operand>>,
    /// The periods asked for, in the order of the question; empty if the question names none.
    pub(crate) spans: Vec<Period>,
    /// The period for which the previous question asked the same figure.
    pub(crate) before: Vec<Period>,
    /// True if the two `spans` are the ends of a longer period: "from 2029 to 2031".
    pub(crate) through: bool,
    /// True if the question asks for a total.
    pub(crate) total: bool,
    /// True if the question says that it is the company's: "the group's sales".
    pub(crate) of_company: bool,
    /// True if the question asks for a percentage that the page prints.
    pub(crate) percent: bool,
    /// True if the question asks whether or by how much the figure fell.
    pub(crate) falls: bool,
    /// True if the question asks whether or by how much the figure improved.
    pub(crate) improves: bool,
    /// True if its words are joined by "and": "pumps and valves", "total and valves".
    pub(crate) joins: bool,
    /// True for "how many" and "shares repurchased", which do not ask for money.
    pub(crate) counts: bool,
    /// True if the question asks for a balance, which has a day and not a period.
    pub(crate) balance: bool,
    /// True if the question asks for the current and the non-current part together.
    pub(crate) both_terms: bool,
    /// For "each of the last three quarters": how many periods, if the question says so, and the
    /// months of each.
    pub(crate) each: Option<(Option<usize>, u8)>,
    /// The words of an exclusion: "us" in "sales outside the US".
    pub(crate) except: Vec<SaidWord>,
    /// The statement that the question names.
    pub(crate) statement: Option<NamedStatement>,
    /// The cells with the labels that the question repeats as a whole.
    pub(crate) rows: Vec<Place>,
}

impl Operand {
    /// The same figure in other periods.
    pub(crate) fn of_spans(&self, spans: Vec<Period>) -> Self {
        let same = self.clone();
        Self { spans, ..same }
    }

    /// True if both name the same figure, in any period.
    pub(crate) fn is_same_figure(&self, other: &Self) -> bool {
        let concepts = self.names.iter().map(|one| one.concept);
        let stems = self.words.iter().map(|word| &word.stem);
        self.rows == other.rows
            && concepts.eq(other.names.iter().map(|one| one.concept))
            && stems.eq(other.words.iter().map(|word| &word.stem))
    }

    /// The period asked for. For a balance, it is the last day of that period.
    pub(crate) fn on_its_day(&self, asked: Period) -> Period {
        let instant = asked.instant || self.balance;
        Period { instant, ..asked }
    }

    /// The same figure without the words that are not in a known name.
    pub(crate) fn without_words(&self) -> Self {
        let same = self.clone();
        let words = Vec::new();
        Self { words, ..same }
    }

    /// The same figure without the wish for a total.
    pub(crate) fn without_total(&self) -> Self {
        let same = self.clone();
        let total = false;
        Self { total, ..same }
    }

    /// True if the question asks for the figure of the company and not of a segment.
    pub(crate) fn is_of_company(&self) -> bool {
        let named = |word| self.names.iter().any(|one| one.name.written.contains(word));
        self.total || self.of_company || ["group", "company"].into_iter().any(named)
    }

    /// Replaces a name if the words next to it mean another figure: income taxes with "paid" become
    /// income taxes paid. `said` has the stems of the question.
    pub(crate) fn rename(&mut self, said: &[String]) {
        let renamed = self.names.iter_mut().find_map(|one| {
            let (other, words) = instead_of(one.concept, said)?;
            *one = other;
            Some(words)
        });
        if let Some(words) = renamed {
            self.words.retain(|word| !words.contains(&word.stem));
            let is_said = |word: &String| words.contains(word);
            self.names
                .retain(|one| !(one.concept.loose && one.name.stems.iter().any(is_said)));
        }
    }

    /// Adds what names the figure of an earlier question.
    pub(crate) fn add_earlier(&mut self, of: &Self) {
        self.words.extend(of.words.iter().cloned());
        self.names.extend(of.names.iter().copied());
        self.spans.extend(of.spans.iter().copied());
        self.rows.clone_from(&of.rows);
        self.total |= of.total;
    }

    /// Adds a known name, unless the operand has it.
    pub(crate) fn add_name(&mut self, new: NamedConcept) {
        if !self.names.iter().any(|one| one.concept == new.concept) {
            self.names.push(new);
            self.total |= new.name.says("total");
        }
    }

    /// Adds a period, unless the operand has it. `year` is its year if it names none itself.
    pub(crate) fn add_span(&mut self, mut span: Period, year: Option<u16>) {
        span.end.year = span.end.year.or(year);
        if !self.spans.contains(&span) {
            self.spans.push(span);
        }
    }

    /// If the operand names a measure: its formula, and the operand's other words and periods,
    /// which apply to each term. Otherwise `None`.
    pub(crate) fn formula(&self) -> Option<(&'static Formula, Self)> {
        let mut names = self.names.iter().enumerate();
        let (at, formula) =
            names.find_map(|(at, one)| Some((at, one.concept.formula.as_ref()?)))?;
        let mut rest = self.clone();
        rest.names.remove(at);
        rest.total = false;
        Some((formula, rest))
    }

    /// The term of a formula or the side of a ratio that has this name, as an operand with the
    /// words and periods of this one.
    pub(crate) fn of_term(&self, name: &str) -> Self {
        let words: Vec<&str> = name.split(' ').collect();
        let mut of = self.clone();
        match name_at(&words).filter(|(length, _)| *length == words.len()) {
            Some((_, named)) => of.names.push(named),
            None => {
                let own = words.iter().flat_map(|word| stems(word));
                of.words.extend(own.map(|stem| SaidWord::new(&stem, &stem)));
            }
        }
        of
    }

    /// The operand as the question spells it, for messages.
    pub(crate) fn spelled(&self) -> String {
        let words = self.words.iter().map(|word| word.text.as_str());
        let names = self.names.iter().map(|one| one.name.written);
        words.chain(names).collect::<Vec<_>>().join(" ")
    }

    /// True if the word is one of the operand's words, or in a name as the question says it.
    pub(crate) fn says(&self, word: &str) -> bool {
        self.words.iter().any(|own| own.stem == word)
            || self.names.iter().any(|one| one.name.says(word))
    }

    /// True if the operand has anything that names a figure.
    pub(crate) fn is_named(&self) -> bool {
        !self.words.is_empty() || !self.names.is_empty() || !self.rows.is_empty()
    }

    /// All ways to say the operand, up to [`READINGS`]. The question's own comes first; for a part of
    /// a whole, it has the words of the whole too.
    pub(crate) fn readings(&self) -> Vec<Phrasing> {
        let words = self.words.iter().map(|word| word.stem.clone());
        let named = self.names.iter().any(|one| one.name.says("total"));
        let total = (self.total && !named).then(|| "total".to_owned());
        let mut readings = vec![Phrasing {
            words: words.chain(total).collect(),
            opposite: false,
            within: false,
        }];
        for one in &self.names {
            let with = |name: &ConceptName| -> Vec<Phrasing> {
                let opposite = name.opposite != one.name.opposite;
                let readings = readings.iter();
                let with = readings.map(|reading| reading.with(&name.stems, opposite));
                with.collect()
            };
            let without = (one.concept.loose && self.names.len() > 1).then(|| readings.clone());
            // First the question's own name, then the words without a name, so that the limit cuts
            // neither.
            let own = with(one.name)
                .into_iter()
                .chain(without.into_iter().flatten());
            let all = own.chain(one.concept.names.iter().flat_map(with));
            readings = all.take(READINGS).collect();
        }
        if let Some(whole) = &self.whole {
            // Half of the room is for the ways without the whole, so that these are not cut off.
            readings.truncate(READINGS / 2);
            let wholes = whole.readings();
            let within = wholes.iter().flat_map(|whole| {
                let within = readings.iter();
                within.map(|one| Phrasing {
                    within: true,
                    ..one.with(&whole.words, whole.opposite)
                })
            });
            let within = within.take(READINGS - readings.len());
            readings = within.chain(readings.iter().cloned()).collect();
        }
        readings
    }

    /// The words of each way to say the operand that does not mean its opposite.
    pub(crate) fn meant_readings(&self) -> Vec<Vec<String>> {
        let meant = self.readings().into_iter().filter(|one| !one.opposite);
        meant.map(|one| one.words).collect()
    }

    /// True if the question asks for a percentage that the page prints, by name or by "percent".
    pub(crate) fn wants_percent(&self) -> bool {
        self.percent || self.names.iter().any(|one| one.concept.quotient.is_some())
    }

    /// If the operand has the name of a ratio, its numerator and its denominator: "operating
    /// margin". "Gross margin" can also mean an amount, so it counts only if a percentage is asked
    /// for.
    pub(crate) fn quotient(&self) -> Option<(Self, Self)> {
        let mut names = self.names.iter().enumerate();
        let (at, of) = names.find_map(|(at, one)| {
            let is_meant = |of: &&Concept| {
                let mut names = one.concept.names.iter();
                of.has_name(&one.name.stems)
                    || self.percent && names.any(|name| of.has_name(&name.stems))
            };
            Some((at, quotients().find(is_meant)?))
        })?;
        let (part, whole) = of.quotient?;
        let mut rest = self.clone();
        rest.names.remove(at);
        // Both sides are amounts.
        rest.percent = false;
        Some((rest.of_term(part), rest.of_term(whole)))
    }
}
