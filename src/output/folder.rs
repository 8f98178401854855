//! Where a run's files lie, and how they are written: whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::run::JournalError;

/// An output that cannot be written or found.
#[derive(Debug, Error)]
pub enum OutputError {
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
    #[error("{run}: no such run in {folder}; `convfinqa runs` lists them")]
    NoSuchRun {
        /// What was given.
        run: String,
        /// The folder of the runs.
        folder: PathBuf,
    },
    /// There is neither a file nor a run of that name.
    #[error("{named}: no such file, and no such run in {folder}; `convfinqa runs` lists the runs")]
    NoSuchAnswers {
        /// What was given.
        named: PathBuf,
        /// The folder of the runs.
        folder: PathBuf,
    },
    /// Several runs are meant by one name.
    #[error("{run} is the start of {count} runs in {folder}: {some}; give more of the id")]
    Ambiguous {
        /// What was given.
        run: String,
        /// The folder of the runs.
        folder: PathBuf,
        /// How many runs it may be.
        count: usize,
        /// Their ids, or some of them.
        some: String,
    },
    /// A journal that the files are made from cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// One run's folder, `OUTPUT/runs/<run-id>/`, beside the last run's `OUTPUT/output.csv`.
#[derive(Clone, Debug)]
pub struct RunFolder {
    pub(super) output: PathBuf,
    pub(super) folder: PathBuf,
}

impl RunFolder {
    /// Makes a new run's folder and sees that it can be written to, before
    /// anything is paid for.
    ///
    /// # Errors
    /// [`OutputError::Write`] naming the folder.
    pub fn create(output: &Path, run: &str) -> Result<Self, OutputError> {
        let folder = output.join("runs").join(run);
        let error = |source| OutputError::Write {
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

/// A file that is being written beside its place: a reader sees the old file or
/// the new one, and a full disk leaves the old one as it was.
pub(crate) struct Staged {
    path: PathBuf,
    file: std::io::BufWriter<tempfile::NamedTempFile>,
}

impl Staged {
    /// A file that nobody sees before [`Staged::persist`].
    pub(crate) fn create(path: &Path) -> Result<Self, OutputError> {
        let folder = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let file = tempfile::Builder::new()
            .prefix(".writing-")
            .tempfile_in(folder)
            .map_err(|source| OutputError::Write {
                path: path.to_owned(),
                source,
            })?;
        Ok(Self {
            path: path.to_owned(),
            file: std::io::BufWriter::new(file),
        })
    }

    /// Puts the file in its place.
    pub(crate) fn persist(self) -> Result<(), OutputError> {
        let Self { path, file } = self;
        let error = |source| OutputError::Write {
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
    pub(crate) fn error(&self, source: std::io::Error) -> OutputError {
        OutputError::Write {
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
/// [`OutputError`] naming the file.
pub(crate) fn write_atomic(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), OutputError>,
) -> Result<(), OutputError> {
    let mut file = Staged::create(path)?;
    write(&mut file)?;
    file.persist()
}

/// Copies a result to a second place, whole or not at all.
///
/// # Errors
/// [`OutputError::Write`] naming the file that cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> Result<(), OutputError> {
    let error = |path: &Path, source| OutputError::Write {
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
