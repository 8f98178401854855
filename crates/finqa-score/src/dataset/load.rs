//! Loads a [`Dataset`] from a file, or the built-in sample.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use finqa_core::files;

use super::assemble::Assembler;
use super::{Dataset, DatasetError, read};

/// The folder in which the published files are put and looked for, unless another one is named.
pub const DATA_FOLDER: &str = "data";
/// The file that is read if no other one is named.
const TRAIN: &str = "train.json";

/// The sample. Its companies, pages and figures are invented.
const SAMPLE: &str = include_str!("../../../../data/sample.json");

/// The sample's name in messages that otherwise show a path.
const SAMPLE_NAME: &str = "built-in sample";

/// The source of the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file: a JSON array of records, one JSON record per line, or the splits of the cleaned
    /// file.
    Path(PathBuf),
    /// The invented sample inside the program.
    Sample,
}

impl Source {
    /// The name that selects the built-in sample instead of a file.
    pub const SAMPLE: &'static str = "sample";

    /// The file that `convfinqa data download` writes by default; `None` if it does not exist.
    pub fn downloaded() -> Option<Self> {
        let file = Path::new(DATA_FOLDER).join(TRAIN);
        file.is_file().then_some(Self::Path(file))
    }

    /// The file at a path, or the built-in sample by its name.
    pub fn from_name(name: &str) -> Self {
        match name {
            Self::SAMPLE => Self::Sample,
            path => Self::Path(path.into()),
        }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Sample => f.write_str(SAMPLE_NAME),
        }
    }
}

/// Loads all records of `source`.
///
/// # Errors
/// Says in one line what is missing or wrong, and names the file, the record and the field.
pub fn load(source: &Source) -> Result<Dataset, DatasetError> {
    load_split(source, None)
}

/// Loads the records of one split of `source`, such as `dev`, or all of them.
///
/// # Errors
/// The errors of [`load`], and [`DatasetError::NoSplit`] if the source does not have the split.
pub fn load_split(source: &Source, split: Option<&str>) -> Result<Dataset, DatasetError> {
    match source {
        Source::Sample => Ok(Dataset {
            invented: true,
            ..from_bytes(SAMPLE_NAME, SAMPLE.as_bytes(), split)?
        }),
        Source::Path(path) if path.to_string_lossy().trim().is_empty() => {
            Err(DatasetError::BlankPath)
        }
        Source::Path(path) => from_bytes(&path.display().to_string(), &read(path)?, split),
    }
}

/// The errors of all records of `source`, or of one split of it, in their order: the first error of
/// each record. [`load_split`] returns only the first of them.
///
/// # Errors
/// The file cannot be read.
pub fn record_errors(
    source: &Source,
    split: Option<&str>,
) -> Result<Vec<DatasetError>, DatasetError> {
    let Source::Path(path) = source else {
        return Ok(Vec::new());
    };
    let (origin, bytes) = (path.display().to_string(), read(path)?);
    let mut assembler = Assembler::new(&origin);
    let mut errors = Vec::new();
    let ended = read::records(&origin, &bytes, split, &mut |number, record| {
        let added = record.and_then(|record| assembler.add(number, record));
        errors.extend(added.err());
        Ok(())
    });
    // The rest of the file is not JSON.
    errors.extend(ended.err());
    Ok(errors)
}

/// The built-in sample.
///
/// # Errors
/// None in practice, because a test loads the sample.
pub fn sample() -> Result<Dataset, DatasetError> {
    load(&Source::Sample)
}

/// Loads the file or sample with this name, or one split of it; `None` without a name.
pub fn load_named(
    name: Option<&str>,
    split: Option<&str>,
) -> Result<Option<Dataset>, DatasetError> {
    let source = name.map(Source::from_name);
    source.map(|source| load_split(&source, split)).transpose()
}

/// Reads records from a text. `origin` names it in errors.
pub fn from_str(origin: &str, json: &str) -> Result<Dataset, DatasetError> {
    from_bytes(origin, json.as_bytes(), None)
}

/// Reads the records of a file, or of one split of it. `origin` names the file in errors.
fn from_bytes(origin: &str, bytes: &[u8], split: Option<&str>) -> Result<Dataset, DatasetError> {
    let mut assembler = Assembler::new(origin);
    let unread = read::records(origin, bytes, split, &mut |number, record| {
        assembler.add(number, record?)
    })?;
    let mut dataset = assembler.finish()?;
    dataset.hash = blake3::hash(bytes).to_hex().to_string();
    dataset.notes.extend(unread.line());
    Ok(dataset)
}

/// The bytes of a file. The error says if it is missing or a folder.
fn read(path: &Path) -> Result<Vec<u8>, DatasetError> {
    files::read(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => DatasetError::Missing {
            path: path.to_owned(),
        },
        ErrorKind::IsADirectory => DatasetError::NotJson {
            origin: path.display().to_string(),
            reason: "it is a folder; name a .json or .jsonl file in it".to_owned(),
        },
        _ => DatasetError::Io {
            path: path.to_owned(),
            source,
        },
    })
}
