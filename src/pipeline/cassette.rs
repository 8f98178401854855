//! The cassette of a run: which run it is of, and what of the run's files depends on the
//! clock.

use serde::Deserialize;

use crate::run::{Event, RunMeta};
use crate::settings::{Settings, with_effects_of};
use finqa_agents::llm::{Cassette, CassetteReplay, RecordedRow};

use super::PipelineError;
use super::resume::stored_settings;

/// The run that was recorded; `None` for a cassette of a command without runs.
pub(crate) fn recorded_run(replay: &CassetteReplay) -> Result<Option<RunMeta>, PipelineError> {
    let run = replay.run().map(RunMeta::deserialize).transpose();
    run.map_err(|source| PipelineError::CassetteRun {
        path: replay.path().to_owned(),
        source,
    })
}

/// The settings of a replay: the recorded run's, and `now` for what affects no answer, such
/// as where results go.
pub(crate) fn replay_settings(
    recorded: &RunMeta,
    now: &Settings,
) -> Result<toml::Table, PipelineError> {
    Ok(with_effects_of(
        toml::Table::try_from(now)?,
        stored_settings(recorded),
    ))
}

/// Checks that a replayed run is the recorded one, and gives it the recording's id and
/// start.
pub(super) fn apply_recording(
    cassette: Option<&Cassette>,
    meta: RunMeta,
) -> Result<RunMeta, PipelineError> {
    let Some(replay) = cassette.and_then(Cassette::replay) else {
        return Ok(meta);
    };
    let other = |difference| PipelineError::OtherCassette {
        path: replay.path().to_owned(),
        difference,
    };
    let Some(recorded) = recorded_run(replay)? else {
        return Err(other("it holds the calls of `ask`".to_owned()));
    };
    if recorded.kind() != meta.kind() {
        let command = recorded.kind().command();
        return Err(other(format!("it was recorded by `{command}`")));
    }
    if recorded.model() != meta.model() {
        let [was, now] = [&recorded, &meta].map(RunMeta::model);
        return Err(other(format!("--model was {was}, now {now}")));
    }
    if recorded.identity.data != meta.identity.data {
        return Err(other(match recorded.data == meta.data {
            true => format!("the data in {} have changed since", meta.data),
            false => format!("the data were {}, now {}", recorded.data, meta.data),
        }));
    }
    Ok(meta.replaying(recorded))
}

/// Checks that a resumed run is the one that the cassette records.
pub(super) fn check_same_run(
    cassette: Option<&Cassette>,
    meta: &RunMeta,
) -> Result<(), PipelineError> {
    let Some(recorder) = cassette.and_then(Cassette::recorder) else {
        return Ok(());
    };
    let id = recorder.run().and_then(|run| run.get("id"));
    if id.and_then(serde_json::Value::as_str) == Some(&meta.id) {
        return Ok(());
    }
    Err(PipelineError::OtherCassette {
        path: recorder.path().to_owned(),
        difference: format!("it is not the recording of run {}", meta.id),
    })
}

/// Writes the description of a new run to its cassette.
pub(super) fn record_run(cassette: Option<&Cassette>, meta: &RunMeta) {
    if let Some(recorder) = cassette.and_then(Cassette::recorder) {
        let meta = RunMeta {
            // A path of this machine.
            data_file: None,
            ..meta.clone()
        };
        recorder.begin(serde_json::to_value(meta).ok());
    }
}

/// Writes the latency and the timestamp of an answer to the cassette.
pub(super) fn record_event(cassette: Option<&Cassette>, event: &Event) {
    if let Some(recorder) = cassette.and_then(Cassette::recorder)
        && let Event::Answered { row, .. } = event
        && let (Some(latency), Some(stamp)) = (row.latency, row.stamp)
    {
        recorder.row(RecordedRow {
            index: row.index,
            latency,
            ordinal: stamp.ordinal,
            at: stamp.at,
        });
    }
}
