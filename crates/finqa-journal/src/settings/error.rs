//! The errors of reading settings, and the sources that settings come from.

use std::path::PathBuf;

use finqa_core::error::{Kind, Kinded};
use thiserror::Error;

/// A source of settings that cannot be read.
#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("{path}: {source}")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path}, line {line}: not TOML: {message}")]
    NotToml {
        path: PathBuf,
        line: usize,
        message: String,
    },
    /// A setting is unknown or of the wrong type or value: where, which and why, in one line.
    #[error("{0}")]
    Setting(String),
}

impl Kinded for ConfigError {
    fn kind(&self) -> Kind {
        Kind::Usage
    }
}

/// The layer that a setting comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A settings file.
    File(PathBuf),
    /// A variable `CONVFINQA_<KEY>`.
    Environment,
    /// A flag.
    CommandLine,
    /// The run that is resumed.
    Run,
}
