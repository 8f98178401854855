//! Tests of `run`: the main job as a process against a real HTTP server, and the
//! scheduler over a model inside this process.

mod batches;
mod billing;
mod budget;
mod continuation;
mod doubts;
mod files;
mod kills;
mod merge;
mod offline;
mod only;
mod outage;
mod refusals;
mod resume;
mod scheduler;
mod shards;
