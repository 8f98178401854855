//! The four tools an agent has: text in, text out, nothing written anywhere.
//!
//! Names, texts and schemas are those of `OpenEnv`'s `finqa_env`. A failure that
//! a tool itself words (`Error: ...`) is an ordinary result; [`ToolFailure`] is
//! for calls that never reach a tool. No name given by an agent is ever joined
//! to a path: names are looked up in the catalog.

mod database;
mod failure;
mod functions;
mod limits;
mod pool;
mod records;
mod spec;
mod tokens;

use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Value};

use super::data::{Catalog, Column, Table};
use super::python;
use database::{Database, QueryError};
use pool::Pool;

pub use failure::{FailureKind, ToolFailure};
pub use limits::ToolLimits;
pub use spec::{Parameter, SUBMIT_ANSWER, ToolSpec, specs};

/// The tools over one catalog. Cheap to clone; shared by all sessions.
#[derive(Clone, Debug)]
pub struct Tools {
    catalog: Arc<Catalog>,
    limits: ToolLimits,
    pool: Arc<Pool>,
    /// Shared by queries that run side by side, held alone by one that did not
    /// find the memory it needs beside the others.
    crowd: Arc<RwLock<()>>,
}

impl Tools {
    /// Tools over a catalog.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>, limits: ToolLimits) -> Self {
        let pool = Arc::new(Pool::new(limits.idle_databases));
        Self {
            catalog,
            limits,
            pool,
            crowd: Arc::default(),
        }
    }

    /// The catalog they read.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Whether a call reaches its tool: the same errors as [`Self::call`]'s, at once.
    ///
    /// # Errors
    /// An unknown tool, or missing, unexpected or wrongly typed arguments.
    pub fn check(&self, tool: &str, arguments: &Map<String, Value>) -> Result<(), ToolFailure> {
        let spec = specs().iter().find(|spec| spec.name == tool);
        let spec = spec.ok_or_else(|| ToolFailure::unknown(tool))?;
        spec.read_arguments(arguments).map(drop)
    }

    /// Calls a tool by name after checking its arguments. A query may hold the
    /// thread for [`ToolLimits::query_time`]: call from a blocking thread.
    ///
    /// # Errors
    /// An unknown tool, or missing, unexpected or wrongly typed arguments.
    pub fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<String, ToolFailure> {
        let spec = specs().iter().find(|s| s.name == tool);
        let spec = spec.ok_or_else(|| ToolFailure::unknown(tool))?;
        let given = spec.read_arguments(arguments)?;
        Ok(match (tool, given.as_slice()) {
            ("get_descriptions", [company]) => self.get_descriptions(company),
            ("get_table_info", [company, table]) => self.get_table_info(company, table),
            ("sql_query", [company, table, query]) => self.sql_query(company, table, query),
            (_, [answer]) => self.submit_answer(answer),
            _ => return Err(ToolFailure::unknown(tool)),
        })
    }

    /// The names of a company's tables, sorted, as a JSON list.
    #[must_use]
    pub fn get_descriptions(&self, company: &str) -> String {
        let companies = self.catalog.companies();
        let Some(found) = companies.get(company) else {
            let available = python::repr_list(companies.keys().map(String::as_str));
            return format!("Error: '{company}' not found. Available companies: {available}");
        };
        let mut out = String::from("[");
        for (i, name) in found.tables.keys().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            python::push_json_string(&mut out, name);
        }
        out.push(']');
        out
    }

    /// A table's metadata, column types and values, as JSON text.
    #[must_use]
    pub fn get_table_info(&self, company: &str, table: &str) -> String {
        match self.catalog.table_info(company, &cleaned(table)) {
            Some(info) => info.to_owned(),
            None => format!("Error: Table '{table}' not found for company '{company}'"),
        }
    }

    /// The rows of a query over one table, as a JSON list of records.
    #[must_use]
    pub fn sql_query(&self, company: &str, table: &str, query: &str) -> String {
        let tokens = tokens::tokens(query);
        if tokens::selects_star(&tokens) {
            return "Error: SELECT * is not allowed (too inefficient)".to_owned();
        }
        if !tokens::has_filter(&tokens) {
            return "Error: Query must include filters (WHERE, HAVING, etc.)".to_owned();
        }
        let name = cleaned(table);
        let Some(found) = self.catalog.table(company, &name) else {
            // The reference prints an absolute path here.
            return format!("Error: Table file not found at {company}/{name}.json");
        };
        let columns = match &found.columns {
            Ok(columns) => columns,
            Err(reason) => return format!("Error executing query: {reason}"),
        };
        let limit = self.limits.statement_bytes;
        if query.len() > limit {
            return format!("Error executing query: the query is longer than {limit} bytes");
        }
        let failed = |text: &str| {
            format!("Error executing query: Execution failed on sql '{query}': {text}")
        };
        if query.contains('\0') {
            return failed("the query contains a null character");
        }
        let statement = tokens::single_statement(query, &tokens).and_then(|end| query.get(..end));
        let Some(statement) = statement else {
            return failed("You can only execute one statement at a time.");
        };
        let result = {
            let _crowd = self.crowd.read().unwrap_or_else(PoisonError::into_inner);
            self.run(found, columns, statement)
        };
        // Whoever took the memory, those who took little must not pay for it:
        // the query runs again, alone.
        let result = match result {
            Err(QueryError::Memory) => {
                let _alone = self.crowd.write().unwrap_or_else(PoisonError::into_inner);
                self.run(found, columns, statement)
            }
            other => other,
        };
        match result {
            Ok(text) => text,
            Err(QueryError::Statement(text)) => failed(&text),
            Err(QueryError::Result(text)) => format!("Error executing query: {text}"),
            Err(QueryError::Memory) => failed("it needs more memory than a query may have"),
        }
    }

    /// Runs a statement on an idle database of the table, or on a new one.
    fn run(
        &self,
        table: &Table,
        columns: &[Column],
        statement: &str,
    ) -> Result<String, QueryError> {
        let database = match self.pool.take(table.number) {
            Some(database) => database,
            None => Database::open(table, columns, &self.limits)?,
        };
        let result = database.query(statement, &self.limits);
        let is_spent = database.is_spent() || matches!(result, Err(QueryError::Memory));
        if !is_spent {
            self.pool.put(table.number, database);
        }
        result
    }

    /// Echoes an answer. Grading is the episode's.
    #[must_use]
    pub fn submit_answer(&self, answer: &str) -> String {
        format!("Answer submitted: {answer}")
    }
}

/// A table's name without every `.json` and `.txt` in it.
fn cleaned(table: &str) -> String {
    table.replace(".json", "").replace(".txt", "")
}
