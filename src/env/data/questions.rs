//! The questions' CSV.

use std::path::Path;

use super::EnvError;

/// One question of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvQuestion {
    /// `id` column, as written; the row number from 1 where there is none.
    pub id: String,
    /// `user_query` column: what an agent is asked.
    pub question: String,
    /// The company whose tables answer it.
    pub company: String,
    /// The truth, usually `\boxed{...}`. Never shown before the episode is over.
    pub answer: String,
    /// `question_type` column; empty where there is none.
    pub question_type: String,
    /// `explanation` column; empty where there is none.
    pub explanation: String,
}

impl EnvQuestion {
    /// No question: what a session shows before its first reset.
    pub const EMPTY: Self = Self {
        id: String::new(),
        question: String::new(),
        company: String::new(),
        answer: String::new(),
        question_type: String::new(),
        explanation: String::new(),
    };
}

/// Reads the questions; the second list names the rows that cannot be asked.
///
/// Cells are texts as they stand: an answer `None` or `007` is no missing value
/// and no number here, as it is to the reference's reader.
///
/// # Errors
/// If the file is no CSV or lacks a column that is needed.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<(Vec<EnvQuestion>, Vec<String>), EnvError> {
    let damaged = |reason: String| EnvError::Questions {
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
    let (id, kind, explanation) = (column("id"), column("question_type"), column("explanation"));
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
            question_type: cell(kind),
            explanation: cell(explanation),
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
