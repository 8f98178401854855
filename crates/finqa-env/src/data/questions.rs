//! The questions' CSV.

use std::path::Path;

use super::EnvError;

/// One question of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvQuestion {
    /// `id` column, as written; the row number from 1 if the column is missing.
    pub id: String,
    /// `user_query` column: what an agent is asked.
    pub question: String,
    /// The company whose tables answer it.
    pub company: String,
    /// The expected answer, usually `\boxed{...}`. Never shown before the episode is over.
    pub answer: String,
    /// `explanation` column, or empty. The gold program in an environment built
    /// from `ConvFinQA`.
    pub explanation: String,
    /// `typed_answer` column, or empty: the gold answer as the dataset writes it, in
    /// an environment built from `ConvFinQA`.
    pub typed_answer: String,
    /// `exe_ans` column, or empty: the result of the gold program, likewise.
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
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let headers = reader
        .headers()
        .map_err(|e| damaged(e.to_string()))?
        .clone();
    let column = |name: &str| headers.iter().position(|h| h.trim() == name);
    let needed = |name: &str| {
        let reason = || damaged(format!("there is no column `{name}`"));
        column(name).ok_or_else(reason)
    };
    let (asked, company, answer) = (needed("user_query")?, needed("company")?, needed("answer")?);
    let (id, explanation) = (column("id"), column("explanation"));
    let (typed_answer, exe_ans) = (column("typed_answer"), column("exe_ans"));
    let (mut questions, mut problems) = (Vec::new(), Vec::new());
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|e| damaged(e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).unwrap_or("").to_owned();
        let question = EnvQuestion {
            id: id.map_or_else(|| (i + 1).to_string(), |at| cell(Some(at))),
            question: cell(Some(asked)),
            company: cell(Some(company)),
            answer: cell(Some(answer)),
            explanation: cell(explanation),
            typed_answer: cell(typed_answer),
            exe_ans: cell(exe_ans),
        };
        let missing = [
            ("user_query", &question.question),
            ("company", &question.company),
            ("answer", &question.answer),
        ]
        .into_iter()
        .find(|(_, text)| text.trim().is_empty());
        if record.len() != headers.len() {
            let (got, want) = (record.len(), headers.len());
            problems.push(format!(
                "line {line}: {got} fields where the header has {want}"
            ));
        } else if let Some((name, _)) = missing {
            problems.push(format!("line {line}: `{name}` is empty"));
        } else {
            questions.push(question);
        }
    }
    Ok((questions, problems))
}
