//! Tests of `telemetry`: what leaves the process, and what must not.

mod content;
mod delivery;
mod logs;
mod tree;
