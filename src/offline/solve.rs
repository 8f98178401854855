//! From a question to a guess: plan, fill, choose.

use std::sync::Arc;

use crate::dataset::{Document, Question};
use crate::number::Unit;

use super::asked::Asked;
use super::facts::Facts;
use super::fill::{Filled, fill};
use super::plan::Plan;
use super::state::State;
use super::templates::{self, Context};
use super::weights::WEIGHTS;

/// A page, read once for all its questions.
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
    /// The literals and where they stand.
    pub evidence: Vec<EvidenceRef>,
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
    /// How likely it is right, 0..1.
    pub confidence: f64,
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

impl Solver {
    /// A solver with the built-in weights.
    #[must_use]
    pub fn new() -> Self {
        Self {
            weights: WEIGHTS.iter().map(|(_, w)| *w).collect(),
        }
    }

    /// A solver with weights of one's own, in the order of
    /// [`weights`](super::feature_weights): for training.
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
        let mut filled: Vec<(f64, Filled)> = Vec::new();
        for (i, plan) in plans.iter().enumerate() {
            for one in fill(facts, plan, i, 4) {
                #[allow(clippy::cast_precision_loss, reason = "a handful of plans")]
                let rank = 10.0 * plan.prior - i as f64 * 0.001;
                filled.push((rank + 0.2 * one.score, one));
            }
        }
        filled.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut seen = Vec::new();
        filled.retain(|(_, f)| {
            let program = f.expr.program();
            let new = !seen.contains(&program);
            seen.push(program);
            new
        });
        let (_, best) = filled.first()?;
        let plan = plans.get(best.plan)?;
        Some(Guess {
            program: best.expr.program(),
            template: plan.name,
            unit: Unit {
                kind: plan.kind,
                scale: None,
            },
            label: String::new(),
            evidence: evidence(facts, best),
            steps: Vec::new(),
            confidence: 0.5,
            alternatives: filled
                .iter()
                .skip(1)
                .take(8)
                .filter_map(|(score, f)| {
                    let plan = plans.get(f.plan)?;
                    Some(Alternative {
                        program: f.expr.program(),
                        template: plan.name,
                        score: *score,
                        unit: Unit {
                            kind: plan.kind,
                            scale: None,
                        },
                        evidence: evidence(facts, f),
                    })
                })
                .collect(),
        })
    }
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

fn evidence(facts: &Facts, filled: &Filled) -> Vec<EvidenceRef> {
    filled
        .expr
        .leaves()
        .into_iter()
        .filter_map(|leaf| {
            let fact = facts.all.get(leaf.fact?)?;
            Some(EvidenceRef {
                id: fact.id.clone(),
                literal: leaf.literal.clone(),
            })
        })
        .collect()
}
