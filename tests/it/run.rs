//! Tests of `run`: the main job as a process against a real HTTP server.

mod faults;
mod offline;
mod resume;
