//! The spans of a run's questions, each the root of a trace, with the run's attributes. No gold
//! and no score are recorded.

use rust_decimal::prelude::ToPrimitive;
use tracing::{Span, info, warn};

use finqa_agents::pair;
use finqa_agents::solve::Solver;
use finqa_agents::telemetry::set;
use finqa_score::dataset::{Mode, Outcome};

use finqa_journal::run::{Plan, PlannedQuestion};
use finqa_score::score::Row;

/// What filters of log lines name, whichever package writes them.
const TARGET: &str = "convfinqa::run::trace";

/// The span of one question of a run's plan.
pub(super) fn question(
    run: &str,
    plan: &Plan,
    planned: &PlannedQuestion,
    solver: &dyn Solver,
) -> Span {
    let question = &planned.case.question;
    let span = solver.span(question, Some(run));
    if planned.epoch > 0 {
        set(&span, "convfinqa.epoch", i64::from(planned.epoch));
    }
    if plan.mode == Mode::Conversations {
        let conversation = format!("{run}/{}", question.key.id);
        set(&span, "gen_ai.conversation.id", conversation);
    }
    span
}

/// A question has its outcome.
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
