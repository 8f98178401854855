//! The records of an earlier run, read again from where they were.

use std::path::{Path, PathBuf};

use crate::dataset::{self, Dataset, Source};

use super::run_meta::{RunKind, RunMeta};

impl RunMeta {
    /// The file of records as a whole path, which is the same from every
    /// folder. `None` if they come from no file.
    pub(crate) fn file_of(dataset: &Dataset) -> Option<PathBuf> {
        if dataset.invented {
            return None;
        }
        std::fs::canonicalize(&dataset.source).ok()
    }

    /// The records of this run: the built-in sample, or the data file if it is
    /// where it was and its hash is still what the run noted.
    ///
    /// # Errors
    /// Why they cannot be read, in one line.
    pub fn records(&self) -> Result<Dataset, String> {
        if self.kind() == RunKind::Episodes {
            return Err("the questions were played in an environment".to_owned());
        }
        if self.invented {
            let sample = dataset::sample().map_err(|error| error.to_string())?;
            return self.unchanged(sample, &self.data);
        }
        let as_given = PathBuf::from(&self.data);
        let places: Vec<&Path> = self
            .data_file
            .iter()
            .chain([&as_given])
            .map(PathBuf::as_path)
            .filter(|path| path.is_file())
            .collect();
        let mut reason = match &self.data_file {
            Some(file) => format!("{}: the run's data file no longer exists", file.display()),
            None => format!(
                "{}: the run's data file does not exist in this folder",
                self.data
            ),
        };
        for path in places {
            let loaded = dataset::load(&Source::Path(path.to_owned()));
            let checked = loaded
                .map_err(|error| error.to_string())
                .and_then(|dataset| self.unchanged(dataset, &path.display().to_string()));
            match checked {
                Ok(dataset) => return Ok(dataset),
                Err(why) => reason = why,
            }
        }
        Err(reason)
    }

    fn unchanged(&self, dataset: Dataset, place: &str) -> Result<Dataset, String> {
        if dataset.hash == self.identity.data {
            return Ok(dataset);
        }
        Err(format!(
            "{place} has changed since the questions were asked (its hash differs)"
        ))
    }
}
