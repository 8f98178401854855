//! The records of an earlier run, read again from where they were.

use crate::dataset::{self, Dataset, Source};

use super::run_meta::{RunKind, RunMeta};

impl RunMeta {
    /// The records of this run: the built-in sample, or the data file if it is
    /// where it was and its hash is still what the run noted.
    ///
    /// # Errors
    /// Why they cannot be read, in one line.
    pub fn records(&self) -> Result<Dataset, String> {
        if self.kind() == RunKind::Episodes {
            return Err("the questions were played in an environment".to_owned());
        }
        let data = &self.data;
        let loaded = match &self.data_file {
            _ if self.invented => dataset::sample(),
            Some(file) if file.is_file() => dataset::load(&Source::Path(file.clone())),
            _ => return Err(format!("{data}: the run's data file no longer exists")),
        };
        let dataset = loaded.map_err(|error| error.to_string())?;
        match dataset.hash == self.identity.data {
            true => Ok(dataset),
            false => Err(format!(
                "{data} has changed since the questions were asked (its hash differs)"
            )),
        }
    }
}
