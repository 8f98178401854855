//! The episodes' file: a line is appended as each episode ends, and a file
//! that is there already is gone on with.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use finqa_core::files;

use super::PlayError;
use super::record::{Episode, FORMAT, Identity, Played};

/// An open file of episodes; no other process writes to it meanwhile.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
}

/// The beginning of every line of ours: what is cut off at the end of a file is
/// dropped only if it begins so.
const BEGINNING: &str = "{\"format\":";

impl Log {
    /// Opens or makes the file, and gives the episodes that stand in it. A last
    /// line that a killed process left unfinished is taken away.
    ///
    /// # Errors
    /// A file that cannot be written, is in use, holds something else, or
    /// episodes of another player.
    pub fn open(path: &Path, player: &Identity) -> Result<(Self, Vec<Played>), PlayError> {
        let io = |source| PlayError::Io {
            path: path.to_owned(),
            source,
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(io)?;
        }
        match files::open(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(PlayError::InUse {
                    path: path.to_owned(),
                });
            }
            // A file system without locks is no reason not to play.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let (episodes, end) = read(path, &file, player)?;
        file.set_len(end).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let log = Self {
            path: path.to_owned(),
            file,
        };
        Ok((log, episodes))
    }

    /// Puts an episode down; when this returns it outlives the process.
    ///
    /// # Errors
    /// [`PlayError::Io`].
    pub fn append(&mut self, episode: &Episode) -> Result<(), PlayError> {
        let mut line = serde_json::to_vec(episode).map_err(|source| self.io(source.into()))?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.flush());
        written.map_err(|source| self.io(source))
    }

    fn io(&self, source: std::io::Error) -> PlayError {
        PlayError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

/// The episodes of a file, and where its last whole line ends.
fn read(path: &Path, file: &File, player: &Identity) -> Result<(Vec<Played>, u64), PlayError> {
    let mut reader = BufReader::new(file);
    let (mut episodes, mut end, mut line) = (Vec::new(), 0, 0);
    let mut text = Vec::new();
    loop {
        text.clear();
        let length = reader
            .read_until(b'\n', &mut text)
            .map_err(|source| PlayError::Io {
                path: path.to_owned(),
                source,
            })?;
        if length == 0 {
            return Ok((episodes, end));
        }
        line += 1;
        if !text.ends_with(b"\n") {
            let known = BEGINNING.as_bytes().iter().zip(&text);
            if known.clone().all(|(a, b)| a == b) {
                return Ok((episodes, end));
            }
        }
        let episode = episode(path, line, &text)?;
        if let Some((what, then, now)) = episode.player.difference(player) {
            return Err(PlayError::Different {
                path: path.to_owned(),
                what,
                then,
                now,
            });
        }
        episodes.push(episode);
        end += length as u64;
    }
}

#[derive(Deserialize)]
struct Version {
    format: u32,
}

fn episode(path: &Path, line: usize, text: &[u8]) -> Result<Played, PlayError> {
    let failed = |error: serde_json::Error| PlayError::Line {
        path: path.to_owned(),
        line,
        reason: error.to_string(),
    };
    let Version { format } = serde_json::from_slice(text).map_err(failed)?;
    if format > FORMAT {
        return Err(PlayError::Newer {
            path: path.to_owned(),
            found: format,
            known: FORMAT,
        });
    }
    serde_json::from_slice(text).map_err(failed)
}
