//! Creates and fills the spans of an episode and of its tool calls. The model calls between them
//! have spans of `llm`. Neither the correct answer nor the reward is recorded on a span, because a
//! trace shows only what the agent did.

use std::time::Instant;

use serde_json::Value;
use tracing::{Span, debug, info_span};

use crate::llm::ToolSpec;
use crate::pair::ToolStep;
use crate::telemetry::{fail, if_content, set, set_content, set_question};
use finqa_core::question::Question;

/// The agent's name in traces and in the usage by node.
pub(super) const AGENT: &str = "player";

/// The span of one episode, which is the root of a trace.
pub(super) fn episode(question: &Question, run: Option<&str>) -> Span {
    let key = &question.key;
    // Only an id of the dataset has a part.
    let part = Some(key.part.as_str()).filter(|part| !part.is_empty());
    let span = info_span!(
        parent: None,
        "episode",
        otel.name = format!("invoke_agent {AGENT}"),
        "convfinqa.run.id" = run,
        "convfinqa.question.id" = key.id.as_str(),
        "convfinqa.question.part" = part,
        "gen_ai.agent.name" = AGENT,
    );
    set(&span, "gen_ai.operation.name", "invoke_agent");
    let name = part.map_or_else(|| key.id.clone(), |part| format!("{}#{part}", key.id));
    set(&span, "mlflow.traceTag.mlflow.traceName", name);
    set_question(&span, &question.text);
    span
}

/// The name, if a tool has this name. Any other name is free text of a model, which is not
/// recorded.
pub(super) fn shown_name<'n>(name: &'n str, tools: &[ToolSpec]) -> &'n str {
    if tools.iter().any(|tool| tool.name == name) {
        name
    } else {
        "unknown"
    }
}

/// The span of one tool call.
pub(super) fn tool(name: &str, tools: &[ToolSpec], arguments: &Value) -> Span {
    let shown = shown_name(name, tools);
    let span = info_span!(
        "tool",
        otel.name = format!("execute_tool {shown}"),
        "gen_ai.tool.name" = shown,
    );
    set(&span, "gen_ai.operation.name", "execute_tool");
    set_content(&span, "gen_ai.tool.call.arguments", || {
        arguments.to_string()
    });
    span
}

/// Records the result of a call. `text` is the text that the model is shown.
pub(super) fn record_step(span: &Span, step: &ToolStep, text: &str, started: Instant) {
    if span.is_disabled() {
        return;
    }
    let ms = started.elapsed().as_secs_f64() * 1e3;
    let error = step.error.as_deref();
    if let Some(error) = error {
        fail(span, error, if_content(text));
    }
    set_content(span, "gen_ai.tool.call.result", || text.to_owned());
    debug!(parent: span, ms, error, "tool called");
}
