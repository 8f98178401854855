//! Log lines of the server: one for each request and each socket. Never a
//! query, a header or a body, which may contain tokens and answers.

use std::time::Instant;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;
use tracing::level_filters::LevelFilter;
use tracing::{debug, info, warn};

/// Logs a request when it is answered: a failure of the server as a warning, and
/// requests that come every few seconds, such as probes, at level debug.
pub(crate) async fn requests(request: Request, next: Next) -> Response {
    // Without a log a request costs nothing more.
    if LevelFilter::current() == LevelFilter::OFF {
        return next.run(request).await;
    }
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

/// A socket, from when it has its session; logged again when it is dropped.
pub(crate) struct SocketLog {
    session: String,
    started: Instant,
}

impl SocketLog {
    /// Who knows a session's id may use it: only its beginning is logged.
    pub(crate) fn open(session: &str) -> Self {
        let random = session.rsplit('.').next().unwrap_or_default();
        let session = random.chars().take(8).collect();
        info!(session, "socket opened");
        Self {
            session,
            started: Instant::now(),
        }
    }
}

impl Drop for SocketLog {
    fn drop(&mut self) {
        let seconds = self.started.elapsed().as_secs_f64();
        info!(session = self.session, seconds, "socket closed");
    }
}
