//! The folder that an environment is built into, and the note in it that says
//! what it was built from.
//!
//! A build replaces what an earlier build put there and nothing else: a folder
//! that holds other people's files is refused. Everything is written beside and
//! moved into place, the questions last, so that a build which breaks off leaves
//! no folder that looks whole.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::env::data::EnvError;
use crate::env::data::catalog::{COMPANIES, QUESTIONS_FOLDER};
use finqa_core::files;

use super::BuildOptions;

/// The note's name. The reference's reader does not look at it.
const NOTE: &str = "convfinqa-env.json";
/// Where files are written before they are moved into place.
const BUILDING: &str = ".building";
const FORMAT: &str = "convfinqa environment";
const VERSION: u32 = 1;

/// What a folder was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::env::data) struct Note {
    format: String,
    version: u32,
    /// The file of records, or `built-in sample`.
    pub source: String,
    /// blake3 of the records' bytes.
    pub hash: String,
    /// Whether pages and questions are invented.
    pub invented: bool,
    /// Whether it was built with [`BuildOptions::tables_only`].
    pub tables_only: bool,
}

impl Note {
    pub(super) fn of(dataset: &Dataset, options: BuildOptions) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            source: dataset.source.clone(),
            hash: dataset.hash.clone(),
            invented: dataset.invented,
            tables_only: options.tables_only,
        }
    }

    /// The note of a data directory; `None` for one that was not built here.
    pub(in crate::env::data) fn read(folder: &Path) -> Result<Option<Self>, EnvError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let path = folder.join(NOTE);
        let text = match files::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(EnvError::Io { path, source }),
        };
        let damaged = |e: serde_json::Error| e.to_string();
        let read = serde_json::from_slice::<Version>(&text)
            .map_err(damaged)
            .and_then(|Version { version }| {
                if version > VERSION {
                    return Err(format!(
                        "it is of version {version}, this program reads up to {VERSION}: update it"
                    ));
                }
                serde_json::from_slice::<Self>(&text).map_err(damaged)
            });
        match read {
            Ok(note) => Ok(Some(note)),
            Err(reason) => Err(EnvError::Note { path, reason }),
        }
    }
}

/// A folder of ours that is being filled.
#[derive(Debug)]
pub(super) struct Folder {
    out: PathBuf,
    staging: PathBuf,
}

impl Folder {
    /// Makes the folder, or takes an empty one or one of an earlier build.
    pub(super) fn claim(out: &Path, note: &Note) -> Result<Self, EnvError> {
        std::fs::create_dir_all(out).map_err(|e| unwritten(out, e))?;
        if Note::read(out)?.is_none()
            && let Some(found) = any_entry(out)?
        {
            let path = out.to_owned();
            return Err(EnvError::Foreign { path, found });
        }
        let staging = out.join(BUILDING);
        remove(&staging)?;
        // First of all, so that what a broken build leaves can be built over.
        let text = serde_json::to_vec(note).map_err(|e| unwritten(out, e.into()))?;
        write(&out.join(NOTE), &text)?;
        Ok(Self {
            out: out.to_owned(),
            staging,
        })
    }

    /// Writes a file that [`Folder::finish`] puts into its place.
    pub(super) fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<(), EnvError> {
        write(&self.staging.join(name), bytes)
    }

    /// Puts everything into place, the questions last.
    pub(super) fn finish(self) -> Result<(), EnvError> {
        remove(&self.out.join(QUESTIONS_FOLDER))?;
        for name in [COMPANIES, QUESTIONS_FOLDER] {
            let place = self.out.join(name);
            remove(&place)?;
            std::fs::rename(self.staging.join(name), &place).map_err(|e| unwritten(&place, e))?;
        }
        remove(&self.staging)
    }
}

fn any_entry(folder: &Path) -> Result<Option<String>, EnvError> {
    let failed = |e| unwritten(folder, e);
    let first = std::fs::read_dir(folder).map_err(failed)?.next();
    let first = first.transpose().map_err(failed)?;
    Ok(first.map(|entry| entry.file_name().to_string_lossy().into_owned()))
}

fn remove(folder: &Path) -> Result<(), EnvError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unwritten(folder, error)),
        _ => Ok(()),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), EnvError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| unwritten(folder, e))?;
    }
    std::fs::write(path, bytes).map_err(|e| unwritten(path, e))
}

fn unwritten(path: &Path, source: std::io::Error) -> EnvError {
    let path = path.to_owned();
    EnvError::Write { path, source }
}
