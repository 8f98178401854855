//! The folder that an environment is built into, and the note in it that says
//! what it was built from.
//!
//! A build replaces what an earlier build wrote and nothing else: a folder with
//! other files is refused. The questions are removed first and written last, so that an
//! interrupted build never looks complete.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use finqa_env::data::{BuildNote, COMPANIES, EnvError, NOTE, QUESTIONS, QUESTIONS_FOLDER};

/// An environment's folder while it is built.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder, or empties one of an earlier build.
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
        let folder = Self(out.to_owned());
        // Written first, so that a later build may replace an interrupted one.
        let text = serde_json::to_vec(note).map_err(|e| unwritten(out, e.into()))?;
        folder.write(NOTE, &text)?;
        for old in [QUESTIONS_FOLDER, COMPANIES].map(|name| out.join(name)) {
            match std::fs::remove_dir_all(&old) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(unwritten(&old, error));
                }
                _ => {}
            }
        }
        Ok(folder)
    }

    /// Writes a file.
    pub(super) fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<(), EnvError> {
        let path = self.0.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| unwritten(folder, e))?;
        }
        std::fs::write(&path, bytes).map_err(|e| unwritten(&path, e))
    }

    /// Writes the questions, which make the folder an environment.
    pub(super) fn finish(self, questions: &[u8]) -> Result<(), EnvError> {
        const UNFINISHED: &str = "benchmark_questions/.finqa.csv";
        self.write(UNFINISHED, questions)?;
        let place = self.0.join(QUESTIONS);
        std::fs::rename(self.0.join(UNFINISHED), &place).map_err(|e| unwritten(&place, e))
    }
}

fn any_entry(folder: &Path) -> Result<Option<String>, EnvError> {
    let failed = |e| unwritten(folder, e);
    let first = std::fs::read_dir(folder).map_err(failed)?.next();
    let first = first.transpose().map_err(failed)?;
    Ok(first.map(|entry| entry.file_name().to_string_lossy().into_owned()))
}

fn unwritten(path: &Path, source: std::io::Error) -> EnvError {
    let path = path.to_owned();
    EnvError::Write { path, source }
}
