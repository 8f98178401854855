//! The form of calls and rows in the file: deflated JSON whose long texts are stored once
//! each in a separate table.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;

use crate::run::shared_texts::{self as texts, text_hash};

/// The compression dictionary for new journals: a sample entry, so that what entries have
/// in common takes no space. Each journal stores its own copy, so that this one may change.
pub(super) const EXAMPLE: &str = include_str!("example.txt");

/// Bytes of texts that a reader keeps, because the next entries are likely to have them too.
const KNOWN_BYTES: usize = 1 << 20;

/// Writes entries, and the texts that the file does not have yet.
pub(super) struct EntryWriter {
    deflate: Compress,
    example: Arc<str>,
}

impl EntryWriter {
    pub(super) fn new(example: Arc<str>) -> Self {
        Self {
            // More effort saves nothing on entries as small as these.
            deflate: Compress::new(Compression::new(3), false),
            example,
        }
    }

    /// The stored form of an entry.
    pub(super) fn stored(
        &mut self,
        entry: &impl Serialize,
        connection: &Connection,
    ) -> rusqlite::Result<rusqlite::types::Value> {
        let mut entry = serde_json::to_value(entry).map_err(unwritable)?;
        texts::share(&mut entry, |text| self.number(text, connection))?;
        Ok(self.deflated(entry.to_string().as_bytes())?.into())
    }

    fn number(&mut self, text: &str, connection: &Connection) -> rusqlite::Result<i64> {
        let hash = text_hash(text);
        let stored = connection
            .prepare_cached("SELECT id FROM texts WHERE hash = ?1")?
            .query_row([&hash], |row| row.get(0))
            .optional()?;
        match stored {
            Some(number) => Ok(number),
            None => connection
                .prepare_cached("INSERT INTO texts (hash, content) VALUES (?1, ?2)")?
                .insert(params![hash, self.deflated(text.as_bytes())?]),
        }
    }

    fn deflated(&mut self, bytes: &[u8]) -> rusqlite::Result<Vec<u8>> {
        self.deflate.reset();
        self.deflate
            .set_dictionary(self.example.as_bytes())
            .map_err(unwritable)?;
        // Enough for bytes that cannot be compressed, so that one call is.
        let mut packed = Vec::with_capacity(bytes.len() + bytes.len() / 8 + 128);
        let ended = self
            .deflate
            .compress_vec(bytes, &mut packed, FlushCompress::Finish);
        match ended.map_err(unwritable)? {
            Status::StreamEnd => {}
            _ => return Err(unwritable(std::io::Error::other("it is not compressed"))),
        }
        packed.shrink_to_fit();
        Ok(packed)
    }
}

/// A value that cannot be stored.
pub(super) fn unwritable(error: impl Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// Reads entries and their texts.
pub(super) struct EntryReader<'c> {
    connection: &'c Connection,
    inflate: Decompress,
    example: &'c str,
    known: HashMap<i64, String>,
    known_bytes: usize,
}

impl<'c> EntryReader<'c> {
    pub(super) fn new(connection: &'c Connection, example: &'c str) -> Self {
        Self {
            connection,
            inflate: Decompress::new(false),
            example,
            known: HashMap::new(),
            known_bytes: 0,
        }
    }

    /// The entry that was stored.
    pub(super) fn whole<T: DeserializeOwned>(
        &mut self,
        stored: ValueRef<'_>,
    ) -> Result<T, serde_json::Error> {
        let mut entry = self.json(stored)?;
        texts::restore(&mut entry, |number, whole| {
            self.add(number, whole).map_err(|error| {
                serde_json::Error::custom(format!("its text {number} cannot be read: {error}"))
            })
        })?;
        serde_json::from_value(entry)
    }

    fn json(&mut self, stored: ValueRef<'_>) -> Result<Value, serde_json::Error> {
        if let ValueRef::Text(json) = stored {
            // Whoever edits a journal writes it like this.
            return serde_json::from_slice(json);
        }
        let packed = stored.as_blob().map_err(serde_json::Error::custom)?;
        let json = self.inflated(packed).map_err(serde_json::Error::custom)?;
        serde_json::from_slice(&json)
    }

    fn add(&mut self, number: i64, whole: &mut String) -> Result<(), Box<dyn Error>> {
        if let Some(text) = self.known.get(&number) {
            whole.push_str(text);
            return Ok(());
        }
        let packed: Vec<u8> = self
            .connection
            .prepare_cached("SELECT content FROM texts WHERE id = ?1")?
            .query_row([number], |row| row.get(0))?;
        let mut text = String::from_utf8(self.inflated(&packed)?)?;
        text.shrink_to_fit();
        whole.push_str(&text);
        if self.known_bytes + text.len() > KNOWN_BYTES {
            self.known.clear();
            self.known_bytes = 0;
        }
        self.known_bytes += text.len();
        self.known.insert(number, text);
        Ok(())
    }

    fn inflated(&mut self, packed: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
        self.inflate.reset(false);
        self.inflate.set_dictionary(self.example.as_bytes())?;
        let mut bytes = Vec::with_capacity(4 * packed.len() + 64);
        loop {
            let (read, spare) = (self.inflate.total_in(), bytes.capacity() - bytes.len());
            let status = self.inflate.decompress_vec(
                rest(packed, read),
                &mut bytes,
                FlushDecompress::Finish,
            )?;
            if status == Status::StreamEnd {
                return Ok(bytes);
            }
            if spare > 0 && bytes.len() < bytes.capacity() {
                return Err("it is cut off".into());
            }
            bytes.reserve(bytes.len() + 64);
        }
    }
}

fn rest(bytes: &[u8], done: u64) -> &[u8] {
    let done = usize::try_from(done).unwrap_or(usize::MAX);
    bytes.get(done..).unwrap_or_default()
}
