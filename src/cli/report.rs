//! `convfinqa report`: a run's report again from its journal, offline.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::run::Journal;
use crate::sinks::report::{Pages, Report};
use crate::sinks::{self, RunFolder, Summary};

use super::Exit;

/// Arguments of `report`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The run: its folder, its id or the start of its id, or `last`
    #[arg(default_value = "last")]
    run: String,
    /// Where the runs are
    #[arg(long, short = 'o', value_name = "DIR", default_value = "output")]
    output: PathBuf,
    /// The file to write [default: report.html in the run's folder]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

/// Writes the report and says where it lies.
///
/// # Errors
/// A run that is not there, a journal that cannot be read, a file that cannot
/// be written.
pub fn execute(args: &Args) -> anyhow::Result<Exit> {
    let folder = RunFolder::locate(&args.output, &args.run)?;
    let journal = Journal::open(&folder.journal())?;
    let summary = sinks::summarise(&journal)?;
    let pages = Pages::of_run(&summary.run);
    let path = args.to.clone().unwrap_or_else(|| folder.report());
    write(&path, &journal, &summary, &pages)?;
    writeln!(std::io::stdout(), "Report: {}", path.display())?;
    Ok(Exit::Done)
}

/// Writes the report of a run.
///
/// # Errors
/// As [`execute`].
pub fn write(
    path: &Path,
    journal: &Journal,
    summary: &Summary,
    pages: &Pages,
) -> anyhow::Result<()> {
    let report = Report {
        journal,
        summary,
        pages,
        causes: &HashMap::new(),
    };
    Ok(report.write(path)?)
}
