//! Writing files whole or not at all.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

use crate::run::JournalError;
use finqa_core::files;

/// An output that cannot be written.
#[derive(Debug, Error)]
pub enum OutputError {
    #[error(
        "cannot write {path}: {source}; choose another folder with --output, or free disk space"
    )]
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

impl OutputError {
    /// The error of writing `path`.
    pub(crate) fn at(path: &Path) -> impl Fn(std::io::Error) -> Self {
        move |source| Self::Write {
            path: path.to_owned(),
            source,
        }
    }
}

/// A file that is being written next to its place: a reader sees the old file or
/// the new one, and a full disk leaves the old one as it was. A FIFO or a device
/// cannot be replaced and is written to; a link is followed.
pub(crate) struct StagedFile {
    path: PathBuf,
    file: std::io::BufWriter<WriteTarget>,
}

enum WriteTarget {
    /// The new file, and the place that it gets.
    Staged(tempfile::NamedTempFile, PathBuf),
    Existing(std::fs::File),
}

impl WriteTarget {
    fn open(path: &Path, owner: &str) -> std::io::Result<Self> {
        if is_written_in_place(path) {
            let file = std::fs::OpenOptions::new().write(true).open(path)?;
            return Ok(Self::Existing(file));
        }
        let place = files::resolve_links(path)?;
        if place.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        let folder = place
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        // Its own file function adds the temporary name to the error.
        let file = tempfile::Builder::new()
            .prefix(&unfinished_prefix(owner))
            .make_in(folder, |path| std::fs::File::create_new(path))?;
        Ok(Self::Staged(file, place))
    }
}

impl Write for WriteTarget {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Staged(file, _) => file.write(bytes),
            Self::Existing(file) => match file.write(bytes) {
                // The reader needs no more, as one of standard output may.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(bytes.len()),
                written => written,
            },
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Staged(file, _) => file.flush(),
            Self::Existing(file) => file.flush(),
        }
    }
}

impl StagedFile {
    /// Creates a file that is invisible until [`StagedFile::persist`].
    pub(crate) fn create(path: &Path) -> Result<Self, OutputError> {
        let name = path.file_name().unwrap_or_default();
        Self::create_for(path, &name.to_string_lossy())
    }

    /// Like [`Self::create`], for a path that several runs write to.
    fn create_for(path: &Path, owner: &str) -> Result<Self, OutputError> {
        let file = WriteTarget::open(path, owner).map_err(OutputError::at(path))?;
        Ok(Self {
            path: path.to_owned(),
            file: std::io::BufWriter::new(file),
        })
    }

    /// Puts the file in its place.
    pub(crate) fn persist(self) -> Result<(), OutputError> {
        let Self { path, file } = self;
        let error = OutputError::at(&path);
        let file = file
            .into_inner()
            .map_err(|failed| error(failed.into_error()))?;
        let WriteTarget::Staged(file, place) = file else {
            return Ok(());
        };
        files::let_others_read(file.as_file()).map_err(&error)?;
        file.as_file().sync_all().map_err(&error)?;
        file.persist(place).map_err(|failed| error(failed.error))?;
        Ok(())
    }

    /// Writes a part of it; an error names the file.
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

/// True if a path leads to a FIFO, a device or a descriptor, which cannot be replaced.
pub(crate) fn is_written_in_place(path: &Path) -> bool {
    let is_other = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    is_other || files::is_descriptor(path)
}

/// Checks early that a file can be written. A FIFO or a device is not opened.
pub(crate) fn check_writable(path: &Path) -> Result<(), OutputError> {
    if is_written_in_place(path) {
        return Ok(());
    }
    StagedFile::create(path).map(drop)
}

/// Writes a file in one go, whole or not at all.
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

/// Like [`write_json`], indented for people.
pub(crate) fn write_json_pretty(path: &Path, value: &impl Serialize) -> Result<(), OutputError> {
    write_atomic(path, |file| {
        serde_json::to_writer_pretty(&mut *file, value)?;
        file.write_all(b"\n")
    })
}

/// Copies the result of a run to a second place, whole or not at all.
pub(crate) fn copy(from: &Path, to: &Path, run: &str) -> Result<(), OutputError> {
    let mut opened = std::fs::File::open(from).map_err(OutputError::at(from))?;
    let mut file = StagedFile::create_for(to, run)?;
    file.put(|file| std::io::copy(&mut opened, file).map(drop))?;
    file.persist()
}

/// The prefix of temporary files that `owner`, a file or a run, writes.
fn unfinished_prefix(owner: &str) -> String {
    format!(".writing-{owner}-")
}

/// Removes what killed processes have left of files that these owners were writing to a
/// folder. The caller holds the lock under which they are written.
pub(crate) fn remove_unfinished(folder: &Path, owners: &[&str]) {
    let prefixes: Vec<_> = owners
        .iter()
        .map(|owner| unfinished_prefix(owner))
        .collect();
    let is_left = |name: &str| {
        let mut ends = prefixes
            .iter()
            .filter_map(|prefix| name.strip_prefix(prefix.as_str()));
        // Of run `a`, and not of run `a-b`.
        ends.any(|end| !end.contains('-'))
    };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_left) {
            // A leftover file does no harm.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Joins files of lines, whole or not at all; the last line of each is ended.
pub(crate) fn join_lines(from: &[PathBuf], to: &Path) -> Result<(), OutputError> {
    write_atomic(to, |file| {
        for path in from {
            for line in BufReader::new(files::open(path)?).split(b'\n') {
                file.write_all(&line?)?;
                file.write_all(b"\n")?;
            }
        }
        Ok(())
    })
}
