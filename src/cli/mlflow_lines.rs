//! Lines for the user about the delivery of a run to MLflow.

use finqa_journal::run::command;
use finqa_report::output::mlflow::{DeliveredRun, MlflowError};
use finqa_report::output::terminal::TerminalWriter;
use finqa_run::pipeline::RunResults;

/// A line for each part of a run that the server did not store.
pub(crate) fn shortfall_lines(delivered: &DeliveredRun) -> impl Iterator<Item = String> {
    let lines = delivered.shortfalls.iter();
    lines.map(|line| format!("MLflow: not delivered: {line}"))
}

/// Prints the run's address on the tracking server. If something is missing there, prints what it
/// is and the command that sends it.
pub(super) fn print(
    writer: &TerminalWriter,
    results: &RunResults,
    sent: &Result<DeliveredRun, MlflowError>,
) {
    match sent {
        Ok(delivered) => {
            writer.say(&format!("MLflow: {}", delivered.page));
            shortfall_lines(delivered).for_each(|line| writer.warn(&line));
        }
        Err(error) => {
            let sync = format!("track sync {}", results.summary.run.id);
            let sync = command(&sync, results.folder.output());
            writer.warn(&format!(
                "MLflow: {error}; this run was not sent in full; `{sync}` sends the rest"
            ));
        }
    }
}
