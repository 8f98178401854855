//! The embedded analyst's integration tests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    reason = "a test fails by panicking"
)]

mod own_counts;
mod own_guesses;
mod own_kinds;
mod own_labels;
mod own_lists;
mod own_questions;
mod own_signs;
mod own_tables;
mod own_terms;
mod own_totals;
mod pages;
