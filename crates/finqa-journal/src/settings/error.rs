//! The errors of reading settings, and the layers from which settings come.

use std::path::PathBuf;

use finqa_core::error::{Kind, Kinded};
use thiserror::Error;

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
    /// A setting that is unknown, or has the wrong type or value. The text says where, which and
    /// why, in one line.
    #[error("{0}")]
    Setting(String),
}

impl Kinded for ConfigError {
    fn kind(&self) -> Kind {
        Kind::Usage
    }
}

/// The layer from which a setting comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A settings file.
    File(PathBuf),
    /// A variable `CONVFINQA_<KEY>`.
    Environment,
    /// An option on the command line.
    CommandLine,
    /// The run that is resumed.
    Run,
}
