//! Integration tests of the core.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    reason = "a test fails by panicking"
)]
#![allow(clippy::too_many_lines, reason = "tables of cases")]

mod page;
mod program;
