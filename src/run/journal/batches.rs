//! The batches of a run: stored before and after each request that moves one, so that a
//! process that continues the run finds them again.

use rusqlite::{OptionalExtension, params};

use finqa_agents::models::{BatchRecord, BatchStage};

use super::{Journal, JournalError};

/// The version of the table's entries; a newer one is refused.
const BATCHES_FORMAT: i64 = 1;

impl Journal {
    /// The batches of a run, in the order in which they were planned; none before the first.
    pub fn batches(&self) -> Result<Vec<BatchRecord>, JournalError> {
        let sqlite = |source| self.sqlite_error(source);
        if !self.has_table("batches")? {
            return Ok(Vec::new());
        }
        let found: Option<i64> = self
            .connection
            .query_row("SELECT max(format) FROM batches", [], |row| row.get(0))
            .map_err(sqlite)?;
        if let Some(found) = found.filter(|found| *found > BATCHES_FORMAT) {
            return Err(JournalError::NewerBatches {
                path: self.path.clone(),
                found,
            });
        }
        let mut statement = self
            .connection
            .prepare("SELECT json FROM batches ORDER BY wave, part")
            .map_err(sqlite)?;
        let entries = statement.query_map([], |row| row.get::<_, String>(0));
        let mut batches = Vec::new();
        for json in entries.map_err(sqlite)? {
            let json = json.map_err(sqlite)?;
            let batch = serde_json::from_str(&json);
            batches.push(batch.map_err(|source| self.entry_error("batch", source))?);
        }
        Ok(batches)
    }

    /// The batches whose results are not in the journal yet.
    pub(crate) fn open_batches(&self) -> Result<Vec<BatchRecord>, JournalError> {
        let mut batches = self.batches()?;
        batches.retain(|batch| batch.stage != BatchStage::Ended);
        Ok(batches)
    }

    /// Stores batches, each instead of what is stored of the same wave and part.
    ///
    /// # Errors
    /// [`JournalError`] if they cannot be written: none of them is then.
    pub(in crate::run) fn store_batches(
        &self,
        batches: &[BatchRecord],
    ) -> Result<(), JournalError> {
        let sqlite = |source| self.sqlite_error(source);
        self.connection
            .execute_batch(
                "CREATE TABLE IF NOT EXISTS batches
                 (wave INTEGER NOT NULL, part INTEGER NOT NULL, format INTEGER NOT NULL,
                  json TEXT NOT NULL, PRIMARY KEY (wave, part)) STRICT;",
            )
            .map_err(sqlite)?;
        let transaction = self.connection.unchecked_transaction().map_err(sqlite)?;
        for batch in batches {
            let json =
                serde_json::to_string(batch).map_err(|source| self.entry_error("batch", source))?;
            transaction
                .prepare_cached("INSERT OR REPLACE INTO batches VALUES (?1, ?2, ?3, ?4)")
                .and_then(|mut statement| {
                    statement.execute(params![batch.wave, batch.part, BATCHES_FORMAT, json])
                })
                .map_err(sqlite)?;
        }
        transaction.commit().map_err(sqlite)
    }

    pub(super) fn has_table(&self, name: &str) -> Result<bool, JournalError> {
        self.connection
            .query_row(
                "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1",
                params![name],
                |_| Ok(()),
            )
            .optional()
            .map(|found| found.is_some())
            .map_err(|source| self.sqlite_error(source))
    }
}
