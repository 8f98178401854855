//! JSON-RPC 2.0 in OpenEnv's form: over `POST /mcp`, over `WS /mcp`, and inside the `mcp` message
//! of `/ws`. Clients list and call tools, and open and close sessions. A call over JSON-RPC is not
//! a step and earns no reward. The official MCP transport is in `mcp`. A name or an id that an
//! answer repeats is cut to 200 characters, which is set by hand.

use std::sync::Arc;

use finqa_core::text::head;
use serde_json::{Map, Value, json};

use crate::python;
use crate::server::calls;
use crate::server::protocol::validate::{self, RpcRequest};
use crate::server::protocol::wire;
use crate::server::state::ServerState;
use crate::server::state::metrics::RefusalReason;
use crate::server::state::query_queue::QueryCostHistory;
use crate::server::state::sessions::EnvSession;

// The codes of JSON-RPC 2.0, section 5.1. The last is from its range for errors of servers.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;
const SERVER_ERROR: i32 = -32000;

/// The parts of a JSON-RPC error object.
pub(crate) struct RpcError {
    code: i32,
    message: String,
    data: Value,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: Value::Null,
        }
    }

    /// The error of a server without a free slot.
    pub(crate) fn full(full: crate::server::state::sessions::CapacityReached) -> Self {
        Self {
            code: SERVER_ERROR,
            message: full.to_string(),
            data: json!({"active_sessions": full.active, "max_sessions": full.max}),
        }
    }

    /// The error for any other reason to end or refuse a session.
    pub(crate) fn server(message: impl Into<String>) -> Self {
        Self::new(SERVER_ERROR, message)
    }

    /// The answer to request `id` that carries this error.
    pub(crate) fn answer(self, id: Value) -> Value {
        json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": self.code, "message": self.message, "data": self.data},
        })
    }
}

/// Answers a request given as text; `None` for a notification, which is executed but not answered.
/// `own` is the session of the socket on which the request arrived.
pub(crate) async fn answer_text(
    app: &Arc<ServerState>,
    text: &str,
    own: Option<&Arc<EnvSession>>,
) -> Option<Value> {
    let message = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => {
            let answer = answer_object(app, &object, own).await;
            return Some(answer).filter(|_| !is_notification(&object));
        }
        // On a socket, OpenEnv's `finqa_env` names the position of the error, but over POST it does
        // not.
        Err(fault) if own.is_some() => format!("Parse error: {fault}"),
        _ => "Parse error".to_owned(),
    };
    app.metrics.count_refusal(RefusalReason::Invalid);
    Some(RpcError::new(PARSE_ERROR, message).answer(Value::Null))
}

/// True for a request without an `id`. JSON-RPC 2.0 forbids an answer to it.
fn is_notification(object: &Map<String, Value>) -> bool {
    let is_request = object
        .get("jsonrpc")
        .is_some_and(|version| version == "2.0")
        && object.get("method").is_some_and(Value::is_string);
    is_request && !object.contains_key("id")
}

/// Answers a request given as an object. If the request is invalid, the id of the answer is null,
/// as in JSON-RPC 2.0.
pub(crate) async fn answer_object(
    app: &Arc<ServerState>,
    object: &Map<String, Value>,
    own: Option<&Arc<EnvSession>>,
) -> Value {
    let request = match validate::read::<RpcRequest>(object, &validate::RPC) {
        Ok(request) => request,
        Err(issue) => {
            app.metrics.count_refusal(RefusalReason::Invalid);
            return RpcError::new(INVALID_REQUEST, format!("Invalid request: {issue}"))
                .answer(Value::Null);
        }
    };
    match dispatch(app, &request, own).await {
        Ok(result) => json!({"jsonrpc": "2.0", "id": request.id, "result": result}),
        Err(error) => error.answer(request.id),
    }
}

/// Answers a request. `own` is the session of the socket on which it came.
///
/// # Errors
/// The method is unknown, or its parameters or its session are refused.
async fn dispatch(
    app: &Arc<ServerState>,
    request: &RpcRequest,
    own: Option<&Arc<EnvSession>>,
) -> Result<Value, RpcError> {
    match request.method.as_str() {
        // A socket already has its session.
        "openenv/session/create" => match own {
            Some(session) => Ok(json!({"session_id": &*session.id})),
            None => {
                let created = app.sessions.create(app.environment());
                let id = created.map_err(RpcError::full)?;
                Ok(json!({"session_id": &*id}))
            }
        },
        "openenv/session/close" => close(app, &request.params, own),
        "tools/list" => {
            used_session(app, &request.params, own)?;
            Ok(json!({"tools": calls::tool_list()}))
        }
        "tools/call" => {
            let session = used_session(app, &request.params, own)?;
            call(app, &request.params, session.as_deref()).await
        }
        other => Err(RpcError::new(
            METHOD_NOT_FOUND,
            format!("Method not found: {}", head(other, 200)),
        )),
    }
}

/// The session of the socket on which the request arrived, or else the session that the request
/// names. `None` for a stateless request.
fn used_session(
    app: &Arc<ServerState>,
    params: &Map<String, Value>,
    own: Option<&Arc<EnvSession>>,
) -> Result<Option<Arc<EnvSession>>, RpcError> {
    let session = match (own, params.get("session_id")) {
        (Some(session), _) => Some(Arc::clone(session)),
        (None, None | Some(Value::Null)) => None,
        (None, Some(Value::String(id))) if id.is_empty() => None,
        (None, Some(id)) => {
            let id = python::display(id);
            let id = head(&id, 200);
            let found = app.sessions.get(id);
            Some(found.map_err(|unknown| RpcError::new(INVALID_PARAMS, unknown))?)
        }
    };
    if let Some(session) = &session {
        session.touch();
    }
    Ok(session)
}

/// Closes the session `session_id`. `closed` is false for a session with a WebSocket, which is
/// closed together with the socket.
///
/// # Errors
/// `session_id` is missing, unknown, or the session of this socket.
fn close(
    app: &Arc<ServerState>,
    params: &Map<String, Value>,
    own: Option<&Arc<EnvSession>>,
) -> Result<Value, RpcError> {
    let id = match params.get("session_id") {
        Some(Value::String(id)) if !id.is_empty() => id,
        _ => {
            return Err(RpcError::new(
                INVALID_PARAMS,
                "Invalid params - 'session_id' is required",
            ));
        }
    };
    if own.is_some_and(|session| *session.id == **id) {
        return Err(RpcError::new(
            INVALID_REQUEST,
            "Cannot close active WebSocket-managed session via MCP method",
        ));
    }
    match app.sessions.close(id) {
        Ok(true) => Ok(json!({"session_id": id, "closed": true})),
        Ok(false) => Ok(json!({"session_id": id, "closed": false, "closing": true})),
        Err(unknown) => Err(RpcError::new(INVALID_PARAMS, unknown)),
    }
}

/// Calls a tool, without a step of the episode.
///
/// # Errors
/// The name is missing, the tool is unknown, the arguments are not an object, or the tool fails.
async fn call(
    app: &Arc<ServerState>,
    params: &Map<String, Value>,
    session: Option<&EnvSession>,
) -> Result<Value, RpcError> {
    let name = match params.get("name") {
        Some(Value::String(name)) if !name.is_empty() => name,
        Some(Value::String(_) | Value::Null) | None => {
            return Err(RpcError::new(INVALID_PARAMS, "Missing 'name' in params"));
        }
        Some(other) => {
            return Err(RpcError::new(
                INTERNAL_ERROR,
                format!("Unknown tool: {}", head(&python::display(other), 200)),
            ));
        }
    };
    let arguments = match params.get("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(map)) => map.clone(),
        Some(other) => {
            return Err(RpcError::new(
                INTERNAL_ERROR,
                format!(
                    "Tool arguments must be an object, not {}",
                    python::type_name(other)
                ),
            ));
        }
    };
    // A request without a session has no earlier query.
    let stateless = QueryCostHistory::default();
    let queries = session.map_or(&stateless, |session| &session.queries);
    let text = calls::call_tool(app, queries, name.clone(), arguments)
        .await
        .map_err(|message| RpcError::new(INTERNAL_ERROR, message))?;
    Ok(wire::tool_result(&text))
}
