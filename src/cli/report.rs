//! `convfinqa report`: a run's report again from its journal, offline.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::analysis::{Answers, analyze};
use crate::dataset::Dataset;
use crate::run::Journal;
use crate::score::Rule;
use crate::sinks::report::{Causes, Explained, Pages, Report, records_of};
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
    let records = records_of(&summary.run);
    let path = args.to.clone().unwrap_or_else(|| folder.report());
    write(
        &path,
        &journal,
        &summary,
        records.as_ref().map_err(String::as_str),
    )?;
    writeln!(std::io::stdout(), "Report: {}", path.display())?;
    Ok(Exit::Done)
}

/// Why answers are wrong, as `analyze` finds it. A run without answers has no
/// causes, which is no reason to go without its report.
fn causes(journal: &Journal, dataset: Option<&Dataset>) -> Causes {
    let folder = journal.path().parent().unwrap_or(Path::new("."));
    let Ok(answers) = Answers::open(folder, dataset) else {
        return Causes::new();
    };
    let misses = analyze(&answers, Rule::FinancialEquivalence).misses;
    misses
        .into_iter()
        .filter_map(|miss| {
            let explained = Explained {
                cause: miss.cause.name().to_owned(),
                detail: miss.detail,
            };
            Some(((miss.key, miss.epoch.parse().ok()?), explained))
        })
        .collect()
}

/// Writes the report of a run; without records it says why pages are missing.
///
/// # Errors
/// As [`execute`].
pub fn write(
    path: &Path,
    journal: &Journal,
    summary: &Summary,
    records: Result<&Dataset, &str>,
) -> anyhow::Result<()> {
    let pages = match records {
        Ok(dataset) => Pages::of(dataset),
        Err(reason) => Pages::missing(reason.to_owned()),
    };
    let report = Report {
        journal,
        summary,
        pages: &pages,
        causes: &causes(journal, records.ok()),
    };
    Ok(report.write(path)?)
}
