//! One table in an in-memory database that can only be read.

use std::ffi::c_int;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, ErrorCode, Statement, ToSql};

use super::functions;
use super::limits::{CallClock, ToolLimits};
use super::records::{Field, records};
use crate::env::data::{Cell, Column, Table};

/// The second name of every table, as the reference's README writes it.
const COMMON_NAME: &str = "data";
/// `SQLite`'s own functions that are no business of a query: they load code,
/// touch files or reveal addresses.
const FORBIDDEN: [&str; 6] = [
    "load_extension",
    "readfile",
    "writefile",
    "edit",
    "fts3_tokenizer",
    "sqlite_offset",
];
/// Instructions between two looks at the clock: well under a millisecond.
const INSTRUCTIONS: c_int = 1_000;
/// Longest pattern of LIKE and GLOB, whose cost is pattern times text.
const PATTERN_BYTES: c_int = 256;

/// Why a query has no result.
#[derive(Debug)]
pub(super) enum QueryError {
    /// The reference words it as a failure of the statement.
    Statement(String),
    /// The reference words it without naming the statement.
    Result(String),
    /// All queries together needed more memory than they may.
    Memory,
}

/// A table that is ready to be queried.
#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    clock: CallClock,
}

impl Database {
    /// Loads the table, then forbids everything but reading.
    pub(super) fn open(
        table: &Table,
        columns: &[Column],
        limits: &ToolLimits,
    ) -> Result<Self, QueryError> {
        Self::prepare(table, columns, limits)
            .map_err(|e| failure(&e, &|text| QueryError::Result(text)))
    }

    fn prepare(table: &Table, columns: &[Column], limits: &ToolLimits) -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        connection.set_prepared_statement_cache_capacity(8);
        load(&mut connection, table, columns)?;
        // A filed row may be longer than what a query may make.
        let row = longest_row(columns);
        let value_bytes = limits.value_bytes.max(row);
        let clock = CallClock::new(value_bytes);
        functions::register(&connection, &clock)?;
        // Sorting and grouping would otherwise write files, as large as the disk
        // allows; in memory they need a bound, which is one for the process.
        connection.execute_batch(&format!(
            "PRAGMA temp_store = MEMORY; PRAGMA hard_heap_limit = {}; \
             PRAGMA query_only = ON; PRAGMA trusted_schema = OFF;",
            limits.heap_bytes
        ))?;
        for (limit, value) in [
            (Limit::SQLITE_LIMIT_LENGTH, as_c_int(value_bytes)),
            (
                Limit::SQLITE_LIMIT_SQL_LENGTH,
                as_c_int(limits.statement_bytes),
            ),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, PATTERN_BYTES),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
            (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
        ] {
            connection.set_limit(limit, value)?;
        }
        let watch = clock.clone();
        connection.progress_handler(INSTRUCTIONS, Some(move || watch.is_over()))?;
        connection.authorizer(Some(authorize))?;
        Ok(Self { connection, clock })
    }

    /// Runs one statement and writes its rows.
    pub(super) fn query(&self, sql: &str, limits: &ToolLimits) -> Result<String, QueryError> {
        self.clock.arm(limits.query_time);
        let late = |text: String| {
            if text == "interrupted" {
                let limit = limits.query_time.as_millis();
                return QueryError::Statement(format!("interrupted: the limit is {limit} ms"));
            }
            QueryError::Statement(text)
        };
        let failed = |e: &Error| failure(e, &late);
        let mut statement = self
            .connection
            .prepare_cached(sql)
            .map_err(|e| failed(&e))?;
        let parameters = statement.parameter_count();
        if parameters > 0 {
            return Err(QueryError::Statement(format!(
                "Incorrect number of bindings supplied. The current statement uses {parameters}, \
                 and there are 0 supplied."
            )));
        }
        if statement.column_count() == 0 {
            return Err(QueryError::Result(
                "'NoneType' object is not iterable".to_owned(),
            ));
        }
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = collect(&mut statement, &names, limits, &late)?;
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
        // Escapes make up to six bytes of one.
        if text.len() > limits.result_bytes {
            return Err(too_long(limits));
        }
        Ok(text)
    }
}

impl Database {
    /// Whether its last call ran out of time: it is not worth keeping then.
    pub(super) fn is_spent(&self) -> bool {
        self.clock.is_over()
    }
}

fn failure(error: &Error, late: &impl Fn(String) -> QueryError) -> QueryError {
    match error.sqlite_error_code() {
        Some(ErrorCode::OutOfMemory) => QueryError::Memory,
        _ => late(message(error)),
    }
}

fn collect(
    statement: &mut Statement<'_>,
    names: &[String],
    limits: &ToolLimits,
    late: &impl Fn(String) -> QueryError,
) -> Result<Vec<Vec<Field>>, QueryError> {
    let failed = |e: &Error| failure(e, late);
    let per_row: usize = names.iter().map(|n| n.len() + 4).sum::<usize>() + 3;
    let mut rows = Vec::new();
    let mut bytes = 0_usize;
    let mut cursor = statement.query([]).map_err(|e| failed(&e))?;
    while let Some(row) = cursor.next().map_err(|e| failed(&e))? {
        if rows.len() == limits.result_rows {
            let limit = limits.result_rows;
            let text = format!("the result has more than {limit} rows: select fewer");
            return Err(QueryError::Result(text));
        }
        let mut fields = Vec::with_capacity(names.len());
        bytes += per_row;
        for at in 0..names.len() {
            let field = field(row.get_ref(at).map_err(|e| failed(&e))?)?;
            bytes += match &field {
                Field::Text(text) => text.len(),
                _ => 8,
            };
            fields.push(field);
        }
        if bytes > limits.result_bytes {
            return Err(too_long(limits));
        }
        rows.push(fields);
    }
    Ok(rows)
}

fn too_long(limits: &ToolLimits) -> QueryError {
    let limit = limits.result_bytes;
    QueryError::Result(format!(
        "the result is longer than {limit} bytes: select less"
    ))
}

fn field(value: ValueRef<'_>) -> Result<Field, QueryError> {
    Ok(match value {
        ValueRef::Null => Field::Null,
        ValueRef::Integer(i) => Field::Integer(i),
        ValueRef::Real(x) => Field::Real(x),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|e| {
                let at = e.valid_up_to();
                let byte = bytes.get(at).copied().unwrap_or(0);
                QueryError::Result(format!(
                    "'utf-8' codec can't decode byte {byte:#04x} in position {at}: invalid start byte"
                ))
            })?;
            Field::Text(text.to_owned())
        }
    })
}

/// Only reading, calling functions and recursion: no write, no schema change, no
/// PRAGMA, no ATTACH, no transaction.
#[allow(
    clippy::needless_pass_by_value,
    reason = "the hook's signature is rusqlite's"
)]
fn authorize(context: AuthContext<'_>) -> Authorization {
    let allowed = match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => true,
        AuthAction::Function { function_name } => !FORBIDDEN
            .iter()
            .any(|f| f.eq_ignore_ascii_case(function_name)),
        _ => false,
    };
    if allowed {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}

fn load(connection: &mut Connection, table: &Table, columns: &[Column]) -> rusqlite::Result<()> {
    let name = quote(&table.name);
    let stored = columns
        .iter()
        .map(|c| format!("{} {}", quote(&c.name), c.kind.sql()));
    let aliases = columns.iter().filter_map(|c| {
        let alias = quote(c.alias.as_ref()?);
        Some(format!("{alias} {} AS ({})", c.kind.sql(), quote(&c.name)))
    });
    let definitions: Vec<String> = stored.chain(aliases).collect();
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
                let cell = column.cells.get(row).unwrap_or(&Cell::Null);
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

fn bound(cell: &Cell) -> &dyn ToSql {
    match cell {
        Cell::Null => &rusqlite::types::Null,
        Cell::Bool(b) => b,
        Cell::Integer(i) => i,
        Cell::Real(x) => x,
        Cell::Text(text) => text,
    }
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn longest_row(columns: &[Column]) -> usize {
    let rows = columns.first().map_or(0, |c| c.cells.len());
    let length = |row: usize| -> usize {
        let cells = columns.iter().filter_map(|c| c.cells.get(row));
        cells
            .map(|c| {
                if let Cell::Text(text) = c {
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

/// What `SQLite` said, without rusqlite's own additions.
fn message(error: &Error) -> String {
    match error {
        Error::SqliteFailure(_, Some(text)) => text.clone(),
        Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}
