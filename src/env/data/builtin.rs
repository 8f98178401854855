//! The data served when none are given.

use std::path::Path;

use super::EnvError;
use super::catalog::{Catalog, Files};

impl Catalog {
    /// The data served when no directory is given, made from the built-in sample.
    ///
    /// # Errors
    /// If the built-in sample is damaged, which a test rules out.
    pub fn builtin() -> Result<Self, EnvError> {
        let table = serde_json::json!({"item": {"0": "revenue"}, "2024": {"0": "12"}});
        let entry = serde_json::json!({
            "table": table.to_string(), "description": "income", "company": "acme",
        });
        let files = Files {
            questions: b"id,user_query,company,answer\n1,What was revenue?,acme,\\boxed{12}\n"
                .to_vec(),
            metadata: std::iter::once(("acme/income".to_owned(), entry)).collect(),
            tables: vec![("acme".to_owned(), "income".to_owned(), Ok(table))],
            companies: vec!["acme".to_owned()],
        };
        Self::from_files(
            "built-in sample".to_owned(),
            true,
            Path::new("built-in sample"),
            files,
        )
    }
}
