//! The integration tests, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    reason = "a test fails by panicking"
)]
#![allow(clippy::too_many_lines, reason = "tables of cases")]

mod analysis;
mod analyst_doubts;
mod analyst_follow_ups;
mod analyst_parts;
mod analyst_questions;
mod analyst_rows;
mod analyst_several;
mod analyst_sides;
mod analyst_spelled;
mod analyst_statements;
mod analyst_sums;
mod analyst_sure;
mod analyst_typed;
mod analyst_words;
mod architecture;
mod ask;
mod calibrate;
mod cli;
mod compare_page;
mod containers;
mod dataset;
mod env;
mod env_play;
mod env_server;
mod explain;
mod figures;
mod filing;
mod filing_pdf;
mod filing_segments;
mod filing_tables;
mod formats;
mod forms;
mod gates;
mod golds;
mod improve;
mod inputs;
mod inspect;
mod keys;
mod literals;
mod live_page;
mod mlflow;
mod opinion;
mod options;
mod pages;
mod passes;
mod periods;
mod providers;
mod refusals;
mod renderings;
mod replies;
mod report;
mod run;
mod score;
mod support;
mod telemetry;
mod terminal;
mod workbook;
mod written;
