//! The FinQA environment: an agent is asked a question about a company's filings, reads tables
//! with tools, submits an answer, and earns a reward.
//!
//! - **In:** a data directory in the layout of OpenEnv's `finqa_env` (questions with their answers,
//!   tables, and descriptions of the tables), and then the tool calls of agents.
//! - **Out:** an observation for each call, and a reward of 1.0 or 0.0 at the end of an episode.
//!
//! `convfinqa env serve` runs the [`server`]; `convfinqa env play` steps an
//! [`episode::Environment`] in its own process.
//!
//! Read the modules in this order:
//!
//! 1. [`data`] reads a data directory once into a [`data::Catalog`], which all sessions share.
//! 2. [`tools`] answers calls of the four tools from the catalog, within limits of time and memory.
//! 3. [`reward`] compares a submitted answer with the expected one.
//! 4. [`episode`] decides what a reset and a step of one session do.
//! 5. [`server`] carries episodes over HTTP and WebSocket, and the tools over MCP.
//!
//! The private module `python` reads and prints numbers and JSON as Python does. `finqa_env` is a
//! Python program, and its clients must get the same texts and rewards from this package.
//! docs/finqa-wire.md lists where the two differ on purpose.

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
