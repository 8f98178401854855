//! Creates and fills the spans of a question, of its rounds, and of the two agents in each round. A
//! round lasts from the analyst's first call to the critic's verdict.

use serde_json::json;
use tracing::{Span, info_span};

use crate::llm::Scope;
use crate::telemetry::{
    count, fail, if_content, set, set_content, set_list, set_output, set_question, word,
};
use finqa_core::outcome::Outcome;
use finqa_core::question::{Question, QuestionKey};

use super::answer::Answer;
use super::episode::EpisodeEnd;
use super::failure::{Fault, Interruption, QuestionFailure};
use super::question_state::Route;
use super::solution::{Round, Solution};

/// The name of the two agents' loop in traces.
const WORKFLOW: &str = "analyst_critic";

/// The span of one question, which is the root of a trace. `run` is the id of its run, if there is
/// one.
pub fn question(question: &Question, run: Option<&str>) -> Span {
    let QuestionKey { id, part } = &question.key;
    let span = info_span!(
        parent: None,
        "question",
        otel.name = format!("invoke_workflow {WORKFLOW}"),
        "convfinqa.run.id" = run,
        "convfinqa.question.id" = id,
        "convfinqa.question.part" = part,
    );
    if span.is_disabled() {
        return span;
    }
    set(&span, "gen_ai.operation.name", "invoke_workflow");
    set(&span, "gen_ai.workflow.name", WORKFLOW);
    // MLflow reads this attribute as JSON, so the word is in quotes.
    set(&span, "mlflow.spanType", r#""CHAIN""#);
    set(
        &span,
        "mlflow.traceTag.mlflow.traceName",
        question.key.to_string(),
    );
    set_question(&span, &question.text);
    span
}

/// Records the outcome of a question or of an episode.
pub fn solution(span: &Span, solution: &Solution) {
    if span.is_disabled() {
        return;
    }
    let outcome = match &solution.episode {
        Some(episode) => {
            set(span, "convfinqa.steps", count(episode.steps.len()));
            episode.end.name()
        }
        None => {
            set(span, "convfinqa.stop", word(&solution.stop));
            set(span, "convfinqa.rounds", count(solution.rounds.len()));
            solution.outcome.name()
        }
    };
    set(span, "convfinqa.outcome", outcome);
    set(span, "mlflow.traceTag.outcome", outcome);
    set(span, "convfinqa.calls", count(solution.calls.len()));
    if solution.outcome != Outcome::Answered {
        fail(span, outcome, reason(solution));
    }
    let episode = solution.episode.as_ref();
    let submitted = episode.and_then(|episode| episode.answer.as_deref());
    let answer = solution.answer.as_ref();
    if let Some(said) = submitted.or(answer.map(|answer| answer.printed.as_str())) {
        set_output(span, said);
        set_content(span, "mlflow.spanOutputs", || {
            let reply = json!({"role": "assistant", "content": said});
            let outputs = match answer.filter(|_| episode.is_none()) {
                Some(Answer { program, label, .. }) => {
                    json!({"messages": [reply], "program": program, "label": label})
                }
                None => json!({"messages": [reply]}),
            };
            outputs.to_string()
        });
    }
}

/// The reason why there is no answer. A refusal, an unreadable reply, a withheld answer and a
/// provider's message may quote content. For these, the reason is empty unless content is recorded.
pub fn reason(solution: &Solution) -> &str {
    let reason = solution.error.as_deref().unwrap_or_default();
    match &solution.episode {
        // Only the message about the step limit never quotes content.
        Some(episode) if episode.end != EpisodeEnd::StepLimit => if_content(reason),
        _ => recordable(solution.outcome, reason),
    }
}

fn recordable(outcome: Outcome, message: &str) -> &str {
    match outcome {
        // The messages of these outcomes never quote content.
        Outcome::Truncated | Outcome::BudgetStop => message,
        _ => if_content(message),
    }
}

/// Records that the question has no outcome yet and will be asked again.
pub fn record_interruption(span: &Span, why: &Interruption) {
    match why {
        Interruption::Cancelled => fail(span, "cancelled", "cancelled"),
        Interruption::Provider(solution) => {
            fail(span, Outcome::ProviderError.name(), reason(solution));
        }
        Interruption::Fatal(failure) => fail(span, "fatal", if_content(&failure.message)),
    }
}

/// The span of a round, as a child of the current question's span.
pub(super) fn round(number: u32) -> Span {
    let span = info_span!(
        "round",
        otel.name = format!("round {number}"),
        "convfinqa.round" = i64::from(number)
    );
    set(&span, "mlflow.spanType", r#""CHAIN""#);
    span
}

/// The span of an agent's work in a round.
pub(super) fn agent(round: &Span, name: &'static str) -> Span {
    let span = info_span!(
        parent: round,
        "agent",
        otel.name = format!("invoke_agent {name}"),
        "gen_ai.agent.name" = name,
    );
    set(&span, "gen_ai.operation.name", "invoke_agent");
    span
}

/// Records an agent's work in a round: its reply, and its route or the reason why it failed.
pub(super) fn record_step(
    span: &Span,
    taken: &Result<Route, QuestionFailure>,
    reply: Option<&str>,
) {
    match taken {
        Ok(route) => set(span, "convfinqa.route", route.to_string()),
        Err(failure) if failure.scope == Scope::Cancelled => fail(span, "cancelled", "cancelled"),
        // No outcome fits, because nothing was asked. The question's span has the same type.
        Err(failure) if failure.fault == Fault::Template => {
            fail(span, "fatal", if_content(&failure.message));
        }
        Err(failure) => fail(
            span,
            failure.outcome.name(),
            recordable(failure.outcome, &failure.message),
        ),
    }
    if let Some(reply) = reply {
        set_output(span, reply);
    }
}

/// Records the round's verdict, findings and answer.
pub(super) fn record_verdict(span: &Span, round: &Round) {
    if span.is_disabled() {
        return;
    }
    set(span, "convfinqa.verdict", round.verdict.name());
    let findings = round.findings.iter().map(|finding| finding.kind);
    let findings: Vec<String> = findings.map(|kind| word(&kind)).collect();
    if !findings.is_empty() {
        set_list(
            span,
            "convfinqa.findings",
            findings.iter().map(String::as_str),
        );
    }
    set_output(span, &round.answer.printed);
}
