//! The shapes that go over the wire: observations and tool results as every
//! generation of OpenEnv client reads them. No decisions; those are the
//! episode's.

use std::sync::LazyLock;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::episode::{Observation, StepOutcome};
use crate::server::protocol::calls;

/// A reply to `reset` or `step`.
#[derive(Serialize)]
pub(crate) struct EpisodeReply<'a> {
    observation: ObservationBody<'a>,
    reward: Option<f64>,
    done: bool,
    /// Next to the observation; inside it for cores from 0.4.
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Option<&'a Map<String, Value>>>,
}

#[derive(Serialize)]
struct ObservationBody<'a> {
    metadata: &'a Map<String, Value>,
    #[serde(flatten)]
    seen: ObservationFields<'a>,
}

/// The fields of an observation besides its metadata.
#[derive(Serialize)]
#[serde(untagged)]
enum ObservationFields<'a> {
    /// No fields: after a reset, and when an episode ends.
    Nothing {},
    Called {
        tool_name: &'a str,
        result: Option<ToolResult<'a>>,
        error: Option<CallError<'a>>,
    },
    Tools {
        tools: Value,
    },
}

/// A call that failed outside the tool.
#[derive(Serialize)]
struct CallError<'a> {
    error_type: &'static str,
    message: &'a str,
}

impl<'a> EpisodeReply<'a> {
    /// As `/ws` sends it: no sibling `metadata` when it is empty.
    pub(crate) fn new(outcome: &'a StepOutcome) -> Self {
        let seen = match &outcome.observation {
            Observation::Empty => ObservationFields::Nothing {},
            Observation::Result { tool, text } => ObservationFields::Called {
                tool_name: tool,
                result: Some(ToolResult::new(text)),
                error: None,
            },
            Observation::Failure { tool, failure } => ObservationFields::Called {
                tool_name: tool,
                result: None,
                error: Some(CallError {
                    error_type: failure.kind.as_str(),
                    message: &failure.message,
                }),
            },
        };
        let metadata = &outcome.metadata;
        Self {
            observation: ObservationBody { metadata, seen },
            reward: outcome.reward,
            done: outcome.done,
            metadata: (!metadata.is_empty()).then_some(Some(metadata)),
        }
    }

    /// The reply to a step that lists the tools.
    pub(crate) fn tools() -> Self {
        static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        Self {
            observation: ObservationBody {
                metadata: &NONE,
                seen: ObservationFields::Tools {
                    tools: calls::step_tool_list(),
                },
            },
            reward: None,
            done: false,
            metadata: None,
        }
    }

    /// As HTTP sends it: a null sibling `metadata` when it is empty.
    pub(crate) fn for_http(mut self) -> Self {
        self.metadata.get_or_insert(None);
        self
    }
}

/// A tool's one text, three times over, as fastmcp 3.2 wraps it.
#[derive(Serialize)]
pub(crate) struct ToolResult<'a> {
    content: [TextContent<'a>; 1],
    structured_content: StructuredContent<'a>,
    meta: Value,
    data: &'a str,
    is_error: bool,
}

#[derive(Serialize)]
struct TextContent<'a> {
    r#type: &'static str,
    text: &'a str,
    annotations: (),
    meta: (),
}

#[derive(Serialize)]
struct StructuredContent<'a> {
    result: &'a str,
}

impl<'a> ToolResult<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            content: [TextContent {
                r#type: "text",
                text,
                annotations: (),
                meta: (),
            }],
            structured_content: StructuredContent { result: text },
            meta: json!({"fastmcp": {"wrap_result": true}}),
            data: text,
            is_error: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(observation: Observation) -> StepOutcome {
        StepOutcome {
            observation,
            reward: None,
            done: false,
            metadata: Map::new(),
        }
    }

    #[test]
    fn a_tool_step_is_sent_as_it_was_captured_from_finqa_env() {
        let outcome = outcome(Observation::Result {
            tool: "get_descriptions".into(),
            text: "[\"a\"]".into(),
        });
        let sent = serde_json::to_string(&EpisodeReply::new(&outcome)).expect("serialised");
        assert_eq!(
            sent,
            r#"{"observation":{"metadata":{},"tool_name":"get_descriptions","result":{"content":[{"type":"text","text":"[\"a\"]","annotations":null,"meta":null}],"structured_content":{"result":"[\"a\"]"},"meta":{"fastmcp":{"wrap_result":true}},"data":"[\"a\"]","is_error":false},"error":null},"reward":null,"done":false}"#
        );
        let http = EpisodeReply::new(&outcome).for_http();
        let http = serde_json::to_string(&http).expect("serialised");
        assert!(http.ends_with(r#""done":false,"metadata":null}"#));
    }

    #[test]
    fn metadata_is_inside_the_observation_and_next_to_it() {
        let mut outcome = outcome(Observation::Empty);
        outcome.reward = Some(0.0);
        outcome.metadata.insert("question".into(), json!("Why?"));
        let sent = serde_json::to_value(EpisodeReply::new(&outcome)).expect("serialised");
        assert_eq!(
            sent,
            json!({"observation": {"metadata": {"question": "Why?"}}, "reward": 0.0, "done": false,
                   "metadata": {"question": "Why?"}})
        );
    }
}
