//! The list of runs: plain columns, so that an id is never broken in two.

use std::collections::HashSet;

use crate::run::{RunMeta, RunStage, RunState};
use finqa_agents::llm::BudgetLimit;

use super::style::harmless;
use finqa_core::text::head;

const HEADER: [&str; 5] = ["run", "started", "model", "done", "status"];

/// The runs with id, time, model, questions answered and progress, one line each. If whole
/// ids do not fit into `width` columns, prefixes that distinguish them are shown, which are
/// also valid names.
pub(crate) fn runs_list(runs: &[(String, Result<RunState, String>)], width: usize) -> String {
    let rows: Vec<_> = runs.iter().map(|(id, state)| row(id, state)).collect();
    let whole = columns(&rows);
    let widest = whole.lines().map(|line| line.chars().count()).max();
    match widest > Some(width) {
        true => columns(&with_short_ids(rows)),
        false => whole,
    }
}

/// The part of an id that holds the time in milliseconds. Runs that start later share it with
/// none of those listed, so that a script can store it.
const SHORTEST_ID: usize = 13;

fn with_short_ids(mut rows: Vec<[String; HEADER.len()]>) -> Vec<[String; HEADER.len()]> {
    // A name that the user gave stays whole.
    let start = |id: &str, length| match uuid::Uuid::parse_str(id) {
        Ok(_) => head(id, length).to_owned(),
        Err(_) => id.to_owned(),
    };
    let longest = rows.iter().map(|[id, ..]| id.len()).max();
    let distinct = |length: &usize| {
        let starts: HashSet<_> = rows.iter().map(|[id, ..]| start(id, *length)).collect();
        starts.len() == rows.len()
    };
    let length = (SHORTEST_ID..longest.unwrap_or(0)).find(distinct);
    if let Some(length) = length {
        for [id, ..] in &mut rows {
            *id = start(id, length);
        }
    }
    rows
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_cut_to_the_start_that_tells_the_runs_apart() {
        let ids = [
            "019a0000-0001-7000-8000-000000000001", "019a0000-0002-7000-8000-000000000002",
            "a-run-of-shards.shards",
        ];
        let rows = ids.map(|id| {
            let cells = ["2026-01-01T00:00:00Z", "gpt-4o-mini", "421/421", "finished"];
            let [started, model, done, status] = cells.map(str::to_owned);
            [id.to_owned(), started, model, done, status]
        });
        let list = columns(&with_short_ids(rows.to_vec()));
        let starts: Vec<_> = list
            .lines()
            .filter_map(|line| line.split(' ').next())
            .collect();
        assert_eq!(
            starts,
            [
                "run", "019a0000-0001", "019a0000-0002", "a-run-of-shards.shards"
            ]
        );
        assert!(list.lines().all(|line| line.len() <= 80), "{list}");
    }
}
