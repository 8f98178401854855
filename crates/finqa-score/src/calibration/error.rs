//! The reasons why a calibration cannot be made, read or used.

use std::path::PathBuf;

use finqa_core::error::{Kind, Kinded};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum CalibrationError {
    #[error("{path}: {source}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} is not a calibration ({reason})")]
    NotOne { path: PathBuf, reason: String },
    #[error("a limit of the error needs a calibration of this model")]
    NoCalibration,
    #[error("a limit of the error cannot use {name}, because {difference}")]
    Differs { name: String, difference: String },
    #[error("an error of at most {most} withholds everything: {reason}")]
    NothingPasses { most: String, reason: String },
}

impl Kinded for CalibrationError {
    fn kind(&self) -> Kind {
        // Every error is about --calibration or --max-error.
        Kind::Usage
    }
}
