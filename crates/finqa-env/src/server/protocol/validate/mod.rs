//! Reads requests (bodies of HTTP routes, messages of sockets, JSON-RPC) and reports the first
//! fault of each. The tables in this file list the fields of each request, `fields` reads them, and
//! `issue` describes a fault.

mod fields;
mod issue;

use serde::Deserialize;
use serde_json::{Map, Value};

use fields::FieldType::{
    Any, Integer, JsonRpcId, LaxSeed, Literal, Natural, Object, ObjectOrJson, Positive, ShortText,
    Text,
};
use fields::Presence::{NotNull, Optional, Required, RequiredWith};
use fields::UnlistedFields::{Body, Closed, Open};
use fields::{Field, RequestShape};

pub(crate) use fields::read;
pub(crate) use issue::RequestIssue;

/// A value that was read, or the first fault of the request.
type RequestResult<T> = Result<T, RequestIssue>;

const SEED: Field = ("seed", Natural, Optional);
/// A seed that may have any type, as in OpenEnv's `finqa_env`. Only an integer has an effect.
const LAX_SEED: Field = ("seed", LaxSeed, Optional);
const EPISODE_ID: Field = ("episode_id", ShortText, Optional);
const INDEX: Field = ("index", Integer, Optional);
const SPLIT_OF_INDEX: Field = ("split", Text, RequiredWith("index"));
const SPLIT: Field = ("split", Text, Required);
const TASK_INDEX: Field = ("index", Integer, Required);
const START: Field = ("start", Integer, Optional);
const STOP: Field = ("stop", Integer, Optional);
const ACTION: Field = ("action", Object, Required);
const TIMEOUT: Field = ("timeout_s", Positive, Optional);
const REQUEST_ID: Field = ("request_id", ShortText, Optional);
const METADATA: Field = ("metadata", Object, NotNull);
const CALL: Field = ("type", Literal("call_tool"), NotNull);
const TOOL: Field = ("tool_name", Text, Required);
const ARGUMENTS: Field = ("arguments", ObjectOrJson, NotNull);
const TYPE: Field = ("type", Any, NotNull);
const DATA: Field = ("data", Object, Required);
const OPTIONAL_DATA: Field = ("data", Object, NotNull);
const JSONRPC: Field = ("jsonrpc", Literal("2.0"), Required);
const METHOD: Field = ("method", Text, Required);
const PARAMS: Field = ("params", Object, NotNull);
const ID: Field = ("id", JsonRpcId, Optional);

pub(crate) const RESET_BODY: RequestShape =
    RequestShape(Body, &[SEED, EPISODE_ID, INDEX, SPLIT_OF_INDEX]);
// Other fields of a reset are ignored on a socket too: the schema of `ResetRequest` allows them.
pub(crate) const RESET_MESSAGE: RequestShape =
    RequestShape(Open, &[LAX_SEED, EPISODE_ID, INDEX, SPLIT_OF_INDEX]);
pub(crate) const STEP_BODY: RequestShape = RequestShape(Body, &[ACTION, TIMEOUT, REQUEST_ID]);
const CALL_TOOL: RequestShape = RequestShape(Closed, &[METADATA, CALL, TOOL, ARGUMENTS]);
const LIST_TOOLS: RequestShape = RequestShape(Closed, &[METADATA, TYPE]);
pub(crate) const RPC: RequestShape = RequestShape(Closed, &[JSONRPC, METHOD, PARAMS, ID]);
// Messages of a WebSocket that must, may, or may not have data.
pub(crate) const WITH_DATA: RequestShape = RequestShape(Closed, &[TYPE, DATA]);
pub(crate) const MAY_HAVE_DATA: RequestShape = RequestShape(Closed, &[TYPE, OPTIONAL_DATA]);
pub(crate) const BARE: RequestShape = RequestShape(Closed, &[TYPE]);

/// The fields of a reset, from `POST /reset` or a message of a socket.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(crate) struct ResetRequest {
    /// Makes the order of questions reproducible.
    pub seed: Option<u64>,
    /// The client's name for the episode.
    pub episode_id: Option<String>,
    /// The split of the requested question.
    pub split: Option<String>,
    /// The index within the split.
    pub index: Option<i64>,
}

/// The body of `POST /step`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct StepRequest {
    /// The action as sent; [`tool_call`] validates it.
    pub action: Map<String, Value>,
    /// The client's time limit in seconds.
    pub timeout_s: Option<f64>,
}

/// The body of a task route: a split, and for some routes the tasks of the split.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct TaskRequest {
    pub split: String,
    #[serde(default)]
    pub index: i64,
    pub start: Option<i64>,
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
    /// The fields that the body of this route has.
    pub(crate) fn shape(self) -> RequestShape {
        let fields: &'static [Field] = match self {
            Self::Tasks | Self::NumTasks => &[SPLIT],
            Self::Task => &[SPLIT, TASK_INDEX],
            Self::TaskRange => &[SPLIT, START, STOP],
        };
        RequestShape(Body, fields)
    }
}

/// A step that calls a tool, with the name and the arguments that the client sent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct CallStep {
    pub tool_name: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// Validates the action of a step. Returns `None` for the action that lists the tools. Clients up
/// to core 0.4 use this action instead of `tools/list`.
pub(crate) fn tool_call(action: &Map<String, Value>) -> RequestResult<Option<CallStep>> {
    if action.get("type").and_then(Value::as_str) == Some("list_tools") {
        return read::<Value>(action, &LIST_TOOLS).map(|_| None);
    }
    read(action, &CALL_TOOL).map(Some)
}

/// Validates the top level of a WebSocket message and returns its `data`, or an empty object if it
/// has none.
pub(crate) fn message_data(
    message: &Map<String, Value>,
    shape: &RequestShape,
) -> RequestResult<Map<String, Value>> {
    let mut envelope: Map<String, Value> = read(message, shape)?;
    let data = envelope.remove("data").unwrap_or_default();
    Ok(serde_json::from_value(data).unwrap_or_default())
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

    /// The kind and the place of the fault.
    fn fault<T: std::fmt::Debug>(read: RequestResult<T>) -> (&'static str, String) {
        let issue = read.expect_err("a fault");
        (issue.kind, issue.loc.join("."))
    }

    #[rstest]
    #[case(json!({"seed": -1}), "greater_than_equal")]
    #[case(json!({"seed": "x"}), "int_parsing")]
    #[case(json!({"episode_id": "x".repeat(256)}), "string_too_long")]
    #[case(json!({"split": "train", "index": 1.5}), "int_from_float")]
    #[case(json!({"index": 3}), "missing")]
    fn a_reset_body_is_held_to_its_types(#[case] body: Value, #[case] kind: &str) {
        let found = fault(read::<ResetRequest>(&object(body), &RESET_BODY));
        assert_eq!(found.0, kind);
        assert!(found.1.starts_with("body."), "{}", found.1);
    }

    #[test]
    fn a_reset_message_takes_any_seed() {
        let read = |data| read::<ResetRequest>(&object(data), &RESET_MESSAGE).expect("read");
        let seed = |seed| read(json!({ "seed": seed })).seed;
        assert_eq!([seed(json!({"a": 1})), seed(json!(-3))], [None, Some(3)]);
    }

    #[test]
    fn of_several_faults_the_first_field_has_the_one_that_is_reported() {
        let all = json!({"type": "x", "tool_name": 5, "arguments": "[1]", "foo": 1});
        assert_eq!(
            fault(tool_call(&object(all))),
            ("literal_error", "type".to_owned())
        );
        let id = json!({"jsonrpc": "2.0", "method": "x", "id": 1.5});
        let found = fault(read::<RpcRequest>(&object(id), &RPC));
        assert_eq!(found, ("string_type", "id".to_owned()));
    }
}
