//! From a question to a guess: plan, fill, choose.

use std::sync::Arc;

use crate::dataset::{Document, Question};
use crate::number::{Unit, Value};

use super::asked::Asked;
use super::confidence;
use super::describe;
use super::expr::Expr;
use super::facts::Facts;
use super::fill::{Filled, fill};
use super::plan::Plan;
use super::state::State;
use super::templates::{self, Context};
use super::weights::WEIGHTS;

/// A page, read once for all its questions; cheap to clone.
#[derive(Clone, Debug)]
pub struct Indexed {
    pub(crate) facts: Arc<Facts>,
}

/// Where a literal was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceRef {
    /// `r3c2`, `t5` or `h1`.
    pub id: String,
    /// The literal in the program.
    pub literal: String,
}

/// Another program the rules considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// In the dataset's language.
    pub program: String,
    /// The template it comes from.
    pub template: &'static str,
    /// Higher is better; comparable within one guess only.
    pub score: f64,
    /// The unit of its value.
    pub unit: Unit,
    /// What the value is.
    pub label: String,
    /// The literals and where they stand.
    pub evidence: Vec<EvidenceRef>,
    /// Plain sentences.
    pub steps: Vec<String>,
    /// What the program comes to, unrounded.
    pub value: Value,
}

/// An answer of the rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// In the dataset's language, literals as the official evaluator reads them.
    pub program: String,
    /// The template it comes from.
    pub template: &'static str,
    /// The unit of its value.
    pub unit: Unit,
    /// What the value is.
    pub label: String,
    /// The literals and where they stand.
    pub evidence: Vec<EvidenceRef>,
    /// Plain sentences.
    pub steps: Vec<String>,
    /// What the program comes to, unrounded.
    pub value: Value,
    /// Comparable with the alternatives' scores only.
    pub score: f64,
    /// How likely it is right, 0..1.
    pub confidence: f64,
    /// What the confidence is computed from, in the order of
    /// [`signal_names`](super::signal_names).
    pub signals: Vec<f64>,
    /// The next best programs, best first.
    pub alternatives: Vec<Alternative>,
}

/// The rule-based analyst.
#[derive(Clone, Debug)]
pub struct Solver {
    weights: Vec<f64>,
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

/// How many alternatives a guess keeps.
const ALTERNATIVES: usize = 8;

impl Solver {
    /// A solver with the built-in weights.
    #[must_use]
    pub fn new() -> Self {
        Self {
            weights: WEIGHTS.iter().map(|(_, w)| *w).collect(),
        }
    }

    /// A solver with weights of one's own, in the order of
    /// [`feature_weights`](super::feature_weights): for training.
    #[must_use]
    pub fn with_weights(weights: &[f64]) -> Self {
        Self {
            weights: weights.to_vec(),
        }
    }

    /// Reads a page.
    #[must_use]
    pub fn index(&self, document: &Document) -> Indexed {
        Indexed {
            facts: Arc::new(Facts::read(document, &self.weights)),
        }
    }

    /// Answers a question about a page; `None` if the page holds no number that fits.
    #[must_use]
    pub fn answer(&self, page: &Indexed, question: &Question) -> Option<Guess> {
        let facts = &*page.facts;
        let asked = Asked::read(&question.text);
        let state = State::read(facts, &question.history);
        let plans = plans(facts, &asked, &state);
        let ranked = rank(facts, &plans);
        let signals = confidence::signals(facts, &asked, &state, &plans, &ranked);
        let history: Vec<Option<&str>> = question
            .history
            .iter()
            .map(|h| h.program.as_deref())
            .collect();
        let mut all = ranked
            .iter()
            .take(ALTERNATIVES + 1)
            .filter_map(|(score, filled)| {
                let plan = plans.get(filled.plan)?;
                describe(facts, plan, *score, &filled.expr, &history)
            });
        let best = all.next()?;
        let alternatives: Vec<Alternative> = all.collect();
        Some(Guess {
            confidence: confidence::probability(&signals),
            signals,
            program: best.program,
            template: best.template,
            unit: best.unit,
            label: best.label,
            evidence: best.evidence,
            steps: best.steps,
            value: best.value,
            score: best.score,
            alternatives,
        })
    }
}

/// All fillings of all plans with their scores, best first, each program once.
fn rank(facts: &Facts, plans: &[Plan]) -> Vec<(f64, Filled)> {
    let mut ranked: Vec<(f64, Filled)> = Vec::new();
    for (i, plan) in plans.iter().enumerate() {
        let keep = if i == 0 { 5 } else { 3 };
        for one in fill(facts, plan, i, keep) {
            ranked.push((10.0 * plan.prior + 0.2 * one.score, one));
        }
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut seen: Vec<Expr> = Vec::new();
    ranked.retain(|(_, filled)| {
        let new = !seen.contains(&filled.expr);
        if new {
            seen.push(filled.expr.clone());
        }
        new
    });
    ranked
}

fn describe(
    facts: &Facts,
    plan: &Plan,
    score: f64,
    expr: &Expr,
    history: &[Option<&str>],
) -> Option<Alternative> {
    Some(Alternative {
        program: expr.program(),
        template: plan.name,
        score,
        unit: Unit {
            kind: plan.kind,
            scale: None,
        },
        label: describe::label(facts, plan.name, expr),
        evidence: describe::evidence(facts, expr, history),
        steps: describe::steps(facts, expr),
        value: expr.value()?,
    })
}

/// The plans for a question in its state, best first.
pub(crate) fn plans(facts: &Facts, asked: &Asked, state: &State) -> Vec<Plan> {
    let context = Context {
        words: state.last().map(|t| t.words.clone()).unwrap_or_default(),
        years: state.last().map(|t| t.years.clone()).unwrap_or_default(),
        anchors: state.anchors(),
    };
    let mut out = Vec::new();
    if !state.turns.is_empty() {
        out.extend(super::follow::plans(facts, asked, state, &context));
    }
    let mut alone = templates::plans(facts, asked, &context);
    if !out.is_empty() {
        for plan in &mut alone {
            plan.prior *= 0.3;
        }
    } else if let Some(first) = alone.first_mut() {
        first.prior = first.prior.max(0.9);
    }
    out.extend(alone);
    out
}
