//! Writes files whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use finqa_core::error::{Kind, Kinded};
use finqa_core::files;
use finqa_journal::run::JournalError;

/// Why an output could not be written.
#[derive(Debug, Error)]
pub enum OutputError {
    #[error("cannot write {path}: {source}")]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot write {path}: {source}")]
    Page {
        path: PathBuf,
        #[source]
        source: minijinja::Error,
    },
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Kinded for OutputError {
    fn kind(&self) -> Kind {
        match self {
            Self::Journal(error) => error.kind(),
            _ => Kind::Usage,
        }
    }
}

impl OutputError {
    /// Turns an I/O error into the error of writing `path`.
    pub fn at(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Write {
            path: path.to_owned(),
            source,
        }
    }
}

/// A file that is written under a temporary name and then renamed. A reader sees the old file or
/// the new one, and a full disk leaves the old one unchanged.
pub(crate) struct StagedFile {
    /// The path as the caller gave it, for errors.
    path: PathBuf,
    file: std::io::BufWriter<tempfile::NamedTempFile>,
    /// The path to which the file is renamed. Links are resolved, so that they are not replaced.
    place: PathBuf,
}

/// Creates the temporary file for a path. Returns it with the path to which it will be renamed.
fn staged(path: &Path) -> std::io::Result<(tempfile::NamedTempFile, PathBuf)> {
    let place = files::resolve_links(path)?;
    // The rename would replace a device or a pipe.
    if std::fs::metadata(&place).is_ok_and(|found| !found.is_file()) {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let folder = place
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    // `tempfile_in` would add the temporary name to its errors.
    let file = tempfile::Builder::new()
        .prefix(".writing-")
        .make_in(folder.unwrap_or(Path::new(".")), |path| {
            std::fs::File::create_new(path)
        })?;
    Ok((file, place))
}

impl StagedFile {
    /// Creates a file that appears at the path only with [`StagedFile::persist`].
    pub(crate) fn create(path: &Path) -> Result<Self, OutputError> {
        let (file, place) = staged(path).map_err(OutputError::at(path))?;
        Ok(Self {
            path: path.to_owned(),
            file: std::io::BufWriter::new(file),
            place,
        })
    }

    /// Syncs the file to disk and renames it into place.
    pub(crate) fn persist(self) -> Result<(), OutputError> {
        let error = OutputError::at(&self.path);
        let file = self.file.into_inner();
        let file = file.map_err(|failed| error(failed.into_error()))?;
        files::let_others_read(file.as_file()).map_err(&error)?;
        // Before the rename, so that a power failure cannot leave an empty file at the path.
        file.as_file().sync_all().map_err(&error)?;
        let placed = file.persist(self.place);
        placed.map(drop).map_err(|failed| error(failed.error))
    }

    /// Copies the part that is written so far to `path`, whole or not at all.
    pub(crate) fn copy_to(&mut self, path: &Path) -> Result<(), OutputError> {
        self.put(Write::flush)?;
        copy(self.file.get_ref().path(), path)
    }

    /// Writes a part of the file with `write`. Errors name the file.
    pub(crate) fn put(
        &mut self,
        write: impl FnOnce(&mut Self) -> std::io::Result<()>,
    ) -> Result<(), OutputError> {
        write(self).map_err(OutputError::at(&self.path))
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Checks that a file can be written, so that a command fails before its work and not after it.
/// Leaves no file behind.
pub fn check_writable(path: &Path) -> Result<(), OutputError> {
    StagedFile::create(path).map(drop)
}

/// Writes a file with `write`, whole or not at all.
pub(crate) fn write_atomic(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), OutputError> {
    let mut file = StagedFile::create(path)?;
    file.put(|file| write(file))?;
    file.persist()
}

/// Writes a value as one line of JSON, whole or not at all.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), OutputError> {
    write_atomic(path, |file| {
        serde_json::to_writer(&mut *file, value)?;
        file.write_all(b"\n")
    })
}

/// Writes a text, whole or not at all.
pub fn write_text(path: &Path, text: &str) -> Result<(), OutputError> {
    write_atomic(path, |file| file.write_all(text.as_bytes()))
}

/// Writes a value as indented JSON, whole or not at all.
pub fn write_json_pretty(path: &Path, value: &impl Serialize) -> Result<(), OutputError> {
    write_atomic(path, |file| {
        serde_json::to_writer_pretty(&mut *file, value)?;
        file.write_all(b"\n")
    })
}

/// Copies a file, whole or not at all.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), OutputError> {
    let mut opened = std::fs::File::open(from).map_err(OutputError::at(from))?;
    let mut file = StagedFile::create(to)?;
    file.put(|file| std::io::copy(&mut opened, file).map(drop))?;
    file.persist()
}
