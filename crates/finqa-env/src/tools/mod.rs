//! The four tools of an agent. They take texts and return texts, and write nothing.
//!
//! Names, texts and schemas are those of OpenEnv's `finqa_env`. An error that a tool reports in its
//! text (`Error: ...`) is an ordinary result, while a [`ToolFailure`] is a call without a result.
//! Names that an agent sends are looked up in the catalog and never joined to a path.
//!
//! A query passes through three files: `tokens` checks the rules of `finqa_env`, `database` runs
//! the query on `SQLite`, and `records` writes its rows. `limits` defines what a query may use, and
//! `functions` replaces functions of `SQLite` that could exceed these limits within one call.

mod database;
mod failure;
mod functions;
mod limits;
mod pool;
mod records;
mod spec;
mod tokens;

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};

use super::data::{Catalog, CompanyTable, TypedColumn, table_name};
use super::python;
use database::{Database, QueryError};
use limits::QueryBudget;
use pool::DatabasePool;
use tokens::SqlToken;

pub use failure::{FailureKind, ToolFailure};
pub use limits::{ToolLimits, limit_process_memory};
pub use spec::{EnvTool, SUBMIT_ANSWER, specs};

/// The tools over one catalog, shared by all sessions. A clone is cheap.
#[derive(Clone, Debug)]
pub struct Tools {
    catalog: Arc<Catalog>,
    limits: ToolLimits,
    pool: Arc<DatabasePool>,
    /// Locked by a query with the full budget. There is only one at a time, so that the brief
    /// queries next to it always find memory.
    long: Arc<Mutex<()>>,
}

impl Tools {
    pub fn new(catalog: Arc<Catalog>, limits: ToolLimits) -> Self {
        let pool = Arc::new(DatabasePool::new(limits.idle_databases));
        Self {
            catalog,
            limits,
            pool,
            long: Arc::default(),
        }
    }

    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Checks a call without running it.
    ///
    /// # Errors
    /// An unknown tool, or missing, unexpected or wrongly typed arguments.
    pub(crate) fn check(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<(), ToolFailure> {
        read_arguments(tool, arguments).map(drop)
    }

    /// Checks the arguments and calls the tool. A query may block the thread for
    /// [`ToolLimits::query_time`], and longer while other queries run, so call this on a thread
    /// that may block.
    ///
    /// # Errors
    /// An unknown tool, or missing, unexpected or wrongly typed arguments.
    pub fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<String, ToolFailure> {
        match self.call_briefly(tool, arguments)? {
            Some(text) => Ok(text),
            None => self.call_fully(tool, arguments),
        }
    }

    /// Like [`Self::call`], but runs a query with the brief budget, which is enough for ordinary
    /// queries. `None` if the query needs [`Self::call_fully`].
    pub(crate) fn call_briefly(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Option<String>, ToolFailure> {
        Ok(match (tool, read_arguments(tool, arguments)?.as_slice()) {
            ("get_descriptions", [company]) => Some(self.get_descriptions(company)),
            ("get_table_info", [company, table]) => Some(self.get_table_info(company, table)),
            ("sql_query", [company, table, query]) => {
                let brief = self.limits.brief();
                self.query_within(company, table, query, brief).ok()
            }
            // `submit_answer` only repeats the answer, because the episode grades it.
            (SUBMIT_ANSWER, [answer]) => Some(format!("Answer submitted: {answer}")),
            _ => return Err(ToolFailure::unknown(tool)),
        })
    }

    /// Like [`Self::call`], but runs a query directly with the full budget, after waiting for any
    /// other query with the full budget.
    pub(crate) fn call_fully(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<String, ToolFailure> {
        match (tool, read_arguments(tool, arguments)?.as_slice()) {
            ("sql_query", [company, table, query]) => Ok(self.long_query(company, table, query)),
            _ => self.call(tool, arguments),
        }
    }

    /// The names of a company's tables, as a sorted JSON list.
    pub fn get_descriptions(&self, company: &str) -> String {
        let Some(found) = self.catalog.companies().get(company) else {
            return self.unknown_company(company);
        };
        let names: Vec<String> = found.keys().map(|name| python::json_string(name)).collect();
        format!("[{}]", names.join(", "))
    }

    fn unknown_company(&self, company: &str) -> String {
        let companies = self.catalog.companies();
        let available = python::repr_list(companies.keys().map(String::as_str));
        format!("Error: '{company}' not found. Available companies: {available}")
    }

    /// A table's metadata with the types of its columns and the values of its text columns, as JSON
    /// text.
    pub fn get_table_info(&self, company: &str, table: &str) -> String {
        if !self.catalog.companies().contains_key(company) {
            return self.unknown_company(company);
        }
        match self.catalog.table_info(company, &table_name(table)) {
            Some(info) => info.to_owned(),
            None => format!("Error: Table '{table}' not found for company '{company}'"),
        }
    }

    /// The rows of a query over one table, as a JSON list of records.
    pub fn sql_query(&self, company: &str, table: &str, query: &str) -> String {
        self.query_within(company, table, query, self.limits.brief())
            .unwrap_or_else(|BudgetSpent| self.long_query(company, table, query))
    }

    fn long_query(&self, company: &str, table: &str, query: &str) -> String {
        let _alone = self.long.lock();
        let budget = self.limits.full();
        // With the full budget, `query_within` always returns a text.
        self.query_within(company, table, query, budget)
            .unwrap_or_default()
    }

    /// Runs a query within a budget. Returns its rows, or an error text if a larger budget would
    /// not help.
    fn query_within(
        &self,
        company: &str,
        table: &str,
        query: &str,
        budget: QueryBudget,
    ) -> Result<String, BudgetSpent> {
        let tokens = tokens::tokens(query);
        let (table, columns, statement) = match self.statement(company, table, query, &tokens) {
            Ok(found) => found,
            Err(refusal) => return Ok(refusal),
        };
        if tokens::most_terms(&tokens) > budget.terms {
            return Err(BudgetSpent);
        }
        match self.run(table, columns, statement, budget) {
            Ok(text) => Ok(text),
            Err(QueryError::Statement(text)) => Ok(failed(query, &text)),
            Err(QueryError::Result(text)) => Ok(format!("Error executing query: {text}")),
            Err(error) if budget.is_full => Ok(self.over_limit(query, &error)),
            Err(_) => Err(BudgetSpent),
        }
    }

    /// The table and the single statement of a query. The error is the text that refuses the query.
    /// The first three checks are in the order of OpenEnv's `finqa_env`, so that a query with
    /// several faults gets the same error.
    fn statement<'a>(
        &'a self,
        company: &str,
        table: &str,
        query: &'a str,
        tokens: &[SqlToken<'_>],
    ) -> Result<(&'a CompanyTable, &'a [TypedColumn], &'a str), String> {
        if tokens::selects_star(tokens) {
            return Err("Error: SELECT * is not allowed (too inefficient)".to_owned());
        }
        if !tokens::has_filter(tokens) {
            return Err("Error: Query must include filters (WHERE, HAVING, etc.)".to_owned());
        }
        let name = table_name(table);
        let Some(found) = self.catalog.table(company, &name) else {
            // OpenEnv's `finqa_env` prints an absolute path here, which reveals folders of the
            // host.
            return Err(format!(
                "Error: Table file not found at {company}/{name}.json"
            ));
        };
        let columns = found.columns.as_deref();
        let columns = columns.map_err(|reason| format!("Error executing query: {reason}"))?;
        let limit = self.limits.statement_bytes;
        if query.len() > limit {
            return Err(format!(
                "Error executing query: the query is longer than {limit} bytes"
            ));
        }
        if query.contains('\0') {
            return Err(failed(query, "the query contains a null character"));
        }
        tokens::single_statement(query, tokens)
            .and_then(|end| query.get(..end))
            .map(|statement| (found, columns, statement))
            .ok_or_else(|| failed(query, "You can only execute one statement at a time."))
    }

    /// The text for a query that exceeds the full budget.
    fn over_limit(&self, query: &str, error: &QueryError) -> String {
        match error {
            QueryError::Late { steps: true } => {
                let limit = self.limits.query_steps;
                let text = format!("interrupted: the limit is {limit} steps of SQLite");
                failed(query, &text)
            }
            QueryError::Late { steps: false } => {
                let limit = self.limits.query_time.as_millis();
                failed(query, &format!("interrupted: the limit is {limit} ms"))
            }
            QueryError::Complex => failed(query, "it is too complex: make it shorter"),
            QueryError::Long => {
                let limit = self.limits.result_bytes;
                format!(
                    "Error executing query: the result is longer than {limit} bytes: select less"
                )
            }
            // Only `Memory` is left, because `query_within` answers the other errors itself.
            _ => failed(query, "it needs more memory than a query may have"),
        }
    }

    /// Runs a statement on an idle database of the table, or on a new one. A database that exceeded
    /// its budget or ran out of memory is closed, which frees its memory.
    fn run(
        &self,
        table: &CompanyTable,
        columns: &[TypedColumn],
        statement: &str,
        budget: QueryBudget,
    ) -> Result<String, QueryError> {
        let database = match self.pool.take(table.number) {
            Some(database) => database,
            None => Database::open(table, columns, &self.limits)?,
        };
        let result = database.query(statement, &self.limits, budget);
        let is_spent = database.is_spent() || matches!(result, Err(QueryError::Memory));
        if !is_spent {
            self.pool.put(table.number, database);
        }
        result
    }
}

/// The arguments of a tool in the order of its parameters.
fn read_arguments<'a>(
    tool: &str,
    given: &'a Map<String, Value>,
) -> Result<Vec<&'a str>, ToolFailure> {
    let spec = specs().iter().find(|spec| spec.name == tool);
    let spec = spec.ok_or_else(|| ToolFailure::unknown(tool))?;
    spec.read_arguments(given)
}

/// A query that needs more than the brief budget.
struct BudgetSpent;

fn failed(query: &str, text: &str) -> String {
    format!("Error executing query: Execution failed on sql '{query}': {text}")
}
