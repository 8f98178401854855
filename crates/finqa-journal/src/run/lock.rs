//! The lock of a run's folder. Only one process at a time works on a run.

use std::fs::{File, TryLockError};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use finqa_core::error::{Kind, Kinded};
use thiserror::Error;

/// The file that a process locks while it works on a run or merges shards.
const LOCK: &str = "run.lock";

/// Maximum wait for the lock, set by hand. A process that lists the runs, or that is ending, has it
/// only briefly.
const PATIENCE: Duration = Duration::from_secs(1);
/// Number of further tries during [`PATIENCE`], set by hand.
const TRIES: u32 = 20;

#[derive(Debug, Error)]
pub enum LockError {
    #[error("{folder} is in use by {holder}; wait until it ends, or stop it")]
    Held { folder: PathBuf, holder: String },
    #[error("cannot lock {path}: {source}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl Kinded for LockError {
    fn kind(&self) -> Kind {
        Kind::Usage
    }
}

/// A locked run folder. The operating system releases the lock when the process ends, even if it is
/// killed.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
}

impl RunLock {
    /// Locks a run's folder.
    pub fn take(folder: &Path) -> Result<Self, LockError> {
        Self::take_with(folder, std::thread::sleep)
    }

    /// Like [`RunLock::take`], but calls `wait` before each further try.
    fn take_with(folder: &Path, mut wait: impl FnMut(Duration)) -> Result<Self, LockError> {
        let path = path(folder);
        let error = |source| LockError::Io {
            path: path.clone(),
            source,
        };
        // Don't truncate the file: until this process has the lock, its text names the process that
        // has it.
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(error)?;
        let mut waits = 0;
        let locked = loop {
            match file.try_lock() {
                Err(TryLockError::WouldBlock) if waits < TRIES => {
                    waits += 1;
                    wait(PATIENCE / TRIES);
                }
                tried => break tried,
            }
        };
        match locked {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held {
                    folder: folder.to_owned(),
                    holder: read(&path),
                });
            }
            Err(TryLockError::Error(source)) => return Err(error(source)),
        }
        let host = host_name();
        // Rounding fails only at the end of jiff's range, in the year 9999.
        let now = jiff::Timestamp::now().round(jiff::Unit::Second);
        let holder = format!(
            "process {} on {} since {}",
            std::process::id(),
            host,
            now.unwrap_or_default()
        );
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(holder.as_bytes()))
            .map_err(error)?;
        Ok(Self { _file: file })
    }

    /// The text that names the process working on a run; `None` if no process is, or if the lock
    /// cannot be read.
    pub fn holder(folder: &Path) -> Option<String> {
        let path = path(folder);
        let file = File::open(&path).ok()?;
        // A shared lock, so that two readers at the same time do not take each other for the
        // holder.
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(read(&path)),
            _ => None,
        }
    }
}

/// The name of this machine; on systems other than Unix, the words `this machine`.
pub fn host_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    let name = "this machine".to_owned();
    name
}

fn path(folder: &Path) -> PathBuf {
    folder.join(LOCK)
}

/// The holder's name for messages; "another process" if it has not written it.
fn read(path: &Path) -> String {
    // The file is empty until its holder has written its name.
    let holder = std::fs::read_to_string(path).unwrap_or_default();
    if holder.is_empty() {
        "another process".to_owned()
    } else {
        holder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Listing the runs takes the lock for a moment, and a process that is ending still has it.
    #[test]
    fn a_lock_that_is_held_for_a_moment_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut held = Some(RunLock::take(folder.path()).unwrap());
        // The holder ends while this process waits.
        RunLock::take_with(folder.path(), |_| drop(held.take())).unwrap();
        assert!(held.is_none());
    }

    #[test]
    fn a_held_run_names_its_holder_and_a_dead_ones_lock_blocks_nobody() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(RunLock::holder(folder.path()), None);
        let held = RunLock::take(folder.path()).unwrap();
        let pid = format!("process {} on ", std::process::id());
        assert!(RunLock::holder(folder.path()).unwrap().starts_with(&pid));
        let mut waited = Duration::ZERO;
        let refused = RunLock::take_with(folder.path(), |wait| waited += wait);
        assert_eq!(waited, PATIENCE);
        let error = refused.unwrap_err().to_string();
        assert!(
            error.contains(&pid) && error.contains(" since 2"),
            "{error}"
        );
        drop(held);
        // The file of the last holder is not removed.
        assert!(path(folder.path()).is_file());
        assert_eq!(RunLock::holder(folder.path()), None);
        RunLock::take(folder.path()).unwrap();
    }
}
