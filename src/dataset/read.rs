//! Reads a JSON array, or JSON records one after the other (JSONL), one record
//! at a time, and hashes the bytes on the way.
//!
//! The file is never in memory as a whole: a record is handed on before
//! the next is read.

use std::io::{BufRead, BufReader, Read};

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer as _, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_path_to_error::Track;

use super::DatasetError;
use super::raw::RawRecord;
use finqa_core::text::counted;

/// Takes the records in order; an error stops the reading.
pub(super) type Sink<'a> = &'a mut dyn FnMut(RawRecord) -> Result<(), DatasetError>;

/// The errors of reading records.
pub(super) enum ReadError {
    /// The bytes are not what they should be.
    Data(Box<DatasetError>),
    /// A field of record `index` (from 0) has the wrong type.
    Field {
        index: usize,
        field: String,
        reason: String,
    },
    Io(std::io::Error),
}

impl From<DatasetError> for ReadError {
    fn from(error: DatasetError) -> Self {
        Self::Data(Box::new(error))
    }
}

/// Feeds every record of `reader` to `sink`; gives the blake3 hash of all bytes.
pub(super) fn records(
    origin: &str,
    reader: impl Read,
    sink: Sink<'_>,
) -> Result<String, ReadError> {
    let mut reader = BufReader::with_capacity(
        64 * 1024,
        HashingReader {
            inner: reader,
            hasher: blake3::Hasher::new(),
        },
    );
    let first = first_byte(origin, &mut reader)?;
    let mut state = ReadState::default();
    let mut json = serde_json::Deserializer::from_reader(&mut reader);
    let result = if first == b'[' {
        json.deserialize_seq(RecordList {
            state: &mut state,
            sink,
        })
        .and_then(|()| json.end())
    } else {
        let mut result = Ok(());
        while result.is_ok() && json.end().is_err() {
            result = NextRecord { state: &mut state }
                .deserialize(&mut json)
                .and_then(|record| state.take(record, sink));
        }
        result
    };
    drop(json);
    match result {
        Ok(()) => Ok(reader.into_inner().hasher.finalize().to_hex().to_string()),
        Err(error) => Err(state.stop(origin, error)),
    }
}

/// Skips a UTF-8 byte order mark and white space; the first byte that means something.
fn first_byte(origin: &str, reader: &mut impl BufRead) -> Result<u8, ReadError> {
    let not_json = |reason: &str| {
        ReadError::from(DatasetError::NotJson {
            origin: origin.to_owned(),
            reason: reason.to_owned(),
        })
    };
    let head = reader.fill_buf().map_err(ReadError::Io)?;
    match head {
        [0xEF, 0xBB, 0xBF, ..] => reader.consume(3),
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] => {
            return Err(not_json("it is UTF-16 text; save it as UTF-8"));
        }
        [b'P', b'K', 3, 4, ..] => {
            return Err(not_json(
                "it is a zip archive; unpack it and name a .json file of it",
            ));
        }
        [0x1F, 0x8B, ..] => {
            return Err(not_json("it is gzip data; unpack it first"));
        }
        _ => {}
    }
    loop {
        let buffer = reader.fill_buf().map_err(ReadError::Io)?;
        if buffer.is_empty() {
            return Err(DatasetError::Empty {
                origin: origin.to_owned(),
            }
            .into());
        }
        let blank = buffer
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        match buffer.get(blank) {
            Some(byte @ (b'[' | b'{')) => {
                let byte = *byte;
                reader.consume(blank);
                return Ok(byte);
            }
            Some(byte) => {
                let start = char::from(*byte);
                return Err(not_json(&format!(
                    "it starts with {start:?}; expected a JSON array `[…]` of records, or one JSON object `{{…}}` per line"
                )));
            }
            None => reader.consume(blank),
        }
    }
}

/// The state of reading, for error messages.
#[derive(Default)]
struct ReadState {
    /// Whole records so far.
    read: usize,
    /// Field path inside the record that failed.
    path: Option<String>,
    /// The sink's error.
    refused: Option<DatasetError>,
}

impl ReadState {
    fn take<E: serde::de::Error>(&mut self, record: RawRecord, sink: Sink<'_>) -> Result<(), E> {
        self.read += 1;
        sink(record).map_err(|error| {
            self.refused = Some(error);
            E::custom("refused")
        })
    }

    fn stop(self, origin: &str, error: serde_json::Error) -> ReadError {
        if let Some(refused) = self.refused {
            return refused.into();
        }
        let origin = origin.to_owned();
        let (line, column) = (error.line(), error.column());
        match error.classify() {
            Category::Eof => DatasetError::Truncated {
                origin,
                line,
                column,
                records: self.read,
            }
            .into(),
            Category::Syntax => {
                DatasetError::NotJson {
                    origin,
                    reason: format!(
                        "{} at line {line}, column {column}, after {}; correct the file or fetch it again",
                        without_position(&error),
                        counted(self.read, "whole record")
                    ),
                }
                .into()
            }
            Category::Data => ReadError::Field {
                index: self.read,
                field: self.path.unwrap_or_default(),
                reason: without_position(&error),
            },
            Category::Io => ReadError::Io(error.into()),
        }
    }
}

/// One record; on failure the path of the field is left in the state.
struct NextRecord<'a> {
    state: &'a mut ReadState,
}

impl<'de> DeserializeSeed<'de> for NextRecord<'_> {
    type Value = RawRecord;

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<RawRecord, D::Error> {
        let mut track = Track::new();
        RawRecord::deserialize(serde_path_to_error::Deserializer::new(json, &mut track))
            .inspect_err(|_| {
                self.state.path = Some(track.path().to_string());
            })
    }
}

/// The elements of the top-level array.
struct RecordList<'a, 'b> {
    state: &'a mut ReadState,
    sink: Sink<'b>,
}

impl<'de> Visitor<'de> for RecordList<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an array of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(record) = seq.next_element_seed(NextRecord { state: self.state })? {
            self.state.take(record, self.sink)?;
        }
        Ok(())
    }
}

/// The message without serde_json's ` at line 3 column 14`.
fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message
        .rfind(" at line ")
        .and_then(|end| message.get(..end))
        .unwrap_or(&message)
        .to_owned()
}

/// Hashes what passes through.
struct HashingReader<R> {
    inner: R,
    hasher: blake3::Hasher,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buffer)?;
        if let Some(read) = buffer.get(..n) {
            self.hasher.update(read);
        }
        Ok(n)
    }
}
