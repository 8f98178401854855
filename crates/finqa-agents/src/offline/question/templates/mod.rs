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

use super::conversation::EarlierTurns;
use super::mention::{operands, span};
use super::plan::{Pairing, ProgramPattern, ProgramPlan};
use super::slot_words::{AlikeWords, WordWeights, weighted};
use super::slots::SlotQuery;
use super::wording::Wording;
use crate::offline::reading::facts::Facts;
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
    parts: RefCell<HashMap<String, Rc<PlanPart>, RandomState>>,
    alike: AlikeWords,
}

/// A part of the question as it is read for a slot.
#[derive(Debug)]
struct PlanPart {
    words: Vec<(u32, f64)>,
    alike: WordWeights,
    unknown: f64,
    years: Vec<u16>,
    bare: bool,
    outflow: bool,
    opening: bool,
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

    /// Reads a part, once for all slots: plans name the same things again and again.
    fn part(&self, facts: &Facts, text: &str) -> Rc<PlanPart> {
        if let Some(part) = self.parts.borrow().get(text) {
            return Rc::clone(part);
        }
        let read = Wording::read(text);
        let (words, unknown) = weighted(facts, &read.tokens);
        let part = Rc::new(PlanPart {
            alike: self.alike.to(facts, &read.tokens, &words),
            words,
            unknown,
            bare: super::conversation::is_bare(&read),
            outflow: read.says(&["spent", "positive", "spending", "impact"]),
            opening: read.says(&["initial", "beginning", "start", "original", "first"]),
            years: read.years,
        });
        let mut parts = self.parts.borrow_mut();
        parts.insert(text.to_owned(), Rc::clone(&part));
        part
    }
}

/// A query from a part of the question, with the words that it leaves out.
pub(crate) fn query(
    facts: &Facts,
    asked: &Wording,
    text: &str,
    context: &PlanContext,
) -> SlotQuery {
    let part = context.part(facts, text);
    let of_all = asked.of_all();
    let named = [&part.years, &asked.years];
    let years = named.into_iter().find(|years| !years.is_empty());
    SlotQuery {
        words: part.words.clone(),
        alike: Rc::clone(&part.alike),
        unknown: part.unknown,
        inherited: Rc::clone(&context.words),
        years: years.unwrap_or(&context.years).clone(),
        years_inherited: years.is_none(),
        elliptical: part.bare,
        anchors: Rc::clone(&context.anchors),
        percent: of_all.percent,
        count: of_all.count,
        scale: of_all.scale,
        outflow: part.outflow,
        named_numbers: Rc::clone(&of_all.named_numbers),
        opening: part.opening,
        only: None,
    }
}

/// The plans for a question without its conversation, best first.
pub(crate) fn plans(facts: &Facts, asked: &Wording, context: &PlanContext) -> Vec<ProgramPlan> {
    let mut out = Vec::new();
    let set_against = asked.says(&[
        "in relation to", "as a percent of", "as percent of", "divided by", "ratio of",
        "was due to", "were due to", "attributable to",
    ]);
    out.extend(super::arithmetic::constant(facts, asked, context));
    out.extend(parts::comparison(facts, asked, context));
    out.extend(parts::direction(facts, asked, context));
    out.extend(amounts::difference_over(facts, asked, context));
    out.extend(index_return(facts, asked, context));
    if set_against {
        out.extend(parts::ratio(facts, asked, context));
    }
    out.extend(relative_change(facts, asked, context));
    if asked.says(&["sum of", "total sum", "combined"]) {
        out.extend(parts::sum(facts, asked, context));
    }
    out.extend(parts::average(facts, asked, context));
    if !set_against {
        out.extend(parts::ratio(facts, asked, context));
    }
    out.extend(parts::product(facts, asked, context));
    out.extend(difference(facts, asked, context));
    out.extend(parts::sum(facts, asked, context));
    out.push(ProgramPlan::look_up(
        query(facts, asked, &asked.phrase, context),
        0.4,
    ));
    out.extend(parts::any_share(facts, asked, context));
    out.extend(parts::both(facts, asked, context));
    out.extend(amounts::margin(facts, asked, context));
    out.extend(amounts::count_times_price(facts, asked, context));
    out.extend(balance::roll_forward(facts, asked, context));
    out.extend(series::series(facts, asked, context));
    out.extend(series::extremes(facts, asked, context));
    out.extend(due::due(facts, asked, context));
    out.extend(steps::complement(facts, asked, context));
    out.extend(steps::compound(facts, asked, context));
    out.extend(steps::same_rate(facts, asked, context));
    out.extend(steps::profit(facts, asked, context));
    out
}

/// Two periods: the years in the question, later first; or a year and the one before.
pub(crate) fn two_periods(
    facts: &Facts,
    asked: &Wording,
    context: &PlanContext,
) -> Option<(u16, u16)> {
    let years = if asked.years.is_empty() {
        &context.years
    } else {
        &asked.years
    };
    match (years.iter().max(), years.iter().min()) {
        (Some(late), Some(early)) if late != early => Some((*late, *early)),
        (Some(year), _) => Some((*year, year - 1)),
        _ => {
            let mut known: Vec<u16> = facts
                .columns
                .iter()
                .flat_map(|c| c.years.iter().copied())
                .chain(facts.rows.iter().flat_map(|r| r.years.iter().copied()))
                .collect();
            known.sort_unstable();
            known.dedup();
            let late = known.pop()?;
            Some((late, known.pop()?))
        }
    }
}

pub(crate) fn periods(
    facts: &Facts,
    asked: &Wording,
    context: &PlanContext,
) -> Option<(SlotQuery, SlotQuery)> {
    let (late, early) = two_periods(facts, asked, context)?;
    let base = query(facts, asked, &asked.phrase, context);
    let at = |year: u16| SlotQuery {
        years: vec![year],
        percent: false,
        ..base.clone()
    };
    Some((at(late), at(early)))
}

fn change_pattern() -> ProgramPattern {
    let difference = ProgramPattern::of_slots(Op::Subtract);
    ProgramPattern::step(Op::Divide, difference, ProgramPattern::Slot(1))
}

/// `(later - earlier) / earlier`
pub(crate) fn relative_change(
    facts: &Facts,
    asked: &Wording,
    context: &PlanContext,
) -> Option<ProgramPlan> {
    if !asked.relative_change() {
        return None;
    }
    let (a, b) = periods(facts, asked, context)?;
    let sure = asked.years.len() >= 2 || asked.says(&["growth rate"]);
    Some(ProgramPlan {
        name: "relative change",
        pattern: change_pattern(),
        slots: vec![a, b],
        pairing: Pairing::Periods,
        prior: if sure { 0.95 } else { 0.8 },
        kind: UnitKind::Percent,
    })
}

/// `later - earlier`, or the difference of two things.
pub(crate) fn difference(
    facts: &Facts,
    asked: &Wording,
    context: &PlanContext,
) -> Option<ProgramPlan> {
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
            name: "difference",
            pattern: ProgramPattern::of_slots(Op::Subtract),
            slots: parts_of(facts, asked, &a, &b, context),
            pairing: Pairing::Parts,
            prior: 0.7,
            kind: UnitKind::Number,
        });
    }
    let (a, b) = periods(facts, asked, context)?;
    Some(ProgramPlan {
        name: "difference",
        pattern: ProgramPattern::of_slots(Op::Subtract),
        slots: vec![a, b],
        pairing: Pairing::Periods,
        prior: if asked.years.len() >= 2 { 0.9 } else { 0.5 },
        kind: UnitKind::Number,
    })
}

/// What the operands of a share, a difference or a sum are by the wording, first and second;
/// and what the later and the earlier period are.
pub(crate) fn roles(
    facts: &Facts,
    asked: &Wording,
    context: &PlanContext,
) -> [Option<SlotQuery>; ROLES] {
    let named = || {
        let (a, b) = operands(
            asked,
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
        (span(&a).names() && span(&b).names()).then(|| parts_of(facts, asked, &a, &b, context))
    };
    let slots = parts::ratio(facts, asked, context).map(|plan| plan.slots);
    let mut parts = slots.or_else(named).unwrap_or_default().into_iter();
    let (late, early) = periods(facts, asked, context).unzip();
    [parts.next(), parts.next(), late, early]
}

/// How many roles [`roles`] tells apart.
pub(crate) const ROLES: usize = 4;

/// Two slots for two things, each with the other's words at a low weight.
fn parts_of(
    facts: &Facts,
    asked: &Wording,
    a: &str,
    b: &str,
    context: &PlanContext,
) -> Vec<SlotQuery> {
    let mut one = query(facts, asked, a, context);
    let mut two = query(facts, asked, b, context);
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
