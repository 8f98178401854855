//! The journal: everything that a run has recorded, in one SQLite file.
//!
//! A call is recorded when it returns, and a question when it has its outcome. A run that is killed
//! at any point therefore continues from there. All other files of a run can be made again from the
//! journal without a model call.

mod batches;
mod changes;
mod entry;
mod error;
mod file_id;
mod open;
mod spending;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use finqa_agents::llm::{BatchRecord, BudgetLimit};
use finqa_agents::pair::{Call, order_samples};
use rust_decimal::Decimal;

use super::run_meta::RunMeta;
use entry::{EntryReader, stored, unwritable};
use file_id::{FileId, file_id};
use finqa_score::score::Row;

pub use error::JournalError;
pub use spending::EarlierSpending;

/// An open journal.
pub struct Journal {
    path: PathBuf,
    connection: Connection,
    /// The file as it was opened, compared with the file at `path` before each write.
    file: Option<FileId>,
    /// True if this process writes the journal. Dropping the journal then merges its log into the
    /// file.
    writes: bool,
}

impl Journal {
    /// The description of the run, with its later changes applied.
    pub fn meta(&self) -> Result<RunMeta, JournalError> {
        let json = self.entry("run")?.ok_or_else(|| JournalError::Empty {
            path: self.path.clone(),
        })?;
        let meta = serde_json::from_str(&json);
        let mut meta = meta.map_err(|source| self.entry_error("meta", source))?;
        self.apply_changes(&mut meta)?;
        Ok(meta)
    }

    /// Removes the entry that says which limit paused the run. The limits themselves do not change.
    pub fn unpause(&self) -> Result<(), JournalError> {
        let sql = "UPDATE meta SET value = json_remove(value, '$.paused') WHERE key = 'run'";
        self.sqlite(|connection| connection.execute(sql, []))?;
        Ok(())
    }

    /// The prompt templates by file name; empty without a chat model.
    pub fn prompts(&self) -> Result<BTreeMap<String, String>, JournalError> {
        let Some(json) = self.entry("prompts")? else {
            return Ok(BTreeMap::new());
        };
        serde_json::from_str(&json).map_err(|source| self.entry_error("prompts", source))
    }

    fn entry(&self, key: &str) -> Result<Option<String>, JournalError> {
        let sql = "SELECT value FROM meta WHERE key = ?1";
        self.sqlite(|connection| {
            let found = connection.query_row(sql, [key], |row| row.get(0));
            found.optional()
        })
    }

    /// The number of questions that have an outcome.
    pub fn answered(&self) -> Result<usize, JournalError> {
        let sql = "SELECT count(*) FROM answers";
        self.sqlite(|connection| connection.query_row(sql, [], |row| row.get(0)))
    }

    /// True if every question has an outcome.
    pub fn is_complete(&self) -> Result<bool, JournalError> {
        let answered = self.answered()?;
        Ok(answered >= self.meta()?.total)
    }

    /// Records entries in this order, in one transaction. When this returns, the entries survive
    /// the death of the process. Record the end of a batch only after the calls that it answered,
    /// because a batch counts as fetched once their replies are in the journal.
    ///
    /// # Errors
    /// [`JournalError`] if they cannot be written. None of the entries is recorded then.
    pub fn append(&mut self, entries: &[JournalEntry]) -> Result<(), JournalError> {
        self.refuse_gone()?;
        self.write(entries)
            .map_err(|source| self.sqlite_error(source))
    }

    /// Returns an error if the file was deleted or replaced. SQLite would not notice, and would
    /// write to a file that no longer has a name.
    fn refuse_gone(&self) -> Result<(), JournalError> {
        if file_id(&self.path) == self.file {
            Ok(())
        } else {
            Err(JournalError::Gone {
                path: self.path.clone(),
            })
        }
    }

    /// Stores the entries in one transaction.
    fn write(&mut self, entries: &[JournalEntry]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for entry in entries {
            match entry {
                JournalEntry::Call { question, call } => {
                    let stored = stored(call, &transaction)?;
                    let sql = "INSERT INTO calls VALUES
                               (?1, (SELECT count(*) FROM calls WHERE question = ?1), ?2)";
                    transaction
                        .prepare_cached(sql)?
                        .execute(params![question, stored])?;
                }
                JournalEntry::Answer(row) => {
                    let stored = stored(row, &transaction)?;
                    let (key, outcome) = (&row.key, row.solution.outcome.name());
                    transaction
                        .prepare_cached("INSERT INTO answers VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
                        .execute(params![
                            row.index, key.id, key.part, row.epoch, outcome, stored
                        ])?;
                }
                JournalEntry::Spending { id, amount } => {
                    spending::store(&transaction, *id, *amount)?
                }
                JournalEntry::Batch(batch) => batches::store(&transaction, batch)?,
                JournalEntry::Paused(limit) => set(&transaction, "$.paused", limit)?,
            }
        }
        transaction.commit()
    }

    /// True if a model has replied to a call, or a question has an outcome.
    pub fn has_reply(&self) -> Result<bool, JournalError> {
        let calls = self.open_calls()?;
        let mut calls = calls.values().flatten();
        Ok(calls.any(|call| call.reply.is_some()) || self.answered()? > 0)
    }

    /// The indices in the plan of the questions that have an outcome.
    pub fn answered_questions(&self) -> Result<HashSet<usize>, JournalError> {
        self.sqlite(|connection| {
            let mut statement = connection.prepare("SELECT question FROM answers")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })
    }

    /// The recorded calls of questions that have no outcome yet, by the question's index in the
    /// plan.
    pub fn open_calls(&self) -> Result<HashMap<usize, Vec<Call>>, JournalError> {
        let sql = "SELECT question, json FROM calls
                   WHERE question NOT IN (SELECT question FROM answers) ORDER BY question, seq";
        let sqlite = |source| self.sqlite_error(source);
        let mut statement = self.connection.prepare(sql).map_err(sqlite)?;
        let mut rows = statement.query([]).map_err(sqlite)?;
        let mut entries = EntryReader::new(&self.connection);
        let mut calls: HashMap<usize, Vec<Call>> = HashMap::new();
        while let Some(row) = rows.next().map_err(sqlite)? {
            let question: usize = row.get(0).map_err(sqlite)?;
            let stored: String = row.get(1).map_err(sqlite)?;
            let call = entries.whole(&stored).map_err(|source| {
                self.entry_error(&format!("call of question {question}"), source)
            })?;
            calls.entry(question).or_default().push(call);
        }
        // Samples are requested in parallel and recorded in the order of their replies.
        calls.values_mut().for_each(|calls| order_samples(calls));
        Ok(calls)
    }

    /// Calls `visit` with every answered row, in the order of the plan. Only one row is in memory
    /// at a time.
    pub fn for_each_row(&self, mut visit: impl FnMut(Row)) -> Result<(), JournalError> {
        self.try_for_each_row(|row| {
            visit(row);
            Ok(())
        })
    }

    /// Like [`Journal::for_each_row`], but stops at the first error of `visit`.
    pub fn try_for_each_row<E: From<JournalError>>(
        &self,
        mut visit: impl FnMut(Row) -> Result<(), E>,
    ) -> Result<(), E> {
        let sqlite = |source| self.sqlite_error(source);
        let mut calls = self
            .connection
            .prepare("SELECT json FROM calls WHERE question = ?1 ORDER BY seq")
            .map_err(sqlite)?;
        let mut answers = self
            .connection
            .prepare("SELECT question, json FROM answers ORDER BY question")
            .map_err(sqlite)?;
        // The table is made by the first `renew_gold`.
        let has_renewed = self.has_table("golds")?;
        let mut entries = EntryReader::new(&self.connection);
        let mut rows = answers.query([]).map_err(sqlite)?;
        while let Some(found) = rows.next().map_err(sqlite)? {
            let question: usize = found.get(0).map_err(sqlite)?;
            let unreadable = |source| self.entry_error(&format!("question {question}"), source);
            let stored: String = found.get(1).map_err(sqlite)?;
            let mut row: Row = entries.whole(&stored).map_err(unreadable)?;
            let mut found = calls.query(params![question]).map_err(sqlite)?;
            while let Some(call) = found.next().map_err(sqlite)? {
                let stored: String = call.get(0).map_err(sqlite)?;
                let call = entries.whole(&stored).map_err(unreadable)?;
                row.solution.calls.push(call);
            }
            // Samples were recorded in the order of their replies.
            order_samples(&mut row.solution.calls);
            if has_renewed && let Some(renewed) = self.renewed_gold(question)? {
                renewed.apply(&mut row);
            }
            visit(row)?;
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a query. Errors name the file.
    fn sqlite<T>(
        &self,
        run: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, JournalError> {
        run(&self.connection).map_err(|source| self.sqlite_error(source))
    }

    fn sqlite_error(&self, source: rusqlite::Error) -> JournalError {
        JournalError::sqlite(&self.path, source)
    }

    fn entry_error(&self, entry: &str, source: serde_json::Error) -> JournalError {
        JournalError::Entry {
            path: self.path.clone(),
            entry: entry.to_owned(),
            source,
        }
    }
}

/// Sets the field at this JSON path in the run's description.
fn set(connection: &Connection, path: &str, value: &impl Serialize) -> rusqlite::Result<()> {
    let sql = "UPDATE meta SET value = json_set(value, ?1, json(?2)) WHERE key = 'run'";
    let value = serde_json::to_string(value).map_err(unwritable)?;
    connection.execute(sql, [path, &value]).map(drop)
}

/// A record that the journal stores.
pub enum JournalEntry {
    /// A model call has returned.
    Call {
        /// The question's index in the plan.
        question: usize,
        call: Box<Call>,
    },
    /// A question has its outcome. Its calls have their own entries.
    Answer(Arc<Row>),
    /// The US dollars that a request may have cost. Replaces the amount with the same id.
    Spending { id: u64, amount: Decimal },
    /// A batch. Replaces the entry with the same number.
    Batch(BatchRecord),
    /// The limit that has paused the run.
    Paused(BudgetLimit),
}
