//! The environment's server: HTTP, WebSocket and JSON-RPC as OpenEnv's clients
//! of every generation speak them, the official MCP transports, and a page on
//! which a person plays. It moves requests and answers; what a tool does and
//! what an answer earns is decided in `tools`, `episode` and
//! `reward`.
//!
//! ```text
//! http ─┬─ reset, step, pages ──────────────┐
//!       ├─ socket ── message (/ws) ─────────┼─► play ─► Environment, Tools
//!       ├─ rpc (POST /mcp, WS /mcp, mcp) ───┤
//!       └─ mcp (/mcp/stream, stdio) ────────┘
//! ```

mod app;
mod clients;
mod connections;
mod error;
mod frames;
mod guard;
mod http;
mod lanes;
mod listener;
mod log;
mod mcp;
mod message;
mod options;
mod play;
mod python;
mod rate;
mod reply;
mod room;
mod rpc;
mod run;
mod sessions;
mod socket;
mod validate;
mod wire;

pub use error::ServerError;
pub use mcp::serve_stdio;
pub use options::ServerOptions;
pub use run::{RunningServer, bind, serve, spawn_in_process};
