//! Starts the server, runs it until a signal, and stops it in
//! order: no new connections, requests and steps in progress finish, sockets
//! are closed with 1001, and what has not ended after the drain time is dropped.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::episode::EpisodeRules;
use crate::server::error::ServerError;
use crate::server::options::ServerOptions;
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
    let drain = options.drain;
    let app = ServerState::new(tools, rules, options, shutdown);
    let reaper = tokio::spawn(reap(Arc::clone(&app)));
    let router = routes::router(Arc::clone(&app));
    connections::serve(listener, router, &app).await;
    app.tracker.close();
    if tokio::time::timeout(drain, app.tracker.wait())
        .await
        .is_err()
    {
        tracing::warn!("sockets still open after the drain time were dropped");
    }
    reaper.abort();
}

/// Drops idle sessions, at the interval at which OpenEnv's `finqa_env` looks.
async fn reap(app: Arc<ServerState>) {
    let Some(limit) = app.options.idle_limit() else {
        return;
    };
    let unused = app.options.unused_timeout;
    let interval = (limit / 4).max(Duration::from_secs(5)).min(limit);
    let interval = interval.min(unused.max(Duration::from_millis(10)));
    loop {
        tokio::time::sleep(interval).await;
        let dropped = app.sessions.reap(limit, unused);
        if dropped > 0 {
            tracing::info!(dropped, "idle sessions were closed");
        }
    }
}

/// A server that runs in this process.
pub struct RunningServer {
    address: SocketAddr,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl RunningServer {
    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL, e.g. `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops it and waits for its end.
    ///
    /// # Errors
    /// [`ServerError::Listener`] if the server panicked.
    pub async fn stop(self) -> Result<(), ServerError> {
        self.shutdown.cancel();
        let ended = self.task.await;
        ended.map_err(|crashed| ServerError::Listener(std::io::Error::other(crashed)))
    }
}

/// Starts a server in this process, on the options' address; port 0 takes a
/// free one. Dropping the value leaves it running; [`RunningServer::stop`] ends it.
///
/// # Errors
/// [`ServerError::Bind`] where the address cannot be taken.
pub async fn spawn_in_process(
    tools: Arc<Tools>,
    rules: EpisodeRules,
    options: ServerOptions,
) -> Result<RunningServer, ServerError> {
    let listener = bind(&options).await?;
    let address = listener.local_addr().map_err(ServerError::Listener)?;
    let shutdown = CancellationToken::new();
    let task = tokio::spawn(serve(listener, tools, rules, options, shutdown.clone()));
    Ok(RunningServer {
        address,
        shutdown,
        task,
    })
}
