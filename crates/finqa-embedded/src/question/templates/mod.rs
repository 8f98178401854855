//! Operation templates for a question without earlier turns, selected by its cues.
//!
//! Each returns a plan or nothing; `plans` keeps their order. References to earlier turns
//! are resolved in `follow_up`.

mod amounts;
mod any;
mod balance;
mod described;
mod due;
mod factors;
mod parts;
mod returns;
mod series;
mod steps;
mod sums;

pub(crate) use any::proposed;
pub(crate) use described::{DESCRIBED, described};
pub(crate) use returns::{index_return, starts_at_hundred};
pub(crate) use series::{EXTREME, YEAR_OF, only_extreme};
pub(crate) use steps::{COMPLEMENT, COMPOUND_GROWTH, PROFIT};

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::conversation::{EarlierTurns, is_bare};
use super::follow_up::names_the_same;
use super::mention::{operands, span};
use super::plan::ProgramPattern::Slot;
use super::plan::{Pairing, ProgramPattern, ProgramPlan, of_slots, step};
use super::slot_words::{AlikeWords, WordWeights, weighted};
use super::slots::SlotQuery;
use super::wording::Wording;
use crate::reading::facts::Facts;
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// What slots inherit from an earlier turn.
#[derive(Debug, Default)]
pub(crate) struct PlanContext {
    pub words: WordWeights,
    pub(crate) years: Vec<u16>,
    /// Facts used so far.
    pub(crate) anchors: Rc<[usize]>,
    /// Parts of the question read so far.
    parts: RefCell<HashMap<String, SlotQuery, RandomState>>,
    alike: AlikeWords,
}

impl PlanContext {
    /// What the turn before leaves: its words and years, and all facts used so far.
    pub(crate) fn after(state: &EarlierTurns) -> Self {
        let last = state.last();
        Self {
            words: last.map_or(&[][..], |t| &t.words).into(),
            years: last.map(|t| t.years.clone()).unwrap_or_default(),
            anchors: state.anchors().into(),
            ..Self::default()
        }
    }

    /// Reads a part, once for all slots: plans name the same things again and again. The query
    /// lacks what the rest of the question says.
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
            elliptical: is_bare(&read),
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

/// A question as its plans read it: its page, the turns before it and what they leave.
#[derive(Clone, Copy)]
pub(crate) struct PlanQuestion<'a> {
    pub(crate) facts: &'a Facts,
    pub asked: &'a Wording,
    pub state: &'a EarlierTurns,
    /// What slots inherit.
    pub context: &'a PlanContext,
    /// It follows earlier turns and names nothing that the last of them did not name.
    pub(crate) refers: bool,
}

impl<'a> PlanQuestion<'a> {
    pub(crate) fn new(
        facts: &'a Facts,
        asked: &'a Wording,
        state: &'a EarlierTurns,
        context: &'a PlanContext,
    ) -> Self {
        let known = || is_bare(asked) || names_the_same(facts, asked, state);
        Self {
            facts,
            asked,
            state,
            context,
            refers: !state.turns.is_empty() && known(),
        }
    }

    /// Another wording in its place.
    pub(crate) fn with<'b>(&'b self, asked: &'b Wording) -> PlanQuestion<'b> {
        PlanQuestion { asked, ..*self }
    }

    /// A query from a part of the question, with the words that it leaves out.
    pub(crate) fn query(&self, text: &str) -> SlotQuery {
        let (asked, context) = (self.asked, self.context);
        let part = context.part(self.facts, text);
        let of_all = asked.of_all();
        let named = [&part.years, &asked.years];
        let years = named.into_iter().find(|years| !years.is_empty());
        SlotQuery {
            years: years.unwrap_or(&context.years).clone(),
            years_inherited: years.is_none(),
            percent: of_all.percent,
            count: of_all.count,
            scale: of_all.scale,
            named_numbers: Rc::clone(&of_all.named_numbers),
            ..part
        }
    }

    /// A query from all of the question.
    pub(crate) fn whole(&self) -> SlotQuery {
        self.query(&self.asked.phrase)
    }

    /// Two slots for two things, each with the other's words at a low weight.
    fn parts_of(&self, a: &str, b: &str) -> Vec<SlotQuery> {
        let (mut one, mut two) = (self.query(a), self.query(b));
        if one.elliptical {
            one.inherited = two.words.as_slice().into();
        }
        if two.elliptical {
            two.inherited = one.words.as_slice().into();
        }
        for query in [&mut one, &mut two] {
            query.percent = false;
        }
        vec![one, two]
    }

    /// Two periods: the years in the question, later first; or a year and the one before.
    fn two_periods(&self) -> Option<(u16, u16)> {
        let (facts, asked) = (self.facts, self.asked);
        let years = if asked.years.is_empty() {
            &self.context.years
        } else {
            &asked.years
        };
        match (years.iter().max(), years.iter().min()) {
            (Some(late), Some(early)) if late != early => Some((*late, *early)),
            (Some(year), _) => Some((*year, year - 1)),
            _ => {
                let of_columns = facts.columns.iter().flat_map(|c| &c.years);
                let of_rows = facts.rows.iter().flat_map(|r| &r.years);
                let mut known: Vec<u16> = of_columns.chain(of_rows).copied().collect();
                known.sort_unstable();
                known.dedup();
                let late = known.pop()?;
                Some((late, known.pop()?))
            }
        }
    }

    /// All of the question in each of its [two periods](Self::two_periods).
    fn periods(&self) -> Option<(SlotQuery, SlotQuery)> {
        let (late, early) = self.two_periods()?;
        let base = self.whole().amount();
        Some((base.of_year(late), base.of_year(early)))
    }
}

/// The plans for a question without its conversation, best first.
pub(crate) fn plans(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    let mut out = Vec::new();
    let set_against = q.asked.says(&[
        "in relation to", "as a percent of", "as percent of", "divided by", "ratio of",
        "was due to", "were due to", "attributable to",
    ]);
    out.extend(super::arithmetic::constant(q));
    out.extend(parts::comparison(q));
    out.extend(parts::direction(q));
    out.extend(amounts::difference_over(q));
    out.extend(index_return(q));
    if set_against {
        out.extend(parts::ratio(q));
    }
    out.extend(relative_change(q));
    if q.asked.says(&["sum of", "total sum", "combined"]) {
        out.extend(parts::sum(q));
    }
    out.extend(parts::average(q));
    if !set_against {
        out.extend(parts::ratio(q));
    }
    out.extend(parts::product(q));
    out.extend(difference(q));
    out.extend(parts::sum(q));
    out.push(ProgramPlan::look_up(q.whole()));
    out.extend(parts::any_share(q));
    out.extend(parts::both(q));
    out.extend(amounts::margin(q));
    out.extend(amounts::count_times_price(q));
    out.extend(balance::roll_forward(q));
    out.extend(series::series(q));
    out.extend(series::extremes(q));
    out.extend(due::due(q));
    out.extend(steps::complement(q));
    out.extend(steps::compound(q));
    out.extend(steps::same_rate(q));
    out.extend(steps::profit(q));
    out
}

fn change_pattern() -> ProgramPattern {
    let difference = of_slots(Op::Subtract);
    step(Op::Divide, difference, Slot(1))
}

/// `(later - earlier) / earlier`
pub(crate) fn relative_change(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.relative_change() {
        return None;
    }
    let (a, b) = q.periods()?;
    let sure = asked.years.len() >= 2 || asked.says(&["growth rate"]);
    Some(ProgramPlan {
        pairing: Pairing::Periods,
        prior: if sure { 0.95 } else { 0.8 },
        kind: UnitKind::Percent,
        ..ProgramPlan::new("relative change", change_pattern(), vec![a, b])
    })
}

/// `later - earlier`, or the difference of two things.
pub(crate) fn difference(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let asked = q.asked;
    if !asked.change()
        && !asked.says(&[
            "less", "minus", "how much more", "how much higher", "how much greater", "exceed",
            "outperform", "higher", "excluding", "without",
        ])
    {
        return None;
    }
    let parts = operands(
        asked,
        &[
            ("difference between", &["and"]),
            ("difference of", &["and"]),
            (
                "",
                &[
                    "less", "minus", "excluding", "without", "compared to", "compared with",
                    "versus", "than",
                ],
            ),
        ],
    );
    let things =
        parts.filter(|(a, b)| asked.years.len() < 2 && (span(a).names() && span(b).names()));
    if let Some((a, b)) = things {
        return Some(ProgramPlan {
            pairing: Pairing::Parts,
            prior: 0.7,
            ..ProgramPlan::new("difference", of_slots(Op::Subtract), q.parts_of(&a, &b))
        });
    }
    let (a, b) = q.periods()?;
    Some(ProgramPlan {
        pairing: Pairing::Periods,
        prior: if asked.years.len() >= 2 { 0.9 } else { 0.5 },
        ..ProgramPlan::new("difference", of_slots(Op::Subtract), vec![a, b])
    })
}

/// What the operands of a share, a difference or a sum are by the wording, first and second;
/// and what the later and the earlier period are.
pub(crate) fn roles(q: &PlanQuestion<'_>) -> [Option<SlotQuery>; ROLES] {
    let named = || {
        let (a, b) = operands(
            q.asked,
            &[
                ("difference between", &["and"]),
                ("difference of", &["and"]),
                ("sum of", &["and", "plus"]),
                ("total of", &["and", "plus"]),
                ("product of", &["and", "by"]),
                (
                    "",
                    &[
                        "compared to", "compared with", "versus", "than", "less", "minus", "plus",
                        "times", "and",
                    ],
                ),
            ],
        )?;
        (span(&a).names() && span(&b).names()).then(|| q.parts_of(&a, &b))
    };
    let slots = parts::ratio(q).map(|plan| plan.slots);
    let mut parts = slots.or_else(named).unwrap_or_default().into_iter();
    let (late, early) = q.periods().unzip();
    [parts.next(), parts.next(), late, early]
}

/// How many roles [`roles`] tells apart.
pub(crate) const ROLES: usize = 4;
