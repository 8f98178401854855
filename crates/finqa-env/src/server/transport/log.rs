//! Logs requests by method, path, status and duration. Query strings, headers and bodies are never
//! logged, because they may contain tokens and answers.

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use tracing::{debug, info, warn};

/// Logs a request when it is answered. A failure of the server is logged as a warning. Probes and
/// scrapes of metrics come every few seconds, so they are logged at level debug.
pub(crate) async fn requests(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    let (method, status) = (method.as_str(), response.status().as_u16());
    let ms = started.elapsed().as_secs_f64() * 1e3;
    if response.status().is_server_error() {
        warn!(method, path, status, ms, "request");
    } else if matches!(path.as_str(), "/health" | "/metrics") {
        debug!(method, path, status, ms, "request");
    } else {
        info!(method, path, status, ms, "request");
    }
    response
}
