//! The journal: append-only truth of a run in one SQLite file.
//!
//! Calls are put down as they return, answers when they have their outcome; a
//! run that is killed at any point goes on from there. Everything else that a
//! run leaves behind can be made again from this file without a model call.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::agents::Call;

use super::row::Row;

/// The version of the file's layout; a newer one is refused.
const FORMAT: i64 = 1;

/// What went wrong with a journal.
#[derive(Debug, Error)]
pub enum JournalError {
    /// SQLite refused: no space, no permission, not a database.
    #[error("{path}: {source}")]
    Sqlite {
        /// The journal.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// An entry cannot be read.
    #[error("{path}: entry {entry}: {source}")]
    Entry {
        /// The journal.
        path: PathBuf,
        /// Which one.
        entry: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// Written by a newer program.
    #[error(
        "{path}: journal format {found} is newer than this program's {FORMAT}; use the convfinqa that wrote it"
    )]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its format.
        found: i64,
    },
    /// The new file cannot be put in its place.
    #[error("{path}: {source}")]
    Rename {
        /// The journal.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// There is no run in the file.
    #[error("{path}: not a run's journal (it has no metadata)")]
    Empty {
        /// The journal.
        path: PathBuf,
    },
}

/// What must not change when a run is resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// `offline`, or provider and model of the analyst.
    pub model: String,
    /// The critic's model, or how it criticises.
    pub critic: String,
    /// blake3 of the data file.
    pub data: String,
    /// blake3 of the templates.
    pub prompts: String,
    /// blake3 of the plan: keys in order, mode, history, epochs.
    pub plan: String,
    /// Everything else that changes answers: rounds, temperature, seed, table style, …
    pub settings: String,
}

impl Identity {
    /// The first part in which `other` differs, with both values.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        [
            ("model", &self.model, &other.model),
            ("critic", &self.critic, &other.critic),
            ("data hash", &self.data, &other.data),
            ("prompt hash", &self.prompts, &other.prompts),
            ("selection of questions", &self.plan, &other.plan),
            ("settings", &self.settings, &other.settings),
        ]
        .into_iter()
        .find(|(_, ours, theirs)| ours != theirs)
        .map(|(name, ours, theirs)| (name, ours.clone(), theirs.clone()))
    }
}

/// What a run is: written once, when its journal is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunMeta {
    /// UUID v7, which sorts by time.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// This program's version.
    pub version: String,
    /// The commit that it was built from, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// What must not change on resume.
    pub identity: Identity,
    /// Where the data come from, for people.
    pub data: String,
    /// The whole path of their file; absent for the sample and in journals of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_file: Option<PathBuf>,
    /// Whether they are the invented sample.
    pub invented: bool,
    /// Questions in the plan.
    pub total: usize,
    /// The settings in the form of `convfinqa.toml`, no secret among them.
    pub settings: toml::Table,
}

impl RunMeta {
    /// The model as it was asked for; where it is, is no part of its name.
    #[must_use]
    pub fn model(&self) -> &str {
        let named = self.settings.get("model").and_then(toml::Value::as_str);
        named.unwrap_or(&self.identity.model)
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not every question has an outcome.
    Unfinished,
    /// Every question has an outcome.
    Complete,
}

/// An open journal.
pub struct Journal {
    path: PathBuf,
    connection: Connection,
}

impl Journal {
    /// Makes the journal of a new run.
    ///
    /// # Errors
    /// [`JournalError::Sqlite`] if the file cannot be made or written.
    pub fn create(path: &Path, meta: &RunMeta) -> Result<Self, JournalError> {
        // Made beside it and renamed: a run that is killed here has no journal,
        // never one that says nothing.
        let unborn = path.with_extension("sqlite.new");
        let sqlite = |source| JournalError::Sqlite {
            path: path.to_owned(),
            source,
        };
        let json = serde_json::to_string(meta).map_err(|source| JournalError::Entry {
            path: path.to_owned(),
            entry: "meta".to_owned(),
            source,
        })?;
        let connection = Connection::open(&unborn).map_err(sqlite)?;
        connection
            .execute_batch(
                "BEGIN;
                 CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
                 CREATE TABLE calls (question INTEGER NOT NULL, seq INTEGER NOT NULL, json TEXT NOT NULL,
                                     PRIMARY KEY (question, seq)) STRICT;
                 CREATE TABLE answers (question INTEGER PRIMARY KEY, id TEXT NOT NULL, part TEXT NOT NULL,
                                       epoch INTEGER NOT NULL, outcome TEXT NOT NULL, json TEXT NOT NULL) STRICT;",
            )
            .and_then(|()| connection.pragma_update(None, "user_version", FORMAT))
            .and_then(|()| connection.execute("INSERT INTO meta VALUES ('run', ?1)", params![json]))
            .and_then(|_| connection.execute_batch("COMMIT"))
            .and_then(|()| connection.close().map_err(|(_, source)| source))
            .map_err(sqlite)?;
        fs_err::rename(&unborn, path).map_err(|source| JournalError::Rename {
            path: path.to_owned(),
            source,
        })?;
        Self::open(path)
    }

    /// Opens the journal of an earlier run.
    ///
    /// # Errors
    /// [`JournalError`] if it is missing, no journal, or from a newer program.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let journal = Self::open_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let found: i64 = journal
            .connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|source| journal.sqlite_error(source))?;
        if found > FORMAT {
            return Err(JournalError::Newer {
                path: path.to_owned(),
                found,
            });
        }
        if found == 0 {
            return Err(JournalError::Empty {
                path: path.to_owned(),
            });
        }
        Ok(journal)
    }

    fn open_with(path: &Path, flags: OpenFlags) -> Result<Self, JournalError> {
        let sqlite = |source| JournalError::Sqlite {
            path: path.to_owned(),
            source,
        };
        let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .map_err(sqlite)?;
        // WAL: a killed process loses nothing that was committed, and a reader
        // (report, analyze) is never in the writer's way.
        connection
            .busy_timeout(std::time::Duration::from_secs(5))
            .map_err(sqlite)?;
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .map_err(sqlite)?;
        connection
            .pragma_update(None, "synchronous", "NORMAL")
            .map_err(sqlite)?;
        Ok(Self {
            path: path.to_owned(),
            connection,
        })
    }

    /// What run this is.
    ///
    /// # Errors
    /// [`JournalError`] if the entry is missing or unreadable.
    pub fn meta(&self) -> Result<RunMeta, JournalError> {
        let json = self.entry("run")?.ok_or_else(|| JournalError::Empty {
            path: self.path.clone(),
        })?;
        serde_json::from_str(&json).map_err(|source| self.entry_error("meta", source))
    }

    /// Puts down the texts that the models are asked with, by their file names.
    ///
    /// # Errors
    /// [`JournalError`] if they cannot be written.
    pub fn keep_prompts(&self, prompts: &BTreeMap<String, String>) -> Result<(), JournalError> {
        let json =
            serde_json::to_string(prompts).map_err(|source| self.entry_error("prompts", source))?;
        self.connection
            .execute("INSERT INTO meta VALUES ('prompts', ?1)", params![json])
            .map_err(|source| self.sqlite_error(source))?;
        Ok(())
    }

    /// The texts that the models are asked with, by their file names; none in
    /// journals of earlier versions.
    ///
    /// # Errors
    /// [`JournalError`] if the entry is unreadable.
    pub fn prompts(&self) -> Result<BTreeMap<String, String>, JournalError> {
        let json = self.entry("prompts")?;
        json.map_or_else(
            || Ok(BTreeMap::new()),
            |json| {
                serde_json::from_str(&json).map_err(|source| self.entry_error("prompts", source))
            },
        )
    }

    fn entry(&self, key: &str) -> Result<Option<String>, JournalError> {
        self.connection
            .query_row(
                "SELECT value FROM meta WHERE key = ?1",
                params![key],
                |row| row.get(0),
            )
            .optional()
            .map_err(|source| self.sqlite_error(source))
    }

    /// Questions that have an outcome.
    ///
    /// # Errors
    /// [`JournalError`] if the journal cannot be read.
    pub fn answered(&self) -> Result<usize, JournalError> {
        let answered: i64 = self
            .connection
            .query_row("SELECT count(*) FROM answers", [], |row| row.get(0))
            .map_err(|source| self.sqlite_error(source))?;
        Ok(usize::try_from(answered).unwrap_or_default())
    }

    /// Whether every question has an outcome.
    ///
    /// # Errors
    /// [`JournalError`] if the journal cannot be read.
    pub fn status(&self) -> Result<Status, JournalError> {
        let complete = self.answered()? >= self.meta()?.total;
        Ok(if complete {
            Status::Complete
        } else {
            Status::Unfinished
        })
    }

    /// Puts down a batch in one transaction; when this returns it is durable
    /// against the death of the process.
    ///
    /// # Errors
    /// [`JournalError`] if it cannot be written: nothing of the batch is then.
    pub(super) fn append(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        let encoded = entries
            .iter()
            .map(|entry| {
                entry
                    .json()
                    .map_err(|source| self.entry_error(&entry.name(), source))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let path = self.path.clone();
        let sqlite = |source| JournalError::Sqlite {
            path: path.clone(),
            source,
        };
        let transaction = self.connection.transaction().map_err(sqlite)?;
        for (entry, json) in entries.iter().zip(encoded) {
            match entry {
                Entry::Call { question, .. } => transaction.prepare_cached(
                    "INSERT INTO calls VALUES (?1, (SELECT count(*) FROM calls WHERE question = ?1), ?2)",
                ).and_then(|mut statement| statement.execute(params![*question as i64, json])),
                Entry::Answer(row) => transaction.prepare_cached(
                    "INSERT INTO answers VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                ).and_then(|mut statement| statement.execute(params![
                    row.index as i64, row.key.id, row.key.part, row.epoch, row.settled.outcome.name(), json
                ])),
            }
            .map_err(sqlite)?;
        }
        transaction.commit().map_err(sqlite)
    }

    /// Calls put down for questions that have no outcome yet, by question.
    ///
    /// # Errors
    /// [`JournalError`] if the journal cannot be read.
    pub fn open_calls(&self) -> Result<HashMap<usize, Vec<Call>>, JournalError> {
        self.calls_where("question NOT IN (SELECT question FROM answers)")
    }

    fn calls_where(&self, condition: &str) -> Result<HashMap<usize, Vec<Call>>, JournalError> {
        let sql =
            format!("SELECT question, json FROM calls WHERE {condition} ORDER BY question, seq");
        let sqlite = |source| self.sqlite_error(source);
        let mut statement = self.connection.prepare(&sql).map_err(sqlite)?;
        let rows = statement
            .query_map([], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))
            })
            .map_err(sqlite)?;
        let mut calls: HashMap<usize, Vec<Call>> = HashMap::new();
        for row in rows {
            let (question, json) = row.map_err(sqlite)?;
            let call = serde_json::from_str(&json).map_err(|source| {
                self.entry_error(&format!("call of question {question}"), source)
            })?;
            calls
                .entry(usize::try_from(question).unwrap_or_default())
                .or_default()
                .push(call);
        }
        Ok(calls)
    }

    /// Calls `visit` with every answered row, in the plan's order, one in
    /// memory at a time.
    ///
    /// # Errors
    /// [`JournalError`] if the journal cannot be read.
    pub fn for_each_row(&self, mut visit: impl FnMut(Row)) -> Result<(), JournalError> {
        let sqlite = |source| self.sqlite_error(source);
        let mut calls = self
            .connection
            .prepare("SELECT json FROM calls WHERE question = ?1 ORDER BY seq")
            .map_err(sqlite)?;
        let mut answers = self
            .connection
            .prepare("SELECT question, json FROM answers ORDER BY question")
            .map_err(sqlite)?;
        let mut rows = answers.query([]).map_err(sqlite)?;
        while let Some(found) = rows.next().map_err(sqlite)? {
            let question: i64 = found.get(0).map_err(sqlite)?;
            let json: String = found.get(1).map_err(sqlite)?;
            let name = format!("question {question}");
            let mut row: Row =
                serde_json::from_str(&json).map_err(|source| self.entry_error(&name, source))?;
            let mut found = calls.query(params![question]).map_err(sqlite)?;
            while let Some(call) = found.next().map_err(sqlite)? {
                let json: String = call.get(0).map_err(sqlite)?;
                let call = serde_json::from_str(&json)
                    .map_err(|source| self.entry_error(&name, source))?;
                row.settled.calls.push(call);
            }
            visit(row);
        }
        Ok(())
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn sqlite_error(&self, source: rusqlite::Error) -> JournalError {
        JournalError::Sqlite {
            path: self.path.clone(),
            source,
        }
    }

    fn entry_error(&self, entry: &str, source: serde_json::Error) -> JournalError {
        JournalError::Entry {
            path: self.path.clone(),
            entry: entry.to_owned(),
            source,
        }
    }
}

/// Something to put down.
pub(super) enum Entry {
    /// A model call has returned.
    Call {
        /// The question's place in the plan.
        question: usize,
        /// The call.
        call: Box<Call>,
    },
    /// A question has its outcome. Its calls stand in entries of their own.
    Answer(std::sync::Arc<Row>),
}

impl Entry {
    fn json(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Call { call, .. } => serde_json::to_string(call),
            Self::Answer(row) => serde_json::to_string(row),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Call { question, .. } => format!("call of question {question}"),
            Self::Answer(row) => row.key.to_string(),
        }
    }
}
