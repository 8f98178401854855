//! `convfinqa compare`: two runs, question by question, offline.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ArgMatches;

use crate::analysis::{Answers, Comparison, compare};
use crate::dataset::load_named;
use crate::output::report::write_comparison;
use crate::output::terminal::{TerminalStyle, comparison_tables};
use crate::run::RunFolder;
use crate::score::Rule;

use super::analyze::without_records;
use super::args::OutputFolder;
use super::exit::with_output_hint;
use super::outputs::check_outputs;
use super::{Exit, Failure, stdout};

const HTML: &str = "--html FILE";

/// Arguments of `compare`.
#[derive(clap::Args, Debug)]
pub(crate) struct CompareArgs {
    /// CSV or JSONL file of answers, or a run: its folder, its id, a prefix of its id, or `last`
    a: PathBuf,
    /// File or run with the same questions, to compare with A
    b: PathBuf,
    #[command(flatten)]
    output: OutputFolder,
    /// Rule by which A and B are compared question by question: fe, nm, em, ex, pe or pa
    #[arg(long, value_name = "RULE", default_value = "fe", value_parser = super::ci::rule)]
    rule: Rule,
    /// Compare only the questions that both sides have, and print the number of the others
    #[arg(long)]
    common: bool,
    /// Exit with code 6 unless B is better than A by --rule at significance LEVEL (one-sided
    /// McNemar test, clustered by page) [default LEVEL: 0.05]
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.05"
    )]
    gate: Option<SignificanceLevel>,
    /// Records whose gold answers are used for both sides: a file, or `sample`
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
pub(crate) fn execute(
    args: &CompareArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let output = args.output.path(matches)?;
    let a = RunFolder::answers_at(&args.a, &output)?;
    let b = RunFolder::answers_at(&args.b, &output)?;
    let inputs = args.output.inputs(&[&a, &b], args.data_path.as_deref());
    check_outputs(&[(HTML, args.html.as_deref())], &inputs)?;
    let dataset = load_named(args.data_path.as_deref())?;
    let open = |path: &Path| Answers::open(path, dataset.as_ref());
    let (a, b) = (open(&a)?, open(&b)?);
    for reason in [&a.no_records, &b.no_records].into_iter().flatten() {
        without_records(reason);
    }
    let comparison = compare(&a, &b, args.rule, args.common)?;
    if let Some(path) = &args.html {
        let written = write_comparison(path, &comparison, [&a, &b]);
        written.map_err(with_output_hint(HTML))?;
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
    match args.gate {
        Some(level) => level.check(&comparison),
        None => Ok(Exit::Done),
    }
}

/// The largest p at which B counts as better.
#[derive(Clone, Copy, Debug)]
struct SignificanceLevel(f64);

impl FromStr for SignificanceLevel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let level = text.parse().ok();
        level
            .filter(|level| 0.0 < *level && *level < 1.0)
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a level between 0 and 1, such as 0.05"))
    }
}

impl SignificanceLevel {
    /// Checks whether B is better than A at this level.
    ///
    /// # Errors
    /// [`Exit::BelowThreshold`] with the difference and its p if not.
    fn check(self, comparison: &Comparison<'_>) -> anyhow::Result<Exit> {
        let name = comparison.rule.name();
        let mut rules = comparison.rules.iter();
        let line = match rules.find(|rule| rule.rule == comparison.rule) {
            Some(rule) if rule.p_better < self.0 => return Ok(Exit::Done),
            Some(rule) => format!(
                "B is not better than A at level {}: {name} {:+.1} points, one-sided p {:.3}",
                self.0,
                100.0 * rule.difference,
                rule.p_better
            ),
            None => format!("{name} could not score any pair"),
        };
        Err(Failure::new(Exit::BelowThreshold, format!("--gate: {line}")).into())
    }
}
