//! Tracing spans of a run's questions. Each span is the root of a trace of its own. Neither gold
//! nor scores are recorded.

use rust_decimal::prelude::ToPrimitive;
use tracing::{Span, info, warn};

use finqa_agents::pair::{self, Solver};
use finqa_agents::telemetry::set;
use finqa_score::dataset::{Mode, Outcome};

use finqa_journal::run::{Plan, PlannedQuestion};
use finqa_score::score::Row;

/// Target that log filters name. It differs from the module path, so that a filter still works
/// after code moves to another package.
const TARGET: &str = "convfinqa::run::trace";

/// Creates the span of a planned question.
pub(super) fn question(
    run: &str,
    plan: &Plan,
    planned: &PlannedQuestion,
    solver: &dyn Solver,
) -> Span {
    let question = &planned.case.question;
    let span = solver.span(question, Some(run));
    // Only for repetitions (docs/tracking.md).
    if planned.epoch > 0 {
        set(&span, "convfinqa.epoch", i64::from(planned.epoch));
    }
    if plan.mode == Mode::Conversations {
        let conversation = format!("{run}/{}", question.key.id);
        set(&span, "gen_ai.conversation.id", conversation);
    }
    span
}

/// Records the outcome of a question on its span, and logs it.
pub(super) fn answered(span: &Span, row: &Row) {
    let solution = &row.solution;
    pair::trace::solution(span, solution);
    let cost = row.cost.and_then(|cost| cost.to_f64());
    if let Some(cost) = cost {
        set(span, "convfinqa.cost_usd", cost);
    }
    let episode = solution.episode.as_ref();
    let outcome = episode.map_or(solution.outcome.name(), |episode| episode.end.name());
    let seconds = row.latency;
    let rounds = episode.map_or(solution.rounds.len(), |episode| episode.steps.len());
    if solution.outcome == Outcome::Answered {
        let reward = episode.and_then(|episode| episode.reward);
        info!(target: TARGET, parent: span, outcome, rounds, reward, seconds, cost, "question answered");
    } else {
        let reason = pair::trace::reason(solution);
        warn!(target: TARGET, parent: span, outcome, rounds, seconds, cost, reason, "question without an answer");
    }
}
