//! Tests of `env`: data, tools, reward and episodes.

mod data;
mod episode;
mod escapes;
mod reward;
mod tools;
