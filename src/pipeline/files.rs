//! The files of a run, made from its journal: by the run itself, on resume, and
//! by `report` and `track sync`.

use std::path::Path;

use crate::analysis::{Answers, analyze};
use crate::dataset::{Dataset, Outcome};
use crate::output::report::{Causes, Pages, Report, causes_of};
use crate::output::{self, CsvFile, OutputError, Transcripts};
use crate::run::{Journal, Row, RunFolder, RunMeta, Summary, SummaryBuilder};
use crate::score::Rule;

/// Writes everything that a run leaves behind into the folder `into`, in one
/// reading of its journal. With the folder of the run, the CSV is also copied to the place
/// of the last run's of questions, once the run has an answer: a wrong key takes no
/// earlier result away. The summary is written last, so that a run whose summary is complete
/// has all its files.
///
/// # Errors
/// A journal that cannot be read, a file that cannot be written.
pub(crate) fn write_results(
    into: &Path,
    journal: &Journal,
    records: Result<&Dataset, &str>,
    last: Option<&RunFolder>,
) -> Result<Summary, OutputError> {
    let mut csv = CsvFile::create(&into.join(RunFolder::CSV))?;
    let mut transcripts = Transcripts::create(&into.join(RunFolder::TRANSCRIPTS))?;
    let pages = pages(records);
    let JournalContents {
        summary,
        causes,
        report,
    } = read(journal, &pages, records.ok(), |row| {
        csv.add(row);
        transcripts.add(row);
    })?;
    csv.finish()?;
    transcripts.finish()?;
    let notes = [summary.missing_line(), summary.left_out_line()];
    output::write_config(
        &into.join(RunFolder::CONFIG),
        &summary.run,
        &notes.into_iter().flatten().collect::<Vec<_>>(),
    )?;
    report.write(&into.join(RunFolder::REPORT), &summary, &causes)?;
    if let Some(last) = last
        && has_result(&summary)
        && summary.run.is_for_last_csv()
    {
        output::copy(&into.join(RunFolder::CSV), &last.last_csv(), &last.id())?;
    }
    output::write_summary(&into.join(RunFolder::SUMMARY), &summary)?;
    Ok(summary)
}

/// Writes a run's files into its folder, from its journal. The caller holds its lock.
///
/// # Errors
/// As [`write_results`].
pub(super) fn write_run(
    folder: &RunFolder,
    records: Result<&Dataset, &str>,
) -> Result<(Journal, Summary), OutputError> {
    let own = [&RunFolder::RESULTS[..], &[RunFolder::TRACES]].concat();
    output::remove_unfinished(folder.path(), &own);
    output::remove_unfinished(folder.output(), &[&folder.id()]);
    let journal = Journal::read(&folder.journal())?;
    let summary = write_results(folder.path(), &journal, records, Some(folder))?;
    Ok((journal, summary))
}

/// Writes the report alone.
///
/// # Errors
/// As [`write_results`].
pub(crate) fn write_report(
    to: &Path,
    journal: &Journal,
    records: Result<&Dataset, &str>,
) -> Result<(), OutputError> {
    let pages = pages(records);
    let read = read(journal, &pages, records.ok(), |_| ())?;
    read.report.write(to, &read.summary, &read.causes)
}

/// Whether a run takes the place of the last one: it is over, or it has an answer.
pub(crate) fn has_result(summary: &Summary) -> bool {
    let answered = Outcome::Answered.name();
    let outcomes = &summary.scores.outcomes;
    summary.complete
        || outcomes
            .iter()
            .any(|count| count.name == answered && count.count > 0)
}

fn pages(records: Result<&Dataset, &str>) -> Pages {
    match records {
        Ok(dataset) => Pages::of(dataset),
        Err(reason) => Pages::missing(reason.to_owned()),
    }
}

/// What summary and report are made from, gathered in one reading of a journal.
struct JournalContents<'p> {
    summary: Summary,
    causes: Causes,
    report: Report<'p>,
}

fn read<'p>(
    journal: &Journal,
    pages: &'p Pages,
    dataset: Option<&Dataset>,
    mut each: impl FnMut(&Row),
) -> Result<JournalContents<'p>, OutputError> {
    let mut tally = SummaryBuilder::default();
    let mut report = Report::new(pages);
    journal.for_each_row(|row| {
        each(&row);
        report.add(&row);
        tally.add(row);
    })?;
    let (summary, rows) = tally.finish(journal)?;
    Ok(JournalContents {
        causes: causes(journal.path(), &summary.run, rows, dataset),
        summary,
        report,
    })
}

/// Why answers are wrong, as `analyze` finds it. A run without answers has no
/// causes, but it still gets its report.
fn causes(path: &Path, run: &RunMeta, rows: Vec<Row>, dataset: Option<&Dataset>) -> Causes {
    let Ok(answers) = Answers::of_rows(path, run, rows, dataset) else {
        return Causes::new();
    };
    causes_of(analyze(&answers, Rule::FinancialEquivalence).misses)
}
