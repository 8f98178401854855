//! The HTTP routes. `reset` and `step` are stateless here, as in
//! OpenEnv's `finqa_env`: each makes an environment, uses it once and drops it. Episodes
//! live on WebSockets.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{any_service, get, post};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::server::protocol::calls;
use crate::server::protocol::calls::StepFault;
use crate::server::protocol::json_rpc;
use crate::server::protocol::mcp;
use crate::server::protocol::validate::{self, RequestIssue, StepAction};
use crate::server::protocol::wire::{HttpStepReply, ObservationContent, StepReply};
use crate::server::state::app::ServerState;
use crate::server::state::clients::Client;
use crate::server::transport::connections;
use crate::server::transport::guard;
use crate::server::transport::log;
use crate::server::transport::reply::{self, RefusedRequest};
use crate::server::transport::socket_loop::{self, Protocol};
use crate::server::transport::websocket::{NoWebSocketHandshake, WebSocketHandshake};

/// The environment's name in the routes of later cores.
pub(crate) const ENVIRONMENT: &str = "finqa_env";

const SCHEMA: &str = include_str!("../assets/schema.json");
const OPENAPI: &str = include_str!("../assets/openapi.json");
const DOCS: &str = include_str!("../assets/docs.html");
const PLAY: &str = include_str!("../assets/play.html");

/// All routes.
pub(crate) fn router(app: Arc<ServerState>) -> Router {
    let mut router = Router::new()
        .route(
            "/health",
            get(|| async { Json(json!({"status": "healthy"})) }),
        )
        .route("/metadata", get(metadata))
        .route(
            "/state",
            get(|| async { Json(json!({"episode_id": null, "step_count": 0})) }),
        )
        .route("/schema", get(|| async { static_json(SCHEMA) }))
        .route("/openapi.json", get(|| async { static_json(OPENAPI) }))
        .route("/docs", get(|h: HeaderMap| async move { page(DOCS, &h) }))
        .route("/redoc", get(|h: HeaderMap| async move { page(DOCS, &h) }))
        .route("/list_environments", get(|| async { Json([ENVIRONMENT]) }))
        .route("/{env}/splits", get(splits))
        .route(
            "/{env}/tasks",
            post(|e, h, b| task_route(e, h, b, "list_tasks")),
        )
        .route(
            "/{env}/num_tasks",
            post(|e, h, b| task_route(e, h, b, "num_tasks")),
        )
        .route(
            "/{env}/task",
            post(|e, h, b| task_route(e, h, b, "get_task")),
        )
        .route(
            "/{env}/task_range",
            post(|e, h, b| task_route(e, h, b, "get_task_range")),
        )
        .route("/reset", post(reset))
        .route("/step", post(step))
        .route("/ws", get(open_socket))
        .route("/mcp", post(json_rpc).get(mcp_socket))
        .route("/mcp/stream", any_service(mcp::http_service(&app)));
    if app.options.web {
        router = router
            .route("/", get(|h: HeaderMap| async move { page(PLAY, &h) }))
            .route("/web", get(|h: HeaderMap| async move { page(PLAY, &h) }));
    }
    router
        .route_layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            connections::read_body,
        ))
        .fallback(|| async { reply::detail(StatusCode::NOT_FOUND, "Not Found") })
        .method_not_allowed_fallback(|| async {
            reply::detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
        })
        .layer(DefaultBodyLimit::max(app.options.message_limit))
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

/// A page of ours: its scripts and styles are in the file and carry the nonce of
/// this answer, it speaks to the host it came from, and loads nothing else.
fn page(text: &'static str, headers: &HeaderMap) -> Response {
    let nonce = Uuid::new_v4().simple().to_string();
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = host.filter(|host| {
        host.bytes()
            .all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b))
    });
    // Not every browser counts a WebSocket as 'self'.
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

async fn reset(
    State(app): State<Arc<ServerState>>,
    Extension(client): Extension<Arc<Client>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, RefusedRequest> {
    let fields = reply::object(&headers, &reply::body(body)?)?.unwrap_or_default();
    let asked = validate::reset_body(&fields).map_err(|issues| reply::unprocessable(&issues))?;
    client.rate.wait().await;
    let seen = calls::reset(&Mutex::new(app.environment()), asked);
    Ok(Json(HttpStepReply(&seen)).into_response())
}

async fn step(
    State(app): State<Arc<ServerState>>,
    Extension(client): Extension<Arc<Client>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, RefusedRequest> {
    let Some(fields) = reply::object(&headers, &reply::body(body)?)? else {
        return Err(reply::unprocessable(&[RequestIssue::no_body()]).into());
    };
    let asked = validate::step_body(&fields).map_err(|issues| reply::unprocessable(&issues))?;
    let action = validate::action(&asked.action).map_err(|issues| reply::unprocessable(&issues))?;
    let seen = match action {
        StepAction::ListTools => StepReply {
            seen: ObservationContent::Tools(calls::step_tool_list()),
            ..StepReply::default()
        },
        StepAction::Call { tool, arguments } => {
            let limit = asked
                .timeout_s
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .unwrap_or(app.options.step_timeout);
            client.rate.wait().await;
            let environment = Mutex::new(app.environment());
            calls::step(&app, &client.caller(), &environment, tool, arguments, limit)
                .await
                .map_err(|fault| {
                    let status = match fault {
                        StepFault::Client(_) => StatusCode::UNPROCESSABLE_ENTITY,
                        StepFault::Server(_) => StatusCode::INTERNAL_SERVER_ERROR,
                    };
                    reply::detail(status, fault.to_string())
                })?
        }
    };
    Ok(Json(HttpStepReply(&seen)).into_response())
}

async fn json_rpc(
    State(app): State<Arc<ServerState>>,
    Extension(client): Extension<Arc<Client>>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<Value>, RefusedRequest> {
    let body = reply::body(body)?;
    // Not UTF-8 is no JSON either, and is answered as such.
    let text = std::str::from_utf8(&body).unwrap_or("");
    Ok(Json(json_rpc::answer_text(&app, &client, text, None).await))
}

#[derive(Deserialize)]
struct SocketQuery {
    session_id: Option<String>,
}

async fn open_socket(
    State(app): State<Arc<ServerState>>,
    Extension(client): Extension<Arc<Client>>,
    Query(query): Query<SocketQuery>,
    handshake: WebSocketHandshake,
) -> Response {
    let id = query.session_id.filter(|id| !id.is_empty());
    take(handshake, app, client, Protocol::OpenEnv, id)
}

async fn mcp_socket(
    State(app): State<Arc<ServerState>>,
    Extension(client): Extension<Arc<Client>>,
    handshake: Result<WebSocketHandshake, NoWebSocketHandshake>,
) -> Response {
    match handshake {
        Ok(handshake) => take(handshake, app, client, Protocol::JsonRpc, None),
        Err(NoWebSocketHandshake) => {
            let mut refused = reply::detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
            refused
                .headers_mut()
                .insert(header::ALLOW, header::HeaderValue::from_static("POST"));
            refused
        }
    }
}

/// Answers a handshake; the socket runs on a task of its own, which outlives the request.
fn take(
    handshake: WebSocketHandshake,
    app: Arc<ServerState>,
    client: Arc<Client>,
    protocol: Protocol,
    id: Option<String>,
) -> Response {
    if client.is_crowded() {
        let said = "This client has as many open connections as it may";
        return reply::detail(StatusCode::SERVICE_UNAVAILABLE, said);
    }
    let (answer, opening) = handshake.accept(app.options.message_limit, client.requests.clone());
    let tracker = app.tracker.clone();
    tracker.spawn(async move {
        if let Some(socket) = opening.await {
            socket_loop::run(socket, app, &client, protocol, id).await;
        }
    });
    answer
}

async fn splits(Path(env): Path<String>) -> Response {
    unsupported(&env, "list_splits")
}

/// The routes by which later cores list tasks: this environment has none, but
/// says so in the same way.
async fn task_route(
    Path(env): Path<String>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
    method: &'static str,
) -> Result<Response, RefusedRequest> {
    let fields = reply::object(&headers, &reply::body(body)?)?;
    validate::task_body(&fields.unwrap_or_else(Map::new), method == "get_task")
        .map_err(|issues| reply::unprocessable(&issues))?;
    Ok(unsupported(&env, method))
}

fn unsupported(env: &str, method: &str) -> Response {
    if env == ENVIRONMENT {
        let said = format!("{method} is not supported for this environment");
        reply::detail(StatusCode::NOT_IMPLEMENTED, said)
    } else {
        let shown: String = env.chars().take(100).collect();
        reply::detail(
            StatusCode::NOT_FOUND,
            format!("unknown environment '{shown}'"),
        )
    }
}
