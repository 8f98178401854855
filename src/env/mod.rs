//! The FinQA environment: financial tables, four tools, a reward.
//!
//! [`data`] holds the tables and questions, [`tools`] reads them, [`reward`]
//! grades an answer, [`episode`] is the state machine of one session. [`server`]
//! carries all of it over HTTP, WebSocket and MCP; [`play`] is the other side:
//! an agent that plays episodes, here or against any such server.

pub mod data;
pub mod episode;
pub mod play;
mod python;
pub mod reward;
pub mod server;
pub mod tools;
