//! The folder that an environment is built into, and the note in it that says
//! what it was built from.
//!
//! A build replaces what an earlier build wrote and nothing else: a folder with
//! other files is refused. Everything is written to a subfolder and then moved
//! into place, the questions last, so that an interrupted build never looks
//! complete.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use finqa_env::data::{BuildNote, COMPANIES, EnvError, NOTE, QUESTIONS_FOLDER};

/// The folder in which files are written before they are moved into place.
const BUILDING: &str = ".building";

/// An environment's folder while it is built.
#[derive(Debug)]
pub(super) struct Folder {
    out: PathBuf,
    staging: PathBuf,
}

impl Folder {
    /// Makes the folder, or takes an empty one or one of an earlier build.
    pub(super) fn claim(out: &Path, note: &BuildNote) -> Result<Self, EnvError> {
        std::fs::create_dir_all(out).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => unwritten(out, ErrorKind::NotADirectory.into()),
            _ => unwritten(out, error),
        })?;
        if BuildNote::read(out)?.is_none()
            && let Some(found) = any_entry(out)?
        {
            let path = out.to_owned();
            return Err(EnvError::Foreign { path, found });
        }
        let staging = out.join(BUILDING);
        remove(&staging)?;
        // Written first, so that a later build may replace an interrupted one.
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

    /// Moves everything into place, the questions last.
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
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unwritten(folder, error)),
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
