//! The span of a run, and the run's attributes of question spans. Each question is a
//! separate trace linked to the run's span, so that a viewer shows one exchange of the
//! agents as one trace. No gold and no score are recorded.

use rust_decimal::prelude::ToPrimitive;
use tracing::{Span, info, info_span, warn};

use crate::dataset::{Mode, Outcome};
use finqa_agents::pair::{self, EpisodeEnd};
use finqa_agents::solve::Solver;
use finqa_agents::telemetry::{count, fail, if_content, set};

use super::event::Finish;
use super::plan::PlannedQuestion;
use super::run_meta::RunMeta;
use crate::score::Row;

/// The attributes that every question's span has from its run.
pub(super) struct RunTrace {
    id: String,
    span: Span,
    conversations: bool,
}

impl RunTrace {
    /// The span of this process's part of a run.
    pub(super) fn start(meta: &RunMeta, mode: Mode) -> Self {
        let span = info_span!(
            parent: None,
            "run",
            "convfinqa.run.id" = meta.id.as_str(),
        );
        set(&span, "convfinqa.run.model", meta.identity.model.clone());
        set(&span, "convfinqa.run.questions", count(meta.total));
        let (model, questions) = (meta.identity.model.as_str(), meta.total);
        info!(parent: &span, model, questions, "run started");
        Self {
            id: meta.id.clone(),
            span,
            conversations: mode == Mode::Conversations,
        }
    }

    /// The span of one question, the root of its trace.
    pub(super) fn question(&self, planned: &PlannedQuestion, solver: &dyn Solver) -> Span {
        let question = &planned.case.question;
        let span = solver.span(question, Some(&self.id));
        if span.is_disabled() {
            return span;
        }
        span.follows_from(&self.span);
        if planned.epoch > 0 {
            set(&span, "convfinqa.epoch", i64::from(planned.epoch));
        }
        if self.conversations {
            let conversation = format!("{}/{}", self.id, question.key.id);
            set(&span, "gen_ai.conversation.id", conversation);
        }
        span
    }

    /// The run is over.
    pub(super) fn finish(&self, finish: &Finish) {
        let word = match finish {
            Finish::Complete => "complete",
            Finish::Partial { .. } => "partial",
            Finish::BudgetReached { .. } => "budget_reached",
            Finish::Interrupted => "interrupted",
            Finish::Fatal(_) => "fatal",
            Finish::Bug(_) => "bug",
        };
        set(&self.span, "convfinqa.run.finish", word);
        let reason = match finish {
            Finish::Fatal(failure) => Some(&failure.message),
            Finish::Bug(message) => Some(message),
            _ => None,
        };
        if let Some(reason) = reason {
            let reason = if_content(reason);
            fail(&self.span, word, reason);
            tracing::error!(parent: &self.span, reason, "run stopped");
        } else {
            info!(parent: &self.span, finish = word, "run finished");
        }
    }
}

/// A question has its outcome.
pub(super) fn answered(span: &Span, row: &Row) {
    if span.is_disabled() {
        return;
    }
    let episode = row.solution.episode.as_ref();
    pair::trace::solution(span, &row.solution);
    let cost = row.cost.and_then(|cost| cost.to_f64());
    if let Some(cost) = cost {
        set(span, "convfinqa.cost_usd", cost);
    }
    let seconds = row.latency;
    if let Some(episode) = episode {
        let (outcome, steps, reward) = (episode.end.name(), episode.steps.len(), episode.reward);
        if episode.end == EpisodeEnd::Submitted {
            info!(parent: span, outcome, reward, steps, seconds, cost, "episode ended");
        } else {
            let reason = pair::trace::reason(&row.solution);
            warn!(parent: span, outcome, steps, seconds, cost, reason, "episode without an answer");
        }
        return;
    }
    let outcome = row.solution.outcome.name();
    let rounds = row.solution.rounds.len();
    if row.solution.outcome == Outcome::Answered {
        info!(parent: span, outcome, rounds, seconds, cost, "question answered");
    } else {
        let reason = pair::trace::reason(&row.solution);
        warn!(parent: span, outcome, rounds, seconds, cost, reason, "question without an answer");
    }
}
