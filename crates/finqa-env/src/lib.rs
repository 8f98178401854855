//! The FinQA environment: financial tables, four tools, a reward.
//!
//! [`data`] holds the tables and questions, [`tools`] reads them, [`reward`]
//! grades an answer, [`episode`] is the state machine of one session, and
//! [`server`] carries all of it over HTTP, WebSocket and MCP.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod data;
pub mod episode;
mod python;
pub mod reward;
pub mod server;
pub mod tools;
