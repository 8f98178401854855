//! The messages of the sockets: OpenEnv's envelope, actions, JSON-RPC requests.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::body::Reset;
use super::issue::{RequestIssue, dict_type, extras, string_type, too_long};
use super::lax::integer;
use crate::python::json as python;

/// What a step asks for: one tool call, or the list of tools.
#[derive(Debug, Clone, PartialEq)]
pub enum StepAction {
    /// Call a tool.
    Call {
        /// The tool's name, as sent.
        tool: String,
        /// Its arguments, as sent.
        arguments: Map<String, Value>,
    },
    /// Say which tools there are. Clients up to core 0.4 ask by a step.
    ListTools,
}

/// Reads an action.
pub fn action(data: &Map<String, Value>) -> Result<StepAction, Vec<RequestIssue>> {
    let whole = || Value::Object(data.clone());
    let mut issues = Vec::new();
    if let Some(value) = data.get("metadata")
        && !value.is_object()
    {
        issues.push(dict_type("metadata", value));
    }
    let list = data.get("type").and_then(Value::as_str) == Some("list_tools");
    if !list
        && let Some(value) = data.get("type")
        && value.as_str() != Some("call_tool")
    {
        issues.push(
            RequestIssue::new(
                "literal_error",
                "type".into(),
                "Input should be 'call_tool'",
                value,
            )
            .with(json!({"expected": "'call_tool'"})),
        );
    }
    let mut tool = String::new();
    let mut arguments = Map::new();
    if !list {
        match data.get("tool_name") {
            Some(Value::String(name)) => tool.clone_from(name),
            Some(other) => issues.push(string_type("tool_name", other)),
            None => issues.push(RequestIssue::new(
                "missing",
                "tool_name".into(),
                "Field required",
                &whole(),
            )),
        }
        match read_arguments(data.get("arguments")) {
            Ok(map) => arguments = map,
            Err(issue) => issues.push(*issue),
        }
    }
    let known: &[&str] = if list {
        &["metadata", "type"]
    } else {
        &["metadata", "type", "tool_name", "arguments"]
    };
    issues.extend(extras(data, known));
    if !issues.is_empty() {
        return Err(issues);
    }
    Ok(if list {
        StepAction::ListTools
    } else {
        StepAction::Call { tool, arguments }
    })
}

/// Arguments are an object, or a JSON text of one, as some models write them.
fn read_arguments(value: Option<&Value>) -> Result<Map<String, Value>, Box<RequestIssue>> {
    match value {
        None => Ok(Map::new()),
        Some(Value::Object(map)) => Ok(map.clone()),
        Some(text @ Value::String(raw)) => match python::parse_json(raw) {
            Ok(Value::Object(map)) => Ok(map),
            Ok(other) => Err(Box::new(dict_type("arguments", &other))),
            Err(fault) => {
                let mut issue = RequestIssue::new("json_invalid", "arguments".into(), "", text);
                issue.msg = Cow::Owned(format!("Invalid JSON: {fault}"));
                Err(Box::new(issue.with(json!({"error": fault.to_string()}))))
            }
        },
        Some(other) => Err(Box::new(dict_type("arguments", other))),
    }
}

/// Reads the data of a `reset` message: a seed of any type is let pass, as the
/// reference lets it, but only one that reads as an integer counts.
pub fn reset_message(data: &Map<String, Value>) -> Result<Reset, Vec<RequestIssue>> {
    let episode_id = match data.get("episode_id") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) if id.is_empty() => None,
        Some(Value::String(id)) if id.chars().count() <= 255 => Some(id.clone()),
        Some(long @ Value::String(_)) => return Err(vec![too_long("episode_id", long)]),
        Some(other) => return Err(vec![string_type("episode_id", other)]),
    };
    let seed = data
        .get("seed")
        .and_then(|value| integer(value).ok())
        .map(|number| u64::try_from(number.unsigned_abs()).unwrap_or(u64::MAX));
    Ok(Reset { seed, episode_id })
}

/// A WebSocket message's envelope beyond `type`: `data`, where it may stand.
pub fn message_data(
    message: &Map<String, Value>,
    wants_data: Data,
) -> Result<Map<String, Value>, Vec<RequestIssue>> {
    let mut issues = Vec::new();
    let mut data = Map::new();
    match (message.get("data"), wants_data) {
        (_, Data::None) | (None, Data::Optional) => {}
        (Some(Value::Object(map)), _) => data = map.clone(),
        (Some(other), _) => issues.push(dict_type("data", other)),
        (None, Data::Required) => issues.push(RequestIssue::new(
            "missing",
            "data".into(),
            "Field required",
            &Value::Object(message.clone()),
        )),
    }
    let known: &[&str] = if wants_data == Data::None {
        &["type"]
    } else {
        &["type", "data"]
    };
    issues.extend(extras(message, known));
    if issues.is_empty() {
        Ok(data)
    } else {
        Err(issues)
    }
}

/// Whether a message carries `data`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// It must.
    Required,
    /// It may.
    Optional,
    /// It must not.
    None,
}

/// A JSON-RPC 2.0 request.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcRequest {
    /// The method's name.
    pub method: String,
    /// The parameters, empty when absent.
    pub params: Map<String, Value>,
    /// The client's id: a text, an integer, or null.
    pub id: Value,
}

/// Reads a JSON-RPC request.
pub fn rpc_request(data: &Map<String, Value>) -> Result<RpcRequest, Vec<RequestIssue>> {
    let whole = || Value::Object(data.clone());
    let mut issues = Vec::new();
    match data.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => {}
        Some(other) => issues.push(
            RequestIssue::new(
                "literal_error",
                "jsonrpc".into(),
                "Input should be '2.0'",
                other,
            )
            .with(json!({"expected": "'2.0'"})),
        ),
        None => issues.push(RequestIssue::new(
            "missing",
            "jsonrpc".into(),
            "Field required",
            &whole(),
        )),
    }
    let mut method = String::new();
    match data.get("method") {
        Some(Value::String(name)) => method.clone_from(name),
        Some(other) => issues.push(string_type("method", other)),
        None => issues.push(RequestIssue::new(
            "missing",
            "method".into(),
            "Field required",
            &whole(),
        )),
    }
    let mut params = Map::new();
    match data.get("params") {
        None => {}
        Some(Value::Object(map)) => params = map.clone(),
        Some(other) => issues.push(dict_type("params", other)),
    }
    let id = data.get("id").cloned().unwrap_or(Value::Null);
    if !(id.is_null() || id.is_string() || id.is_i64() || id.is_u64()) {
        let mut text = string_type("id", &id);
        text.loc.push("str".into());
        let (kind, msg) = integer(&id)
            .err()
            .unwrap_or(("int_type", "Input should be a valid integer"));
        let mut number = RequestIssue::new(kind, "id".into(), msg, &id);
        number.loc.push("int".into());
        issues.extend([text, number]);
    }
    issues.extend(extras(data, &["jsonrpc", "method", "params", "id"]));
    if issues.is_empty() {
        Ok(RpcRequest { method, params, id })
    } else {
        Err(issues)
    }
}

#[cfg(test)]
mod tests {
    use super::super::issue::summary;
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("not an object: {other}"),
        }
    }

    #[test]
    fn a_reset_message_takes_any_seed_but_only_a_text_for_an_id() {
        let read = |data| reset_message(&object(data));
        assert_eq!(read(json!({"seed": {"a": 1}})), Ok(Reset::default()));
        assert_eq!(read(json!({"seed": 3})).expect("read").seed, Some(3));
        assert_eq!(
            read(json!({"episode_id": 5})).expect_err("a fault")[0].loc,
            vec!["episode_id".into()]
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
                "literal_error",
                "string_type",
                "dict_type",
                "extra_forbidden"
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
}
