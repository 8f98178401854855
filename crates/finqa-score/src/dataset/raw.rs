//! The fields of a record as they are in a file. They accept several JSON types, and nothing is
//! checked yet: `assemble` does that.
//!
//! Unknown fields are skipped, because the published files have whole HTML tables in `annotation`;
//! `keys` reports them. An `alias` is the name of a field in the cleaned file (see `cleaned`).

use serde::Deserialize;
use serde::de::{Deserializer, Error, Unexpected};
use serde_json::Value;

use super::Pairs;

/// A conversation record, or one turn of it.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a record (a JSON object)")]
pub(super) struct RawRecord {
    pub id: Option<Scalar>,
    pub filename: Option<String>,
    pub pre_text: Option<Vec<Scalar>>,
    pub post_text: Option<Vec<Scalar>>,
    pub table: Option<Vec<Vec<Scalar>>>,
    pub table_ori: Option<Vec<Vec<Scalar>>>,
    pub qa: Option<RawQa>,
    pub qa_0: Option<RawQa>,
    pub qa_1: Option<RawQa>,
    #[serde(alias = "dialogue")]
    pub annotation: Option<RawAnnotation>,
    /// The page in the cleaned file.
    pub doc: Option<CleanedPage>,
}

/// The page of a record in the cleaned file.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a page (a JSON object)")]
pub(super) struct CleanedPage {
    pub pre_text: Option<Prose>,
    pub post_text: Option<Prose>,
    pub table: Option<Pairs<Pairs<Scalar>>>,
}

/// The text before or after a table.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "must be a text or a list of sentences")]
pub(super) enum Prose {
    Text(String),
    Sentences(Vec<Scalar>),
}

/// A stand-alone question.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a stand-alone question (a JSON object)")]
pub(super) struct RawQa {
    pub question: Option<String>,
    pub answer: Option<Scalar>,
    pub program: Option<String>,
    pub exe_ans: Option<Scalar>,
}

/// The conversation. `turn_ind` occurs only in files of single turns, which are refused.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "the conversation (a JSON object)")]
pub(super) struct RawAnnotation {
    #[serde(alias = "conv_questions")]
    pub dialogue_break: Option<Vec<String>>,
    pub turn_program: Option<Vec<Option<String>>>,
    #[serde(alias = "executed_answers")]
    pub exe_ans_list: Option<Vec<Scalar>>,
    pub qa_split: Option<Vec<Half>>,
    pub turn_ind: Option<usize>,
}

/// The half of a Double record to which a turn belongs.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged, expecting = "must be 0, 1, false or true")]
pub(super) enum Half {
    Number(u8),
    IsSecond(bool),
}

impl Half {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Number(number) => number,
            Self::IsSecond(second) => second.into(),
        }
    }
}

/// A JSON string, number or null, for fields in which the files have any of these.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Text(String),
    Number(f64),
    Null,
}

impl Scalar {
    /// The text of the scalar. A number is written in its shortest form, null as an empty text.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Number(x) => x.to_string(),
            Self::Null => String::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let unexpected = |found| D::Error::invalid_type(found, &"a text, a number or null");
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::Null),
            Value::String(text) => Ok(Self::Text(text)),
            Value::Number(n) => Ok(n.as_f64().map_or(Self::Null, Self::Number)),
            Value::Bool(value) => Err(unexpected(Unexpected::Bool(value))),
            Value::Array(_) => Err(unexpected(Unexpected::Seq)),
            Value::Object(_) => Err(unexpected(Unexpected::Map)),
        }
    }
}
