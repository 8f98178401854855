//! From a path, or the built-in sample, to a [`Dataset`].

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::assemble::{Assembler, record_name};
use super::read::{self, Stop};
use super::{Dataset, DatasetError};

/// The sample: companies, pages and figures are invented.
const SAMPLE: &str = include_str!("../../data/sample.json");

/// How the sample is called where a path would stand.
const SAMPLE_NAME: &str = "built-in sample";

/// Where the records come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file: a JSON array of records, or one JSON record a line; whole
    /// conversations or single turns.
    Path(PathBuf),
    /// The invented sample inside the program.
    Sample,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Sample => f.write_str(SAMPLE_NAME),
        }
    }
}

/// Loads all records of `source`.
///
/// # Errors
/// One line naming file, record and field for whatever is missing or wrong.
pub fn load(source: &Source) -> Result<Dataset, DatasetError> {
    match source {
        Source::Sample => sample(),
        Source::Path(path) => {
            let file = open(path)?;
            let origin = path.display().to_string();
            let id_of = |index| {
                File::open(path)
                    .ok()
                    .and_then(|file| read::id_of(file, index))
            };
            from_reader(&origin, file, id_of).map_err(|stop| match stop {
                Failure::Dataset(error) => *error,
                Failure::Io(source) => DatasetError::Io {
                    path: path.clone(),
                    source,
                },
            })
        }
    }
}

/// The built-in sample.
///
/// # Errors
/// None that a test would not have found: the sample is part of the program.
pub fn sample() -> Result<Dataset, DatasetError> {
    let dataset = from_str(SAMPLE_NAME, SAMPLE)?;
    Ok(Dataset {
        invented: true,
        ..dataset
    })
}

/// Records from text in memory; `origin` names it in errors.
///
/// # Errors
/// As [`load`].
pub fn from_str(origin: &str, json: &str) -> Result<Dataset, DatasetError> {
    let id_of = |index| read::id_of(json.as_bytes(), index);
    from_reader(origin, json.as_bytes(), id_of).map_err(|failure| match failure {
        Failure::Dataset(error) => *error,
        Failure::Io(source) => DatasetError::Io {
            path: PathBuf::from(origin),
            source,
        },
    })
}

enum Failure {
    Dataset(Box<DatasetError>),
    Io(std::io::Error),
}

fn from_reader(
    origin: &str,
    reader: impl std::io::Read,
    id_of: impl Fn(usize) -> Option<String>,
) -> Result<Dataset, Failure> {
    let mut assembler = Assembler::new(origin);
    let hash =
        read::records(origin, reader, &mut |record| assembler.add(record)).map_err(|stop| {
            match stop {
                Stop::Data(error) => Failure::Dataset(error),
                Stop::Io(error) => Failure::Io(error),
                Stop::Field {
                    index,
                    field,
                    reason,
                } => Failure::Dataset(Box::new(DatasetError::Record {
                    origin: origin.to_owned(),
                    // The id may stand behind the field that failed, so it is looked up afterwards.
                    record: record_name(index + 1, &id_of(index).unwrap_or_default()),
                    field,
                    reason: format!("{reason}; mend the field or drop the record"),
                })),
            }
        })?;
    Ok(Dataset {
        source: origin.to_owned(),
        hash,
        invented: false,
        records: assembler
            .finish()
            .map_err(|error| Failure::Dataset(Box::new(error)))?,
    })
}

fn open(path: &Path) -> Result<File, DatasetError> {
    let io = |source| DatasetError::Io {
        path: path.to_owned(),
        source,
    };
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(DatasetError::Missing {
                path: path.to_owned(),
            });
        }
        Err(error) => return Err(io(error)),
        Ok(metadata) if metadata.is_dir() => {
            return Err(DatasetError::NotJson {
                origin: path.display().to_string(),
                reason: "it is a folder; name a .json or .jsonl file in it".to_owned(),
            });
        }
        Ok(_) => {}
    }
    File::open(path).map_err(io)
}
