//! The HTTP routes. As in OpenEnv's `finqa_env`, `reset` and `step` are stateless: each request
//! creates an environment, uses it once and drops it. Episodes need a WebSocket.

use std::sync::{Arc, Once};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any_service, get, post};
use axum::{Extension, Json, Router};
use finqa_core::text::cut;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::episode::StepOutcome;
use crate::server::calls;
use crate::server::calls::StepFault;
use crate::server::options::STEP_TIMEOUT;
use crate::server::protocol::json_rpc;
use crate::server::protocol::mcp;
use crate::server::protocol::tasks;
use crate::server::protocol::validate::{self, RequestIssue, StepRequest, TaskRoute};
use crate::server::protocol::wire;
use crate::server::state::ServerState;
use crate::server::state::metrics::CONTENT_TYPE;
use crate::server::state::query_queue::QueryCostHistory;
use crate::server::transport::connections::{self, ConnectionPlace};
use crate::server::transport::guard;
use crate::server::transport::log;
use crate::server::transport::reply::{self, RefusedRequest};
use crate::server::transport::socket_loop::{self, SocketProtocol};

const SCHEMA: &str = include_str!("../assets/schema.json");
const OPENAPI: &str = include_str!("../assets/openapi.json");
const DOCS: &str = include_str!("../assets/docs.html");
const PLAY: &str = include_str!("../assets/play.html");

/// All routes. The layer that is added last runs first: a request is logged, then checked by
/// [`guard`], and only then its body is read.
pub(crate) fn router(app: Arc<ServerState>) -> Router {
    let task_post = |route| post(move |s, e, h, b| task_route(s, e, h, b, route));
    Router::new()
        .route(
            "/health",
            get(|| async { Json(json!({"status": "healthy"})) }),
        )
        .route("/metadata", get(metadata))
        .route("/metrics", get(metrics))
        .route(
            // Stateless like `/reset`: the state of a new environment.
            "/state",
            get(|| async { Json(json!({"episode_id": null, "step_count": 0})) }),
        )
        .route("/schema", get(|| async { static_json(SCHEMA) }))
        .route("/openapi.json", get(|| async { static_json(OPENAPI) }))
        .route("/docs", get(|h: HeaderMap| async move { page(DOCS, &h) }))
        .route("/redoc", get(|h: HeaderMap| async move { page(DOCS, &h) }))
        .route(
            "/list_environments",
            get(|| async { Json([tasks::ENVIRONMENT]) }),
        )
        .route("/{env}/splits", get(splits))
        .route("/{env}/tasks", task_post(TaskRoute::Tasks))
        .route("/{env}/num_tasks", task_post(TaskRoute::NumTasks))
        .route("/{env}/task", task_post(TaskRoute::Task))
        .route("/{env}/task_range", task_post(TaskRoute::TaskRange))
        .route("/reset", post(reset))
        .route("/step", post(step))
        .route("/ws", get(open_socket))
        .route("/mcp", post(json_rpc).get(mcp_socket))
        .route("/mcp/stream", any_service(mcp::http_service(&app)))
        .route("/", get(|h: HeaderMap| async move { page(PLAY, &h) }))
        .route("/web", get(|h: HeaderMap| async move { page(PLAY, &h) }))
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            connections::read_body,
        ))
        .fallback(|| async { reply::detail(StatusCode::NOT_FOUND, "Not Found") })
        .method_not_allowed_fallback(|| async {
            reply::detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
        })
        // The limit of `read_body` applies instead.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            guard::check,
        ))
        .layer(middleware::from_fn(log::requests))
        .with_state(app)
}

fn static_json(text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// One of the server's own pages. Its content security policy allows only the scripts and styles in
/// the file, which carry the nonce of this answer, and connections to the host that served the
/// page.
fn page(text: &'static str, headers: &HeaderMap) -> Response {
    let nonce = Uuid::new_v4().simple().to_string();
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    // The host is copied into the policy, so it must not contain a character that ends a directive.
    let host = host.filter(|host| {
        host.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b))
    });
    // In some browsers, 'self' does not include WebSockets.
    let sockets = host.map_or(String::new(), |host| format!(" ws://{host} wss://{host}"));
    let policy = format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; \
         connect-src 'self'{sockets}; img-src data:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy.as_str()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (headers, Html(text.replace("{nonce}", &nonce))).into_response()
}

/// `GET /metadata`: the description of the environment in OpenEnv's form.
async fn metadata() -> Json<Value> {
    Json(json!({
        "name": "FinQAEnvironment",
        "description": "FinQAEnvironment environment",
        "readme_content": null,
        "version": "1.0.0",
        "author": null,
        "documentation_url": null,
    }))
}

async fn metrics(State(app): State<Arc<ServerState>>) -> Response {
    match app.metrics.text(app.sessions.count()) {
        Ok(text) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(fault) => reply::detail(StatusCode::INTERNAL_SERVER_ERROR, fault.to_string()),
    }
}

/// `POST /reset`: begins an episode in a fresh environment, which is dropped after the reply.
async fn reset(
    State(app): State<Arc<ServerState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, RefusedRequest> {
    // A reset needs no field, so the body may be missing.
    let fields = reply::object(&headers, &body)?.unwrap_or_default();
    let request = validate::read(&fields, &validate::RESET_BODY)?;
    // The lock is only for `calls`, which serves the shared environments of sessions too.
    let outcome = calls::reset(&Mutex::new(app.environment()), request)?;
    Ok(stateless_reply(&outcome))
}

/// A reply of a stateless route. It warns that the route is stateless, because users of OpenEnv
/// expected episodes from these routes (its issue #1156).
fn stateless_reply(outcome: &StepOutcome) -> Response {
    static LOGGED: Once = Once::new();
    LOGGED.call_once(|| tracing::warn!("/reset and /step were called over HTTP; {STATELESS}"));
    let warning = format!("299 - \"{STATELESS}\"");
    let reply = Json(wire::for_http(wire::episode_reply(outcome)));
    ([(header::WARNING, warning)], reply).into_response()
}

const STATELESS: &str =
    "each request plays in a fresh environment; episodes need the WebSocket at /ws";

/// `POST /step`: makes one tool call in a fresh environment, or lists the tools.
async fn step(
    State(app): State<Arc<ServerState>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, RefusedRequest> {
    let Some(fields) = reply::object(&headers, &body)? else {
        return Err(RequestIssue::new("missing", "body").into());
    };
    let request: StepRequest = validate::read(&fields, &validate::STEP_BODY)?;
    let Some(call) = validate::tool_call(&request.action)? else {
        return Ok(Json(wire::for_http(wire::tools_reply())).into_response());
    };
    // A time that is too large for a `Duration` counts as absent.
    let limit = request
        .timeout_s
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .unwrap_or(STEP_TIMEOUT);
    // Both are new, because the route is stateless. The lock is only for `calls`, as in `reset`.
    let (queries, environment) = (QueryCostHistory::default(), Mutex::new(app.environment()));
    match calls::step(&app, &queries, &environment, call, limit).await {
        Ok(outcome) => Ok(stateless_reply(&outcome)),
        Err(fault) => {
            let status = match fault {
                StepFault::Client(_) => StatusCode::UNPROCESSABLE_ENTITY,
                StepFault::Server(_) => StatusCode::INTERNAL_SERVER_ERROR,
            };
            Err(reply::detail(status, fault.to_string()).into())
        }
    }
}

/// `POST /mcp`: answers a JSON-RPC request. A notification gets an empty answer.
async fn json_rpc(State(app): State<Arc<ServerState>>, body: Bytes) -> Response {
    // A body that is not UTF-8 gets the same error as a body that is not JSON.
    let text = std::str::from_utf8(&body).unwrap_or("");
    match json_rpc::answer_text(&app, text, None).await {
        Some(answer) => Json(answer).into_response(),
        // MCP's streamable HTTP answers a notification with this status too.
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// The query of `/ws`: the session to attach to; a new one is opened if there is none.
#[derive(Deserialize)]
struct SocketQuery {
    session_id: Option<String>,
}

type Handshake = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// `GET /ws`: plays episodes over a WebSocket.
async fn open_socket(
    State(app): State<Arc<ServerState>>,
    Extension(place): Extension<ConnectionPlace>,
    Query(query): Query<SocketQuery>,
    handshake: Handshake,
) -> Response {
    let id = query.session_id.filter(|id| !id.is_empty());
    match handshake {
        Ok(handshake) => socket_loop::accept(handshake, app, place, SocketProtocol::OpenEnv, id),
        // OpenEnv's `finqa_env` answers a request without a handshake in the same way.
        Err(_) => reply::detail(StatusCode::NOT_FOUND, "Not Found"),
    }
}

/// `GET /mcp`: answers JSON-RPC requests over a WebSocket.
async fn mcp_socket(
    State(app): State<Arc<ServerState>>,
    Extension(place): Extension<ConnectionPlace>,
    handshake: Handshake,
) -> Response {
    if let Ok(handshake) = handshake {
        return socket_loop::accept(handshake, app, place, SocketProtocol::JsonRpc, None);
    }
    let refused = reply::detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
    ([(header::ALLOW, "POST")], refused).into_response()
}

async fn splits(Path(env): Path<String>) -> Result<Json<Value>, RefusedRequest> {
    known_environment(&env)?;
    Ok(Json(tasks::splits()))
}

/// The routes by which later versions of OpenEnv list tasks.
async fn task_route(
    State(app): State<Arc<ServerState>>,
    Path(env): Path<String>,
    headers: HeaderMap,
    body: Bytes,
    route: TaskRoute,
) -> Result<Json<Value>, RefusedRequest> {
    let fields = reply::object(&headers, &body)?.unwrap_or_default();
    let request = validate::read(&fields, &route.shape())?;
    known_environment(&env)?;
    Ok(Json(tasks::answer(app.tools.catalog(), route, &request)?))
}

/// Refuses every name of an environment but this one with 404. Case does not count.
fn known_environment(env: &str) -> Result<(), RefusedRequest> {
    if env.eq_ignore_ascii_case(tasks::ENVIRONMENT) {
        return Ok(());
    }
    // At most 100 characters, set by hand, so that the answer does not repeat a long name.
    let name = cut(env, 100, "...");
    let message = format!("unknown environment '{name}'");
    Err(reply::detail(StatusCode::NOT_FOUND, message).into())
}
