//! Fills the slots of a plan with facts. The facts are chosen jointly, because the score of a
//! choice also depends on how its facts are related.

use std::rc::Rc;
use std::sync::Arc;

use super::scale;
use crate::expr::{Expr, PageLeaf, value_of};
use crate::question::plan::{Pairing, ProgramPlan, fill_slots};
use crate::question::slot_scorer::{
    PAIRS, SLOT_FEATURES, SlotQuery, SlotScorer, best_facts, best_first, pair_features,
};
use crate::reading::facts::{Fact, Facts};
use finqa_core::program::Op;

/// A plan with facts in its slots.
#[derive(Clone, Debug)]
pub(crate) struct FilledPlan {
    /// Index of the plan in the list of the question's plans.
    pub plan: usize,
    pub(crate) expr: Expr,
    /// The mean score of the slots, with the scores of pairs.
    pub score: f64,
    /// The lowest score of a slot; 0 for a plan without slots.
    pub(crate) lowest: f64,
    /// The variant of the plan: an index into `variants::VARIANTS`, 0 for the plan itself.
    pub(crate) variant: usize,
}

/// The best fillings of a plan, best first. Fillings without a value, such as a division by zero,
/// are left out. `index` is the plan's index.
pub(crate) fn fill(
    facts: &Facts,
    plan: &ProgramPlan,
    index: usize,
    choices: &mut JointChoices,
) -> Vec<FilledPlan> {
    #[allow(clippy::cast_precision_loss, reason = "a plan has a handful of slots")]
    let count = plan.slots.len().max(1) as f64;
    let filled = |choice: &FactChoice| {
        let chosen = choice.facts.iter().zip(&plan.slots);
        let leaves = chosen.map(|(fact, query)| leaf(facts, plan, query, *fact));
        let leaves: Vec<PageLeaf> = leaves.collect::<Option<_>>()?;
        let expr = scale::align(facts, fill_slots(&plan.expr, &leaves));
        // Only a look-up is converted here; `variants` tries it for calculations.
        let expr = match (&plan.expr, plan.slots.first()) {
            (Expr::Leaf(_), Some(query)) => scale::to_asked(facts, expr, query.common.scale),
            _ => expr,
        };
        expr.value()?;
        Some(FilledPlan {
            plan: index,
            expr,
            score: choice.score / count,
            lowest: choice.lowest.unwrap_or_default(),
            variant: 0,
        })
    };
    let choices = choices.of(facts, plan);
    choices.iter().filter_map(filled).collect()
}

/// One fact for each slot of a plan.
#[derive(Default)]
pub(crate) struct FactChoice {
    pub(crate) facts: Vec<usize>,
    /// The sum of the scores of slots and pairs.
    pub score: f64,
    /// The lowest score of a slot; `None` if there is no slot.
    pub(crate) lowest: Option<f64>,
}

/// The best joint choices of facts for a question's plans. Each is kept, because many plans differ
/// only in what they calculate with the same facts.
pub(crate) struct JointChoices {
    /// Maximum number of facts that are tried for a slot.
    tried: usize,
    /// Maximum number of choices for a plan.
    keep: usize,
    /// The best facts for each query with their scores. Plans have many equal slots.
    rankings: Vec<(SlotQuery, Vec<(usize, f64)>)>,
    made: Vec<(ChoiceKey, Rc<[FactChoice]>)>,
}

/// The inputs that determine joint choices: the rankings of the slots, the pairing, and the facts
/// that are already in the plan's expression.
type ChoiceKey = (Vec<usize>, Pairing, Vec<usize>);

impl JointChoices {
    pub(crate) fn new(tried: usize, keep: usize) -> Self {
        Self {
            tried,
            keep,
            rankings: Vec::new(),
            made: Vec::new(),
        }
    }

    /// The choices for a plan, best first.
    pub(crate) fn of(&mut self, facts: &Facts, plan: &ProgramPlan) -> Rc<[FactChoice]> {
        let slots = plan.slots.iter().map(|query| self.ranking(facts, query));
        let key = (slots.collect(), plan.pairing, known_facts(facts, plan));
        if let Some((_, choices)) = self.made.iter().find(|(made, _)| *made == key) {
            return Rc::clone(choices);
        }
        let choices: Rc<[FactChoice]> = self.make(facts, &key).into();
        self.made.push((key, Rc::clone(&choices)));
        choices
    }

    /// The index of the ranking for a query, made if there is none yet.
    fn ranking(&mut self, facts: &Facts, query: &SlotQuery) -> usize {
        let known = self.rankings.iter().position(|(known, _)| known == query);
        known.unwrap_or_else(|| {
            let ranked = best_facts(facts, query, self.tried);
            self.rankings.push((query.clone(), ranked));
            self.rankings.len() - 1
        })
    }

    /// Chooses facts slot by slot (beam search). A plan without slots, such as one from earlier
    /// answers, gets one choice without facts. After each slot but the last, three times as many
    /// choices are kept as facts are tried for a slot. The factor is set by hand; it cuts nothing
    /// before the second slot is filled, so it matters only for plans with three slots or more.
    fn make(&self, facts: &Facts, (slots, pairing, known): &ChoiceKey) -> Vec<FactChoice> {
        let weights = facts.slot_weights.get(PAIRS..).unwrap_or_default();
        let weight = |k: usize| weights.get(k).copied().unwrap_or_default();
        let mut beam = vec![FactChoice::default()];
        for (slot, ranking) in slots.iter().enumerate() {
            let last = slot + 1 == slots.len();
            let ranking = self.rankings.get(*ranking);
            let ranked: &[(usize, f64)] = ranking.map_or(&[], |(_, ranked)| ranked);
            let mut next = Vec::with_capacity(beam.len() * ranked.len());
            for (at, choice) in beam.iter().enumerate() {
                for (of_ranking, (fact, score)) in ranked.iter().enumerate() {
                    let pairs = pairs(facts, *pairing, known, &choice.facts, *fact);
                    let joint: f64 = pairs.map(weight).sum();
                    next.push((choice.score + score + joint, (at, of_ranking)));
                }
            }
            let next = best_first(next, if last { self.keep } else { self.tried * 3 });
            let longer = |(sum, (at, of_ranking)): (f64, (usize, usize))| {
                let (choice, (fact, score)) = beam.get(at).zip(ranked.get(of_ranking))?;
                Some(FactChoice {
                    facts: choice.facts.iter().copied().chain([*fact]).collect(),
                    score: sum,
                    lowest: Some(choice.lowest.map_or(*score, |lowest| lowest.min(*score))),
                })
            };
            beam = next.into_iter().filter_map(longer).collect();
        }
        beam
    }
}

/// The facts that are already in a plan's expression, from left to right.
fn known_facts(facts: &Facts, plan: &ProgramPlan) -> Vec<usize> {
    facts.of_expr(&plan.expr).map(|(index, _)| index).collect()
}

/// The features of the slot scorer for a joint choice, summed over its slots, for the trainer.
pub(crate) fn joint_features(facts: &Facts, plan: &ProgramPlan, chosen: &[usize]) -> Vec<f64> {
    let known = known_facts(facts, plan);
    let mut sum = vec![0.0; SLOT_FEATURES];
    for (slot, fact) in chosen.iter().enumerate() {
        let (Some(query), Some(of_page)) = (plan.slots.get(slot), facts.all.get(*fact)) else {
            continue;
        };
        let features = SlotScorer::new(facts, query).features(of_page, *fact);
        for (total, value) in sum.iter_mut().zip(features) {
            *total += value;
        }
        let before = chosen.get(..slot).unwrap_or_default();
        for k in pairs(facts, plan.pairing, &known, before, *fact) {
            if let Some(total) = sum.get_mut(PAIRS + k) {
                *total += 1.0;
            }
        }
    }
    sum
}

/// The pair features of a fact with the facts chosen before it and with those in the expression, as
/// indices from the first pair feature (`slot_scorer::PAIRS`).
fn pairs(
    facts: &Facts,
    pairing: Pairing,
    known: &[usize],
    chosen: &[usize],
    fact: usize,
) -> impl Iterator<Item = usize> {
    let chosen = chosen.iter();
    let of_pairs = chosen.filter_map(move |other| pair(facts, pairing, *other, fact));
    let literal = |index: usize| facts.all.get(index).map(|fact| &*fact.literal);
    let mut known = known.iter();
    let again = known.any(|known| *known == fact || literal(*known) == literal(fact));
    of_pairs.chain(again.then_some(pair_features::KNOWN))
}

/// The pair feature of two facts, as an index into `pair_features::OF_PAIRS`; `None` if the plan
/// expects no relation. A number of a sentence that a cell has too counts as the same fact.
fn pair(facts: &Facts, pairing: Pairing, a: usize, b: usize) -> Option<usize> {
    let (one, two) = (facts.all.get(a)?, facts.all.get(b)?);
    if pairing == Pairing::Free {
        return None;
    }
    let copy = one.cell().is_none() != two.cell().is_none() && one.literal == two.literal;
    if a == b || copy {
        return Some(pair_features::SAME_FACT);
    }
    let dated = |fact: &Fact| {
        let row = facts.row_of(fact);
        row.is_some_and(|row| !row.years.is_empty())
    };
    Some(match (one.cell(), two.cell()) {
        (Some((r1, c1)), Some((r2, c2))) => match pairing {
            Pairing::Periods if r1 == r2 => pair_features::PERIODS_IN_ROW,
            Pairing::Periods if c1 == c2 && dated(one) && dated(two) => {
                pair_features::PERIODS_IN_COLUMN
            }
            Pairing::Periods => pair_features::OTHER_PERIODS,
            _ if c1 == c2 => pair_features::PARTS_IN_COLUMN,
            _ if r1 == r2 && dated(one) => pair_features::PARTS_IN_ROW,
            _ => pair_features::OTHER_PARTS,
        },
        (None, None) if one.same_series(two) => pair_features::ONE_SENTENCE,
        (None, None) => pair_features::OTHER_SENTENCES,
        _ => pair_features::TABLE_AND_TEXT,
    })
}

/// A fact as a leaf; `None` if there is none with this index. A percentage of the table loses its
/// `%` unless a percentage is requested. A negative number loses its minus sign if the slot asks
/// for an outflow or its row is one, but not in an addition, because inflows can be added to
/// outflows. `variants` makes the other readings.
fn leaf(facts: &Facts, plan: &ProgramPlan, query: &SlotQuery, index: usize) -> Option<PageLeaf> {
    let fact = facts.all.get(index)?;
    let mut literal: &str = &fact.literal;
    if fact.percent && !query.common.percent && fact.cell().is_some() {
        literal = literal.trim_end_matches('%');
    }
    let adds = matches!(plan.expr, Expr::Step(Op::Add, ..));
    let outflow = query.outflow || facts.row_of(fact).is_some_and(|row| row.outflow);
    if literal.starts_with('-') && !adds && outflow {
        literal = literal.trim_start_matches('-');
    }
    let (literal, value) = if literal.len() == fact.literal.len() {
        (Arc::clone(&fact.literal), fact.value)
    } else {
        (literal.into(), value_of(literal, fact.number))
    };
    Some(PageLeaf {
        literal,
        value,
        source: Some(index),
    })
}
