//! Records which file of records a run used, so that it can be read again later if it is unchanged.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use finqa_score::dataset::{self, Dataset, Source};

/// A file of records that a run used: its data file, or a file with golds that were saved later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// The time at which the file was recorded, RFC 3339, UTC.
    pub at: String,
    /// The source of the records, in text for people.
    pub data: String,
    /// The full path of the file; absent for the sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_file: Option<PathBuf>,
    /// blake3 hash of the file.
    pub hash: String,
    /// The split that was read; absent if the whole file was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
}

impl StoredFile {
    /// Records the file of this dataset. `split` is the split that was read. A file whose full path
    /// cannot be found is recorded without it, and cannot be read again.
    pub fn of(dataset: &Dataset, split: Option<&str>) -> Self {
        let path = std::fs::canonicalize(&dataset.source).ok();
        Self {
            at: jiff::Timestamp::now().to_string(),
            data: dataset.source.clone(),
            data_file: path.filter(|_| !dataset.invented),
            hash: dataset.hash.clone(),
            split: split.map(str::to_owned),
        }
    }

    /// Reads the records again. Their notes are dropped, because they were shown when the file was
    /// first read.
    ///
    /// # Errors
    /// The reason why the records cannot be used, in one line. `what` and `since` are parts of its
    /// text, such as "data file" and "the questions were asked".
    pub(super) fn records(
        &self,
        is_sample: bool,
        what: &str,
        since: &str,
    ) -> Result<Dataset, String> {
        let source = match &self.data_file {
            Some(file) if file.is_file() => Source::Path(file.clone()),
            None if is_sample => Source::Sample,
            _ => return Err(format!("{}: the run's {what} no longer exists", self.data)),
        };
        let dataset = dataset::load_split(&source, self.split.as_deref());
        let dataset = dataset.map_err(|error| error.to_string())?;
        if dataset.hash == self.hash {
            Ok(Dataset {
                notes: Vec::new(),
                ..dataset
            })
        } else {
            Err(format!(
                "{} has changed since {since} (its hash differs)",
                self.data
            ))
        }
    }
}
