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
    #[error(
        "{path} is not a calibration ({reason}); make one with `convfinqa calibrate RUN --to {path}`"
    )]
    NotOne { path: PathBuf, reason: String },
    #[error(
        "--max-error needs a calibration of this model: make one with `convfinqa calibrate RUN` from \
         a run with gold, and name it with --calibration"
    )]
    NoCalibration,
    #[error(
        "--max-error cannot use {name}, because {difference}; calibrate with a run like this one"
    )]
    Differs { name: String, difference: String },
    #[error("--max-error {most} withholds everything: {reason}")]
    NothingPasses { most: String, reason: String },
}

impl Kinded for CalibrationError {
    fn kind(&self) -> Kind {
        Kind::Usage
    }
}
