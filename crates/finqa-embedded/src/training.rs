//! The interface of the trainer: the models that it fits, and training examples made from questions
//! with a known program. Nothing here is needed to answer, and it is not part of the documented
//! API.

use std::sync::Arc;

use finqa_core::question::Question;

use crate::answering::filling::{JointChoices, joint_features};
use crate::expr::{Expr, alike_but_for_signs};
use crate::question::by_words;
use crate::question::plan::{is_open, slot_index};
use crate::question::plan_question::{Inherited, PlanQuestion};
use crate::question::proposal;
use crate::question::sketch_plans;
use crate::question::wording::Wording;
use crate::ranking;
use crate::sketch;

use crate::answering::analyst::EmbeddedAnalyst;
use crate::answering::answer::PageIndex;
use crate::answering::candidates as made;
use crate::question::follow_up;

pub use crate::question::proposal::{BUCKETS, ShapeModel, SketchModel, WordClassifier};
pub use crate::ranking::network::{InputRange, Network};
pub use crate::shape::{SHAPES, shape_of};
pub use crate::weights::EmbeddedWeights;

/// A training example for the slot scorer.
#[derive(Clone, Debug)]
pub struct SlotExample {
    /// The features of each joint choice of facts, and whether the gold program uses these facts.
    pub choices: Vec<(Vec<f64>, bool)>,
}

/// A candidate with everything that the network sees.
#[derive(Clone, Debug)]
pub struct ProgramCandidate {
    pub program: String,
    /// The features of the network.
    pub features: Vec<f64>,
}

/// The candidates that the network compares for a question, sorted by their rough score.
#[must_use]
pub fn candidates(
    embedded: &EmbeddedAnalyst,
    page: &PageIndex,
    question: &Question,
) -> Vec<ProgramCandidate> {
    embedded.read_question(page, question, |context, plans| {
        let found = made::candidates(context, plans, made::most_compared(context.as_stand_alone));
        let features = ranking::network_features(context, plans, &found);
        let features = features.chunks_exact(ranking::NETWORK_FEATURES);
        let of = |(one, features): (&ranking::Candidate, &[f64])| ProgramCandidate {
            program: one.filled.expr.program(),
            features: features.to_vec(),
        };
        found.iter().zip(features).map(of).collect()
    })
}

/// The programs of all candidates, also of those that the network does not compare.
#[must_use]
pub fn programs(embedded: &EmbeddedAnalyst, page: &PageIndex, question: &Question) -> Vec<String> {
    embedded.read_question(page, question, |context, plans| {
        let found = made::candidates(context, plans, usize::MAX).into_iter();
        found.map(|one| one.filled.expr.program()).collect()
    })
}

/// A training example for [`ShapeModel`] or [`SketchModel`]: the buckets of a question and of the
/// programs before it, and the class of its gold program.
#[derive(Clone, Debug)]
pub struct ClassExample {
    pub buckets: Vec<usize>,
    pub class: usize,
}

/// The example for [`ShapeModel`]; `None` if the program cannot be parsed. `before` has the
/// programs of earlier turns, oldest first. `as_stand_alone` is true for a stand-alone question.
#[must_use]
pub fn shape_example(
    question: &str,
    before: &[&str],
    program: &str,
    as_stand_alone: bool,
) -> Option<ClassExample> {
    let shapes = before.iter();
    let shapes = shapes.filter_map(|program| SHAPES.get(shape_of(program)?).copied());
    let phrase = Wording::read(question).phrase;
    Some(ClassExample {
        buckets: proposal::buckets(&phrase, &shapes.collect::<Vec<_>>(), as_stand_alone),
        class: shape_of(program)?,
    })
}

/// The example for [`SketchModel`]; `None` if the program cannot be parsed. `before` has the
/// programs of earlier turns, oldest first.
#[must_use]
pub fn sketch_example(question: &str, before: &[&str], program: &str) -> Option<ClassExample> {
    let parsed = before.iter().filter_map(|program| Expr::parse(program));
    let before: Vec<Expr> = parsed.collect();
    let before: Vec<&Expr> = before.iter().collect();
    Some(ClassExample {
        buckets: proposal::sketch_buckets(&Wording::read(question), &before),
        class: sketch::sketch(&Expr::parse(program)?, &before),
    })
}

/// Maximum number of facts per slot. The number of joint choices in an example is limited to three
/// times as many. Set by hand. There are more facts than when answering
/// (`answering::candidates::FACTS_PER_SLOT`), so more questions have a right choice, without which
/// there is no example.
const EXAMPLE_FACTS: usize = 25;

/// The joint choices of facts for the first plan that has the gold program's operations. A choice
/// is right if its facts have the literals of the gold program, ignoring signs.
///
/// `None` if no plan has these operations. Also `None` unless some choices are right and some are
/// wrong, because otherwise there is nothing to learn.
#[must_use]
pub fn example(page: &PageIndex, question: &Question, program: &str) -> Option<SlotExample> {
    let facts = page.facts(&question.document);
    let gold = Expr::parse(program)?;
    // Without `Facts::written`, which matters only on a user's page. The trainer has none.
    let asked = Wording::read(&question.text);
    let inherited = Inherited::after(facts, &question.history);
    let q = PlanQuestion::new(facts, &asked, &inherited);
    // No model of sketches is fitted yet, so all count as equally likely.
    let of_sketches = sketch_plans::plans(&q, &[0.0; sketch::SKETCHES.len()]);
    let plans = follow_up::plans(&q).into_iter().chain(by_words::plans(&q));
    for plan in plans.chain(of_sketches) {
        let mut literals = vec![None; plan.slots.len()];
        if plan.slots.is_empty() || !unify(&plan.expr, &gold, &mut literals) {
            continue;
        }
        let same = |(fact, literal): (&usize, &Option<Arc<str>>)| {
            let fact = facts.all.get(*fact).zip(literal.as_ref());
            fact.is_some_and(|(fact, literal)| alike_but_for_signs(&fact.literal, literal))
        };
        let made = JointChoices::new(EXAMPLE_FACTS, EXAMPLE_FACTS * 3).of(facts, &plan);
        let choices = made.iter().map(|choice| {
            let right = choice.facts.iter().zip(&literals).all(same);
            (joint_features(facts, &plan, &choice.facts), right)
        });
        let choices: Vec<(Vec<f64>, bool)> = choices.collect();
        let right = choices.iter().filter(|(_, right)| *right).count();
        return (right > 0 && right < choices.len()).then_some(SlotExample { choices });
    }
    None
}

/// True if the program has the operations of the plan. Then `slots` has the program's literal for
/// each slot; a slot that occurs twice needs the same literal twice.
///
/// Parts without a slot are compared by value, because `100` and `const_100` are the same constant.
/// Such a part can be an earlier answer, so rounding errors are allowed. A calculation with
/// constants only, such as `1 / years`, must have the same operation.
fn unify(planned: &Expr, expr: &Expr, slots: &mut [Option<Arc<str>>]) -> bool {
    if let (Expr::Leaf(open), Expr::Leaf(leaf)) = (planned, expr)
        && let Some(index) = slot_index(open)
        && !leaf.is_constant()
    {
        let known = |slot: &mut Option<Arc<str>>| {
            *slot.get_or_insert_with(|| Arc::clone(&leaf.literal)) == leaf.literal
        };
        return slots.get_mut(index).is_some_and(known);
    }
    let is_constant = |planned: &Expr| planned.leaves().iter().all(|leaf| leaf.is_constant());
    match planned {
        Expr::Step(op, a, b) if is_open(planned) || is_constant(planned) => {
            let same = expr.top().filter(|(other, ..)| other == op);
            same.is_some_and(|(_, x, y)| unify(a, x, slots) && unify(b, y, slots))
        }
        // An open slot has no value.
        _ => planned
            .number()
            .zip(expr.number())
            .is_some_and(|(a, b)| (a - b).abs() <= 1e-9 * b.abs()),
    }
}
