//! `convfinqa compare`: compares two runs question by question, offline.

use std::path::{Path, PathBuf};

use clap::ArgMatches;

use finqa_journal::answers::open_answers;
use finqa_journal::run::RunFolder;
use finqa_report::output::numbers::signed;
use finqa_report::output::report::write_comparison;
use finqa_report::output::terminal::{TerminalStyle, comparison_tables};
use finqa_score::analysis::{Comparison, compare};
use finqa_score::score::Rule;

use super::analyze::print_notes;
use super::args::{OutputFolder, RecordsFile};
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
        default_missing_value = "0.05",
        value_parser = significance_level
    )]
    gate: Option<f64>,
    /// With --gate: pass only if B is better by more than G points, by the one-sided lower
    /// bound of B - A at LEVEL from a bootstrap over pages
    #[arg(long, value_name = "G", requires = "gate", value_parser = points)]
    gain: Option<f64>,
    /// With --gate: pass if B is not worse by M points or more, by the same bound
    #[arg(long, value_name = "M", requires = "gate", conflicts_with = "gain", value_parser = points)]
    margin: Option<f64>,
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
    let a = RunFolder::answers_at(&args.a, &output)?;
    let b = RunFolder::answers_at(&args.b, &output)?;
    let inputs = [&*a, &b, &output, args.records.path()];
    check_outputs(&[(HTML, args.html.as_deref())], &inputs)?;
    let dataset = args.records.load()?;
    let open = |path: &Path| open_answers(path, dataset.as_ref());
    let (a, b) = (open(&a)?, open(&b)?);
    [&a, &b].into_iter().for_each(print_notes);
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
    let Some(level) = args.gate else {
        return Ok(Exit::Done);
    };
    if !comparison.complete {
        let line = format!("--gate: not complete: {}", comparison.missing.join("; "));
        return Err(Failure::new(Exit::BelowThreshold, line));
    }
    match (args.gain, args.margin) {
        (Some(gain), _) => check_bound(&comparison, level, gain, "--gain"),
        (None, Some(margin)) => check_bound(&comparison, level, -margin, "--margin"),
        (None, None) => check(&comparison, level),
    }
}

/// Reads percentage points and returns them as a rate.
pub(super) fn points(text: &str) -> Result<f64, String> {
    let points = text.parse().ok();
    let rate = points.filter(|points| (0.0..100.0).contains(points));
    let rate = rate.map(|points: f64| points / 100.0);
    rate.ok_or_else(|| format!("`{text}` is not a number of points from 0 to 100, such as 2"))
}

/// Reads a significance level: B counts as better if p is below it.
fn significance_level(text: &str) -> Result<f64, String> {
    let level = text.parse().ok();
    let level = level.filter(|level| 0.0 < *level && *level < 1.0);
    level.ok_or_else(|| format!("`{text}` is not a level between 0 and 1, such as 0.05"))
}

/// Checks whether B is better than A at this level.
///
/// # Errors
/// [`Exit::BelowThreshold`] with the difference and its p if not.
fn check(comparison: &Comparison<'_>, level: f64) -> Result<Exit, Failure> {
    let name = comparison.rule.name();
    let mut rules = comparison.rules.iter();
    let line = match rules.find(|rule| rule.rule == comparison.rule) {
        Some(rule) if rule.p_better < level => return Ok(Exit::Done),
        Some(rule) => format!(
            "B is not better than A at level {}: {name} {:+.1} points, one-sided p {:.3}",
            level,
            100.0 * rule.difference,
            rule.p_better
        ),
        None => format!("{name} could not score any pair"),
    };
    Err(Failure::new(
        Exit::BelowThreshold,
        format!("--gate: {line}"),
    ))
}

/// Checks whether B − A is above `least` (a rate) with confidence 1 − level.
///
/// # Errors
/// [`Exit::BelowThreshold`] if the lower bound is not above `least`. If the upper bound is, the
/// data do not decide it, and the message says how many questions would be needed.
fn check_bound(
    comparison: &Comparison<'_>,
    level: f64,
    least: f64,
    option: &str,
) -> Result<Exit, Failure> {
    let fail = |line: String| {
        Err(Failure::new(
            Exit::BelowThreshold,
            format!("{option}: {line}"),
        ))
    };
    let name = comparison.rule.name();
    let Some(difference) = comparison.difference() else {
        return fail(format!("{name} could not score any pair"));
    };
    let bounds = difference.bounds(level);
    let points = |rate: f64| signed(100.0 * rate, 1);
    let found = format!(
        "B - A is {} points by {name}, with {:.4} % confidence",
        points(difference.difference),
        100.0 * (1.0 - level)
    );
    let found = found.replace(".0000 %", " %");
    let least_points = points(least);
    let low = points(bounds.low);
    if bounds.low > least {
        super::note(format_args!(
            "{option}: {found} at least {low}, above {least_points}"
        ));
        return Ok(Exit::Done);
    }
    if bounds.high <= least {
        let high = points(bounds.high);
        return fail(format!("{found} at most {high}, not above {least_points}"));
    }
    // The true difference that the number of questions is computed for.
    let (expected, assumed) = match option {
        "--margin" => (0.0, "if both are equally good"),
        _ => (difference.difference, "if that is the true difference"),
    };
    let needed = match expected - least {
        gap if gap > 0.0 => {
            let times = difference.times_needed(gap, level);
            let needed = (times * comparison.questions as f64).ceil();
            format!("about {needed} questions would be needed {assumed} (80 % power)")
        }
        _ => format!("no number of questions would do {assumed}"),
    };
    fail(format!(
        "not enough data: {found} at least {low}, not above {least_points}; {needed}"
    ))
}
