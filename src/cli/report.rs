//! `convfinqa report`: a run's report again from its journal, offline.

use std::path::{Path, PathBuf};

use crate::analysis::{Answered, Answers, analyze};
use crate::dataset::Dataset;
use crate::run::{Journal, Row, RunMeta};
use crate::score::Rule;
use crate::sinks::report::{Causes, Pages, Report, causes_of};
use crate::sinks::{RunFolder, Tally};

use super::{Exit, stdout};

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
    let meta = journal.meta()?;
    let records = meta.records();
    let pages = match &records {
        Ok(dataset) => Pages::of(dataset),
        Err(reason) => {
            super::note(format_args!(
                "note: {reason}; the report is without its pages"
            ));
            Pages::missing(reason.clone())
        }
    };
    let mut gathered = Gathered::new(&pages);
    journal.for_each_row(|row| gathered.add(&row))?;
    let summary = gathered.tally.finish(meta);
    let path = args.to.clone().unwrap_or_else(|| folder.report());
    let causes = causes(
        folder.path(),
        &summary.run,
        gathered.answers,
        records.as_ref().ok(),
    );
    gathered.report.write(&path, &summary, &causes)?;
    stdout::print(|out| writeln!(out, "Report: {}", path.display()))?;
    Ok(Exit::Done)
}

/// What summary and report are made from, gathered in one reading of a journal.
pub(super) struct Gathered<'p> {
    pub(super) tally: Tally,
    pub(super) answers: Vec<Answered>,
    pub(super) report: Report<'p>,
}

impl<'p> Gathered<'p> {
    /// Nothing yet, over these pages.
    pub(super) fn new(pages: &'p Pages) -> Self {
        Self {
            tally: Tally::default(),
            answers: Vec::new(),
            report: Report::new(pages),
        }
    }

    /// Takes a row.
    pub(super) fn add(&mut self, row: &Row) {
        self.tally.add(row);
        self.answers.push(Answered::of(row));
        self.report.add(row);
    }
}

/// Why answers are wrong, as `analyze` finds it. A run without answers has no
/// causes, which is no reason to go without its report.
pub(super) fn causes(
    folder: &Path,
    run: &RunMeta,
    answers: Vec<Answered>,
    dataset: Option<&Dataset>,
) -> Causes {
    let Ok(answers) = Answers::of_rows(folder, run, answers, dataset) else {
        return Causes::new();
    };
    causes_of(analyze(&answers, Rule::FinancialEquivalence).misses)
}
