//! `convfinqa report`: a run's files again from its journal, offline.

use std::path::{Path, PathBuf};

use clap::ArgMatches;

use crate::output::OutputError;
use crate::pipeline::{without_pages, write_report, write_results};
use crate::run::{Journal, LockError, RunFolder, RunLock};

use super::args::OutputFolder;
use super::exit::with_output_hint;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

const TO: &str = "--to PATH";

/// Arguments of `report`.
#[derive(clap::Args, Debug)]
pub(crate) struct ReportArgs {
    /// Run: its folder, its id, a prefix of its id, or `last`
    #[arg(default_value = "last")]
    run: String,
    #[command(flatten)]
    output: OutputFolder,
    /// Folder for the files; if the name ends in .html, only the report is written
    /// [default: the run's folder]
    #[arg(long, value_name = "PATH")]
    to: Option<PathBuf>,
}

/// Writes the files and says where the report is.
pub(crate) fn execute(args: &ReportArgs, matches: &ArgMatches) -> anyhow::Result<Exit> {
    let folder = RunFolder::locate(&args.output.path(matches)?, &args.run)?;
    let journal = Journal::read(&folder.journal())?;
    let records = journal.meta()?.records();
    if let Err(reason) = &records {
        super::note(without_pages(reason));
    }
    let records = records.as_ref().map_err(String::as_str);
    let data_file = journal.meta()?.data_file;
    let data_file = data_file.as_deref().and_then(Path::to_str);
    let inputs = args.output.inputs(&[&folder.journal()], data_file);
    let check = |path: &Path| check_outputs(&[(TO, Some(path))], &inputs);
    let page = match args.to.as_deref() {
        Some(page) if is_page(page) => {
            check(page)?;
            write_report(page, &journal, records).map_err(with_output_hint(TO))?;
            page.to_owned()
        }
        Some(into) => {
            let error = |error| Failure::usage(format!("{}: {error}", into.display()));
            std::fs::create_dir_all(into).map_err(error)?;
            let mut files = RunFolder::RESULTS.iter().map(|name| into.join(name));
            files.try_for_each(|file| check(&file))?;
            write_results(into, &journal, records, None).map_err(with_output_hint(TO))?;
            into.join(RunFolder::REPORT)
        }
        None => {
            // Held, so that no newer file is overwritten by an older one.
            let _lock = RunLock::take(folder.path()).map_err(|error| match error {
                LockError::Io { path, source } => {
                    with_output_hint(TO)(OutputError::Write { path, source })
                }
                held @ LockError::Held { .. } => held.into(),
            })?;
            write_results(folder.path(), &journal, records, None).map_err(with_output_hint(TO))?;
            folder.report()
        }
    };
    stdout::print(|out| writeln!(out, "Report: {}", page.display()))?;
    Ok(Exit::Done)
}

fn is_page(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    extension.eq_ignore_ascii_case("html") || extension.eq_ignore_ascii_case("htm")
}
