//! `convfinqa env check`: every table and question of a data directory.

use std::ffi::OsString;

use super::super::{Exit, stdout};
use super::catalog;

/// What is checked.
#[derive(clap::Args, Debug)]
pub struct CheckArgs {
    /// The data directory [default: the built-in sample]
    #[arg(value_name = "DIR", env = "FINQA_DATA_PATH")]
    data: Option<OsString>,
}

/// Prints what there is and what is wrong with it; the exit code says which.
///
/// # Errors
/// Data that cannot be read.
pub fn execute(args: &CheckArgs) -> anyhow::Result<Exit> {
    let catalog = catalog(args.data.as_deref())?;
    let report = catalog.check();
    stdout::print_words(|out| {
        writeln!(
            out,
            "{}: {} companies, {} tables, {} questions",
            catalog.source(),
            report.companies,
            report.tables,
            report.questions
        )?;
        for problem in &report.problems {
            writeln!(out, "{problem}")?;
        }
        Ok(())
    })?;
    Ok(if report.problems.is_empty() {
        Exit::Done
    } else {
        Exit::Data
    })
}
