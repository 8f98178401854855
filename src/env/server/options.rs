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
    /// How long a session may go without a request before it is dropped.
    /// `None` keeps idle sessions for ever, as the reference does. A session
    /// that a WebSocket is attached to is never dropped while it is attached.
    pub idle_timeout: Option<Duration>,
    /// Largest WebSocket message and largest HTTP body, in bytes.
    pub message_limit: usize,
    /// Bytes that messages and bodies over 16 KiB may hold together while they
    /// are read, over all clients. What finds no room is refused.
    pub request_bytes: usize,
    /// Bytes that answers over 64 KiB may hold together until they are taken.
    pub answer_bytes: usize,
    /// Requests a second that one session may make, after a burst of as many.
    /// A faster client is slowed, not refused. `None` for no limit.
    pub rate_limit: Option<u32>,
    /// How long a client may take to send a request's head, and again for its
    /// body; a connection that stays unused for as long is closed.
    pub request_time: Duration,
    /// How often a silent WebSocket is pinged; a peer that has said nothing
    /// for two such intervals is taken for gone.
    pub ping_interval: Duration,
    /// Default limit of one step, when the request names no `timeout_s`.
    pub step_timeout: Duration,
    /// Queries that run at the same time, over all sessions. 0 stands for four
    /// times the processors, 16 at least: more than can run at once, so that
    /// slow queries share the processors with the others and do not queue them.
    pub workers: usize,
    /// How long a shutdown waits for requests and sockets to end by themselves.
    pub drain: Duration,
    /// When set, every route but `/health` and the two pages wants
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
            idle_timeout: Some(Duration::from_secs(30 * 60)),
            message_limit: 256 * 1024,
            request_bytes: 64 * 1024 * 1024,
            answer_bytes: 64 * 1024 * 1024,
            rate_limit: Some(10_000),
            request_time: Duration::from_secs(20),
            ping_interval: Duration::from_secs(20),
            step_timeout: Duration::from_secs(30),
            workers: 0,
            drain: Duration::from_secs(5),
            bearer_token: None,
            allowed_hosts: Vec::new(),
            web: true,
        }
    }
}

impl ServerOptions {
    /// Queries that run at the same time, with 0 resolved.
    pub(super) fn worker_count(&self) -> usize {
        if self.workers > 0 {
            return self.workers;
        }
        let processors =
            std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        (processors * 4).max(16)
    }
}
