//! The bodies of the HTTP routes.

use serde_json::{Map, Value, json};

use super::issue::{RequestIssue, dict_type, short_text, string_type};
use super::lax::{integer, number};

/// What a reset may say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reset {
    /// Makes the order of questions reproducible.
    pub seed: Option<u64>,
    /// The client's own name for the episode.
    pub episode_id: Option<String>,
}

/// Reads the body of `POST /reset`: strict about both fields.
pub fn reset_body(data: &Map<String, Value>) -> Result<Reset, Vec<RequestIssue>> {
    let mut issues = Vec::new();
    let mut reset = Reset::default();
    match data.get("seed") {
        None | Some(Value::Null) => {}
        Some(value) => match integer(value) {
            Ok(number) => match u64::try_from(number) {
                Ok(seed) => reset.seed = Some(seed),
                Err(_) if number < 0 => issues.push(
                    RequestIssue::new(
                        "greater_than_equal",
                        "seed".into(),
                        "Input should be greater than or equal to 0",
                        value,
                    )
                    .with(json!({"ge": 0})),
                ),
                Err(_) => reset.seed = Some(u64::MAX),
            },
            Err((kind, msg)) => issues.push(RequestIssue::new(kind, "seed".into(), msg, value)),
        },
    }
    match short_text("episode_id", data.get("episode_id")) {
        Ok(id) => reset.episode_id = id,
        Err(issue) => issues.push(*issue),
    }
    if issues.is_empty() {
        Ok(reset)
    } else {
        Err(issues)
    }
}

/// The body of `POST /step`.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRequest {
    /// The action, not yet read.
    pub action: Map<String, Value>,
    /// The client's limit, in seconds.
    pub timeout_s: Option<f64>,
}

/// Reads the body of `POST /step`.
pub fn step_body(data: &Map<String, Value>) -> Result<StepRequest, Vec<RequestIssue>> {
    let mut issues = Vec::new();
    let mut action = Map::new();
    match data.get("action") {
        Some(Value::Object(map)) => action = map.clone(),
        Some(other) => issues.push(dict_type("action", other)),
        None => issues.push(RequestIssue::new(
            "missing",
            "action".into(),
            "Field required",
            &Value::Object(data.clone()),
        )),
    }
    let mut timeout_s = None;
    match data.get("timeout_s") {
        None | Some(Value::Null) => {}
        Some(value) => match number(value) {
            Ok(seconds) if seconds > 0.0 => timeout_s = Some(seconds),
            Ok(_) => issues.push(
                RequestIssue::new(
                    "greater_than",
                    "timeout_s".into(),
                    "Input should be greater than 0",
                    value,
                )
                .with(json!({"gt": 0.0})),
            ),
            Err((kind, msg)) => {
                issues.push(RequestIssue::new(kind, "timeout_s".into(), msg, value))
            }
        },
    }
    if let Err(issue) = short_text("request_id", data.get("request_id")) {
        issues.push(*issue);
    }
    if issues.is_empty() {
        Ok(StepRequest { action, timeout_s })
    } else {
        Err(issues)
    }
}

/// What is wrong with the body of a task route: a split's name, and for one
/// task its index.
pub fn task_body(data: &Map<String, Value>, wants_index: bool) -> Vec<RequestIssue> {
    let missing = |field: &'static str| {
        RequestIssue::new(
            "missing",
            field.into(),
            "Field required",
            &Value::Object(data.clone()),
        )
    };
    let mut issues = Vec::new();
    match data.get("split") {
        Some(Value::String(_)) => {}
        Some(other) => issues.push(string_type("split", other)),
        None => issues.push(missing("split")),
    }
    if wants_index {
        match data.get("index").map(integer) {
            Some(Ok(_)) => {}
            Some(Err((kind, msg))) => {
                let value = data.get("index").unwrap_or(&Value::Null);
                issues.push(RequestIssue::new(kind, "index".into(), msg, value));
            }
            None => issues.push(missing("index")),
        }
    }
    issues
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            other => panic!("not an object: {other}"),
        }
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
            Ok(Reset {
                seed: Some(7),
                episode_id: None
            })
        );
    }
}
