//! Requests and answers. `messages`, `json_rpc` and `mcp` each speak one protocol. `validate` reads
//! the fields of their requests, and `wire` writes the replies. `tasks` lists the tasks of each
//! split.

pub(crate) mod json_rpc;
pub(crate) mod mcp;
pub(crate) mod messages;
pub(crate) mod tasks;
pub(crate) mod validate;
pub(crate) mod wire;
