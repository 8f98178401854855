//! Reads the questions from their CSV file.

use std::collections::HashSet;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use serde::Deserialize;
use serde_json::{Number, Value};

use finqa_core::text::counted;

use super::EnvError;

/// One question of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct EnvQuestion {
    /// `id` column, as written; the row number from 1 if the column is missing.
    #[serde(default)]
    pub id: String,
    /// The `user_query` column: the text that an agent is asked.
    #[serde(rename = "user_query")]
    pub question: String,
    /// The company whose tables contain the answer.
    pub company: String,
    /// The expected answer, usually `\boxed{...}`. Never shown before the episode is over.
    pub answer: String,
    /// `explanation` column, or empty. `env build` writes the gold program here.
    #[serde(default)]
    pub explanation: String,
    /// The `typed_answer` column, or empty. `env build` writes the gold answer here, in the
    /// dataset's printed form.
    #[serde(default)]
    pub typed_answer: String,
    /// `exe_ans` column, or empty. `env build` writes the result of the gold program here.
    #[serde(default)]
    pub exe_ans: String,
    /// `difficulty` column, or empty: a number, higher for harder questions. `env build` writes
    /// the number of steps of the gold program.
    #[serde(default)]
    pub difficulty: String,
    /// `group` column, or empty: a name that related questions share.
    #[serde(default)]
    pub group: String,
    /// The `question_type` column of OpenEnv's data, or empty. It is the group if `group` is empty.
    #[serde(default)]
    pub question_type: String,
}

impl EnvQuestion {
    /// The `difficulty` and the `group` of the task, if the file has them. OpenEnv's RFC 013
    /// defines both for samplers.
    pub(crate) fn task_keys(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let mut groups = [&self.group, &self.question_type].into_iter();
        let group = groups.find(|text| !text.trim().is_empty());
        let pairs = [
            (
                "difficulty",
                difficulty(&self.difficulty).map(Value::Number),
            ),
            ("group", group.map(|text| text.trim().into())),
        ];
        pairs
            .into_iter()
            .filter_map(|(key, value)| Some((key, value?)))
    }
}

/// Reads a difficulty; `None` if it is not a number in JSON's syntax.
fn difficulty(text: &str) -> Option<Number> {
    serde_json::from_str(text.trim()).ok()
}

/// The question in a `user_query`, without the introduction
/// `For company ..., here is the question:`, which the benchmark and `convfinqa env build` write.
pub fn bare_question(user_query: &str) -> &str {
    let (_, question) = user_query
        .split_once("here is the question:")
        .unwrap_or(("", user_query));
    question.trim()
}

/// Reads the questions. The second list has a line for each problem, such as a row that cannot be
/// asked.
///
/// Cells stay texts. OpenEnv's reader would turn an answer `None` into a missing value and `007`
/// into the number 7.
///
/// # Errors
/// If the file is not CSV or lacks a required column.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<(Vec<EnvQuestion>, Vec<String>), EnvError> {
    let damaged = |reason: String| EnvError::Data {
        path: path.to_owned(),
        reason,
    };
    let unread = |error: csv::Error| damaged(error.to_string());
    // A byte order mark would become part of the first column name.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = ReaderBuilder::new()
        // A row with too few or too many fields is reported below, so it must not end the reading.
        .flexible(true)
        .trim(Trim::Headers)
        .from_reader(bytes);
    // If two columns have the same name, the first one counts, as in pandas.
    let mut named = HashSet::new();
    let given = reader.headers().map_err(unread)?.clone();
    let once = given
        .iter()
        .map(|name| if named.insert(name) { name } else { "" });
    let headers: StringRecord = once.collect();
    let is_there = |name: &str| headers.iter().any(|header| header == name);
    if let Some(name) = REQUIRED.iter().find(|name| !is_there(name)) {
        return Err(damaged(format!("there is no column `{name}`")));
    }
    let (mut questions, mut problems) = (Vec::new(), Vec::new());
    for (i, record) in reader.records().enumerate() {
        let record: StringRecord = record.map_err(unread)?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.len() != headers.len() {
            let (got, want) = (counted(record.len(), "field"), headers.len());
            let problem = format!("line {line}: {got} where the header has {want}");
            problems.push(problem);
            continue;
        }
        let mut question: EnvQuestion = record.deserialize(Some(&headers)).map_err(unread)?;
        if !is_there("id") {
            question.id = (i + 1).to_string();
        }
        let texts = [&question.question, &question.company, &question.answer];
        let mut columns = REQUIRED.iter().zip(&texts);
        if let Some((name, _)) = columns.find(|(_, text)| text.trim().is_empty()) {
            problems.push(format!("line {line}: `{name}` is empty"));
            continue;
        }
        let given = &question.difficulty;
        if !given.trim().is_empty() && difficulty(given).is_none() {
            let problem = format!("line {line}: the `difficulty` `{given}` is not a number");
            problems.push(problem);
        }
        questions.push(question);
    }
    Ok((questions, problems))
}

/// The columns without which a question cannot be asked or graded.
const REQUIRED: [&str; 3] = ["user_query", "company", "answer"];
