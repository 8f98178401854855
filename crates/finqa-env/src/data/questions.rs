//! The questions' CSV.

use std::collections::HashSet;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use serde::Deserialize;

use super::EnvError;

/// One question of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct EnvQuestion {
    /// `id` column, as written; the row number from 1 if the column is missing.
    #[serde(default)]
    pub id: String,
    /// `user_query` column: what an agent is asked.
    #[serde(rename = "user_query")]
    pub question: String,
    /// The company whose tables answer it.
    pub company: String,
    /// The expected answer, usually `\boxed{...}`. Never shown before the episode is over.
    pub answer: String,
    /// `explanation` column, or empty. The gold program in an environment built
    /// from `ConvFinQA`.
    #[serde(default)]
    pub explanation: String,
    /// `typed_answer` column, or empty: the gold answer as the dataset writes it, in
    /// an environment built from `ConvFinQA`.
    #[serde(default)]
    pub typed_answer: String,
    /// `exe_ans` column, or empty: the result of the gold program, likewise.
    #[serde(default)]
    pub exe_ans: String,
}

/// The question of a `user_query` without the introduction `For company ..., here
/// is the question:`, which the benchmark and `convfinqa env build` write.
pub fn bare_question(user_query: &str) -> &str {
    let (_, question) = user_query
        .split_once("here is the question:")
        .unwrap_or(("", user_query));
    question.trim()
}

/// Reads the questions; the second list names the rows that cannot be asked.
///
/// Cells are kept as text: an answer `None` or `007` is a missing value or a number
/// only to OpenEnv's reader.
///
/// # Errors
/// If the file is not CSV or lacks a required column.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<(Vec<EnvQuestion>, Vec<String>), EnvError> {
    let damaged = |reason: String| EnvError::Data {
        path: path.to_owned(),
        reason,
    };
    let unread = |error: csv::Error| damaged(error.to_string());
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .trim(Trim::Headers)
        .from_reader(bytes);
    // As for pandas, the first of two columns with one name has it.
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
            let (got, want) = (record.len(), headers.len());
            let problem = format!("line {line}: {got} fields where the header has {want}");
            problems.push(problem);
            continue;
        }
        let mut question: EnvQuestion = record.deserialize(Some(&headers)).map_err(unread)?;
        if !is_there("id") {
            question.id = (i + 1).to_string();
        }
        let texts = [&question.question, &question.company, &question.answer];
        let mut columns = REQUIRED.iter().zip(&texts);
        match columns.find(|(_, text)| text.trim().is_empty()) {
            Some((name, _)) => problems.push(format!("line {line}: `{name}` is empty")),
            None => questions.push(question),
        }
    }
    Ok((questions, problems))
}

/// The columns of the fields that a question needs: what is asked, whom about, and the answer.
const REQUIRED: [&str; 3] = ["user_query", "company", "answer"];
