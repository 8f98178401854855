//! Writes the files of a run from its journal: at the end of a run, on resume, and for `report`,
//! `score --save` and `track sync`.

use std::path::Path;

use serde_json::Value;

use finqa_journal::run::{Journal, RunFolder, RunKind, Summary, SummaryBuilder};
use finqa_report::output::report::Report;
use finqa_report::output::{self, CsvFile, OutputError, Transcripts};
use finqa_score::analysis::MissFinder;
use finqa_score::dataset::Dataset;

/// The summary of a run whose files are written.
pub struct WrittenResults {
    pub summary: Summary,
    /// A line that says why the report has no pages, or why an earlier report was kept.
    pub note: Option<String>,
}

/// Writes all files of a run into the folder `into`, in one pass over the journal.
///
/// If `last` is given, the CSV is also copied to `output/output.csv`, but not that of a shard, of
/// episodes, or of an unfinished run without an answer: a run that fails at once, for example
/// because of a wrong key, must not replace the previous result. The summary is written last, so
/// that a run with a complete summary has all its files. If the folder has a report with pages, and
/// the new report would have the same answers but no pages, the earlier report is kept.
pub fn write_results(
    into: &Path,
    journal: &Journal,
    records: Result<&Dataset, &str>,
    last: Option<&RunFolder>,
) -> Result<WrittenResults, OutputError> {
    let mut csv = CsvFile::create(&into.join(RunFolder::CSV))?;
    let mut transcripts = Transcripts::create(&into.join(RunFolder::TRANSCRIPTS))?;
    let page = into.join(RunFolder::REPORT);
    let mut report = Report::new(&page, records);
    let mut tally = SummaryBuilder::default();
    let is_in_order = journal.meta()?.kind() == RunKind::Questions;
    let mut causes = MissFinder::new(is_in_order, records.ok());
    journal.try_for_each_row(|mut row| {
        let miss = causes.find(&mut row);
        csv.add(&row)?;
        transcripts.add(&row)?;
        tally.add(&row);
        report.add(&row, miss.as_ref())
    })?;
    let summary = tally.finish(journal)?;
    let is_result = summary.has_result() && summary.run.is_for_last_csv();
    // Copy it before the run's own CSV is put in place. A kill in between then never leaves an
    // older copy next to a newer CSV.
    let copied = match last.filter(|_| is_result) {
        Some(last) => csv.copy_to(&last.last_csv()),
        None => Ok(()),
    };
    csv.finish()?;
    transcripts.finish()?;
    let notes = summary
        .missing_line()
        .into_iter()
        .chain(summary.notes.clone())
        .chain(summary.run.change_lines());
    output::write_config(
        &into.join(RunFolder::CONFIG),
        &summary.run,
        &notes.collect::<Vec<_>>(),
    )?;
    let is_kept = records.is_err() && has_report(into, &summary);
    if !is_kept {
        report.write(&summary)?;
    }
    let outcome = if is_kept {
        "the report is kept as it is"
    } else {
        "the report has no pages"
    };
    let reason = records.err().filter(|_| has_pages(&summary));
    // Only now, so that a copy that fails does not keep the run's own files from being written. The
    // summary is not written: it says that all files are there.
    copied?;
    output::write_summary(&into.join(RunFolder::SUMMARY), &summary)?;
    Ok(WrittenResults {
        summary,
        note: reason.map(|reason| format!("{reason}; {outcome}")),
    })
}

/// True if the run's questions are about pages. The questions of episodes have none.
fn has_pages(summary: &Summary) -> bool {
    summary.run.kind() == RunKind::Questions
}

/// True if the folder already has a report of the same answers in which no page of a question is
/// missing.
fn has_report(into: &Path, summary: &Summary) -> bool {
    // Without a readable summary, nothing is equal, and the report is written again.
    let earlier = std::fs::read(into.join(RunFolder::SUMMARY)).unwrap_or_default();
    // The new summary is also converted to JSON text and back, so that equal numbers compare as
    // equal.
    let read = |json: &[u8]| serde_json::from_slice::<Value>(json).unwrap_or_default();
    let (earlier, now) = (
        read(&earlier),
        read(&serde_json::to_vec(summary).unwrap_or_default()),
    );
    // If all of these are equal, the answers are: even two runs of the same questions differ in
    // their times and tokens.
    let parts = ["/run/id", "/run/started", "/questions", "/spent"];
    let is_same = parts
        .iter()
        .all(|part| earlier.pointer(part) == now.pointer(part));
    let report = std::fs::read_to_string(into.join(RunFolder::REPORT));
    has_pages(summary) && is_same && report.is_ok_and(|it| !it.contains(Report::LACKS_PAGES))
}

/// Writes a run's files from its journal into the run's folder. The caller must hold the run's
/// lock.
pub(super) fn write_run(
    folder: &RunFolder,
    records: Result<&Dataset, &str>,
) -> Result<(Journal, WrittenResults), OutputError> {
    let journal = Journal::read(&folder.journal())?;
    let written = write_results(folder.path(), &journal, records, Some(folder))?;
    Ok((journal, written))
}
