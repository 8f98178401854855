//! Tests of `env`: data, tools, reward and episodes.

mod budget;
mod build;
mod data;
mod download;
mod episode;
mod escapes;
mod hub_limits;
mod reward;
mod tools;
