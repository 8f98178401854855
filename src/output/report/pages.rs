//! The report pages that questions are asked about. The journal does not hold
//! them: they are read again from the run's data while these are still the same.

use std::collections::HashMap;
use std::sync::Arc;

use crate::dataset::{self, Dataset, Document};

/// The pages by record id, or the reason why they are not available.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    documents: HashMap<String, Arc<Document>>,
    missing: Option<String>,
}

impl Pages {
    /// The pages of records in memory.
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

    /// The reason why there are none.
    pub(super) fn why_missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }
}
