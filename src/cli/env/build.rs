//! `convfinqa env build`: builds the data directory of an environment from `ConvFinQA` records.

use std::path::PathBuf;

use super::super::args::print_notes;
use super::super::stdout::print_text;
use super::super::{Exit, Failure};
use finqa_core::text::counted;
use finqa_run::env_build::build;
use finqa_score::dataset::{self, Source};

#[derive(clap::Args, Debug)]
pub(crate) struct BuildArgs {
    /// File of records with gold answers, or `sample`
    #[arg(long, value_name = "FILE")]
    data_path: String,
    /// Use only the records of one split of a file such as {"train": […], "dev": […]}
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Target folder: new, empty, or the result of an earlier build, which is replaced
    #[arg(long, short = 'o', value_name = "DIR")]
    output: PathBuf,
}

/// Builds the directory, and prints what it contains and what was left out.
pub(crate) fn execute(args: &BuildArgs) -> Result<Exit, Failure> {
    let source = Source::from_name(&args.data_path);
    let dataset = dataset::load_split(&source, args.split.as_deref())?;
    print_notes(&dataset);
    let built = build(&dataset, &args.output)?;
    let to = args.output.display();
    let mut text = format!(
        "{to}: {} about {}, {}: {} with their sentences\n",
        counted(built.questions, "question"),
        counted(built.companies, "company"),
        counted(built.tables, "table"),
        // A page becomes two tables: its cells, and its sentences.
        counted(built.tables / 2, "page"),
    );
    if built.without_gold > 0 {
        let questions = counted(built.without_gold, "stand-alone question");
        text.push_str(&format!("left out: {questions} without gold\n"));
    }
    if dataset.turn_count() > 0 {
        let turns = counted(dataset.turn_count(), "turn");
        let line = format!("left out: {turns} of conversations, which cannot be asked alone\n");
        text.push_str(&line);
    }
    text.push_str(&format!("serve it: convfinqa env serve --data-path {to}\n"));
    print_text(&text)
}
