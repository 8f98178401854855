//! `--fail-under`: an exit code that fails a CI build if a score is too low.

use std::path::PathBuf;
use std::str::FromStr;

use strum::VariantArray;

use finqa_core::number::round5;
use finqa_core::text::counted;
use finqa_score::score::{Rule, Scorecard};

use super::junit::{JUnitCase, write_junit};
use super::{Exit, Failure};

/// The options of commands that compute scores, for use in a CI build.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "CI")]
pub(crate) struct CiArgs {
    /// Exit with code 6 if a score is below PERCENT, or if questions lack an answer or a gold;
    /// RULE is fe (financial equivalence), nm
    /// (numeric match), em (exact match), ex (execution accuracy), pe (program execution) or
    /// pa (program accuracy)
    #[arg(long, value_name = "RULE=PERCENT,…", value_delimiter = ',')]
    pub fail_under: Vec<Threshold>,
    /// With --fail-under: also write the result as a JUnit XML file, one test case for each rule
    #[arg(long, value_name = "FILE", requires = "fail_under")]
    pub junit: Option<PathBuf>,
}

/// The minimum score by a rule, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold {
    rule: Rule,
    percent: f64,
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, percent) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` is not of the form RULE=PERCENT, such as fe=80"))?;
        let rule = rule(name)?;
        let given = percent.trim();
        let percent: f64 = given
            .trim_end_matches('%')
            .trim_end()
            .parse()
            .ok()
            .filter(|percent| (0.0..=100.0).contains(percent))
            .ok_or_else(|| format!("`{given}` is not a percentage from 0 to 100"))?;
        // Such a number is probably a share, such as 0.8 for 80 %. As a percentage, it would let
        // nearly every score pass.
        if 0.0 < percent && percent < 1.0 && !given.ends_with('%') {
            let meant = round5(100.0 * percent);
            return Err(format!(
                "`{given}` is less than one percent; write {name}={meant} if {meant} % is meant, \
                 or {name}={given}%"
            ));
        }
        Ok(Self { rule, percent })
    }
}

/// Finds a rule by its short or its long name.
///
/// # Errors
/// A message that lists the rules.
pub(super) fn rule(name: &str) -> Result<Rule, String> {
    let (name, mut rules) = (name.trim(), Rule::VARIANTS.iter());
    let lower = name.to_lowercase();
    let rule = rules.find(|rule| rule.short() == lower || rule.name() == lower);
    rule.copied().ok_or_else(|| {
        let known = Rule::VARIANTS.iter();
        let known = known.map(|rule| format!("{} ({})", rule.short(), rule.name()));
        let known = known.collect::<Vec<_>>().join(", ");
        format!("no rule is called `{name}`; the rules are {known}")
    })
}

impl CiArgs {
    /// Checks the scores against the thresholds. `missing` names the questions that have no answer
    /// to score.
    ///
    /// # Errors
    /// [`Exit::BelowThreshold`], with the name, value and threshold of each rule that fails. A rule
    /// that could not score every question is below every threshold.
    pub(crate) fn check_thresholds(
        &self,
        card: &Scorecard,
        missing: Option<&str>,
    ) -> Result<(), Failure> {
        let case = |threshold: &Threshold| JUnitCase {
            name: format!(
                "{} of at least {} %",
                threshold.rule.name(),
                threshold.percent
            ),
            failure: threshold.failure(card),
        };
        let mut cases: Vec<JUnitCase> = self.fail_under.iter().map(case).collect();
        if let Some(missing) = missing.filter(|_| !self.fail_under.is_empty()) {
            cases.push(JUnitCase {
                name: "every question has an outcome".to_owned(),
                failure: Some(missing.to_owned()),
            });
        }
        if let Some(path) = &self.junit {
            write_junit(path, "fail-under", &cases)?;
        }
        let below: Vec<String> = cases.into_iter().filter_map(|case| case.failure).collect();
        if below.is_empty() {
            return Ok(());
        }
        let line = format!("--fail-under: {}", below.join("; "));
        Err(Failure::new(Exit::BelowThreshold, line))
    }
}

impl CiArgs {
    /// Writes a JUnit file which says that no threshold was checked. Otherwise a CI system would
    /// read the file of an earlier run.
    pub(crate) fn report_unjudged(&self, reason: &str) -> Result<(), Failure> {
        let Some(path) = &self.junit else {
            return Ok(());
        };
        let name = "every question has an outcome".to_owned();
        let failure = Some(reason.to_owned());
        write_junit(path, "fail-under", &[JUnitCase { name, failure }])
    }
}

impl Threshold {
    /// The reason why the scores do not reach the threshold; `None` if they do.
    fn failure(&self, card: &Scorecard) -> Option<String> {
        let Self { rule, percent } = self;
        let (name, unscored) = (rule.name(), card.unscored(*rule));
        let rate = card.rates.get(*rule);
        match rate.map(|rate| (100.0 * rate.rate, rate.n)) {
            // A rounding error may make a rate that equals the threshold slightly smaller.
            Some((value, _)) if value + 1e-9 < *percent => {
                Some(format!("{name} is {value:.2} %, below {percent} %"))
            }
            Some((_, n)) if unscored > 0 => Some(format!(
                "{name} could score {n} of {}, the others lack its gold",
                counted(card.questions, "question")
            )),
            Some(_) => None,
            None => Some(format!(
                "{name} could not score any question, so it is below {percent} %"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_named_short_or_long_and_nothing_else() {
        let parse = |text: &str| text.parse::<Threshold>();
        assert_eq!(parse("nm=75").unwrap().percent, 75.0);
        assert_eq!(
            parse(" FE = 80% ").unwrap().rule,
            Rule::FinancialEquivalence
        );
        assert_eq!(
            parse("program_accuracy=1.5").unwrap().rule,
            Rule::ProgramAccuracy
        );
        for (text, percent) in [("fe=0", 0.0), ("fe=1", 1.0), ("fe=0.75 %", 0.75)] {
            assert_eq!(parse(text).unwrap().percent, percent, "{text}");
        }
        for (text, reason) in [
            ("f1=80", "no rule is called `f1`"),
            ("fe", "not of the form"),
            ("fe=eighty", "not a percentage"),
            ("fe=120", "not a percentage"),
            ("fe=nan", "not a percentage"),
            ("fe=0.75", "write fe=75 if 75 % is meant, or fe=0.75%"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
