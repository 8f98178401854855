//! The cost of a run's requests. A run with a limit stores an upper bound before it sends a
//! request, and the actual amount afterwards. If a process is killed, its requests in flight
//! therefore count at their bounds.

use std::collections::HashMap;

use rusqlite::types::Type;
use rusqlite::{Connection, Error, params};
use rust_decimal::Decimal;

use super::{Journal, JournalError};

/// The amount that earlier processes of a run spent.
pub struct EarlierSpending {
    /// US dollars.
    pub spent: Decimal,
    /// The highest id of a counted request.
    pub last_id: u64,
}

impl Journal {
    /// The amount that earlier processes spent. `None` if they sent requests without a limit, whose
    /// cost was not stored here.
    pub fn begin_spending(&self) -> Result<Option<EarlierSpending>, JournalError> {
        if !self.has_table("spending")? {
            let sql = "SELECT EXISTS (SELECT 1 FROM calls)";
            if self.sqlite(|connection| connection.query_row(sql, [], |row| row.get(0)))? {
                return Ok(None);
            }
            // TEXT, because a REAL would not hold every decimal exactly.
            self.sqlite(|connection| {
                connection.execute_batch(
                    "CREATE TABLE spending
                     (id INTEGER PRIMARY KEY, dollars TEXT NOT NULL) STRICT;",
                )
            })?;
        }
        let amounts = self.amounts()?;
        let spent = amounts.values().sum();
        let last_id = amounts.into_keys().max().unwrap_or_default();
        Ok(Some(EarlierSpending { spent, last_id }))
    }

    /// The US dollars counted for each request, by request id; empty for a run without a limit.
    pub fn amounts(&self) -> Result<HashMap<u64, Decimal>, JournalError> {
        if !self.has_table("spending")? {
            return Ok(HashMap::new());
        }
        self.sqlite(|connection| {
            let mut statement = connection.prepare("SELECT id, dollars FROM spending")?;
            let rows = statement.query_map([], |row| {
                let dollars: String = row.get(1)?;
                let amount = dollars.parse::<Decimal>().map_err(|error| {
                    Error::FromSqlConversionFailure(1, Type::Text, error.to_string().into())
                })?;
                Ok((row.get(0)?, amount))
            });
            rows?.collect()
        })
    }

    /// The number of requests that were, or may have been, billed; 0 for a run without a limit.
    pub(crate) fn billed_requests(&self) -> Result<u64, JournalError> {
        if !self.has_table("spending")? {
            return Ok(0);
        }
        // `0` is how [`Decimal::ZERO`] is stored, the amount of a request that failed without an
        // answer.
        let sql = "SELECT count(*) FROM spending WHERE dollars != '0'";
        self.sqlite(|connection| connection.query_row(sql, [], |row| row.get(0)))
    }
}

/// Stores the US dollars that a request may have cost. Replaces the amount with the same id.
pub(super) fn store(connection: &Connection, id: u64, amount: Decimal) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO spending VALUES (?1, ?2)")?
        .execute(params![id, amount.to_string()])
        .map(drop)
}
