//! The list of runs: plain columns, so that an id is never broken in two.

use crate::run::{RunMeta, RunStage, RunState};
use finqa_agents::llm::BudgetLimit;

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

/// Of a run whose shards were merged before all were finished.
const MERGED_IN_PART: &str = "merged, questions missing";

fn status(stage: &RunStage, meta: &RunMeta) -> String {
    match stage {
        RunStage::Unfinished if meta.merged.is_some() => MERGED_IN_PART.to_owned(),
        RunStage::Unfinished if let Some(limit) = meta.paused => {
            format!("paused at {}", limit.option())
        }
        RunStage::Running(holder) => format!("running ({holder})"),
        RunStage::Unfinished => "unfinished".to_owned(),
        RunStage::Unwritten => "answered, files missing".to_owned(),
        RunStage::Finished => "finished".to_owned(),
        RunStage::Shards {
            finished,
            running,
            paused,
            interrupted,
            of,
        } => {
            let limit = meta.paused.map_or("a limit", BudgetLimit::option);
            let parts = [
                (running, "running".to_owned()),
                (paused, format!("paused at {limit}")),
                (interrupted, "interrupted".to_owned()),
            ];
            let parts = parts.into_iter().filter(|(count, _)| **count > 0);
            let parts: String = parts
                .map(|(count, what)| format!(", {count} {what}"))
                .collect();
            let merged = match (&meta.merged, running) {
                (Some(_), _) => format!(", {MERGED_IN_PART}"),
                (None, 0) => ", not merged".to_owned(),
                (None, _) => String::new(),
            };
            format!("{finished} of {of} shards finished{parts}{merged}")
        }
    }
}
