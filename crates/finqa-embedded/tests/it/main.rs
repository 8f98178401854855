//! The embedded analyst's integration tests.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    reason = "a test fails by panicking"
)]

mod example;
mod own_groups;
mod own_periods;
mod own_questions;
mod own_senses;
mod own_tables;
mod own_texts;
mod own_wording;
mod pages;
