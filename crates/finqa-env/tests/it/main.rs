//! The environment's integration tests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    reason = "a test fails by panicking"
)]

mod budget;
mod data;
mod download;
mod episode;
mod escapes;
mod reward;
mod server;
mod support;
mod tools;
