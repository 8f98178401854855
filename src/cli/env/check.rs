//! `convfinqa env check`: checks every table and question of a data directory.

use std::ffi::OsString;

use super::super::stdout::print_text;
use super::super::{Exit, Failure};
use super::catalog;
use finqa_core::text::counted;

#[derive(clap::Args, Debug)]
pub(crate) struct CheckArgs {
    /// Data directory, or `sample` [default: the built-in sample]
    #[arg(long, value_name = "DIR", env = "FINQA_DATA_PATH")]
    data_path: Option<OsString>,
}

/// Prints the size of the data and its problems. The exit code is [`Exit::Data`] if there are
/// problems.
pub(crate) fn execute(args: &CheckArgs) -> Result<Exit, Failure> {
    let catalog = catalog(args.data_path.as_deref())?;
    let report = catalog.check();
    let head = format!(
        "{}: {}, {}, {}\n",
        catalog.source(),
        counted(report.companies, "company"),
        counted(report.tables, "table"),
        counted(report.questions, "question")
    );
    let problems = report.problems.iter().map(|problem| format!("{problem}\n"));
    let done = print_text(&std::iter::once(head).chain(problems).collect::<String>())?;
    Ok(if report.problems.is_empty() {
        done
    } else {
        Exit::Data
    })
}
