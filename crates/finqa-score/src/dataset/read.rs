//! Splits a file into records. The file is a JSON array, a sequence of records (JSONL), or an
//! object of arrays, which are the splits of the cleaned file.
//!
//! Each record is parsed and passed on before the next one is read, because most of a published
//! file consists of fields that nothing uses.

use finqa_core::text::{line_of, one_line};
use serde::Deserialize;
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::assemble::record_name;
use super::keys::UnreadKeys;
use super::raw::{RawRecord, Scalar};
use super::{DatasetError, Pairs};

/// Maximum size of a record's JSON in bytes, set by hand: hundreds of times that of a published one.
/// The limit exists because a run needs a multiple of this memory, for the typed cells of the page
/// and an index of its words.
const LARGEST: usize = 4 * 1024 * 1024;

/// Maximum number of characters of a wrong value in an error, set by hand.
const LONGEST_VALUE: usize = 60;

/// Passes the records of a file, or of one of its splits, to `sink`, each with its number (from 1)
/// and as an error if it cannot be read. Stops at the first error that `sink` returns. Returns the
/// keys that nothing reads.
pub(super) fn records(
    origin: &str,
    bytes: &[u8],
    split: Option<&str>,
    sink: &mut dyn FnMut(usize, Result<RawRecord, DatasetError>) -> Result<(), DatasetError>,
) -> Result<UnreadKeys, DatasetError> {
    let json = json(origin, bytes)?;
    let whole = |error: serde_json::Error| not_whole(origin, json, &error);
    let mut unread = UnreadKeys::default();
    let mut numbers = 1..;
    let mut add = |text: &RawValue| {
        let number = numbers.next().unwrap_or_default();
        sink(number, record(origin, number, text, &mut unread))
    };
    if let Some(splits) = splits(json) {
        let names: Vec<&str> = splits.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(split) = split.filter(|split| !names.contains(split)) {
            return Err(DatasetError::NoSplit {
                origin: origin.to_owned(),
                split: split.to_owned(),
                names: names.join(", "),
            });
        }
        let named = splits.iter();
        let named = named.filter(|(name, _)| split.is_none_or(|split| name == split));
        named
            .flat_map(|(_, records)| records)
            .try_for_each(|text| add(text))?;
        return Ok(unread);
    }
    if let Some(split) = split {
        return Err(DatasetError::NoSplits {
            origin: origin.to_owned(),
            split: split.to_owned(),
        });
    }
    if json.first() == Some(&b'[') {
        let records: Vec<&RawValue> = serde_json::from_slice(json).map_err(whole)?;
        records.into_iter().try_for_each(add)?;
    } else {
        let mut records = serde_json::Deserializer::from_slice(json).into_iter::<&RawValue>();
        records.try_for_each(|text| add(text.map_err(whole)?))?;
    }
    Ok(unread)
}

/// The splits of a file that is a single object of lists of records, `{"train": […], "dev": […]}`;
/// `None` for any other file.
fn splits(json: &[u8]) -> Option<Vec<(String, Vec<&RawValue>)>> {
    let Pairs::<&RawValue>(lists) = serde_json::from_slice(json).ok()?;
    let lists = lists.into_iter().map(|(name, list)| {
        let records: Vec<&RawValue> = serde_json::from_str(list.get()).ok()?;
        let are_objects = records.iter().all(|record| record.get().starts_with('{'));
        are_objects.then_some((name, records))
    });
    lists
        .collect::<Option<Vec<_>>>()
        .filter(|lists| !lists.is_empty())
}

/// The JSON of a file, without a byte order mark and leading white space. An error if the file is
/// empty or begins like anything but JSON.
fn json<'b>(origin: &str, bytes: &'b [u8]) -> Result<&'b [u8], DatasetError> {
    let not_json = |reason: String| DatasetError::NotJson {
        origin: origin.to_owned(),
        reason,
    };
    match bytes {
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] => {
            return Err(not_json("it is UTF-16 text; save it as UTF-8".to_owned()));
        }
        // The first bytes of ZIP and of gzip.
        [b'P', b'K', 3, 4, ..] | [0x1F, 0x8B, ..] => {
            let reason = "it is a packed file; unpack it and name a .json file";
            return Err(not_json(reason.to_owned()));
        }
        _ => {}
    }
    // A byte order mark is not JSON.
    let json = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let json = json.trim_ascii_start();
    match json.first() {
        Some(b'[' | b'{') => Ok(json),
        None => Err(DatasetError::Empty {
            origin: origin.to_owned(),
        }),
        Some(byte) => Err(not_json(format!(
            "it starts with {:?}; expected a JSON array `[…]` of records, or one JSON object `{{…}}` per line",
            char::from(*byte)
        ))),
    }
}

/// Reads the record with this `number`. An error if it is too large, if a field has the wrong type,
/// or if an unknown key resembles a known one. Other unknown keys are noted in `unread`.
fn record(
    origin: &str,
    number: usize,
    text: &RawValue,
    unread: &mut UnreadKeys,
) -> Result<RawRecord, DatasetError> {
    let wrong = |field: String, reason: String| DatasetError::Record {
        origin: origin.to_owned(),
        record: record_name(number, &id_of(text)),
        field,
        reason,
    };
    let size = text.get().len();
    if size > LARGEST {
        let mib = |bytes: usize| bytes.div_ceil(1024 * 1024);
        let (size, largest) = (mib(size), mib(LARGEST));
        let reason = format!("it has {size} MiB; at most {largest} are read, so split its page");
        return Err(wrong(".".to_owned(), reason));
    }
    let mut json = serde_json::Deserializer::from_str(text.get());
    let mut track = serde_path_to_error::Track::new();
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let mut paths = Vec::new();
    let record = serde_ignored::deserialize(tracked, |path| paths.push(path.to_string()));
    let record: RawRecord = record.map_err(|error| {
        let reason = in_words(&without_position(&error));
        wrong(
            track.path().to_string(),
            format!("{reason}; fix the field or drop the record"),
        )
    })?;
    let mistyped = |(path, known)| wrong(path, format!("is not known; did you mean `{known}`?"));
    unread.note(paths, text).map_err(mistyped)?;
    Ok(record)
}

/// The id of a record that cannot be read; empty if it has none.
fn id_of(record: &RawValue) -> String {
    #[derive(Deserialize)]
    struct WithId {
        id: Option<Scalar>,
    }
    let record: Option<WithId> = serde_json::from_str(record.get()).ok();
    let id = record.and_then(|record| record.id);
    let id = id.map(Scalar::into_text).unwrap_or_default();
    id.trim().to_owned()
}

/// What serde says of a field of the wrong type, in the words of JSON:
/// `invalid type: map, expected a sequence` is `is an object where a list is expected`.
fn in_words(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return match message.strip_prefix("duplicate field ") {
            Some(field) => format!("has {field} twice"),
            None => message.to_owned(),
        };
    };
    let (_, found) = found.split_once(": ").unwrap_or(("", found));
    let found = match found {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        text if text.starts_with("string ") => text.replacen("string", "the text", 1),
        // A record may be written as a list of its fields in their order.
        text if text.starts_with("invalid length") => "a list".to_owned(),
        // serde encloses numbers, true and false in backticks, after the name of their type.
        value => value.split('`').nth(1).unwrap_or(value).to_owned(),
    };
    let expected = match expected {
        "a sequence" => "a list",
        "a string" => "a text",
        "usize" => "a whole number",
        other => other,
    };
    format!(
        "is {} where {expected} is expected",
        one_line(&found, LONGEST_VALUE)
    )
}

/// The error for a file that is cut off, is not UTF-8 or is not JSON.
fn not_whole(origin: &str, json: &[u8], error: &serde_json::Error) -> DatasetError {
    let origin = origin.to_owned();
    if let Some(line) = not_utf8(json) {
        let reason = format!("it is not UTF-8 at line {line}; save it as UTF-8");
        return DatasetError::NotJson { origin, reason };
    }
    let (line, column) = (error.line(), error.column());
    match error.classify() {
        Category::Eof => DatasetError::Truncated {
            origin,
            line,
            column,
        },
        _ => DatasetError::NotJson {
            origin,
            reason: format!(
                "{} at line {line}, column {column}; correct the file or fetch it again",
                without_position(error)
            ),
        },
    }
}

/// The line of the first byte that is not UTF-8; `None` if there is no such byte. A character that
/// is cut off at the end does not count.
fn not_utf8(bytes: &[u8]) -> Option<usize> {
    let error = std::str::from_utf8(bytes).err()?;
    error.error_len()?;
    Some(line_of(bytes, error.valid_up_to()))
}

/// The message without the position that serde_json appends, ` at line 3 column 14`.
fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message.get(..end).unwrap_or(&message).to_owned()
}
