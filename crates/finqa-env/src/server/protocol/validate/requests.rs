//! The requests: bodies of HTTP routes, messages of sockets, JSON-RPC. A table lists the fields
//! of each in the order in which pydantic reports their faults.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fields::FieldType::{
    Any, Integer, JsonRpcId, LaxSeed, Literal, Natural, Object, ObjectOrJson, Positive, ShortText,
    Text,
};
use super::fields::Presence::{NotNull, Optional, Required, RequiredWith};
use super::fields::{Field, RequestShape, read};
use super::issue::RequestIssue;

type RequestResult<T> = Result<T, Vec<RequestIssue>>;

const EPISODE_ID: Field = Field("episode_id", ShortText, Optional);
const INDEX: Field = Field("index", Integer, Optional);
const SPLIT_OF_INDEX: Field = Field("split", Text, RequiredWith("index"));
const SPLIT: Field = Field("split", Text, Required);
const TYPE: Field = Field("type", Any, NotNull);
const METADATA: Field = Field("metadata", Object, NotNull);

pub(crate) const RESET_BODY: RequestShape = RequestShape::body(&[
    Field("seed", Natural, Optional),
    EPISODE_ID,
    INDEX,
    SPLIT_OF_INDEX,
]);
/// A seed of any type passes, as with OpenEnv's `finqa_env`, but only an integer counts.
pub(crate) const RESET_MESSAGE: RequestShape = RequestShape::open(&[
    Field("seed", LaxSeed, Optional),
    EPISODE_ID,
    INDEX,
    SPLIT_OF_INDEX,
]);
pub(crate) const STEP_BODY: RequestShape = RequestShape::body(&[
    Field("action", Object, Required),
    Field("timeout_s", Positive, Optional),
    Field("request_id", ShortText, Optional),
]);
const CALL_TOOL: RequestShape = RequestShape::closed(&[
    METADATA,
    Field("type", Literal("call_tool"), NotNull),
    Field("tool_name", Text, Required),
    Field("arguments", ObjectOrJson, NotNull),
]);
const LIST_TOOLS: RequestShape = RequestShape::closed(&[METADATA, TYPE]);
pub(crate) const RPC: RequestShape = RequestShape::closed(&[
    Field("jsonrpc", Literal("2.0"), Required),
    Field("method", Text, Required),
    Field("params", Object, NotNull),
    Field("id", JsonRpcId, Optional),
]);
/// Messages of a WebSocket, by the data that they carry.
pub(crate) const WITH_DATA: RequestShape =
    RequestShape::closed(&[TYPE, Field("data", Object, Required)]);
pub(crate) const MAY_HAVE_DATA: RequestShape =
    RequestShape::closed(&[TYPE, Field("data", Object, NotNull)]);
pub(crate) const BARE: RequestShape = RequestShape::closed(&[TYPE]);

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct ResetRequest {
    /// Makes the order of questions reproducible.
    pub seed: Option<u64>,
    /// The client's own name for the episode.
    pub episode_id: Option<String>,
    /// The split of the requested question.
    pub split: Option<String>,
    /// The index within the split.
    pub index: Option<i64>,
}

/// The body of `POST /step`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct StepRequest {
    /// The action, not yet read.
    pub action: Map<String, Value>,
    /// The client's limit, in seconds.
    #[serde(default)]
    pub timeout_s: Option<f64>,
}

/// The request of a task route: a split, and which of its tasks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct TaskRequest {
    pub split: String,
    #[serde(default)]
    pub index: i64,
    #[serde(default)]
    pub start: Option<i64>,
    #[serde(default)]
    pub stop: Option<i64>,
}

/// The routes that take a [`TaskRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskRoute {
    Tasks,
    NumTasks,
    Task,
    TaskRange,
}

impl TaskRoute {
    pub(crate) fn shape(self) -> RequestShape {
        let fields: &'static [Field] = match self {
            Self::Tasks | Self::NumTasks => &[SPLIT],
            Self::Task => &[SPLIT, Field("index", Integer, Required)],
            Self::TaskRange => &[
                SPLIT,
                Field("start", Integer, Optional),
                Field("stop", Integer, Optional),
            ],
        };
        RequestShape::body(fields)
    }
}

/// The request of a step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StepAction {
    /// Call a tool, with its name and arguments as sent.
    Call {
        tool: String,
        arguments: Map<String, Value>,
    },
    /// List the tools. Clients up to core 0.4 ask by a step.
    ListTools,
}

pub(crate) fn action(data: &Map<String, Value>) -> RequestResult<StepAction> {
    #[derive(Deserialize)]
    struct ToolCall {
        tool_name: String,
        #[serde(default)]
        arguments: Map<String, Value>,
    }
    if data.get("type").and_then(Value::as_str) == Some("list_tools") {
        return read::<Value>(data, &LIST_TOOLS).map(|_| StepAction::ListTools);
    }
    read(data, &CALL_TOOL).map(|call: ToolCall| StepAction::Call {
        tool: call.tool_name,
        arguments: call.arguments,
    })
}

/// Reads a WebSocket message's envelope beyond `type`; gives its data.
pub(crate) fn message_data(
    message: &Map<String, Value>,
    shape: &RequestShape,
) -> RequestResult<Map<String, Value>> {
    let mut envelope: Map<String, Value> = read(message, shape)?;
    Ok(match envelope.remove("data") {
        Some(Value::Object(data)) => data,
        _ => Map::new(),
    })
}

/// A JSON-RPC 2.0 request.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct RpcRequest {
    pub method: String,
    #[serde(default)]
    pub params: Map<String, Value>,
    /// The client's id: a text, an integer, or null.
    #[serde(default)]
    pub id: Value,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).expect("an object")
    }

    /// Kind and place of each fault.
    fn faults<T: std::fmt::Debug>(read: RequestResult<T>) -> Vec<(&'static str, Vec<Value>)> {
        let issues = read.expect_err("a fault").into_iter();
        issues.map(|issue| (issue.kind, issue.loc)).collect()
    }

    #[rstest]
    #[case(json!({"seed": -1}), "greater_than_equal")]
    #[case(json!({"seed": "x"}), "int_parsing")]
    #[case(json!({"episode_id": "x".repeat(256)}), "string_too_long")]
    #[case(json!({"split": "train", "index": 1.5}), "int_from_float")]
    #[case(json!({"index": 3}), "missing")]
    fn a_reset_body_is_held_to_its_types(#[case] body: Value, #[case] kind: &str) {
        let found = faults(read::<ResetRequest>(&object(body), &RESET_BODY));
        assert_eq!((found[0].0, &found[0].1[0]), (kind, &json!("body")));
    }

    #[test]
    fn a_reset_message_takes_any_seed() {
        let read = |data| read::<ResetRequest>(&object(data), &RESET_MESSAGE).expect("read");
        let seed = |seed| read(json!({ "seed": seed })).seed;
        assert_eq!([seed(json!({"a": 1})), seed(json!(-3))], [None, Some(3)]);
    }

    #[test]
    fn an_action_lists_all_its_faults_in_the_fields_order() {
        let all = json!({"type": "x", "tool_name": 5, "arguments": "[1]", "foo": 1});
        let kinds: Vec<_> = faults(action(&object(all)))
            .into_iter()
            .map(|fault| fault.0)
            .collect();
        assert_eq!(
            kinds,
            [
                "literal_error", "string_type", "dict_type", "extra_forbidden"
            ]
        );
        let id = json!({"jsonrpc": "2.0", "method": "x", "id": 1.5});
        let places = faults(read::<RpcRequest>(&object(id), &RPC));
        assert_eq!(places[0], ("string_type", vec![json!("id"), json!("str")]));
        assert_eq!(
            places[1],
            ("int_from_float", vec![json!("id"), json!("int")])
        );
    }
}
