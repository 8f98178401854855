//! Tests of `env`: data, tools, reward and episodes.

mod reward;
