//! The leaderboard's file: every question's predicted program as tokens.

use std::path::Path;

use serde::Serialize;

use crate::number::{Value, round5};
use crate::program::tokens::tokenise;
use crate::run::{Journal, Mode, Row};

use super::folder::{SinkError, write_atomic};

#[derive(Serialize)]
struct Prediction {
    id: String,
    predicted: Vec<String>,
}

/// Writes the predictions of a run's first pass from its journal, in its order.
///
/// # Errors
/// [`SinkError`] if the journal cannot be read or the file not be written.
pub fn write_leaderboard(path: &Path, journal: &Journal) -> Result<(), SinkError> {
    let mut predictions = Vec::new();
    journal.for_each_row(|row| {
        // The leaderboard takes one prediction a question.
        if row.epoch == 0 {
            predictions.push(Prediction {
                id: id(&row),
                predicted: tokenise(&program(&row)),
            });
        }
    })?;
    write_atomic(path, |file| {
        serde_json::to_writer(&mut *file, &predictions)
            .map_err(std::io::Error::from)
            .and_then(|()| file.write_all(b"\n"))
            .map_err(|source| SinkError::Write {
                path: path.to_owned(),
                source,
            })
    })
}

/// A turn's id is its conversation's with the turn behind it, as in the
/// published turn files; the two questions of a Double are told apart alike.
fn id(row: &Row) -> String {
    match (row.mode, row.key.part.as_str()) {
        (Mode::Questions, "qa") => row.key.id.clone(),
        (_, part) => format!("{}_{part}", row.key.id),
    }
}

/// The program; an answer without one is its own value, no answer is empty.
fn program(row: &Row) -> String {
    let Some(answer) = &row.settled.answer else {
        return String::new();
    };
    match (&answer.program, &answer.value) {
        (Some(program), _) => program.clone(),
        (None, Some(Value::Number(number))) => round5(*number).to_string(),
        (None, Some(Value::Text(word))) => word.clone(),
        (None, None) => String::new(),
    }
}
