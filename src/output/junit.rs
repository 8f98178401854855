//! JUnit XML for CI: each question a test case, a wrong answer a failure, a
//! question without an answer an error, one without gold skipped.

use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use tempfile::SpooledTempFile;

use crate::dataset::Outcome;
use crate::score::{Row, Rule};

use super::staged::{OutputError, write_atomic};

/// Characters of a text in the file; the run's journal has the rest.
const SHOWN: usize = 2000;

/// Bytes of test cases that are kept in memory before they go to a file.
const IN_MEMORY: usize = 1024 * 1024;

/// A test suite that gathers a run's rows one by one: their counts come before them.
pub(crate) struct JunitFile {
    path: PathBuf,
    rule: Rule,
    suite: TestSuite,
    seconds: f64,
    cases: SpooledTempFile,
}

impl JunitFile {
    /// A suite without cases, judged by `rule`, for the file at `path`.
    pub(crate) fn new(path: &Path, name: &str, rule: Rule) -> Self {
        let mut suite = TestSuite::new(shown(name));
        suite.add_property(("rule", rule.name()));
        Self {
            path: path.to_owned(),
            rule,
            suite,
            seconds: 0.0,
            cases: SpooledTempFile::new(IN_MEMORY),
        }
    }

    pub(crate) fn add(&mut self, row: &Row) -> Result<(), OutputError> {
        self.case(row).map_err(OutputError::at(&self.path))
    }

    fn case(&mut self, row: &Row) -> io::Result<()> {
        self.seconds += row.latency.unwrap_or_default();
        let mut suite = TestSuite::new("");
        suite.add_test_case(case(self.rule, row));
        self.suite.tests += suite.tests;
        self.suite.failures += suite.failures;
        self.suite.errors += suite.errors;
        self.suite.skipped += suite.skipped;
        let [_, case, _] = parts(suite)?;
        self.cases.write_all(case.as_bytes())
    }

    /// Writes the file.
    pub(crate) fn write(mut self) -> Result<(), OutputError> {
        write_atomic(&self.path, |file| {
            self.suite.set_time(seconds(self.seconds));
            let [head, _, tail] = parts(self.suite)?;
            file.write_all(head.as_bytes())?;
            self.cases.rewind()?;
            io::copy(&mut self.cases, file)?;
            file.write_all(tail.as_bytes())
        })
    }
}

/// A file of one suite: what comes before its cases, the cases, and what follows.
fn parts(suite: TestSuite) -> io::Result<[String; 3]> {
    let mut report = Report::new("convfinqa");
    if let Some(time) = suite.time {
        report.set_time(time);
    }
    let has_cases = !suite.test_cases.is_empty();
    report.add_test_suite(suite);
    let xml = report.to_string().map_err(io::Error::other)?;
    split_file(&xml, has_cases).ok_or_else(|| {
        io::Error::other("the JUnit XML has another layout than this program can join")
    })
}

/// The parts of a file as `quick-junit` lays it out.
fn split_file(xml: &str, has_cases: bool) -> Option<[String; 3]> {
    let (whole, tail) = xml.split_at(xml.find("    </testsuite>")?);
    let at = match has_cases {
        true => whole.find("        <testcase")?,
        false => whole.len(),
    };
    let (head, cases) = whole.split_at(at);
    Some([head, cases, tail].map(str::to_owned))
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
        let mut file = JunitFile::new(&path, "run \"1\"", Rule::FinancialEquivalence);
        rows.iter().try_for_each(|row| file.add(row)).unwrap();
        file.write().unwrap();
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
    fn a_file_of_another_layout_is_an_error_and_not_cut_elsewhere() {
        let known = "<a>\n    <testsuite>\n        <testcase/>\n    </testsuite>\n</a>";
        let split = split_file(known, true).unwrap();
        assert_eq!(split.concat(), known);
        assert_eq!(split[1], "        <testcase/>\n");
        for other in [known.replace("    ", "\t"), known.replace("    ", "")] {
            assert_eq!(split_file(&other, true), None);
        }
        assert_eq!(split_file("<a>\n    </testsuite>", true), None);
    }

    #[test]
    fn an_impossible_latency_counts_as_none() {
        assert_eq!(seconds(-1.0), Duration::ZERO);
        assert_eq!(seconds(f64::NAN), Duration::ZERO);
    }
}
