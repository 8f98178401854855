//! A question as the rules for plans see it: its text, its page, the earlier turns, and what its
//! slots inherit from them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::conversation::{EarlierTurn, earlier_turns, is_bare};
use super::slot_scorer::SlotQuery;
use super::slot_words::{AlikeWords, WordWeights, weighted};
use super::wording::Wording;
use crate::reading::facts::Facts;
use finqa_core::question::HistoryEntry;

/// The earlier turns, and what the slots of a question inherit: the words and the years of the last
/// turn, and the facts of all turns as anchors. It also keeps the queries that were already made.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    earlier: Vec<EarlierTurn>,
    /// The words of the last turn.
    pub words: WordWeights,
    /// The years of the last turn.
    pub(crate) years: Vec<u16>,
    /// The facts that all earlier turns used, the latest last; a slot can ask for one near them.
    pub(crate) anchors: Rc<[usize]>,
    /// Queries made from parts of the question, by their text: many plans read the same parts.
    parts: RefCell<HashMap<String, SlotQuery, RandomState>>,
    alike: AlikeWords,
}

impl Inherited {
    /// What a question after these turns inherits; nothing if there are none.
    pub(crate) fn after(facts: &Facts, history: &[HistoryEntry]) -> Self {
        let earlier = earlier_turns(facts, history);
        let last = earlier.last();
        let used = earlier.iter().flat_map(|turn| &turn.facts);
        Self {
            words: last.map_or(&[][..], |t| &t.words).into(),
            years: last.map(|t| t.years.clone()).unwrap_or_default(),
            anchors: used.copied().collect(),
            earlier,
            ..Self::default()
        }
    }

    /// The query for a part of the question. It does not depend on the other parts;
    /// [`PlanQuestion::query`] adds what the question as a whole says.
    fn part(&self, facts: &Facts, text: &str) -> SlotQuery {
        if let Some(part) = self.parts.borrow().get(text) {
            return part.clone();
        }
        let read = Wording::read(text);
        let (words, unknown) = weighted(facts, &read.tokens);
        let part = SlotQuery {
            alike: self.alike.to(facts, &read.tokens, &words),
            words,
            unknown,
            inherited: Rc::clone(&self.words),
            bare: is_bare(&read),
            anchors: Rc::clone(&self.anchors),
            outflow: read.says(&["spent", "positive", "spending", "impact"]),
            opening: read.says(&["initial", "beginning", "start", "original", "first"]),
            years: read.years,
            ..SlotQuery::default()
        };
        let mut parts = self.parts.borrow_mut();
        parts.insert(text.to_owned(), part.clone());
        part
    }
}

/// A question with its page and its earlier turns, from which the rules make plans.
#[derive(Clone, Copy)]
pub(crate) struct PlanQuestion<'a> {
    pub(crate) facts: &'a Facts,
    pub asked: &'a Wording,
    /// The turns before it, whose answers and numbers a plan can repeat.
    pub earlier: &'a [EarlierTurn],
    /// What its slots inherit from these turns.
    pub inherited: &'a Inherited,
    /// True if it follows earlier turns and names hardly anything that the last three did not name.
    /// "What share of sales is that?" is false if "sales" is new, although it says "that".
    pub(crate) names_nothing_new: bool,
}

impl<'a> PlanQuestion<'a> {
    pub(crate) fn new(facts: &'a Facts, asked: &'a Wording, inherited: &'a Inherited) -> Self {
        let earlier = &inherited.earlier;
        let known = || is_bare(asked) || names_the_same(facts, asked, earlier);
        Self {
            facts,
            asked,
            earlier,
            inherited,
            names_nothing_new: !earlier.is_empty() && known(),
        }
    }

    /// The same question with another wording, such as only a part of its text.
    pub(crate) fn with<'b>(&'b self, asked: &'b Wording) -> PlanQuestion<'b> {
        PlanQuestion { asked, ..*self }
    }

    /// The query for a part of the question. Its years are those of the part, else of the question,
    /// else of the last turn; percentages, counts and scales are those of the question.
    pub(crate) fn query(&self, text: &str) -> SlotQuery {
        let (asked, inherited) = (self.asked, self.inherited);
        let part = inherited.part(self.facts, text);
        let named = [&part.years, &asked.years];
        let years = named.into_iter().find(|years| !years.is_empty());
        SlotQuery {
            years: years.unwrap_or(&inherited.years).clone(),
            years_inherited: years.is_none(),
            common: asked.common().clone(),
            ..part
        }
    }

    /// The query for the question as a whole.
    pub(crate) fn whole(&self) -> SlotQuery {
        self.query(&self.asked.phrase)
    }

    /// The query for the question as a whole in each of its years.
    pub(super) fn each_year(&self) -> Vec<SlotQuery> {
        let (base, years) = (self.whole(), self.asked.years.iter());
        years.map(|year| base.of_year(*year)).collect()
    }

    /// Two slots for two things that parts of the question name. A part that names no quantity
    /// inherits the other's words: "sales in 2012 and in 2013". So "that" in "that divided by
    /// sales" asks for sales twice; the plan for the earlier answer is that of `sketch_plans`.
    pub(super) fn parts_of(&self, a: &str, b: &str) -> Vec<SlotQuery> {
        let (mut one, mut two) = (self.query(a), self.query(b));
        if one.bare {
            one.inherited = two.words.as_slice().into();
        }
        if two.bare {
            two.inherited = one.words.as_slice().into();
        }
        vec![one.amount(), two.amount()]
    }

    /// Two years to compare, the later first: the latest and the earliest year of the question, or
    /// its only year and the one before it. If the question names no year, the years of the last
    /// turn are used in the same way. Without these, the latest two of the table are used; `None`
    /// if it has fewer.
    pub(super) fn two_periods(&self) -> Option<(u16, u16)> {
        let years = self.asked.years_or(&self.inherited.years);
        match (years.iter().max(), years.iter().min()) {
            (Some(late), Some(early)) if late != early => Some((*late, *early)),
            (Some(year), _) => Some((*year, year - 1)),
            _ => {
                let mut known: Vec<u16> = self.facts.table_years().collect();
                known.sort_unstable();
                known.dedup();
                let late = known.pop()?;
                Some((late, known.pop()?))
            }
        }
    }

    /// The query for the question as a whole in each of its [two years](Self::two_periods).
    pub(super) fn periods(&self) -> Option<(SlotQuery, SlotQuery)> {
        let (late, early) = self.two_periods()?;
        let base = self.whole().amount();
        Some((base.of_year(late), base.of_year(early)))
    }
}

/// True if the last three turns named more than three quarters of the content words, by weight.
/// Both numbers are set by hand; with a smaller share, fewer questions would name something new.
fn names_the_same(facts: &Facts, asked: &Wording, earlier: &[EarlierTurn]) -> bool {
    let (words, unknown) = weighted(facts, asked.content());
    let total = words.iter().map(|(_, weight)| weight).sum::<f64>() + unknown;
    let named = |word: u32| earlier.iter().rev().take(3).any(|t| t.names(word));
    let named = words.iter().filter(|(word, _)| named(*word));
    let named: f64 = named.map(|(_, weight)| weight).sum();
    // At least 0.1, because it is a divisor.
    named / total.max(0.1) > 0.75
}
