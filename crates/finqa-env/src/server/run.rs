//! Starts the server, runs it until it is told to stop, and then stops it in order: it accepts no
//! more connections, finishes requests and steps in progress, and closes sockets with 1001. After
//! the drain time, it no longer waits for unfinished ones.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::episode::EpisodeRules;
use crate::server::error::ServerError;
use crate::server::options::{DRAIN, ServerOptions};
use crate::server::state::ServerState;
use crate::server::transport::connections;
use crate::server::transport::routes;
use crate::tools::Tools;

/// Listens on the address of the options.
///
/// # Errors
/// [`ServerError::Bind`] if the address is in use or does not belong to this machine.
pub async fn bind(options: &ServerOptions) -> Result<TcpListener, ServerError> {
    let address = SocketAddr::new(options.host, options.port);
    TcpListener::bind(address)
        .await
        .map_err(|source| ServerError::Bind { address, source })
}

/// Serves until `shutdown` is cancelled and the requests and sockets in progress have ended. An
/// error of one connection ends only that connection.
pub async fn serve(
    listener: TcpListener,
    tools: Arc<Tools>,
    rules: EpisodeRules,
    options: ServerOptions,
    shutdown: CancellationToken,
) {
    let app = ServerState::new(tools, rules, options, shutdown);
    let reaper = tokio::spawn(reap(Arc::clone(&app)));
    let router = routes::router(Arc::clone(&app));
    connections::serve(listener, router, &app).await;
    // `wait` ends only on a closed tracker.
    app.tracker.close();
    let ended = tokio::time::timeout(DRAIN, app.tracker.wait());
    if ended.await.is_err() {
        tracing::warn!("sockets still open after the drain time were dropped");
    }
    reaper.abort();
}

/// Closes idle sessions regularly. The interval is that of OpenEnv's core: a quarter of the limit,
/// but at least 5 s.
async fn reap(app: Arc<ServerState>) {
    let limit = app.options.idle_timeout;
    if limit.is_zero() {
        return;
    }
    // A limit below 5 s is its own interval.
    let interval = (limit / 4).max(Duration::from_secs(5)).min(limit);
    loop {
        tokio::time::sleep(interval).await;
        let dropped = app.sessions.reap(limit);
        if dropped > 0 {
            tracing::info!(dropped, "idle sessions were closed");
        }
    }
}
