//! Notes which file of records a run used, to read it again later if it is unchanged.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use finqa_score::dataset::{self, Dataset, Source};

/// A file of records as a run noted it: the file of its data, or that of golds saved later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    /// When it was noted, RFC 3339, UTC.
    pub at: String,
    /// The source of the records, for people.
    pub data: String,
    /// The full path of the file; absent for the sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_file: Option<PathBuf>,
    /// blake3 of the file.
    pub hash: String,
    /// The split that was read, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
}

impl StoredFile {
    /// Notes the file of these records, of which this split was read.
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
    /// Why the records cannot be used, in one line. `what` and `since` are words for it: "data
    /// file", "the questions were asked".
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
        match dataset.hash == self.hash {
            true => Ok(Dataset {
                notes: Vec::new(),
                ..dataset
            }),
            false => Err(format!(
                "{} has changed since {since} (its hash differs)",
                self.data
            )),
        }
    }
}
