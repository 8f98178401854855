//! The spans of a run's questions, each the root of a trace, with the run's attributes, and the
//! log lines of the run itself. No gold and no score are recorded.

use rust_decimal::prelude::ToPrimitive;
use tracing::{Span, info, warn};

use crate::dataset::{Mode, Outcome};
use finqa_agents::pair::{self, RunFailure};
use finqa_agents::solve::Solver;
use finqa_agents::telemetry::{if_content, set};

use super::event::Finish;
use super::plan::{Plan, PlannedQuestion};
use super::run_meta::RunMeta;
use crate::score::Row;

/// A process begins its part of a run.
pub(super) fn started(meta: &RunMeta) {
    let (model, questions) = (meta.identity.model.as_str(), meta.total);
    info!(
        "convfinqa.run.id" = meta.id,
        model, questions, "run started"
    );
}

/// The run is over.
pub(super) fn finished(finish: &Finish) {
    match finish {
        Finish::Fatal(RunFailure {
            message: reason, ..
        })
        | Finish::Bug(reason) => tracing::error!(reason = if_content(reason), "run stopped"),
        _ => info!(finish = finish.name(), "run finished"),
    }
}

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
    if span.is_disabled() {
        return;
    }
    let Row { solution, .. } = row;
    pair::trace::solution(span, solution);
    let cost = row.cost.and_then(|cost| cost.to_f64());
    if let Some(cost) = cost {
        set(span, "convfinqa.cost_usd", cost);
    }
    let (seconds, reason) = (row.latency, pair::trace::reason(solution));
    let (mut outcome, mut rounds) = (solution.outcome.name(), solution.rounds.len());
    let episode = solution.episode.as_ref();
    let reward = episode.and_then(|episode| episode.reward);
    if let Some(episode) = episode {
        (outcome, rounds) = (episode.end.name(), episode.steps.len());
    }
    if solution.outcome == Outcome::Answered {
        info!(parent: span, outcome, rounds, reward, seconds, cost, "question answered");
    } else {
        warn!(parent: span, outcome, rounds, seconds, cost, reason, "question without an answer");
    }
}
