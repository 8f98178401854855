//! The environment's server. It speaks HTTP, WebSocket and JSON-RPC with OpenEnv's clients of every
//! version, offers the official MCP transports, and serves a page on which a person can play. It
//! only carries requests and answers: `tools`, `episode` and `reward` decide what a tool returns
//! and what an answer earns.
//!
//! A request passes through the folders from left to right; `calls` executes it:
//!
//! ```text
//! transport                          protocol                 state
//! routes ─┬─ reset, step, pages ───────────────┐
//!         ├─ socket_loop ── messages (/ws) ────┼─► calls ─► Environment, Tools
//!         ├─ json_rpc (POST /mcp, WS /mcp) ────┤
//!         └─ mcp (/mcp/stream, stdio) ─────────┘
//! ```

mod calls;
mod error;
mod options;
mod protocol;
mod run;
mod state;
mod transport;

pub use error::ServerError;
pub use options::ServerOptions;
pub use protocol::mcp::serve_stdio;
pub use run::{bind, serve};
