//! Integration tests of the agents. Each module of the package has a test module here; `support`
//! has the servers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    reason = "a test fails by panicking"
)]
#![allow(clippy::too_many_lines, reason = "tables of cases")]

mod graph;
mod models;
mod pair;
mod parse;
mod prompt;
mod shared_page;
mod support;
