//! The note in which `env build` records the source of a data directory.

use std::path::Path;

use finqa_core::files;
use serde::{Deserialize, Serialize};

use super::EnvError;

/// The note's file name. OpenEnv's reader ignores it.
pub const NOTE: &str = "convfinqa-env.json";
const FORMAT: &str = "convfinqa environment";
const VERSION: u32 = 1;

/// The source of a data directory that `env build` wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildNote {
    format: String,
    version: u32,
    /// The file of records, or `built-in sample`.
    pub source: String,
    /// BLAKE3 hash of the records' bytes.
    pub hash: String,
    /// True if the pages and questions are invented.
    pub invented: bool,
}

impl BuildNote {
    pub fn new(source: String, hash: String, invented: bool) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            source,
            hash,
            invented,
        }
    }

    /// The note of a data directory; `None` if `env build` did not write it.
    ///
    /// # Errors
    /// If the note exists but cannot be read, or another version wrote it.
    pub fn read(folder: &Path) -> Result<Option<Self>, EnvError> {
        let path = folder.join(NOTE);
        let text = match files::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(EnvError::reading(&path)(error)),
        };
        let reason = match serde_json::from_slice::<Self>(&text) {
            Ok(note) if note.version == VERSION => return Ok(Some(note)),
            Ok(note) => format!("its format is version {}, not {VERSION}", note.version),
            Err(error) => error.to_string(),
        };
        let reason = format!("not written by `env build`: {reason}");
        Err(EnvError::Data { path, reason })
    }
}
