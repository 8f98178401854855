//! The list of runs (`runs`), in plain columns without wrapping, so that an id is never broken.

use comfy_table::{ContentArrangement, Table, presets};

use finqa_journal::run::{RunMeta, RunStage, RunState};

use super::style::harmless;

/// The runs, one line each: id, start, model, questions answered and status.
pub fn runs_list(runs: &[(String, Result<RunState, String>)]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["run", "started", "model", "done", "status"]);
    table.add_rows(runs.iter().map(|(id, state)| row(id, state)));
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
    table.trim_fmt()
}

fn row(id: &str, state: &Result<RunState, String>) -> [String; 5] {
    let cells = match state {
        Ok(state) => {
            let meta = &state.meta;
            // Only to the minute, so that a line fits 80 columns.
            let started = meta.started.get(..16).unwrap_or(&meta.started);
            // A prefix of the id names a run. For a UUID it is shortened to its time and four more
            // digits.
            let named = id.get(..18).filter(|_| id.len() == 36);
            [
                named.unwrap_or(id).to_owned(),
                format!("{started}Z"),
                meta.model().to_owned(),
                meta.progress(state.answered),
                status(&state.stage, meta),
            ]
        }
        Err(error) => {
            let error = format!("unreadable: {error}");
            [id, "-", "-", "-", &error].map(str::to_owned)
        }
    };
    cells.map(|cell| harmless(&cell).into_owned())
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
