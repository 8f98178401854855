//! Where a run's files lie, and how they are written: whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::run::{Journal, JournalError, Status};

/// An output that cannot be written or found.
#[derive(Debug, Error)]
pub enum SinkError {
    /// The file or folder cannot be written.
    #[error("cannot write {path}: {source}; choose another folder with --output, or make room")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Rows cannot be put into CSV.
    #[error("cannot write {path}: {source}")]
    Csv {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: ::csv::Error,
    },
    /// The report's template failed.
    #[error("cannot write {path}: {source}")]
    Page {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: minijinja::Error,
    },
    /// There is nothing to go on with.
    #[error("{folder}: no unfinished run to resume; leave out --resume to start one")]
    NothingToResume {
        /// The folder of the runs.
        folder: PathBuf,
    },
    /// There is no run of that name.
    #[error("{path}: no such run; the runs are the folders of {folder}")]
    NoSuchRun {
        /// Where it would be.
        path: PathBuf,
        /// The folder of the runs.
        folder: PathBuf,
    },
    /// A journal that the files are made from cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// One run's folder, `OUTPUT/runs/<run-id>/`, beside the last run's `OUTPUT/output.csv`.
#[derive(Clone, Debug)]
pub struct RunFolder {
    output: PathBuf,
    folder: PathBuf,
}

impl RunFolder {
    /// Makes a new run's folder and sees that it can be written to, before
    /// anything is paid for.
    ///
    /// # Errors
    /// [`SinkError::Write`] naming the folder.
    pub fn create(output: &Path, run: &str) -> Result<Self, SinkError> {
        let folder = output.join("runs").join(run);
        let error = |source| SinkError::Write {
            path: folder.clone(),
            source,
        };
        std::fs::create_dir_all(&folder).map_err(error)?;
        let mut probe = tempfile::tempfile_in(&folder).map_err(error)?;
        probe
            .write_all(&[0; 4096])
            .and_then(|()| probe.sync_all())
            .map_err(error)?;
        Ok(Self {
            output: output.to_owned(),
            folder,
        })
    }

    /// The folder of an earlier run: its id, the start of its id, or `last`
    /// for the last unfinished one.
    ///
    /// # Errors
    /// [`SinkError::NothingToResume`] or [`SinkError::NoSuchRun`].
    pub fn find(output: &Path, run: &str) -> Result<Self, SinkError> {
        let runs = output.join("runs");
        let folder = if run == "last" {
            latest_unfinished(output)?.ok_or(SinkError::NothingToResume { folder: runs })?
        } else {
            let named = folders(&runs).into_iter().rev().find(|folder| {
                folder
                    .file_name()
                    .is_some_and(|name| name.to_string_lossy().starts_with(run))
            });
            named.ok_or_else(|| SinkError::NoSuchRun {
                path: runs.join(run),
                folder: runs,
            })?
        };
        Ok(Self {
            output: output.to_owned(),
            folder,
        })
    }

    /// The folder of any run: a path to it, its id or the start of its id, or
    /// `last` for the newest.
    ///
    /// # Errors
    /// [`SinkError::NoSuchRun`].
    pub fn locate(output: &Path, run: &str) -> Result<Self, SinkError> {
        let runs = output.join("runs");
        let path = Path::new(run);
        let found = if path.join("journal.sqlite").is_file() {
            Some(path.to_owned())
        } else {
            let named = |folder: &PathBuf| {
                let name = folder.file_name().map(|name| name.to_string_lossy());
                run == "last" || name.is_some_and(|name| name.starts_with(run))
            };
            folders(&runs).into_iter().rev().find(named)
        };
        let folder = found.ok_or_else(|| SinkError::NoSuchRun {
            path: runs.join(run),
            folder: runs,
        })?;
        Ok(Self {
            output: output.to_owned(),
            folder,
        })
    }

    /// The folders of every run that has a journal, oldest first.
    #[must_use]
    pub fn all(output: &Path) -> Vec<Self> {
        let folders = folders(&output.join("runs")).into_iter();
        folders
            .map(|folder| Self {
                output: output.to_owned(),
                folder,
            })
            .filter(|run| run.journal().is_file())
            .collect()
    }

    /// The run's own folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// A file of this run.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Its journal.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.file("journal.sqlite")
    }

    /// Its report.
    #[must_use]
    pub fn report(&self) -> PathBuf {
        self.file("report.html")
    }

    /// The last run's CSV, so that `convfinqa analyze` needs no argument.
    #[must_use]
    pub fn last_csv(&self) -> PathBuf {
        self.output.join("output.csv")
    }
}

/// The last run under `output` whose journal is not complete.
///
/// # Errors
/// [`SinkError::Journal`] if the newest journals cannot be read.
pub fn latest_unfinished(output: &Path) -> Result<Option<PathBuf>, SinkError> {
    for folder in folders(&output.join("runs")).into_iter().rev() {
        let journal = folder.join("journal.sqlite");
        if Journal::open(&journal)?.status()? == Status::Unfinished {
            return Ok(Some(folder));
        }
    }
    Ok(None)
}

/// Run folders, oldest first: their names are UUIDs that sort by time. One
/// without a journal is of a run that was ended before it began.
fn folders(runs: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(runs).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.join("journal.sqlite").is_file())
        .collect();
    folders.sort();
    folders
}

/// A file that is being written beside its place: a reader sees the old file or
/// the new one, and a full disk leaves the old one as it was.
pub(crate) struct Staged {
    path: PathBuf,
    file: std::io::BufWriter<tempfile::NamedTempFile>,
}

impl Staged {
    /// A file that nobody sees before [`Staged::persist`].
    pub(crate) fn create(path: &Path) -> Result<Self, SinkError> {
        let folder = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let file = tempfile::Builder::new()
            .prefix(".writing-")
            .tempfile_in(folder)
            .map_err(|source| SinkError::Write {
                path: path.to_owned(),
                source,
            })?;
        Ok(Self {
            path: path.to_owned(),
            file: std::io::BufWriter::new(file),
        })
    }

    /// Puts the file in its place.
    pub(crate) fn persist(self) -> Result<(), SinkError> {
        let Self { path, file } = self;
        let error = |source| SinkError::Write {
            path: path.clone(),
            source,
        };
        let file = file
            .into_inner()
            .map_err(|failed| error(failed.into_error()))?;
        readable_by_others(file.path()).map_err(error)?;
        file.as_file().sync_all().map_err(error)?;
        file.persist(&path).map_err(|failed| error(failed.error))?;
        Ok(())
    }

    /// An error of writing it.
    pub(crate) fn error(&self, source: std::io::Error) -> SinkError {
        SinkError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

impl Write for Staged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file in one go, whole or not at all.
///
/// # Errors
/// [`SinkError`] naming the file.
pub(crate) fn write_atomic(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), SinkError>,
) -> Result<(), SinkError> {
    let mut file = Staged::create(path)?;
    write(&mut file)?;
    file.persist()
}

/// Copies a result to a second place, whole or not at all.
///
/// # Errors
/// [`SinkError::Write`] naming the file that cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> Result<(), SinkError> {
    let error = |path: &Path, source| SinkError::Write {
        path: path.to_owned(),
        source,
    };
    let mut source = std::fs::File::open(from).map_err(|failed| error(from, failed))?;
    write_atomic(to, |file| {
        std::io::copy(&mut source, file).map_err(|failed| error(to, failed))?;
        Ok(())
    })
}

/// Temporary files are private; results are not.
#[cfg(unix)]
fn readable_by_others(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_others(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
