//! `convfinqa env build`: a data directory from `ConvFinQA` records.

use std::path::PathBuf;

use super::super::{Exit, stdout};
use crate::dataset::{self, Source};
use crate::env_build::build;
use finqa_core::text::counted;

/// The arguments of `env build`.
#[derive(clap::Args, Debug)]
pub(crate) struct BuildArgs {
    /// File of records with gold answers, or `sample`
    #[arg(long, value_name = "FILE")]
    data_path: String,
    /// Target folder: new, empty, or the result of an earlier build, which is replaced
    #[arg(long, short = 'o', value_name = "DIR")]
    output: PathBuf,
}

/// Builds it and prints what is in it and what was left out.
pub(crate) fn execute(args: &BuildArgs) -> anyhow::Result<Exit> {
    let dataset = dataset::load(&Source::from_name(&args.data_path))?;
    let built = build(&dataset, &args.output)?;
    stdout::print_words(|out| {
        writeln!(
            out,
            "{}: {} about {}, {}: {} with their sentences",
            args.output.display(),
            counted(built.questions, "question"),
            counted(built.companies, "company"),
            counted(built.tables, "table"),
            counted(built.tables / 2, "page"),
        )?;
        for (count, noun, reason) in [
            (built.without_gold, "stand-alone question", "without gold"),
            (
                dataset.turn_count(),
                "turn",
                "of conversations, which cannot be asked alone",
            ),
        ] {
            if count > 0 {
                writeln!(out, "left out: {} {reason}", counted(count, noun))?;
            }
        }
        writeln!(
            out,
            "serve it: convfinqa env serve --data-path {}",
            args.output.display()
        )
    })?;
    Ok(Exit::Done)
}
