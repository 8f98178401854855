//! JUnit XML for CI: each question a test case, a wrong answer a failure, a
//! question without an answer an error, one without gold skipped.

use std::path::Path;

use minijinja::HtmlEscape;

use crate::dataset::Outcome;
use crate::score::{Row, Rule};

use super::staged::{OutputError, write_atomic};

/// Characters of a text in the file; the run's journal has the rest.
const SHOWN: usize = 2000;

/// Writes a suite of these rows, judged by financial equivalence.
pub(crate) fn write_junit(path: &Path, name: &str, rows: &[Row]) -> Result<(), OutputError> {
    let rule = Rule::FinancialEquivalence;
    let ends: Vec<_> = rows.iter().map(|row| not_passed(rule, row)).collect();
    let count = |kind| {
        let ends = ends.iter().flatten();
        ends.filter(|end| end.kind == kind).count()
    };
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3}\"",
        rows.len(),
        count("failure"),
        count("error"),
        count("skipped"),
        rows.iter().map(seconds).sum::<f64>()
    );
    write_atomic(path, |file| {
        writeln!(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(file, "<testsuites name=\"convfinqa\" {counts}>")?;
        writeln!(file, "  <testsuite name=\"{}\" {counts}>", shown(name))?;
        let value = rule.name();
        let property = format!("<property name=\"rule\" value=\"{value}\"/>");
        writeln!(file, "    <properties>{property}</properties>")?;
        for (row, end) in rows.iter().zip(&ends) {
            let name = format!("{}: {}", row.key.part, row.question);
            let (name, class, time) = (shown(&name), shown(&row.key.id), seconds(row));
            let head = format!("name=\"{name}\" classname=\"{class}\" time=\"{time:.3}\"");
            match end {
                None => writeln!(file, "    <testcase {head}/>")?,
                Some(NotPassed {
                    kind,
                    name,
                    message,
                }) => {
                    let message = shown(message);
                    writeln!(file, "    <testcase {head}>")?;
                    writeln!(
                        file,
                        "      <{kind} type=\"{name}\" message=\"{message}\"/>"
                    )?;
                    writeln!(file, "    </testcase>")?;
                }
            }
        }
        writeln!(file, "  </testsuite>\n</testsuites>")
    })
}

/// What is in the element of a case that did not pass.
struct NotPassed {
    /// The name of that element.
    kind: &'static str,
    name: &'static str,
    message: String,
}

fn not_passed(rule: Rule, row: &Row) -> Option<NotPassed> {
    let (kind, name, message) = match (row.outcome(), rule.mark(row)) {
        (Outcome::Answered, Some(true)) => return None,
        (Outcome::Answered, Some(false)) => {
            let gold = row.ground_truth().unwrap_or_default();
            let message = format!("gold {gold}, answered {}", row.prediction());
            ("failure", rule.name(), message)
        }
        (Outcome::Answered, None) => ("skipped", "no_gold", "no gold".to_owned()),
        (outcome, _) => {
            let message = format!("no answer: {}", outcome.name());
            ("error", outcome.name(), message)
        }
    };
    Some(NotPassed {
        kind,
        name,
        message,
    })
}

/// A latency from a CSV that is not a possible duration counts as zero.
fn seconds(row: &Row) -> f64 {
    let possible = |seconds: &f64| seconds.is_finite() && *seconds >= 0.0;
    row.latency.filter(possible).unwrap_or_default()
}

/// The beginning of a text, on one line and escaped: readers turn line ends of an attribute
/// into spaces anyway, and XML has no other control characters.
fn shown(text: &str) -> String {
    let line = text.chars().take(SHOWN).filter_map(|c| match c {
        '\t' | '\n' | '\r' => Some(' '),
        '\u{fffe}' | '\u{ffff}' => None,
        _ => (!c.is_control()).then_some(c),
    });
    HtmlEscape(&line.collect::<String>()).to_string()
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
            r#"{"id": "a<b", "part": "2", "gold": "1", "prediction": "", "outcome": "content_filter", "latency": -1}"#,
            r#"{"id": "a<b", "part": "3", "prediction": "1", "latency": 0.5}"#,
        ];
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        let rows = rescore(read_predictions(file.path()).unwrap(), None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("junit.xml");
        write_junit(&path, "run \"1\"", &rows).unwrap();
        let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="convfinqa" tests="4" failures="1" errors="1" skipped="1" time="1.500">
  <testsuite name="run &quot;1&quot;" tests="4" failures="1" errors="1" skipped="1" time="1.500">
    <properties><property name="rule" value="financial_equivalence"/></properties>
    <testcase name="0: is &quot;x&quot; &gt; 1 &amp; ?" classname="a&lt;b" time="0.500"/>
    <testcase name="1: " classname="a&lt;b" time="0.500">
      <failure type="financial_equivalence" message="gold 1, answered 7"/>
    </testcase>
    <testcase name="2: " classname="a&lt;b" time="0.000">
      <error type="content_filter" message="no answer: content_filter"/>
    </testcase>
    <testcase name="3: " classname="a&lt;b" time="0.500">
      <skipped type="no_gold" message="no gold"/>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    }
}
