//! The spans of an episode and of its tool calls, and its log lines. The model
//! calls between them are spans of `models`. The truth is never recorded, and
//! no reward on a span: a trace says what the agent did.

use std::time::Instant;

use rust_decimal::prelude::ToPrimitive;
use serde_json::{Value, json};
use tracing::{Span, debug, info, info_span, warn};

use super::record::{Ending, Played, Step};
use super::session::Asked;
use crate::env_data::question_key;
use finqa_agents::telemetry::{
    attributes as names, count, fail, if_content, messages, set, set_content,
};
use finqa_env::tools::specs;

/// What the agent is called in traces.
const AGENT: &str = "player";

/// The span of one episode, the root of a trace.
pub(super) fn episode(asked: &Asked) -> Span {
    // As the rows of `output.csv` are named, so that the two can be joined.
    let key = question_key(&asked.id);
    let id = key.as_ref().map_or(asked.id.as_str(), |key| &key.id);
    let part = key.as_ref().map(|key| key.part.as_str());
    let span = info_span!(
        parent: None,
        "episode",
        otel.name = format!("invoke_agent {AGENT}"),
        { names::QUESTION_ID } = id,
        { names::QUESTION_PART } = part,
        { names::AGENT } = AGENT,
    );
    set(&span, names::OPERATION, "invoke_agent");
    set(&span, names::MLFLOW_TRACE_NAME, asked.id.clone());
    set_content(&span, names::INPUT_MESSAGES, || {
        messages("user", &asked.question)
    });
    set_content(&span, names::MLFLOW_INPUTS, || {
        // As MLflow's list shows text.
        let said = json!({"role": "user", "content": asked.question});
        json!({"messages": [said], "company": asked.company}).to_string()
    });
    span
}

/// The span of one tool call. A name that is no tool's is a model's free text.
pub(super) fn tool(name: &str, arguments: &Value) -> Span {
    let known = specs().iter().find(|spec| spec.name == name);
    let shown = known.map_or("unknown", |spec| spec.name);
    let span = info_span!(
        "tool",
        otel.name = format!("execute_tool {shown}"),
        { names::TOOL } = shown,
    );
    set(&span, names::OPERATION, "execute_tool");
    set_content(&span, names::TOOL_ARGUMENTS, || arguments.to_string());
    span
}

/// The call has its result, as the model is told it.
pub(super) fn stepped(span: &Span, step: &Step, text: &str, started: Instant) {
    if span.is_disabled() {
        return;
    }
    let ms = started.elapsed().as_secs_f64() * 1e3;
    let error = step.error.as_deref();
    if let Some(error) = error {
        fail(span, error, if_content(text));
    }
    set_content(span, names::TOOL_RESULT, || text.to_owned());
    debug!(parent: span, ms, error, "tool called");
}

/// The episode is over.
pub(super) fn ended(span: &Span, played: &Played) {
    if span.is_disabled() {
        return;
    }
    let outcome = played.outcome.name();
    let (steps, seconds) = (played.step_count, played.seconds);
    let cost = played.spent.cost_usd.and_then(|cost| cost.to_f64());
    set(span, names::OUTCOME, outcome);
    set(span, names::MLFLOW_OUTCOME, outcome);
    set(span, names::STEPS, i64::from(steps));
    set(span, names::CALLS, count(played.calls.len()));
    if let Some(cost) = cost {
        set(span, names::COST, cost);
    }
    if let Some(answer) = &played.answer {
        set_content(span, names::OUTPUT_MESSAGES, || {
            messages("assistant", answer)
        });
        set_content(span, names::MLFLOW_OUTPUTS, || {
            json!({"messages": [{"role": "assistant", "content": answer}]}).to_string()
        });
    }
    if played.outcome == Ending::Submitted {
        let reward = played.reward;
        info!(parent: span, outcome, reward, steps, seconds, cost, "episode ended");
        return;
    }
    let reason = played.error.as_deref().unwrap_or_default();
    let reason = match played.outcome {
        // This reason is always our own words; a refusal and a provider's error
        // may quote what was said.
        Ending::StepLimit => reason,
        _ => if_content(reason),
    };
    fail(span, outcome, reason);
    warn!(parent: span, outcome, steps, seconds, cost, reason, "episode without an answer");
}
