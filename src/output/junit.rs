//! JUnit XML for CI: each question a test case, a wrong answer a failure, a
//! question without an answer an error, one without gold skipped.

use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::dataset::Outcome;
use crate::score::{Row, Rule};

use super::staged::{OutputError, write_atomic};

/// Characters of a text in the file; the run's journal has the rest.
const SHOWN: usize = 2000;

/// Writes a suite of these rows, judged by financial equivalence.
pub(crate) fn write_junit(path: &Path, name: &str, rows: &[Row]) -> Result<(), OutputError> {
    let rule = Rule::FinancialEquivalence;
    let mut suite = TestSuite::new(shown(name));
    suite.add_property(("rule", rule.name()));
    suite.add_test_cases(rows.iter().map(|row| case(rule, row)));
    let time = rows.iter().filter_map(|row| row.latency).sum();
    suite.set_time(seconds(time));
    let mut report = Report::new("convfinqa");
    report.set_time(seconds(time));
    report.add_test_suite(suite);
    write_atomic(path, |file| {
        report.serialize(file).map_err(std::io::Error::other)
    })
}

fn case(rule: Rule, row: &Row) -> TestCase {
    let status = match (row.outcome(), rule.mark(row)) {
        (Outcome::Answered, Some(true)) => TestCaseStatus::success(),
        (Outcome::Answered, Some(false)) => {
            let gold = shown(&row.ground_truth().unwrap_or_default());
            let message = format!("gold {gold}, answered {}", shown(&row.prediction()));
            not_passed(NonSuccessKind::Failure, rule.name(), message)
        }
        (Outcome::Answered, None) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message("no gold");
            status
        }
        (outcome, _) => {
            let message = format!("no answer: {}", outcome.name());
            not_passed(NonSuccessKind::Error, outcome.name(), message)
        }
    };
    let name = format!("{}: {}", shown(&row.key.part), shown(&row.question));
    let mut case = TestCase::new(name, status);
    case.set_classname(shown(&row.key.id))
        .set_time(seconds(row.latency.unwrap_or_default()));
    case
}

fn not_passed(kind: NonSuccessKind, name: &str, message: String) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(name).set_message(message);
    status
}

/// A latency from a CSV that is not a possible duration counts as zero.
fn seconds(latency: f64) -> Duration {
    Duration::try_from_secs_f64(latency).unwrap_or_default()
}

/// The beginning of a text, on one line: readers turn line ends of an attribute
/// into spaces anyway.
fn shown(text: &str) -> String {
    let line = text.chars().take(SHOWN);
    line.map(|c| match c {
        '\t' | '\n' | '\r' => ' ',
        _ => c,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::files::{read_predictions, rescore};

    #[test]
    fn every_question_is_one_case_of_one_kind() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines = [
            r#"{"id": "a<b", "part": "0", "question": "is \"x\" > 1 & \u0000?", "gold": "1", "prediction": "1", "latency": 0.5}"#,
            r#"{"id": "a<b", "part": "1", "gold": "1", "prediction": "7", "latency": 0.5}"#,
            r#"{"id": "a<b", "part": "2", "gold": "1", "prediction": "", "outcome": "content_filter", "latency": 0.5}"#,
            r#"{"id": "a<b", "part": "3", "prediction": "1", "latency": 0.5}"#,
        ];
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        let rows = rescore(read_predictions(file.path()).unwrap(), None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("junit.xml");
        write_junit(&path, "run \"1\"", &rows).unwrap();
        let xml = std::fs::read_to_string(path).unwrap();
        let read = Report::deserialize_from_str(&xml).unwrap();
        let suite = &read.test_suites[0];
        assert_eq!(suite.name.as_str(), "run \"1\"");
        assert_eq!(
            (read.tests, read.failures, read.errors, read.skipped),
            (4, 1, 1, 1)
        );
        assert_eq!(
            (suite.tests, suite.failures, suite.errors, suite.skipped),
            (4, 1, 1, 1)
        );
        assert_eq!(suite.time, Some(Duration::from_secs(2)));
        let found: Vec<_> = suite.test_cases.iter().map(outcome).collect();
        assert_eq!(
            found,
            [
                (None, None),
                (Some("financial_equivalence"), Some("gold 1, answered 7")),
                (Some("content_filter"), Some("no answer: content_filter")),
                (None, Some("no gold")),
            ]
        );
        let first = &suite.test_cases[0];
        assert_eq!(first.name.as_str(), "0: is \"x\" > 1 & ?");
        assert_eq!(first.classname.as_ref().unwrap().as_str(), "a<b");
        assert_eq!(first.time, Some(Duration::from_millis(500)));
        assert!(xml.contains("0: is &quot;x&quot; &gt; 1 &amp; ?") && !xml.contains('\0'));
    }

    /// The type and the message of a case that did not pass.
    fn outcome(case: &TestCase) -> (Option<&str>, Option<&str>) {
        match &case.status {
            TestCaseStatus::Success { .. } => (None, None),
            TestCaseStatus::NonSuccess { ty, message, .. }
            | TestCaseStatus::Skipped { ty, message, .. } => (
                ty.as_ref().map(|ty| ty.as_str()),
                message.as_ref().map(|message| message.as_str()),
            ),
        }
    }

    #[test]
    fn an_impossible_latency_counts_as_none() {
        assert_eq!(seconds(-1.0), Duration::ZERO);
        assert_eq!(seconds(f64::NAN), Duration::ZERO);
    }
}
