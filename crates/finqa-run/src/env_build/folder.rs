//! The folder into which an environment is built. A note in it says what it was built from.
//!
//! A build replaces only the files of an earlier build; a folder with other files is refused. The
//! questions are removed first and written last, so that an interrupted build never looks complete.

use std::io::ErrorKind;
use std::path::Path;

use finqa_env::data::{BuildNote, COMPANIES, EnvError, NOTE, QUESTIONS, QUESTIONS_FOLDER};

/// Creates the folder, or removes the data of an earlier build from it.
///
/// # Errors
/// [`EnvError::Foreign`] for a folder with files that no build wrote.
pub(super) fn claim(out: &Path, note: &BuildNote) -> Result<(), EnvError> {
    std::fs::create_dir_all(out).map_err(|error| match error.kind() {
        // `create_dir_all` returns this if a file is in the folder's place.
        ErrorKind::AlreadyExists => unwritten(out, ErrorKind::NotADirectory.into()),
        _ => unwritten(out, error),
    })?;
    if BuildNote::read(out)?.is_none() {
        let mut entries = std::fs::read_dir(out).map_err(|e| unwritten(out, e))?;
        if let Some(entry) = entries.next() {
            let found = entry.map_err(|e| unwritten(out, e))?.file_name();
            return Err(EnvError::Foreign {
                path: out.to_owned(),
                found: found.to_string_lossy().into_owned(),
            });
        }
    }
    // The note is written first, so that a later build may replace an interrupted one.
    let text = serde_json::to_vec(note).map_err(|e| unwritten(out, e.into()))?;
    write(out, NOTE, &text)?;
    for old in [QUESTIONS_FOLDER, COMPANIES].map(|name| out.join(name)) {
        match std::fs::remove_dir_all(&old) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(unwritten(&old, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Writes the file `name`. Creates its folder if it does not exist.
pub(super) fn write(out: &Path, name: &str, bytes: &[u8]) -> Result<(), EnvError> {
    let path = out.join(name);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|e| unwritten(folder, e))?;
    }
    std::fs::write(&path, bytes).map_err(|e| unwritten(&path, e))
}

/// Writes the questions, which complete the environment. The file is put in place by a rename, so
/// that nobody reads part of it.
pub(super) fn finish(out: &Path, questions: &[u8]) -> Result<(), EnvError> {
    // In the folder of the final file, because a rename works within one file system only.
    const UNFINISHED: &str = "benchmark_questions/.finqa.csv";
    write(out, UNFINISHED, questions)?;
    let place = out.join(QUESTIONS);
    std::fs::rename(out.join(UNFINISHED), &place).map_err(|e| unwritten(&place, e))
}

fn unwritten(path: &Path, source: std::io::Error) -> EnvError {
    let path = path.to_owned();
    EnvError::Write { path, source }
}
