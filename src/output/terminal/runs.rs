//! The list of runs: plain columns, so that an id is never broken in two.

use crate::run::{RunMeta, RunStage, RunState};

use super::style::harmless;

const HEADER: [&str; 5] = ["run", "started", "model", "done", "status"];

/// The runs with id, time, model, questions answered and progress, one line each.
pub(crate) fn runs_list(runs: &[(String, Result<RunState, String>)]) -> String {
    let rows: Vec<_> = runs.iter().map(|(id, state)| row(id, state)).collect();
    columns(&rows)
}

fn columns(runs: &[[String; HEADER.len()]]) -> String {
    let header = HEADER.map(str::to_owned);
    let rows: Vec<_> = std::iter::once(&header).chain(runs).collect();
    let mut widths = [0; HEADER.len()];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(*row) {
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

fn row(id: &str, state: &Result<RunState, String>) -> [String; HEADER.len()] {
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
                meta.progress(*answered),
                status(stage, meta),
            ]
        }
        Err(error) => {
            let error = harmless(error).into_owned();
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

fn status(stage: &RunStage, meta: &RunMeta) -> String {
    match stage {
        RunStage::Unfinished if meta.merged.is_some() => "merged, questions missing".to_owned(),
        RunStage::Unfinished if let Some(limit) = meta.paused => {
            format!("paused at {}", limit.option())
        }
        RunStage::Running(holder) => format!("running ({holder})"),
        RunStage::Unfinished => "unfinished".to_owned(),
        RunStage::Unwritten => "answered, files missing".to_owned(),
        RunStage::Finished => "finished".to_owned(),
    }
}
