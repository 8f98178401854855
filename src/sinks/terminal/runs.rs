//! The list of runs: plain columns, so that an id is never broken in two.

use crate::sinks::{RunState, SinkError, Stage};

use super::look::harmless;

const HEADER: [&str; 5] = ["run", "started", "model", "answered", "status"];

/// The runs with id, time, model, questions answered, and how far they are, a
/// line each.
#[must_use]
pub fn runs_list(runs: &[(String, Result<RunState, SinkError>)]) -> String {
    let header = HEADER.map(str::to_owned);
    let rows: Vec<_> = std::iter::once(header)
        .chain(runs.iter().map(|(id, state)| row(id, state)))
        .collect();
    let mut widths = [0; HEADER.len()];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn row(id: &str, state: &Result<RunState, SinkError>) -> [String; HEADER.len()] {
    match state {
        Ok(RunState {
            meta,
            answered,
            stage,
        }) => {
            // Seconds are enough to tell runs apart.
            let started = meta.started.get(..19).unwrap_or(&meta.started);
            [
                harmless(id).into_owned(),
                format!("{started}Z"),
                harmless(meta.model()).into_owned(),
                format!("{answered}/{}", meta.total),
                status(stage),
            ]
        }
        Err(error) => {
            let error = harmless(&error.to_string()).into_owned();
            let unknown = || "-".to_owned();
            [
                harmless(id).into_owned(),
                unknown(),
                unknown(),
                unknown(),
                format!("unreadable: {error}"),
            ]
        }
    }
}

fn status(stage: &Stage) -> String {
    match stage {
        Stage::Running(holder) => format!("running ({holder})"),
        Stage::Unfinished => "unfinished".to_owned(),
        Stage::Unwritten => "answered, files missing".to_owned(),
        Stage::Finished => "finished".to_owned(),
    }
}
