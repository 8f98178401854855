//! Starts the server, runs it until a signal, and stops it in
//! order: no new connections, requests and steps in progress finish, sockets
//! are closed with 1001, and what has not ended after the drain time is dropped.

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

/// Takes the address of the options.
///
/// # Errors
/// [`ServerError::Bind`] where the address is taken or not this machine's.
pub async fn bind(options: &ServerOptions) -> Result<TcpListener, ServerError> {
    let address = SocketAddr::new(options.host, options.port);
    TcpListener::bind(address)
        .await
        .map_err(|source| ServerError::Bind { address, source })
}

/// Serves until `shutdown` is cancelled and what was in progress has ended. What goes
/// wrong with one connection ends that one alone.
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
    app.tracker.close();
    let ended = tokio::time::timeout(DRAIN, app.tracker.wait());
    if ended.await.is_err() {
        tracing::warn!("sockets still open after the drain time were dropped");
    }
    reaper.abort();
}

/// Drops idle sessions, at the interval at which OpenEnv's `finqa_env` looks.
async fn reap(app: Arc<ServerState>) {
    let limit = app.options.idle_timeout;
    if limit.is_zero() {
        return;
    }
    let interval = (limit / 4).max(Duration::from_secs(5)).min(limit);
    loop {
        tokio::time::sleep(interval).await;
        let dropped = app.sessions.reap(limit);
        if dropped > 0 {
            tracing::info!(dropped, "idle sessions were closed");
        }
    }
}
