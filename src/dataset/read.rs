//! Reads a JSON array, or JSON records one after the other (JSONL).
//!
//! A record is parsed and handed on before the next one, because the fields that are passed over
//! are most of a published file.

use serde_json::error::Category;
use serde_json::value::RawValue;

use super::DatasetError;
use super::assemble::record_name;
use super::raw::RawRecord;

/// Feeds every record of a file to `sink`, whose error stops the reading.
pub(super) fn records(
    origin: &str,
    bytes: &[u8],
    sink: &mut dyn FnMut(RawRecord) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let json = json(origin, bytes)?;
    let whole = |error: serde_json::Error| not_whole(origin, &error);
    if json.first() == Some(&b'[') {
        let records: Vec<&RawValue> = serde_json::from_slice(json).map_err(whole)?;
        let mut numbered = (1..).zip(records);
        return numbered.try_for_each(|(number, text)| sink(record(origin, number, text)?));
    }
    let records = serde_json::Deserializer::from_slice(json).into_iter::<&RawValue>();
    let mut numbered = (1..).zip(records);
    numbered.try_for_each(|(number, text)| sink(record(origin, number, text.map_err(whole)?)?))
}

/// The JSON of a file, without what comes before it.
fn json<'b>(origin: &str, bytes: &'b [u8]) -> Result<&'b [u8], DatasetError> {
    let not_json = |reason: String| DatasetError::NotJson {
        origin: origin.to_owned(),
        reason,
    };
    match bytes {
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] => {
            return Err(not_json("it is UTF-16 text; save it as UTF-8".to_owned()));
        }
        [b'P', b'K', 3, 4, ..] | [0x1F, 0x8B, ..] => {
            let reason = "it is a packed file; unpack it and name a .json file";
            return Err(not_json(reason.to_owned()));
        }
        _ => {}
    }
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

fn record(origin: &str, number: usize, text: &RawValue) -> Result<RawRecord, DatasetError> {
    let mut json = serde_json::Deserializer::from_str(text.get());
    serde_path_to_error::deserialize(&mut json).map_err(|error| DatasetError::Record {
        origin: origin.to_owned(),
        record: record_name(number, ""),
        field: error.path().to_string(),
        reason: format!(
            "{}; fix the field or drop the record",
            without_position(error.inner())
        ),
    })
}

/// The error of a file that is cut off, or is not JSON.
fn not_whole(origin: &str, error: &serde_json::Error) -> DatasetError {
    let origin = origin.to_owned();
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

/// The message without serde_json's ` at line 3 column 14`.
fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message.get(..end).unwrap_or(&message).to_owned()
}
