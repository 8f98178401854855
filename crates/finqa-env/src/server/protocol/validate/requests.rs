//! The requests: bodies of HTTP routes, messages of sockets, JSON-RPC.

use serde_json::{Map, Value};

use super::fields::{FieldReader, integer};
use super::issue::RequestIssue;

type RequestResult<T> = Result<T, Vec<RequestIssue>>;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ResetRequest {
    /// Makes the order of questions reproducible.
    pub seed: Option<u64>,
    /// The client's own name for the episode.
    pub episode_id: Option<String>,
    /// The split of the requested question.
    pub split: Option<String>,
    /// The index within the split.
    pub index: Option<i128>,
}

/// Reads the body of `POST /reset`: strict about both fields.
pub(crate) fn reset_body(data: &Map<String, Value>) -> RequestResult<ResetRequest> {
    let mut fields = FieldReader::new(data);
    let seed = fields.natural("seed");
    let request = reset(&mut fields, seed);
    fields.finish_body(request)
}

/// Reads the data of a `reset` message. A seed of any type passes, as with
/// OpenEnv's `finqa_env`, but only one that reads as an integer counts.
pub(crate) fn reset_message(data: &Map<String, Value>) -> RequestResult<ResetRequest> {
    let mut fields = FieldReader::new(data);
    let seed = data.get("seed").and_then(|value| integer(value).ok());
    let seed = seed.map(|number| u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX));
    let request = reset(&mut fields, seed);
    fields.finish(request)
}

/// A reset with this seed, and the task that it asks for: a split, or a split and an index.
fn reset(fields: &mut FieldReader<'_>, seed: Option<u64>) -> ResetRequest {
    let episode_id = fields.short_text("episode_id");
    let split = fields.optional("split");
    let index = fields.optional("index");
    let index = fields.integer("index", index);
    if index.is_some() && split.is_none() {
        fields.required("split");
    }
    let name = fields.string("split", split);
    ResetRequest {
        seed,
        episode_id,
        split: split.map(|_| name),
        index,
    }
}

/// The body of `POST /step`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepRequest {
    /// The action, not yet read.
    pub action: Map<String, Value>,
    /// The client's limit, in seconds.
    pub timeout_s: Option<f64>,
}

pub(crate) fn step_body(data: &Map<String, Value>) -> RequestResult<StepRequest> {
    let mut fields = FieldReader::new(data);
    let action = fields.required("action");
    let action = fields.object("action", action);
    let timeout_s = fields.positive("timeout_s");
    fields.short_text("request_id");
    fields.finish_body(StepRequest { action, timeout_s })
}

/// The request of a task route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskQuery {
    All,
    Count,
    One {
        index: i128,
    },
    Range {
        start: Option<i128>,
        stop: Option<i128>,
    },
}

/// The routes that take a [`TaskQuery`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskRoute {
    Tasks,
    NumTasks,
    Task,
    TaskRange,
}

/// The body of a task route: a split's name, and which of its tasks.
pub(crate) fn task_body(
    data: &Map<String, Value>,
    route: TaskRoute,
) -> RequestResult<(String, TaskQuery)> {
    let mut fields = FieldReader::new(data);
    let split = fields.required("split");
    let split = fields.string("split", split);
    let query = match route {
        TaskRoute::Tasks => TaskQuery::All,
        TaskRoute::NumTasks => TaskQuery::Count,
        TaskRoute::Task => {
            let index = fields.required("index");
            // Without an index there is an issue, and the query is not used.
            let index = fields.integer("index", index).unwrap_or_default();
            TaskQuery::One { index }
        }
        TaskRoute::TaskRange => {
            let [start, stop] = ["start", "stop"].map(|bound| fields.optional(bound));
            TaskQuery::Range {
                start: fields.integer("start", start),
                stop: fields.integer("stop", stop),
            }
        }
    };
    fields.finish_body((split, query))
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
    let mut fields = FieldReader::new(data);
    fields.object("metadata", fields.get("metadata"));
    if data.get("type").and_then(Value::as_str) == Some("list_tools") {
        fields.refuse_others(&["metadata", "type"]);
        return fields.finish(StepAction::ListTools);
    }
    fields.literal("type", "call_tool", fields.get("type"));
    let tool = fields.required("tool_name");
    let tool = fields.string("tool_name", tool);
    let arguments = fields.object_or_text("arguments");
    fields.refuse_others(&["metadata", "type", "tool_name", "arguments"]);
    fields.finish(StepAction::Call { tool, arguments })
}

/// The `data` of a message, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageData {
    Required,
    Optional,
    Forbidden,
}

/// Reads a WebSocket message's envelope beyond `type`.
pub(crate) fn message_data(
    message: &Map<String, Value>,
    wanted: MessageData,
) -> RequestResult<Map<String, Value>> {
    let mut fields = FieldReader::new(message);
    if wanted == MessageData::Forbidden {
        fields.refuse_others(&["type"]);
        return fields.finish(Map::new());
    }
    let data = if wanted == MessageData::Required {
        fields.required("data")
    } else {
        fields.get("data")
    };
    let data = fields.object("data", data);
    fields.refuse_others(&["type", "data"]);
    fields.finish(data)
}

/// A JSON-RPC 2.0 request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcRequest {
    pub method: String,
    /// Empty when absent.
    pub params: Map<String, Value>,
    /// The client's id: a text, an integer, or null.
    pub id: Value,
}

pub(crate) fn rpc_request(data: &Map<String, Value>) -> RequestResult<RpcRequest> {
    let mut fields = FieldReader::new(data);
    let version = fields.required("jsonrpc");
    fields.literal("jsonrpc", "2.0", version);
    let method = fields.required("method");
    let method = fields.string("method", method);
    let params = fields.object("params", fields.get("params"));
    let id = data.get("id").cloned().unwrap_or(Value::Null);
    if !(id.is_null() || id.is_string() || id.is_i64() || id.is_u64()) {
        // One fault for each type that it could have.
        fields.string("id", Some(&id));
        if fields.integer("id", Some(&id)).is_some() {
            let message = "Input should be a valid integer";
            fields.report("int_type", "id", message, &id, None);
        }
        let mut last = fields.issues.iter_mut().rev();
        for kind in ["int", "str"] {
            last.next()
                .into_iter()
                .for_each(|issue| issue.loc.push(kind.into()));
        }
    }
    fields.refuse_others(&["jsonrpc", "method", "params", "id"]);
    fields.finish(RpcRequest { method, params, id })
}

#[cfg(test)]
mod tests {
    use super::super::issue::summary;
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("not an object: {other}"),
        }
    }

    #[test]
    fn a_reset_message_takes_any_seed_but_only_a_text_for_an_id() {
        let read = |data| reset_message(&object(data));
        assert_eq!(read(json!({"seed": {"a": 1}})), Ok(ResetRequest::default()));
        assert_eq!(read(json!({"seed": 3})).expect("read").seed, Some(3));
        assert_eq!(
            read(json!({"episode_id": 5})).expect_err("a fault")[0].loc,
            vec![Value::from("episode_id")]
        );
    }

    #[test]
    fn an_action_lists_all_its_faults_in_the_fields_order() {
        let issues = action(&object(
            json!({"type": "x", "tool_name": 5, "arguments": [], "foo": 1}),
        ))
        .expect_err("four faults");
        let kinds: Vec<_> = issues.iter().map(|issue| issue.kind).collect();
        assert_eq!(
            kinds,
            [
                "literal_error", "string_type", "dict_type", "extra_forbidden"
            ]
        );
        assert_eq!(
            action(&object(json!({}))).expect_err("one fault")[0].kind,
            "missing"
        );
    }

    #[test]
    fn arguments_may_be_a_json_text() {
        let read = action(&object(
            json!({"tool_name": "t", "arguments": "{\"a\": 1}"}),
        ));
        assert_eq!(
            read,
            Ok(StepAction::Call {
                tool: "t".into(),
                arguments: object(json!({"a": 1}))
            })
        );
        let bad =
            action(&object(json!({"tool_name": "t", "arguments": "a=1"}))).expect_err("a fault");
        assert_eq!(bad[0].kind, "json_invalid");
        assert_eq!(
            bad[0].msg,
            "Invalid JSON: Expecting value: line 1 column 1 (char 0)"
        );
    }

    #[test]
    fn a_summary_reads_as_pydantics() {
        let issues = rpc_request(&object(json!({"method": "x"}))).expect_err("a fault");
        assert_eq!(
            summary("JsonRpcRequest", &issues),
            "1 validation error for JsonRpcRequest\njsonrpc\n  Field required [type=missing, \
             input_value={'method': 'x'}, input_type=dict]\n    For further information visit \
             https://errors.pydantic.dev/2.13/v/missing"
        );
    }

    #[test]
    fn an_index_needs_a_split() {
        let read = |data| reset_message(&object(data));
        let both = read(json!({"split": "train", "index": "3"})).expect("read");
        assert_eq!(
            (both.split.as_deref(), both.index),
            (Some("train"), Some(3))
        );
        assert_eq!(
            read(json!({"split": null, "index": null})),
            Ok(ResetRequest::default())
        );
        let fault = |data| {
            let issue = read(data).expect_err("a fault").remove(0);
            (issue.kind, issue.loc)
        };
        assert_eq!(
            fault(json!({"index": 3})),
            ("missing", vec![json!("split")])
        );
        assert_eq!(
            fault(json!({"split": 1})),
            ("string_type", vec![json!("split")])
        );
        assert_eq!(
            fault(json!({"split": "train", "index": 1.5})),
            ("int_from_float", vec![json!("index")])
        );
    }

    #[test]
    fn a_reset_body_is_held_to_its_types() {
        let fault = |body| reset_body(&object(body)).expect_err("a fault")[0].kind;
        assert_eq!(fault(json!({"seed": -1})), "greater_than_equal");
        assert_eq!(fault(json!({"seed": "x"})), "int_parsing");
        assert_eq!(fault(json!({"episode_id": 5})), "string_type");
        assert_eq!(
            fault(json!({"episode_id": "x".repeat(256)})),
            "string_too_long"
        );
        let reset = reset_body(&object(json!({"seed": "7", "episode_id": null, "x": 1})));
        assert_eq!(
            reset,
            Ok(ResetRequest {
                seed: Some(7),
                ..ResetRequest::default()
            })
        );
    }
}
