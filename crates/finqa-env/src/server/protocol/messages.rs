//! The messages of `/ws`: reset, step, state, mcp and close. The server replies to each text from
//! the client with one text, which may be an error.

use std::sync::Arc;

use finqa_core::text::head;
use serde_json::{Map, Value, json};

use crate::python;
use crate::server::calls;
use crate::server::options::STEP_TIMEOUT;
use crate::server::protocol::json_rpc;
use crate::server::protocol::validate::{self, RequestIssue};
use crate::server::protocol::wire;
use crate::server::state::ServerState;
use crate::server::state::metrics::RefusalReason;
use crate::server::state::sessions::EnvSession;

/// The text of an error message. Its data also get the fields of `more`.
pub(crate) fn error(code: &str, message: &str, more: Value) -> String {
    let mut data = Map::new();
    data.insert("message".into(), message.into());
    data.insert("code".into(), code.into());
    if let Value::Object(more) = more {
        data.extend(more);
    }
    json!({"type": "error", "data": data}).to_string()
}

fn observation(reply: Value) -> String {
    json!({"type": "observation", "data": reply}).to_string()
}

/// Answers one message; `None` if the message closes the session.
pub(crate) async fn answer(
    app: &Arc<ServerState>,
    session: &Arc<EnvSession>,
    text: &str,
) -> Option<String> {
    let message = match serde_json::from_str(text) {
        Ok(Value::Object(message)) => message,
        Ok(other) => {
            let kind = python::type_name(&other);
            app.metrics.count_refusal(RefusalReason::Invalid);
            let message = format!("A message must be a JSON object, not {kind}");
            return Some(error("VALIDATION_ERROR", &message, json!({"errors": []})));
        }
        Err(fault) => {
            app.metrics.count_refusal(RefusalReason::Invalid);
            let message = format!("Invalid JSON: {fault}");
            return Some(error("INVALID_JSON", &message, json!({})));
        }
    };
    match read_and_do(app, session, &message).await {
        Ok(next) => next,
        Err(issue) => {
            app.metrics.count_refusal(RefusalReason::Invalid);
            let issue = json!({"errors": [issue]});
            Some(error("VALIDATION_ERROR", "Invalid message", issue))
        }
    }
}

/// Does what a message asks for. `None` if the message closes the session. The error is a fault of
/// the message's fields.
async fn read_and_do(
    app: &Arc<ServerState>,
    session: &Arc<EnvSession>,
    message: &Map<String, Value>,
) -> Result<Option<String>, RequestIssue> {
    let kind = message.get("type");
    let text = match kind.and_then(Value::as_str) {
        Some("reset") => {
            let data = validate::message_data(message, &validate::MAY_HAVE_DATA)?;
            let reset = validate::read(&data, &validate::RESET_MESSAGE)?;
            match calls::reset(&session.environment, reset) {
                Ok(outcome) => {
                    app.metrics.episodes_started.inc();
                    observation(wire::episode_reply(&outcome))
                }
                Err(fault) => {
                    app.metrics.count_refusal(RefusalReason::Invalid);
                    error("EXECUTION_ERROR", &fault.to_string(), json!({}))
                }
            }
        }
        Some("step") => {
            let data = validate::message_data(message, &validate::WITH_DATA)?;
            match validate::tool_call(&data)? {
                None => observation(wire::tools_reply()),
                Some(call) => {
                    let (queries, environment) = (&session.queries, &session.environment);
                    match calls::step(app, queries, environment, call, STEP_TIMEOUT).await {
                        Ok(outcome) => observation(wire::episode_reply(&outcome)),
                        Err(fault) => error("EXECUTION_ERROR", &fault.to_string(), json!({})),
                    }
                }
            }
        }
        Some("state") => {
            validate::message_data(message, &validate::BARE)?;
            let state = session.environment.lock().state();
            json!({"type": "state", "data": state}).to_string()
        }
        Some("mcp") => {
            let data = validate::message_data(message, &validate::WITH_DATA)?;
            let reply = json_rpc::answer_object(app, &data, Some(session)).await;
            json!({"type": "mcp", "data": reply}).to_string()
        }
        Some("close") => {
            validate::message_data(message, &validate::BARE)?;
            return Ok(None);
        }
        _ => {
            app.metrics.count_refusal(RefusalReason::Invalid);
            // Cut to a length set by hand, so that the answer does not repeat a long text.
            let name = kind.map(python::display).unwrap_or_default();
            let message = format!("Unknown message type: {}", head(&name, 200));
            error("UNKNOWN_TYPE", &message, json!({}))
        }
    };
    Ok(Some(text))
}
