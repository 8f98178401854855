//! What a server may be told: where it listens, how many sessions it holds and
//! what it lets one client do. Plain values; nothing here reads the
//! environment or the command line.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use secrecy::SecretString;

/// How the server listens, and the limits it holds every client to.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Address to listen on. Loopback unless the operator opens it.
    pub host: IpAddr,
    /// TCP port; 0 takes a free one.
    pub port: u16,
    /// Sessions of every kind (`/ws`, `/mcp`, `openenv/session/create`,
    /// `/mcp/stream`) that may be open at once.
    pub max_sessions: usize,
    /// Sessions that one client may have open at once; clients are told apart by
    /// their address. `None` for half of `max_sessions`, 256 at least.
    pub max_sessions_per_client: Option<usize>,
    /// How long a session made by `openenv/session/create` is kept that is never used.
    pub unused_timeout: Duration,
    /// How long a session may go without a request before it is dropped.
    /// `None` keeps idle sessions for ever, as OpenEnv's `finqa_env` does. A session
    /// that a WebSocket is attached to is never dropped while it is attached.
    pub idle_timeout: Option<Duration>,
    /// Largest WebSocket message and largest HTTP body, in bytes.
    pub message_limit: usize,
    /// Bytes that messages and bodies over 16 KiB may hold together while they
    /// are read, over all clients; one client may hold a quarter of them. What
    /// does not fit is refused.
    pub request_bytes: usize,
    /// Bytes that answers over 16 KiB may hold together until they are taken;
    /// one client may hold a quarter of them.
    pub answer_bytes: usize,
    /// Requests a second that one session may make, after a burst of as many, and
    /// one client outside its sessions. A faster one is slowed, not refused.
    /// `None` for no limit.
    pub rate_limit: Option<u32>,
    /// How long a client may take to send a request's head, and again for its
    /// body; a connection that stays unused for as long is closed.
    pub request_time: Duration,
    /// How often a silent WebSocket is pinged; a peer that has said nothing
    /// for two such intervals is taken for gone.
    pub ping_interval: Duration,
    /// Default limit of one step, when the request names no `timeout_s`.
    pub step_timeout: Duration,
    /// Brief queries that run at the same time, over all sessions; 0 for one on
    /// each processor, and two at least. A longer query runs alone next to them.
    pub workers: usize,
    /// How long a shutdown waits for requests and sockets to end by themselves.
    pub drain: Duration,
    /// When set, every route but `/health`, the pages and their description wants
    /// `Authorization: Bearer <token>`.
    pub bearer_token: Option<SecretString>,
    /// Host names, besides loopback ones and the address listened on, that a
    /// request may carry in its `Host` and `Origin` headers.
    pub allowed_hosts: Vec<String>,
    /// Whether `/` and `/web` answer with the page on which a person plays.
    pub web: bool,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8000,
            max_sessions: 1000,
            max_sessions_per_client: None,
            unused_timeout: Duration::from_secs(60),
            idle_timeout: Some(Duration::from_secs(30 * 60)),
            message_limit: 256 * 1024,
            request_bytes: 64 * 1024 * 1024,
            answer_bytes: 64 * 1024 * 1024,
            rate_limit: Some(10_000),
            request_time: Duration::from_secs(20),
            ping_interval: Duration::from_secs(20),
            step_timeout: Duration::from_secs(30),
            workers: 0,
            drain: Duration::from_secs(1),
            bearer_token: None,
            allowed_hosts: Vec::new(),
            web: true,
        }
    }
}

impl ServerOptions {
    /// Queries that run at the same time, with 0 resolved.
    pub(crate) fn worker_count(&self) -> usize {
        if self.workers > 0 {
            return self.workers;
        }
        std::thread::available_parallelism().map_or(2, |processors| processors.get().max(2))
    }

    /// Sessions that one client may have open, with the default resolved.
    pub(crate) fn sessions_per_client(&self) -> usize {
        let half = (self.max_sessions / 2).max(256);
        self.max_sessions_per_client.unwrap_or(half)
    }
}
