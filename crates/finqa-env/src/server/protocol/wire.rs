//! The shapes that go over the wire: observations and tool results as every
//! generation of OpenEnv client reads them. No decisions; those are the
//! episode's.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

/// A reply to `reset` or `step`.
#[derive(Debug, Clone, Default)]
pub(crate) struct EpisodeReply {
    /// What was seen.
    pub seen: ObservationContent,
    /// Null until an episode ends.
    pub reward: Option<f64>,
    /// Whether the episode is over.
    pub done: bool,
    /// Inside the observation (cores from 0.4) and next to it.
    pub metadata: Map<String, Value>,
}

/// What an observation shows besides its metadata.
#[derive(Debug, Clone, Default)]
pub(crate) enum ObservationContent {
    /// Nothing: after reset, and when an episode ends.
    #[default]
    Nothing,
    /// A tool's text.
    Text { tool: String, text: String },
    /// A call that failed outside the tool.
    Failed {
        /// The tool, as it was asked for.
        tool: String,
        /// One of the five kinds of the schema.
        error_type: &'static str,
        /// One line.
        message: String,
    },
    /// The list of tools.
    Tools(Value),
}

/// Serialises a reply as `/ws` sends it: no sibling `metadata` when it is empty.
pub(crate) struct SocketStepReply<'a>(pub &'a EpisodeReply);
/// Serialises a reply as HTTP sends it: a null sibling `metadata` when it is empty.
pub(crate) struct HttpStepReply<'a>(pub &'a EpisodeReply);

impl Serialize for SocketStepReply<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = begin(self.0, serializer)?;
        if !self.0.metadata.is_empty() {
            map.serialize_entry("metadata", &self.0.metadata)?;
        }
        map.end()
    }
}

impl Serialize for HttpStepReply<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = begin(self.0, serializer)?;
        let metadata = Some(&self.0.metadata).filter(|map| !map.is_empty());
        map.serialize_entry("metadata", &metadata)?;
        map.end()
    }
}

fn begin<S: Serializer>(reply: &EpisodeReply, serializer: S) -> Result<S::SerializeMap, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("observation", &ObservationBody(reply))?;
    map.serialize_entry("reward", &reply.reward)?;
    map.serialize_entry("done", &reply.done)?;
    Ok(map)
}

struct ObservationBody<'a>(&'a EpisodeReply);

impl Serialize for ObservationBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("metadata", &self.0.metadata)?;
        match &self.0.seen {
            ObservationContent::Nothing => {}
            ObservationContent::Text { tool, text } => {
                map.serialize_entry("tool_name", tool)?;
                map.serialize_entry("result", &ToolResult(text))?;
                map.serialize_entry("error", &())?;
            }
            ObservationContent::Failed {
                tool,
                error_type,
                message,
            } => {
                map.serialize_entry("tool_name", tool)?;
                map.serialize_entry("result", &())?;
                map.serialize_entry(
                    "error",
                    &json!({"error_type": error_type, "message": message}),
                )?;
            }
            ObservationContent::Tools(tools) => map.serialize_entry("tools", tools)?,
        }
        map.end()
    }
}

/// A tool's one text, three times over, as fastmcp 3.2 wraps it.
pub(crate) struct ToolResult<'a>(pub &'a str);

impl Serialize for ToolResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
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
        let content = [TextContent {
            r#type: "text",
            text: self.0,
            annotations: (),
            meta: (),
        }];
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry("content", &content)?;
        map.serialize_entry("structured_content", &StructuredContent { result: self.0 })?;
        map.serialize_entry("meta", &json!({"fastmcp": {"wrap_result": true}}))?;
        map.serialize_entry("data", self.0)?;
        map.serialize_entry("is_error", &false)?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_step_is_sent_as_it_was_captured_from_finqa_env() {
        let reply = EpisodeReply {
            seen: ObservationContent::Text {
                tool: "get_descriptions".into(),
                text: "[\"a\"]".into(),
            },
            ..EpisodeReply::default()
        };
        let sent = serde_json::to_string(&SocketStepReply(&reply)).expect("serialised");
        assert_eq!(
            sent,
            r#"{"observation":{"metadata":{},"tool_name":"get_descriptions","result":{"content":[{"type":"text","text":"[\"a\"]","annotations":null,"meta":null}],"structured_content":{"result":"[\"a\"]"},"meta":{"fastmcp":{"wrap_result":true}},"data":"[\"a\"]","is_error":false},"error":null},"reward":null,"done":false}"#
        );
        let http = serde_json::to_string(&HttpStepReply(&reply)).expect("serialised");
        assert!(http.ends_with(r#""done":false,"metadata":null}"#));
    }

    #[test]
    fn metadata_is_inside_the_observation_and_next_to_it() {
        let mut reply = EpisodeReply {
            reward: Some(0.0),
            ..EpisodeReply::default()
        };
        reply.metadata.insert("question".into(), json!("Why?"));
        let sent = serde_json::to_value(SocketStepReply(&reply)).expect("serialised");
        assert_eq!(
            sent,
            json!({"observation": {"metadata": {"question": "Why?"}}, "reward": 0.0, "done": false,
                   "metadata": {"question": "Why?"}})
        );
    }
}
