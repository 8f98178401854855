//! `convfinqa report`: writes a run's files again from its journal, offline.

use std::path::PathBuf;

use clap::ArgMatches;

use finqa_journal::run::{Journal, LockError, RunFolder, RunLock};
use finqa_report::output::OutputError;
use finqa_run::pipeline::write_results;

use super::args::OutputFolder;
use super::exit::with_output_hint;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

const TO: &str = "--to DIR";

/// Arguments of `report`.
#[derive(clap::Args, Debug)]
pub(crate) struct ReportArgs {
    /// Run: its folder, its id, a prefix of its id, or `last`
    #[arg(default_value = "last")]
    run: String,
    #[command(flatten)]
    output: OutputFolder,
    /// Folder for the files [default: the run's folder]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// Writes the files and prints the path of the report.
pub(crate) fn execute(args: &ReportArgs, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = RunFolder::locate(&args.output.path(matches)?, &args.run)?;
    let journal = Journal::read(&folder.journal())?;
    let meta = journal.meta()?;
    let records = meta.records();
    super::notes(records.iter().flat_map(|records| &records.notes));
    let records = records.as_ref().map_err(String::as_str);
    let into = args.to.as_deref().unwrap_or(folder.path());
    // In the run's own folder, hold its lock, so that a newer file is not replaced by an older one.
    let _lock = match &args.to {
        None => Some(lock(&folder)?),
        Some(_) => {
            let error = |error| Failure::usage(format!("{}: {error}", into.display()));
            std::fs::create_dir_all(into).map_err(error)?;
            let files = RunFolder::RESULTS.map(|name| into.join(name));
            check_outputs(&files.each_ref().map(|file| (TO, Some(&**file))), &[])?;
            None
        }
    };
    let last = Some(&folder).filter(|run| args.to.is_none() && run.is_last());
    let written = write_results(into, &journal, records, last).map_err(with_output_hint(TO))?;
    super::notes(written.note);
    let page = into.join(RunFolder::REPORT);
    stdout::print(|out| writeln!(out, "Report: {}", page.display()))?;
    Ok(Exit::Done)
}

fn lock(folder: &RunFolder) -> Result<RunLock, Failure> {
    RunLock::take(folder.path()).map_err(|error| match error {
        LockError::Io { path, source } => with_output_hint(TO)(OutputError::Write { path, source }),
        held @ LockError::Held { .. } => held.into(),
    })
}
