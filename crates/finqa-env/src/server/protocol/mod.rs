//! Requests and answers: OpenEnv's messages, JSON-RPC and MCP, and the validation of their
//! fields.

pub(crate) mod calls;
pub(crate) mod json_rpc;
pub(crate) mod mcp;
pub(crate) mod messages;
pub(crate) mod tasks;
pub(crate) mod validate;
pub(crate) mod wire;
