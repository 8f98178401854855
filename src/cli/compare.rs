//! `convfinqa compare`: two runs, question by question, offline.

use std::path::PathBuf;

use clap::ArgMatches;

use crate::analysis::{Answers, AnswersOrigin, compare};
use crate::dataset::load_named;
use crate::output::report::ComparisonPage;
use crate::output::terminal::{TerminalStyle, comparison_tables};
use crate::run::RunFolder;

use super::analyze::{RuleName, without_records};
use super::args::OutputFolder;
use super::{Exit, stdout};

/// Arguments of `compare`.
#[derive(clap::Args, Debug)]
pub(crate) struct CompareArgs {
    /// CSV or JSONL file of answers, or a run: its folder, its id, a prefix of its id, or `last`
    a: PathBuf,
    /// File or run to compare with A, over the same questions
    b: PathBuf,
    #[command(flatten)]
    output: OutputFolder,
    /// Rule that decides which questions flip
    #[arg(long, value_name = "RULE", default_value = "fe")]
    rule: RuleName,
    /// Compare only the questions that both sides have, and count the others
    #[arg(long)]
    common: bool,
    /// Records whose gold is used for both sides: a file, or `sample`
    #[arg(long, value_name = "FILE")]
    data_path: Option<String>,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
    /// Also write the comparison as a self-contained HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Compares the two.
///
/// # Errors
/// Answers that cannot be read, or that are not about the same questions; a
/// page that cannot be written.
pub(crate) fn execute(
    args: &CompareArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let output = args.output.path(matches)?;
    let dataset = load_named(args.data_path.as_deref())?;
    let open = |named| -> anyhow::Result<Answers> {
        let path = RunFolder::answers_at(named, &output)?;
        Ok(Answers::open(&path, dataset.as_ref())?)
    };
    let (a, b) = (open(&args.a)?, open(&args.b)?);
    for reason in [&a.no_records, &b.no_records].into_iter().flatten() {
        without_records(reason);
    }
    let comparison = compare(&a, &b, args.rule.into(), args.common)?;
    if let Some(path) = &args.html {
        let (report_a, report_b) = (report_of(&a), report_of(&b));
        let page = ComparisonPage {
            comparison: &comparison,
            answers: [&a, &b],
            reports: [report_a.as_deref(), report_b.as_deref()],
        };
        page.write(path)?;
    }
    if args.json {
        stdout::print_json(&comparison)?;
    } else {
        stdout::print(|out| {
            writeln!(out, "{}", comparison_tables(&comparison, style))?;
            match &args.html {
                Some(path) => writeln!(out, "Page: {}", path.display()),
                None => Ok(()),
            }
        })?;
    }
    Ok(Exit::Done)
}

/// The report of the run that the answers are of, if it is where it was written:
/// in the run's folder, or next to the copy of its CSV.
fn report_of(answers: &Answers) -> Option<PathBuf> {
    let AnswersOrigin::Run(id) = &answers.origin else {
        return None;
    };
    let folder = if answers.path.is_dir() {
        &answers.path
    } else {
        answers.path.parent()?
    };
    let own = folder.join(RunFolder::REPORT);
    let of_copy = RunFolder::runs(folder).join(id).join(RunFolder::REPORT);
    [own, of_copy].into_iter().find(|path| path.is_file())
}
