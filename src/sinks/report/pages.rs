//! The report pages that questions are asked about. The journal does not hold
//! them: they are read again from the run's data while these are still the same.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::dataset::{self, Dataset, Document, Source};
use crate::run::RunMeta;

/// The records of an earlier run: the built-in sample, or the data file where it
/// was, if its hash is still what the run noted.
///
/// # Errors
/// Why they are not at hand, in one line.
pub fn records_of(meta: &RunMeta) -> Result<Dataset, String> {
    let loaded = if meta.invented {
        dataset::sample()
    } else {
        dataset::load(&Source::Path(PathBuf::from(&meta.data)))
    };
    match loaded {
        Ok(dataset) if dataset.hash == meta.identity.data => Ok(dataset),
        Ok(_) => Err(format!(
            "{} is not what it was when the questions were asked (its hash differs)",
            meta.data
        )),
        Err(error) => Err(error.to_string()),
    }
}

/// The pages by record id, or the reason why they are not at hand.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    documents: HashMap<String, Arc<Document>>,
    missing: Option<String>,
}

impl Pages {
    /// The pages of records in memory.
    #[must_use]
    pub fn of(dataset: &Dataset) -> Self {
        let page = |record: &dataset::Record| {
            let document = Arc::clone(&record.document);
            (document.id.clone(), document)
        };
        Self {
            documents: dataset.records.iter().map(page).collect(),
            missing: None,
        }
    }

    /// No pages, and why: a report without them is better than none.
    #[must_use]
    pub fn missing(reason: String) -> Self {
        Self {
            documents: HashMap::new(),
            missing: Some(reason),
        }
    }

    /// The page of a record.
    pub(super) fn get(&self, record: &str) -> Option<&Arc<Document>> {
        self.documents.get(record)
    }

    /// Why there are none.
    pub(super) fn why_missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }
}
