//! `convfinqa compare`: compares runs question by question, offline.

use std::path::{Path, PathBuf};

use clap::ArgMatches;

use finqa_journal::answers::open_answers;
use finqa_journal::run::RunFolder;
use finqa_report::output::report::write_comparison;
use finqa_report::output::terminal::{TerminalStyle, comparison_tables, several_table};
use finqa_score::analysis::{Answers, compare, compare_several};
use finqa_score::score::Rule;

use super::analyze::print_notes;
use super::args::{OutputFolder, RecordsFile};
use super::exit::with_output_hint;
use super::gate::GateArgs;
use super::junit::JUNIT;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

const HTML: &str = "--html FILE";

#[derive(clap::Args, Debug)]
pub(crate) struct CompareArgs {
    /// CSV or JSONL file of answers, or a run: its folder, its id, a prefix of its id, or `last`
    a: PathBuf,
    /// File or run with the same questions, to compare with A
    b: PathBuf,
    /// Further files or runs: one table shows all of them, each compared with A
    more: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputFolder,
    /// Rule by which A and B are compared question by question: fe, nm, em, ex, pe or pa
    #[arg(long, value_name = "RULE", default_value = "fe", value_parser = super::ci::rule)]
    rule: Rule,
    /// Compare only the questions that both sides have, and print the number of the others
    #[arg(long)]
    common: bool,
    #[command(flatten)]
    gate: GateArgs,
    #[command(flatten)]
    records: RecordsFile,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
    /// Also write the comparison as a self-contained HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn execute(
    args: &CompareArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let output = args.output.path(matches)?;
    let named = [&args.a, &args.b].into_iter().chain(&args.more);
    let paths = named.map(|path| RunFolder::answers_at(path, &output));
    let paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    let records = args.records.path();
    let inputs = paths
        .iter()
        .map(PathBuf::as_path)
        .chain([&*output, records]);
    let inputs: Vec<&Path> = inputs.collect();
    let outputs = [(HTML, args.html.as_deref()), (JUNIT, args.gate.junit())];
    check_outputs(&outputs, &inputs)?;
    let of_two = args.gate.option().or(args.html.as_ref().map(|_| "--html"));
    if let (Some(option), false) = (of_two, args.more.is_empty()) {
        let line = format!("{option} is for two runs; name A and B only");
        return Err(Failure::usage(line));
    }
    let dataset = args.records.load()?;
    let opened = paths
        .iter()
        .map(|path| open_answers(path, dataset.as_ref()));
    let opened: Vec<Answers> = opened.collect::<Result<_, _>>()?;
    opened.iter().for_each(print_notes);
    let [a, b] = &*opened else {
        return show_several(args, opened, style);
    };
    let comparison = compare(a, b, args.rule, args.common)?;
    // The gate is checked, and its JUnit file written, even if the comparison cannot be written or
    // printed.
    let verdict = args.gate.check(&comparison);
    let page = args.html.as_ref().map(|path| {
        let written = write_comparison(path, &comparison, [a, b]);
        written.map(|()| path).map_err(with_output_hint(HTML))
    });
    let page = page.transpose();
    let printed = if args.json {
        stdout::print_json(&comparison)
    } else {
        stdout::print(|out| {
            writeln!(out, "{}", comparison_tables(&comparison, style))?;
            match &page {
                Ok(Some(path)) => writeln!(out, "Page: {}", path.display()),
                _ => Ok(()),
            }
        })
    };
    let exit = verdict?;
    page?;
    printed?;
    Ok(exit)
}

/// Prints the comparison of more than two runs. No gate applies to it.
fn show_several(
    args: &CompareArgs,
    opened: Vec<Answers>,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    let several = compare_several(opened, args.rule, args.common)?;
    if args.json {
        stdout::print_json(&several)?;
    } else {
        stdout::print(|out| writeln!(out, "{}", several_table(&several, style)))?;
    }
    Ok(Exit::Done)
}
