//! Integration tests of the agents: one module for each module of the package, and the servers in
//! `support`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    reason = "a test fails by panicking"
)]

mod graph;
mod models;
mod pair;
mod parse;
mod prompt;
mod shared_page;
mod support;
