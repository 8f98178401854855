//! Tests of `run`: the main job as a process against a real HTTP server.

mod continuation;
mod faults;
mod files;
mod offline;
mod resume;
