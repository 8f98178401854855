//! Writes observations and tool results as JSON that OpenEnv's clients of every version read.

use serde_json::{Value, json};

use crate::episode::{Observation, StepOutcome};
use crate::server::calls;

/// A reply to `reset` or `step` in the form of `/ws`. The metadata are inside the observation and,
/// unless they are empty, also next to it, because clients of different versions read one or the
/// other.
pub(crate) fn episode_reply(outcome: &StepOutcome) -> Value {
    let metadata = json!(outcome.metadata);
    let observation = match &outcome.observation {
        Observation::Empty => json!({"metadata": metadata}),
        Observation::Result { tool, text } => json!({
            "metadata": metadata,
            "tool_name": tool,
            "result": tool_result(text),
            "error": null,
        }),
        Observation::Failure { tool, failure } => json!({
            "metadata": metadata,
            "tool_name": tool,
            "result": null,
            "error": {"error_type": failure.kind.as_str(), "message": failure.message},
        }),
    };
    let (reward, done) = (outcome.reward, outcome.done);
    if outcome.metadata.is_empty() {
        json!({"observation": observation, "reward": reward, "done": done})
    } else {
        json!({
            "observation": observation, "reward": reward, "done": done, "metadata": metadata,
        })
    }
}

/// The reply to the step that lists the tools.
pub(crate) fn tools_reply() -> Value {
    let observation = json!({"metadata": {}, "tools": calls::step_tool_list()});
    json!({"observation": observation, "reward": null, "done": false})
}

/// A reply in the form of HTTP. The `metadata` next to the observation is null if it is empty.
pub(crate) fn for_http(mut reply: Value) -> Value {
    if let Some(fields) = reply.as_object_mut() {
        fields.entry("metadata").or_insert(Value::Null);
    }
    reply
}

/// The result of a tool. Its text occurs three times, as in fastmcp 3.2.
pub(crate) fn tool_result(text: &str) -> Value {
    json!({
        "content": [{"type": "text", "text": text, "annotations": null, "meta": null}],
        "structured_content": {"result": text},
        "meta": {"fastmcp": {"wrap_result": true}},
        "data": text,
        "is_error": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    #[test]
    fn a_tool_step_is_sent_as_it_was_captured_from_finqa_env() {
        let outcome = StepOutcome {
            observation: Observation::Result {
                tool: "get_descriptions".into(),
                text: "[\"a\"]".into(),
            },
            reward: None,
            done: false,
            metadata: Map::new(),
        };
        let reply = episode_reply(&outcome);
        assert_eq!(
            reply.to_string(),
            r#"{"observation":{"metadata":{},"tool_name":"get_descriptions","result":{"content":[{"type":"text","text":"[\"a\"]","annotations":null,"meta":null}],"structured_content":{"result":"[\"a\"]"},"meta":{"fastmcp":{"wrap_result":true}},"data":"[\"a\"]","is_error":false},"error":null},"reward":null,"done":false}"#
        );
        let http = for_http(reply).to_string();
        assert!(http.ends_with(r#""done":false,"metadata":null}"#));
    }
}
