//! The stored form of calls and rows: JSON whose long texts are stored once each in a separate
//! table.

use std::collections::HashMap;
use std::error::Error;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use crate::run::shared_texts::{self as texts, text_hash};

/// Maximum bytes of texts that a reader keeps in memory, set by hand. It is worth keeping them,
/// because neighbouring entries repeat texts such as instructions and pages.
const KNOWN_BYTES: usize = 1 << 20;

/// Returns the stored form of an entry. Writes those of its texts that are new to the file.
pub(super) fn stored(entry: &impl Serialize, connection: &Connection) -> rusqlite::Result<String> {
    let mut entry = serde_json::to_value(entry).map_err(unwritable)?;
    texts::share(&mut entry, |text| number(text, connection))?;
    Ok(entry.to_string())
}

/// Returns the id of a text. Writes the text if it is new.
fn number(text: &str, connection: &Connection) -> rusqlite::Result<i64> {
    let hash = text_hash(text);
    let stored = connection
        .prepare_cached("SELECT id FROM texts WHERE hash = ?1")?
        .query_row([&hash], |row| row.get(0))
        .optional()?;
    match stored {
        Some(number) => Ok(number),
        None => connection
            .prepare_cached("INSERT INTO texts (hash, content) VALUES (?1, ?2)")?
            .insert(params![hash, text]),
    }
}

/// An error of serialising a value, as an error of SQLite.
pub(super) fn unwritable(error: impl Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// Reads stored entries and puts their shared texts back in.
pub(super) struct EntryReader<'c> {
    connection: &'c Connection,
    known: HashMap<i64, String>,
    known_bytes: usize,
}

impl<'c> EntryReader<'c> {
    pub(super) fn new(connection: &'c Connection) -> Self {
        Self {
            connection,
            known: HashMap::new(),
            known_bytes: 0,
        }
    }

    /// Reads an entry from its stored form, with all its texts.
    pub(super) fn whole<T: DeserializeOwned>(
        &mut self,
        stored: &str,
    ) -> Result<T, serde_json::Error> {
        let mut entry: Value = serde_json::from_str(stored)?;
        texts::restore(&mut entry, |number, whole| {
            self.add(number, whole).map_err(|error| {
                serde_json::Error::custom(format!("its text {number} cannot be read: {error}"))
            })
        })?;
        serde_json::from_value(entry)
    }

    /// Appends the text with this id to `whole`.
    fn add(&mut self, number: i64, whole: &mut String) -> rusqlite::Result<()> {
        if let Some(text) = self.known.get(&number) {
            whole.push_str(text);
            return Ok(());
        }
        let text: String = self
            .connection
            .prepare_cached("SELECT content FROM texts WHERE id = ?1")?
            .query_row([number], |row| row.get(0))?;
        whole.push_str(&text);
        // Drop all at once, which is simplest. A text that is needed again is read again.
        if self.known_bytes + text.len() > KNOWN_BYTES {
            self.known.clear();
            self.known_bytes = 0;
        }
        self.known_bytes += text.len();
        self.known.insert(number, text);
        Ok(())
    }
}
