//! The batches of a run. A batch is stored before and after each request that changes its state, so
//! that another process that continues the run finds it.

use rusqlite::{Connection, params};

use finqa_agents::llm::BatchRecord;

use super::entry::unwritable;
use super::{Journal, JournalError};

impl Journal {
    /// The batches of a run, in the order in which they were planned; empty before the first.
    pub fn batches(&self) -> Result<Vec<BatchRecord>, JournalError> {
        // The first batch makes the table.
        if !self.has_table("batches")? {
            return Ok(Vec::new());
        }
        let entries: Vec<String> = self.sqlite(|connection| {
            let mut statement = connection.prepare("SELECT json FROM batches ORDER BY number")?;
            let entries = statement.query_map([], |row| row.get(0))?;
            entries.collect()
        })?;
        let batches = entries.iter().map(|json| serde_json::from_str(json));
        let batches: Result<_, _> = batches.collect();
        batches.map_err(|source| self.entry_error("batch", source))
    }

    /// True if the table exists. Tables that not every run needs (`batches`, `changes`, `golds`,
    /// `spending`) are made when they are first used.
    pub(super) fn has_table(&self, name: &str) -> Result<bool, JournalError> {
        let sql = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
        self.sqlite(|connection| connection.prepare(sql)?.exists([name]))
    }
}

/// Stores a batch. Replaces the earlier entry with its number.
pub(super) fn store(connection: &Connection, batch: &BatchRecord) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS batches
         (number INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT;",
    )?;
    let json = serde_json::to_string(batch).map_err(unwritable)?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO batches VALUES (?1, ?2)")?
        .execute(params![batch.number, json])
        .map(drop)
}
