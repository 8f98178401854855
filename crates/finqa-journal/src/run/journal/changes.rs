//! Changes of a run after its start: the golds by which it is scored, and the addresses of its
//! models. Each change is a new entry, so the earlier golds and addresses remain in the file.

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use crate::run::run_meta::{MovedModels, RunMeta};
use crate::run::stored_file::StoredFile;
use finqa_score::dataset::Gold;
use finqa_score::score::{Row, Scores};

use super::entry::unwritable;
use super::{Journal, JournalError};

/// A change of a run after its start.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RunChange {
    Gold(StoredFile),
    Models(MovedModels),
}

/// The gold of a row and its scores by that gold, as a later change recorded them.
#[derive(Serialize, Deserialize)]
pub(super) struct RenewedGold {
    gold: Gold,
    scores: Scores,
}

impl RenewedGold {
    /// Replaces the gold and the scores of a row.
    pub(super) fn apply(self, row: &mut Row) {
        (row.gold, row.scores) = (self.gold, self.scores);
    }
}

impl Journal {
    /// Records that the golds of this file replace the earlier ones. `rows` have these golds and
    /// are scored by them. Everything is stored in one transaction.
    ///
    /// # Errors
    /// [`JournalError`] if the change cannot be written. The journal is then unchanged.
    pub fn renew_gold(&mut self, file: StoredFile, rows: &[Row]) -> Result<(), JournalError> {
        self.record(&RunChange::Gold(file), rows)
    }

    /// Records the models of a process that continues the run with models at other addresses.
    pub fn record_models(&mut self, models: MovedModels) -> Result<(), JournalError> {
        self.record(&RunChange::Models(models), &[])
    }

    /// Stores a change and the rows that it changed, in one transaction.
    fn record(&mut self, change: &RunChange, rows: &[Row]) -> Result<(), JournalError> {
        self.refuse_gone()?;
        let written = self.connection.transaction().and_then(|transaction| {
            store(&transaction, change, rows)?;
            transaction.commit()
        });
        written.map_err(|source| self.sqlite_error(source))
    }

    /// Applies the recorded changes to the description of the run.
    pub(super) fn apply_changes(&self, meta: &mut RunMeta) -> Result<(), JournalError> {
        // The first change makes the table.
        if !self.has_table("changes")? {
            return Ok(());
        }
        let changes: Vec<String> = self.sqlite(|connection| {
            let mut statement = connection.prepare("SELECT json FROM changes ORDER BY number")?;
            let changes = statement.query_map([], |row| row.get(0))?;
            changes.collect()
        })?;
        for json in changes {
            let change = serde_json::from_str(&json);
            match change.map_err(|source| self.entry_error("change", source))? {
                RunChange::Gold(file) => meta.gold = Some(file),
                RunChange::Models(models) => meta.moved.push(models),
            }
        }
        Ok(())
    }

    /// The gold and scores of a row's last change; `None` if the row was never changed.
    pub(super) fn renewed_gold(
        &self,
        question: usize,
    ) -> Result<Option<RenewedGold>, JournalError> {
        let sql = "SELECT json FROM golds WHERE question = ?1 ORDER BY change DESC LIMIT 1";
        let json: Option<String> = self.sqlite(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row([question], |row| row.get(0)).optional()
        })?;
        let gold = json.map(|json| serde_json::from_str(&json)).transpose();
        gold.map_err(|source| self.entry_error(&format!("gold of question {question}"), source))
    }
}

/// Stores a change, and the golds and scores of `rows` under its number.
fn store(connection: &Connection, change: &RunChange, rows: &[Row]) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS changes (number INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT;
         CREATE TABLE IF NOT EXISTS golds (change INTEGER NOT NULL, question INTEGER NOT NULL,
                                           json TEXT NOT NULL, PRIMARY KEY (change, question)) STRICT;",
    )?;
    let json = serde_json::to_string(change).map_err(unwritable)?;
    connection.execute("INSERT INTO changes (json) VALUES (?1)", [json])?;
    let number = connection.last_insert_rowid();
    let mut insert = connection.prepare("INSERT INTO golds VALUES (?1, ?2, ?3)")?;
    for row in rows {
        let renewed = RenewedGold {
            gold: row.gold.clone(),
            scores: row.scores.clone(),
        };
        let json = serde_json::to_string(&renewed).map_err(unwritable)?;
        insert.execute(params![number, row.index, json])?;
    }
    Ok(())
}
