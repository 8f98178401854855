//! The files of a run, made from its journal: by the run itself, on resume, and
//! by `report` and `track sync`.

use std::path::Path;

use crate::analysis::MissFinder;
use crate::dataset::Dataset;
use crate::output::report::Report;
use crate::output::{self, CsvFile, OutputError, Transcripts};
use crate::run::{Journal, RunFolder, RunKind, Summary, SummaryBuilder};

/// Writes all files of a run into the folder `into`, from one pass over its journal. If
/// `last` is given and the run has an answer, the CSV is also copied to
/// `output/output.csv`. A run that fails at once, e.g. because of a wrong key, does not
/// replace the previous result. The summary is written last, so that a run with a complete
/// summary has all its files.
pub(crate) fn write_results(
    into: &Path,
    journal: &Journal,
    records: Result<&Dataset, &str>,
    last: Option<&RunFolder>,
) -> Result<Summary, OutputError> {
    let mut csv = CsvFile::create(&into.join(RunFolder::CSV))?;
    let mut transcripts = Transcripts::create(&into.join(RunFolder::TRANSCRIPTS))?;
    let page = into.join(RunFolder::REPORT);
    let mut report = Report::new(&page, records);
    let mut tally = SummaryBuilder::default();
    let mut passing = MissFinder::new(journal.meta()?.kind(), records.ok());
    journal.try_for_each_row(|mut row| {
        let miss = passing.find(&mut row);
        csv.add(&row)?;
        transcripts.add(&row)?;
        tally.add(&row);
        report.add(&row, miss.as_ref())
    })?;
    let summary = tally.finish(journal)?;
    csv.finish()?;
    transcripts.finish()?;
    let notes = [summary.missing_line(), summary.left_out_line()];
    output::write_config(
        &into.join(RunFolder::CONFIG),
        &summary.run,
        &notes.into_iter().flatten().collect::<Vec<_>>(),
    )?;
    // One without pages is no replacement for one that has them.
    let has_report =
        summary.run.kind() == RunKind::Questions && last.is_some_and(RunFolder::is_written);
    if records.is_ok() || !has_report {
        report.write(&summary)?;
    }
    if let Some(last) = last
        && summary.has_result()
        && summary.run.is_for_last_csv()
    {
        output::copy(&into.join(RunFolder::CSV), &last.last_csv())?;
    }
    output::write_summary(&into.join(RunFolder::SUMMARY), &summary)?;
    Ok(summary)
}

/// Writes a run's files into its folder, from its journal. The caller holds its lock.
pub(super) fn write_run(
    folder: &RunFolder,
    records: Result<&Dataset, &str>,
) -> Result<(Journal, Summary), OutputError> {
    let journal = Journal::read(&folder.journal())?;
    let summary = write_results(folder.path(), &journal, records, Some(folder))?;
    Ok((journal, summary))
}

/// The note about a report whose records cannot be read.
pub(crate) fn without_pages(reason: &str) -> String {
    format!("note: {reason}; the report has no pages")
}
