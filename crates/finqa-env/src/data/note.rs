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

/// The part of a note that every version has.
#[derive(Deserialize)]
struct NoteFormat {
    format: String,
    version: u32,
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
    /// If the note exists but cannot be read, or has another format or version.
    pub fn read(folder: &Path) -> Result<Option<Self>, EnvError> {
        let path = folder.join(NOTE);
        let text = match files::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(EnvError::reading(&path)(error)),
        };
        let reason = match serde_json::from_slice::<NoteFormat>(&text) {
            Ok(NoteFormat { format, .. }) if format != FORMAT => {
                format!("its format is {format:?}")
            }
            Ok(NoteFormat { version, .. }) if version != VERSION => {
                format!("its format is version {version}, not {VERSION}")
            }
            read => match read.and_then(|_| serde_json::from_slice(&text)) {
                Ok(note) => return Ok(Some(note)),
                Err(error) => error.to_string(),
            },
        };
        let reason = format!(
            "not a note of this version: {reason}; build the environment again in a new folder"
        );
        Err(EnvError::Data { path, reason })
    }
}
