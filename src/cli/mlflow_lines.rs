//! Lines about a tracking server for the user.

use std::path::Path;

use crate::output::mlflow::{DeliveredRun, DeliveryOutcome};
use crate::output::terminal::TerminalWriter;
use crate::pipeline::RunResults;
use crate::run::command;

use super::run::RunDisplay;
use super::stdout;

/// The line with the run's address.
pub(crate) fn delivered_line(delivered: &DeliveredRun) -> String {
    format!("MLflow: {}", delivered.page)
}

/// Lines about undelivered parts of a run, and the command that sends them.
pub(crate) fn undelivered_lines(sent: &DeliveryOutcome, run: &str, output: &Path) -> Vec<String> {
    let sync = format!("`{}`", command(&format!("track sync {run}"), output));
    match sent {
        DeliveryOutcome::All(delivered) => shortfall_lines(delivered),
        DeliveryOutcome::Missing(Some(error)) => {
            vec![format!(
                "MLflow: {error}; this run was not sent in full; {sync} sends the rest"
            )]
        }
        DeliveryOutcome::Missing(None) => {
            vec![format!(
                "MLflow: this run was not sent in full; {sync} sends the rest once that is fixed"
            )]
        }
    }
}

/// The parts that a server could not store, one line each.
pub(crate) fn shortfall_lines(delivered: &DeliveredRun) -> Vec<String> {
    let lines = delivered.shortfalls.iter();
    lines
        .map(|line| format!("MLflow: not delivered: {line}"))
        .collect()
}

/// Prints the run's address on the tracking server, or what is missing there. With
/// `--json`, stdout holds only the results.
pub(super) fn print(
    writer: &TerminalWriter,
    results: &RunResults,
    sent: &DeliveryOutcome,
    shown: RunDisplay,
) {
    if let DeliveryOutcome::All(delivered) = sent
        && !shown.print.quiet
    {
        let line = delivered_line(delivered);
        if shown.print.json {
            writer.say(&line);
        } else {
            // Ignore write errors: the run itself succeeded.
            let _ = stdout::print_words(|out| writeln!(out, "{line}"));
        }
    }
    let run = &results.summary.run;
    for line in undelivered_lines(sent, &run.id, results.folder.output()) {
        writer.warn(&line);
    }
}
