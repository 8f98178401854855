//! Tests of `env`: data, tools, reward and episodes.

mod episode;
mod escapes;
mod reward;
mod tools;
