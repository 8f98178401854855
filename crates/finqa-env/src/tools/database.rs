//! One table in a read-only in-memory database.

use std::ffi::c_int;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, Statement, StatementStatus, ToSql};

use super::functions;
use super::limits::{CallBudget, QueryBudget, ToolLimits};
use super::records::records;
use crate::data::{CompanyTable, FrameCell, TypedColumn};

/// The name under which each database also offers its table. The examples in OpenEnv's README use
/// it.
const COMMON_NAME: &str = "data";
/// The functions that a query may call. They take time linear in their arguments, or check the
/// clock. `json_patch` is not allowed because it takes quadratic time, `json_pretty` because it
/// produces texts of any length, and others because they load code or access files. The groups are
/// texts and types, numbers, dates, aggregates, windows, and JSON.
const FUNCTIONS: [&str; 6] = [
    "changes char coalesce concat concat_ws format glob hex if ifnull iif instr \
     last_insert_rowid length like likelihood likely lower ltrim nullif octet_length printf \
     quote random randomblob replace rtrim soundex sqlite_source_id sqlite_version substr \
     substring total_changes trim typeof unhex unicode unlikely upper zeroblob",
    "abs acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln \
     log log10 log2 mod pi pow power radians round sign sin sinh sqrt tan tanh trunc",
    "current_date current_time current_timestamp date datetime julianday strftime time \
     timediff unixepoch",
    "avg count group_concat json_group_array json_group_object max min string_agg sum total",
    "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank \
     row_number",
    "json json_array json_array_length json_each json_error_position json_extract json_insert \
     json_object json_quote json_remove json_replace json_set json_tree json_type json_valid \
     -> ->>",
];
/// Built-in virtual tables of `SQLite` that expose its internals.
const FORBIDDEN_TABLES: [&str; 2] = ["dbstat", "fts3tokenize"];
/// The number of virtual machine steps between two checks of the clock, which take well under a
/// millisecond.
const STEPS: c_int = 200;
/// Maximum size in bytes of a compiled statement that is kept for the database's next query. Set by
/// hand: two for each of 128 idle databases take at most 4 MiB.
const KEPT_STATEMENT: i32 = 16 * 1024;

/// The reason why a query has no result.
#[derive(Debug)]
pub(super) enum QueryError {
    /// An error that OpenEnv's `finqa_env` reports with the statement.
    Statement(String),
    /// An error that OpenEnv's `finqa_env` reports without the statement.
    Result(String),
    /// `SQLite` ran out of memory; see [`super::limit_process_memory`].
    Memory,
    /// The query compiles to more instructions than its budget allows.
    Complex,
    /// The time or the steps of the budget are used up.
    Late {
        /// True if the steps are used up, false if the time is.
        steps: bool,
    },
    /// The result exceeds its budget.
    Long,
}

/// A table that is ready to be queried.
#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    clock: CallBudget,
}

impl Database {
    /// Loads the table, then forbids everything except reading.
    pub(super) fn open(
        table: &CompanyTable,
        columns: &[TypedColumn],
        limits: &ToolLimits,
    ) -> Result<Self, QueryError> {
        Self::prepare(table, columns, limits).map_err(|e| match failure(&e) {
            None => QueryError::Memory,
            Some(text) => QueryError::Result(text),
        })
    }

    /// Loads a table into a new database, and sets the limits that do not depend on the query.
    /// After that, the database only answers queries.
    fn prepare(
        table: &CompanyTable,
        columns: &[TypedColumn],
        limits: &ToolLimits,
    ) -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        // Set by hand; `KEPT_STATEMENT` bounds the memory that the two take.
        connection.set_prepared_statement_cache_capacity(2);
        load(&mut connection, table, columns)?;
        // SQLite applies this limit also to the rows of the file, which may be longer.
        let row = longest_row(columns);
        let value_bytes = limits.value_bytes.max(row);
        let clock = CallBudget::new(value_bytes);
        functions::register(&connection, &clock)?;
        // Without this, sorting and grouping write temporary files, which may become as large as
        // the disk.
        connection.execute_batch(
            "PRAGMA temp_store = MEMORY; PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;",
        )?;
        for (limit, value) in [
            (Limit::SQLITE_LIMIT_LENGTH, as_c_int(value_bytes)),
            (
                Limit::SQLITE_LIMIT_SQL_LENGTH,
                as_c_int(limits.statement_bytes),
            ),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            // No threads besides the one that runs the query.
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
            // Set by hand, because compiling a wide or deep statement does not check the clock.
            (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
            (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
        ] {
            connection.set_limit(limit, value)?;
        }
        let watch = clock.clone();
        // `STEPS` is positive, so the conversion cannot fail.
        let steps = u64::try_from(STEPS).unwrap_or(1);
        connection.progress_handler(STEPS, Some(move || watch.tick(steps)))?;
        connection.authorizer(Some(authorize))?;
        Ok(Self { connection, clock })
    }

    /// Executes one statement and returns its rows as JSON text.
    pub(super) fn query(
        &self,
        sql: &str,
        limits: &ToolLimits,
        budget: QueryBudget,
    ) -> Result<String, QueryError> {
        self.clock.arm(budget);
        // Compiling reads no rows, so if it runs out of memory, the statement itself is too large.
        let statement = self
            .connection
            .set_limit(Limit::SQLITE_LIMIT_VDBE_OP, budget.instructions)
            .and_then(|_| self.connection.prepare_cached(sql))
            .map_err(|e| match self.failed(&e) {
                QueryError::Memory => QueryError::Complex,
                other => other,
            });
        let mut statement = statement?;
        let result = self.rows(&mut statement, limits, budget);
        if statement.get_status(StatementStatus::MemUsed) > KEPT_STATEMENT {
            statement.discard();
        }
        result
    }

    /// Runs a statement and writes its rows as JSON, like pandas' `to_json(orient="records")`.
    ///
    /// # Errors
    /// The statement has parameters or makes no rows, two of its columns have the same name, or it
    /// exceeds a limit.
    fn rows(
        &self,
        statement: &mut Statement<'_>,
        limits: &ToolLimits,
        budget: QueryBudget,
    ) -> Result<String, QueryError> {
        let parameters = statement.parameter_count();
        if parameters > 0 {
            return Err(QueryError::Statement(format!(
                "Incorrect number of bindings supplied. The current statement uses {parameters}, \
                 and there are 0 supplied."
            )));
        }
        if statement.column_count() == 0 {
            // The error that Python raises when `finqa_env` reads the rows of a statement without
            // rows.
            return Err(QueryError::Result(
                "'NoneType' object is not iterable".to_owned(),
            ));
        }
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = self.collect(statement, &names, limits, budget)?;
        // pandas refuses such a result only when `finqa_env` writes it as JSON, so an error while
        // the rows are read comes first.
        let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        if sorted
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a == b))
        {
            let text = "DataFrame columns must be unique for orient='records'.";
            return Err(QueryError::Result(text.to_owned()));
        }
        let text = records(&names, &rows);
        // `collect` limited the size of the values, but an escape can turn one byte into six.
        if text.len() > budget.result_bytes {
            return Err(QueryError::Long);
        }
        Ok(text)
    }

    /// The rows of a statement, each with one value for each of `names`.
    ///
    /// # Errors
    /// There are more than `result_rows` rows, the values exceed the `result_bytes` of the budget,
    /// or `SQLite` fails or is interrupted.
    fn collect(
        &self,
        statement: &mut Statement<'_>,
        names: &[String],
        limits: &ToolLimits,
        budget: QueryBudget,
    ) -> Result<Vec<Vec<Value>>, QueryError> {
        let failed = |e: Error| self.failed(&e);
        // Each name adds quotes, a colon and a comma; each row adds braces and a comma. A number
        // is taken for eight characters here; the text is measured again when it is written.
        let per_row: usize = names.iter().map(|n| n.len() + 4).sum::<usize>() + 3;
        let mut rows = Vec::new();
        let mut bytes = 0_usize;
        let mut cursor = statement.query([]).map_err(failed)?;
        while let Some(row) = cursor.next().map_err(failed)? {
            if rows.len() == limits.result_rows {
                // Not `Long`, because the full budget allows no more rows.
                let limit = limits.result_rows;
                let text = format!("the result has more than {limit} rows: select fewer");
                return Err(QueryError::Result(text));
            }
            let mut fields = Vec::with_capacity(names.len());
            bytes += per_row;
            for at in 0..names.len() {
                let field = field(row.get_ref(at).map_err(failed)?)?;
                bytes += match &field {
                    Value::Text(text) => text.len(),
                    _ => 8,
                };
                fields.push(field);
            }
            if bytes > budget.result_bytes {
                return Err(QueryError::Long);
            }
            rows.push(fields);
        }
        Ok(rows)
    }

    /// The error to report for a failure of `SQLite`, which is interrupted if the time or the steps
    /// of the budget are used up.
    fn failed(&self, error: &Error) -> QueryError {
        match failure(error) {
            None => QueryError::Memory,
            Some(text) if text == "interrupted" => QueryError::Late {
                steps: self.clock.has_no_steps_left(),
            },
            Some(text) => QueryError::Statement(text),
        }
    }

    /// True if the last query used up its budget.
    pub(super) fn is_spent(&self) -> bool {
        self.clock.is_over()
    }
}

/// `SQLite`'s message for a failure; `None` if it ran out of memory. If memory runs out during a
/// sort, the error code is that of an I/O error, and only the message tells the cause.
fn failure(error: &Error) -> Option<String> {
    match error.sqlite_error_code() {
        Some(ErrorCode::OutOfMemory) => None,
        _ => Some(message(error)).filter(|text| text != "out of memory"),
    }
}

/// A value of a result. A blob is read as UTF-8 text, as in OpenEnv's `finqa_env`.
fn field(value: ValueRef<'_>) -> Result<Value, QueryError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(i) => Value::Integer(i),
        ValueRef::Real(x) => Value::Real(x),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|e| {
                let at = e.valid_up_to();
                let byte = bytes.get(at).copied().unwrap_or(0);
                QueryError::Result(format!(
                    "'utf-8' codec can't decode byte {byte:#04x} in position {at}: invalid start byte"
                ))
            })?;
            Value::Text(text.to_owned())
        }
    })
}

/// Allows queries, also recursive ones, that read any table except [`FORBIDDEN_TABLES`] and call
/// only the listed [`FUNCTIONS`]. Everything else is denied, such as writes, changes of the schema,
/// PRAGMA, ATTACH and transactions.
fn authorize(context: AuthContext<'_>) -> Authorization {
    let allowed = match context.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { table_name, .. } => !FORBIDDEN_TABLES
            .iter()
            .any(|t| t.eq_ignore_ascii_case(table_name)),
        AuthAction::Function { function_name } => FUNCTIONS
            .iter()
            .flat_map(|group| group.split_ascii_whitespace())
            .any(|name| name.eq_ignore_ascii_case(function_name)),
        _ => false,
    };
    if allowed {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}

/// Creates the table and inserts its rows. A table with another name is also a view with the name
/// [`COMMON_NAME`].
fn load(
    connection: &mut Connection,
    table: &CompanyTable,
    columns: &[TypedColumn],
) -> rusqlite::Result<()> {
    let name = quote(&table.name);
    let definitions: Vec<String> = columns
        .iter()
        .map(|c| format!("{} {}", quote(&c.name), c.kind.sql()))
        .collect();
    connection.execute_batch(&format!("CREATE TABLE {name} ({})", definitions.join(", ")))?;
    let transaction = connection.transaction()?;
    {
        let names: Vec<String> = columns.iter().map(|c| quote(&c.name)).collect();
        let marks = vec!["?"; columns.len()].join(", ");
        let sql = format!("INSERT INTO {name} ({}) VALUES ({marks})", names.join(", "));
        let mut insert = transaction.prepare(&sql)?;
        let rows = columns.first().map_or(0, |c| c.cells.len());
        for row in 0..rows {
            for (i, column) in columns.iter().enumerate() {
                let cell = column.cells.get(row).unwrap_or(&FrameCell::Null);
                insert.raw_bind_parameter(i + 1, bound(cell))?;
            }
            insert.raw_execute()?;
        }
    }
    transaction.commit()?;
    if !table.name.eq_ignore_ascii_case(COMMON_NAME) {
        connection.execute_batch(&format!(
            "CREATE VIEW {COMMON_NAME} AS SELECT * FROM {name}"
        ))?;
    }
    Ok(())
}

fn bound(cell: &FrameCell) -> &dyn ToSql {
    match cell {
        FrameCell::Null => &rusqlite::types::Null,
        FrameCell::Bool(b) => b,
        FrameCell::Integer(i) => i,
        FrameCell::Real(x) => x,
        FrameCell::Text(text) => text,
    }
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// An upper bound for the size of the longest row in bytes. A cell that is not text counts as 10,
/// and every column adds 10: a number takes at most 8 bytes, and a column's entry in the header of
/// the row at most 9.
fn longest_row(columns: &[TypedColumn]) -> usize {
    let rows = columns.first().map_or(0, |c| c.cells.len());
    let length = |row: usize| -> usize {
        let cells = columns.iter().filter_map(|c| c.cells.get(row));
        cells
            .map(|c| {
                if let FrameCell::Text(text) = c {
                    text.len()
                } else {
                    10
                }
            })
            .sum()
    };
    (0..rows)
        .map(|row| length(row) + 10 * columns.len())
        .max()
        .unwrap_or(0)
}

fn as_c_int(n: usize) -> c_int {
    c_int::try_from(n).unwrap_or(c_int::MAX)
}

/// `SQLite`'s message, without rusqlite's additions.
fn message(error: &Error) -> String {
    match error {
        Error::SqliteFailure(_, Some(text)) => text.clone(),
        Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    #[test]
    fn a_sort_that_runs_out_of_memory_is_not_an_error_of_the_statement() {
        let code = ffi::Error::new(ffi::SQLITE_IOERR_NOMEM);
        let error = Error::SqliteFailure(code, Some("out of memory".to_owned()));
        assert_eq!(failure(&error), None);
        let code = ffi::Error::new(ffi::SQLITE_ERROR);
        let error = Error::SqliteFailure(code, Some("no such column: x".to_owned()));
        assert_eq!(failure(&error).as_deref(), Some("no such column: x"));
    }
}
