//! Tests of `env`: data, tools, reward and episodes.

mod data;
mod download;
mod episode;
mod escapes;
mod reward;
mod tools;
