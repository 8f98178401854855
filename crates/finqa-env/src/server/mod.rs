//! The environment's server: HTTP, WebSocket and JSON-RPC as OpenEnv's clients
//! of every generation speak them, the official MCP transports, and a page on
//! which a person plays. It moves requests and answers; what a tool does and
//! what an answer earns is decided in `tools`, `episode` and `reward`.
//!
//! ```text
//! transport                          protocol                 state
//! routes ─┬─ reset, step, pages ───────────────┐
//!         ├─ socket_loop ── messages (/ws) ────┼─► calls ─► Environment, Tools
//!         ├─ json_rpc (POST /mcp, WS /mcp) ────┤
//!         └─ mcp (/mcp/stream, stdio) ─────────┘
//! ```

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
