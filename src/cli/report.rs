//! `convfinqa report`: writes a run's files again from its journal, offline.

use std::path::{Path, PathBuf};

use clap::ArgMatches;

use finqa_journal::run::{Journal, LockError, RunFolder, RunLock, RunMeta, short_id};
use finqa_report::output::{OutputError, write_inspect};
use finqa_run::pipeline::write_results;

use super::args::OutputFolder;
use super::exit::with_output_hint;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

const TO: &str = "--to DIR";
const INSPECT: &str = "--inspect FILE";

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
    /// Also write the run as a log for Inspect's viewer and its Python package. FILE is a .json
    /// file, or an existing folder, in which the log gets a name that the viewer lists
    #[arg(long, value_name = "FILE", value_parser = inspect_log)]
    inspect: Option<PathBuf>,
}

/// Reads the path of an Inspect log. It must be a folder, or end in `.json`, because Inspect takes
/// the format from the extension.
fn inspect_log(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    let is_json = path
        .extension()
        .is_some_and(|extension| extension == "json");
    if is_json || path.is_dir() {
        Ok(path)
    } else {
        Err(format!(
            "`{name}` must end in .json, by which Inspect knows the format, or be a folder"
        ))
    }
}

/// The path of an Inspect log. In a folder, the file's name begins with a time, because the viewer
/// lists only such files.
fn log_file(named: &Path, meta: &RunMeta) -> PathBuf {
    if !named.is_dir() {
        return named.to_owned();
    }
    // The date and the time to the second; `started` is in UTC.
    let started = meta.started.get(..19).unwrap_or(&meta.started);
    let (started, id) = (started.replace(':', "-"), short_id(&meta.id));
    named.join(format!("{started}+00-00_convfinqa_{id}.json"))
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
    let inspect = args.inspect.as_deref();
    let inspect = inspect.map(|named| log_file(named, &meta));
    let inspect = inspect.as_deref();
    check_outputs(&[(INSPECT, inspect)], &[])?;
    // Hold the lock of the run's own folder, so that a file that the run writes is not replaced by
    // an older one.
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
    if let Some(path) = inspect {
        write_inspect(path, &journal).map_err(with_output_hint(INSPECT))?;
    }
    let page = into.join(RunFolder::REPORT);
    stdout::print(|out| {
        writeln!(out, "Report: {}", page.display())?;
        match inspect {
            Some(path) => writeln!(out, "Inspect log: {}", path.display()),
            None => Ok(()),
        }
    })?;
    Ok(Exit::Done)
}

fn lock(folder: &RunFolder) -> Result<RunLock, Failure> {
    RunLock::take(folder.path()).map_err(|error| match error {
        LockError::Io { path, source } => with_output_hint(TO)(OutputError::Write { path, source }),
        held @ LockError::Held { .. } => in_use(&held, &folder.file(RunFolder::REPORT)),
    })
}

/// The failure for a run that another process has locked. It names the report that this process
/// has written so far, if it has.
fn in_use(held: &LockError, page: &Path) -> Failure {
    if page.is_file() {
        Failure::usage(format!("{held}; its report so far is {}", page.display()))
    } else {
        Failure::usage(held.to_string())
    }
}
