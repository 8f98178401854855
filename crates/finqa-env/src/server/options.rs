//! Options of the server: its address, the number of sessions, and its limits of time and memory.

use std::net::IpAddr;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

/// Maximum size of a WebSocket message or an HTTP body in bytes. The longest useful one is a query
/// of 10,000 bytes, which JSON escapes can expand to 60,000.
pub(crate) const MESSAGE_BYTES: usize = 128 * 1024;
/// Time limit of each step over a WebSocket and of each tool call, and of `POST /step` without
/// `timeout_s`. OpenEnv's `finqa_env` has the same.
pub(crate) const STEP_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum time for which a shutdown waits for requests to end, and then again for sockets. Set by
/// hand: a query takes at most 250 ms once it runs.
pub(crate) const DRAIN: Duration = Duration::from_secs(1);

/// How the server listens, and its limits.
#[derive(clap::Args, Debug, Clone)]
#[command(next_help_heading = "Limits")]
pub struct ServerOptions {
    /// Address to listen on; 0.0.0.0 opens the server to the network
    #[arg(
        long,
        value_name = "IP",
        default_value = "127.0.0.1",
        help_heading = "Server"
    )]
    pub host: IpAddr,
    /// Port to listen on; 0 selects a free one
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 8000,
        help_heading = "Server"
    )]
    pub port: u16,
    /// Prefix of session ids (`NAME.`) by which a proxy can route to this server.
    #[arg(skip)]
    pub server_id: Option<String>,
    /// Maximum number of open sessions
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = some_sessions)]
    pub max_sessions: usize,
    /// Seconds after which an idle session without an open WebSocket is closed; 0 means never
    #[arg(long, value_name = "S", default_value = "1800", value_parser = seconds)]
    pub idle_timeout: Duration,
    /// Maximum size of all answers over 16 KiB together, in bytes. An answer over HTTP counts until
    /// it is sent. An answer over a WebSocket counts until the socket is closed, because the
    /// socket's buffer does not shrink. Set by hand.
    #[arg(skip = 256_usize * 1024 * 1024)]
    pub answer_bytes: usize,
    /// Time limit for a client to send the head of a request, and again for its body. A connection
    /// that is unused for this long is closed. Set by hand.
    #[arg(skip = Duration::from_secs(20))]
    pub request_time: Duration,
    /// Seconds after which a WebSocket that does not answer pings is closed; raise it if a client
    /// cannot answer while its model is generating
    #[arg(long, value_name = "S", default_value = "60", value_parser = some_seconds)]
    pub ping_timeout: Duration,
    /// Bearer token that requests must carry
    #[arg(
        id = "token",
        long = "token",
        value_name = "TOKEN",
        env = "FINQA_TOKEN",
        hide_env_values = true,
        help_heading = "Access"
    )]
    pub bearer_token: Option<SecretString>,
    /// Additional host name accepted in the Host and Origin headers; can be repeated
    #[arg(
        id = "allow_host",
        long = "allow-host",
        value_name = "HOST",
        help_heading = "Access"
    )]
    pub allowed_hosts: Vec<String>,
}

finqa_core::options::declared_defaults!(ServerOptions);

// With 0, no session could ever be opened.
fn some_sessions(text: &str) -> Result<usize, std::num::ParseIntError> {
    text.parse().map(std::num::NonZeroUsize::get)
}

// With 0, every WebSocket would be closed before it could answer a ping.
fn some_seconds(text: &str) -> Result<Duration, std::num::ParseIntError> {
    let seconds: std::num::NonZeroU64 = text.parse()?;
    Ok(Duration::from_secs(seconds.get()))
}

fn seconds(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse().map(Duration::from_secs)
}

impl ServerOptions {
    /// The number of pings that a silent WebSocket gets within `ping_timeout`. There is one every
    /// 20 s, so that no proxy considers the connection idle, and at least three. Both are set by
    /// hand.
    pub(crate) fn pings(&self) -> u32 {
        u32::try_from(self.ping_timeout.as_secs().div_ceil(20))
            .map_or(u32::MAX, |pings| pings.max(3))
    }

    /// The token that requests must carry; `None` if no token or an empty one is set.
    pub(crate) fn token(&self) -> Option<&SecretString> {
        self.bearer_token
            .as_ref()
            .filter(|token| !token.expose_secret().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_websocket_is_pinged_every_20_s_and_three_times_at_least() {
        let pings = |seconds| {
            let ping_timeout = Duration::from_secs(seconds);
            ServerOptions {
                ping_timeout,
                ..ServerOptions::default()
            }
            .pings()
        };
        assert_eq!([1, 60, 61, 600].map(pings), [3, 3, 4, 30]);
    }
}
