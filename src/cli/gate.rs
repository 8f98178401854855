//! The gates of `compare`: exit codes that fail a CI build because of the difference between two
//! runs.

use std::path::PathBuf;

use finqa_core::text::grouped;
use finqa_report::output::numbers::{p_value, signed};
use finqa_score::analysis::{Comparison, RuleComparison, two_digits};
use finqa_score::score::Rule;

use super::junit::{JUnitCase, write_junit};
use super::{Exit, Failure};

/// The gates of a comparison.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct GateArgs {
    /// Exit with code 6 unless B is better than A by --rule at significance LEVEL (one-sided
    /// McNemar test, clustered by page) [default LEVEL: 0.05]
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.05",
        value_parser = significance_level,
        group = "gates"
    )]
    gate: Option<f64>,
    /// With --gate: pass only if B is better by more than G points, by the one-sided lower
    /// bound of B - A at LEVEL from a bootstrap over pages
    #[arg(long, value_name = "G", requires = "gate", value_parser = points)]
    gain: Option<f64>,
    /// With --gate: pass if B is not worse by M points or more, by the same bound
    #[arg(long, value_name = "M", requires = "gate", conflicts_with = "gain", value_parser = points)]
    margin: Option<f64>,
    /// Exit with code 6 if B is shown to be worse than A (one-sided McNemar test at significance
    /// LEVEL, clustered by page), for builds that compare each B with a fixed baseline A [default
    /// LEVEL: 0.05]
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.05",
        value_parser = significance_level,
        group = "gates"
    )]
    no_worse: Option<f64>,
    /// With --gate or --no-worse: also write the result of the gate as a JUnit XML file
    #[arg(long, value_name = "FILE", requires = "gates")]
    junit: Option<PathBuf>,
}

impl GateArgs {
    /// The file for JUnit; `None` if none is named.
    pub(super) fn junit(&self) -> Option<&std::path::Path> {
        self.junit.as_deref()
    }

    /// The option of the requested gate, for messages; `None` without a gate.
    pub(super) fn option(&self) -> Option<&'static str> {
        match self {
            Self { gain: Some(_), .. } => Some("--gain"),
            Self {
                margin: Some(_), ..
            } => Some("--margin"),
            Self { gate: Some(_), .. } => Some("--gate"),
            Self {
                no_worse: Some(_), ..
            } => Some("--no-worse"),
            _ => None,
        }
    }

    /// Checks the requested gate, if any, and writes its result for JUnit.
    ///
    /// # Errors
    /// [`Exit::BelowThreshold`] with the reason if the gate fails, or if the comparison is not
    /// complete.
    pub(super) fn check(&self, comparison: &Comparison<'_>) -> Result<Exit, Failure> {
        let Some(option) = self.option() else {
            return Ok(Exit::Done);
        };
        let failed = self.decide(comparison).err();
        if let Some(path) = &self.junit {
            let name = format!("{option} by {}", comparison.rule.name());
            let failure = failed.clone();
            write_junit(path, "compare", &[JUnitCase { name, failure }])?;
        }
        match failed {
            None => Ok(Exit::Done),
            Some(reason) => Err(Failure::new(
                Exit::BelowThreshold,
                format!("{option}: {reason}"),
            )),
        }
    }

    /// Checks the requested gate.
    ///
    /// # Errors
    /// The reason why the gate fails.
    fn decide(&self, comparison: &Comparison<'_>) -> Result<(), String> {
        if !comparison.complete {
            return Err(format!("not complete: {}", comparison.missing.join("; ")));
        }
        // One of them is set, because clap requires --gate for --gain and --margin.
        let level = self.gate.or(self.no_worse).unwrap_or_default();
        match (self.gain, self.margin, self.no_worse) {
            (Some(gain), ..) => check_bound(comparison, level, gain, "--gain"),
            (_, Some(margin), _) => check_bound(comparison, level, -margin, "--margin"),
            (_, _, Some(_)) => check_not_worse(comparison, level),
            _ => check_better(comparison, level),
        }
    }
}

/// Reads percentage points and returns them as a rate.
pub(super) fn points(text: &str) -> Result<f64, String> {
    let points = text.parse().ok();
    let rate = points.filter(|points| (0.0..100.0).contains(points));
    let rate = rate.map(|points: f64| points / 100.0);
    rate.ok_or_else(|| format!("`{text}` is not a number of points from 0 to 100, such as 2"))
}

/// Reads a significance level. B counts as better if p is below this level.
fn significance_level(text: &str) -> Result<f64, String> {
    let level = text.parse().ok();
    let level = level.filter(|level| 0.0 < *level && *level < 1.0);
    level.ok_or_else(|| format!("`{text}` is not a level between 0 and 1, such as 0.05"))
}

/// Returns an error unless B is better than A at this level.
fn check_better(comparison: &Comparison<'_>, level: f64) -> Result<(), String> {
    let rule = judged(comparison)?;
    if rule.p_better < level {
        return Ok(());
    }
    let found = lead(rule, rule.p_better);
    Err(format!("B is not better than A at level {level}: {found}"))
}

/// Returns an error if B is worse than A at this level.
fn check_not_worse(comparison: &Comparison<'_>, level: f64) -> Result<(), String> {
    let rule = judged(comparison)?;
    let found = lead(rule, rule.p_worse);
    if rule.p_worse < level {
        return Err(format!("B is worse than A at level {level}: {found}"));
    }
    super::note(format_args!(
        "--no-worse: B is not shown to be worse than A at level {level}: {found}"
    ));
    Ok(())
}

/// The comparison by the rule in use, or the reason why there is none.
fn judged<'c>(comparison: &'c Comparison<'_>) -> Result<&'c RuleComparison, String> {
    let mut rules = comparison.rules.iter();
    let found = rules.find(|rule| rule.rule == comparison.rule);
    found.ok_or_else(|| no_pair(comparison))
}

/// The lead of B with its p: "-50.0 points by FE, one-sided p 0.031".
fn lead(rule: &RuleComparison, p: f64) -> String {
    let points = signed(100.0 * rule.difference, 1);
    let name = short_name(rule.rule);
    format!("{points} points by {name}, one-sided p {}", p_value(p))
}

fn no_pair(comparison: &Comparison<'_>) -> String {
    let name = short_name(comparison.rule);
    format!("{name} could not score any pair")
}

/// The short name of a rule, as in the tables.
fn short_name(rule: Rule) -> String {
    rule.short().to_uppercase()
}

/// Checks whether B − A is above `least` (a rate) with confidence 1 − level.
///
/// # Errors
/// The reason if the lower bound is not above `least`. If only the upper bound is above it, there
/// are too few data to decide, and the reason says how many questions would be needed.
fn check_bound(
    comparison: &Comparison<'_>,
    level: f64,
    least: f64,
    option: &str,
) -> Result<(), String> {
    let name = short_name(comparison.rule);
    let Some(difference) = comparison.difference() else {
        return Err(no_pair(comparison));
    };
    let bounds = difference.bounds(level);
    let points = |rate: f64| signed(100.0 * rate, 1);
    let found = format!(
        "B - A is {} points by {name}, with {:.4} % confidence",
        points(difference.difference),
        100.0 * (1.0 - level)
    );
    // Four decimals, for a small LEVEL such as 0.0001; a whole percentage has none.
    let found = found.replace(".0000 %", " %");
    let least_points = points(least);
    let low = points(bounds.low);
    if bounds.low > least {
        super::note(format_args!(
            "{option}: {found} at least {low}, above {least_points}"
        ));
        return Ok(());
    }
    if bounds.high <= least {
        let high = points(bounds.high);
        return Err(format!("{found} at most {high}, not above {least_points}"));
    }
    // The true difference for which the number of questions is computed.
    let (expected, assumed) = match option {
        "--margin" => (0.0, "if both are equally good"),
        _ => (difference.difference, "if that is the true difference"),
    };
    let needed = match expected - least {
        gap if gap > 0.0 => {
            let times = difference.times_needed(gap, level);
            let needed = grouped(two_digits(times * comparison.questions as f64) as u64);
            format!("about {needed} questions in all would be needed {assumed} (80 % power)")
        }
        _ => format!("no number of questions would do {assumed}"),
    };
    Err(format!(
        "not enough data: {found} at least {low}, not above {least_points}; {needed}"
    ))
}
