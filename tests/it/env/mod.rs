//! Tests of `convfinqa env build` and `env download`. Those of data, tools, reward
//! and episodes are in `crates/finqa-env`.

mod build;
mod download;
