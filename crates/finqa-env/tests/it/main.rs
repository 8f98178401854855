//! The environment's integration tests. `server` speaks to a running server; the other files call
//! the library.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    reason = "a test fails by panicking"
)]
#![allow(clippy::too_many_lines, reason = "tables of cases")]

mod budget;
mod data;
mod download;
mod episode;
mod escapes;
mod reward;
mod server;
mod support;
mod tools;
