//! JUnit XML for CI: each question a test case, a wrong answer a failure, a
//! question without an answer an error, one without gold skipped.

use std::fmt::Write as _;
use std::path::Path;

use crate::dataset::Outcome;
use crate::score::{Rule, ScoredRow};

use super::folder::{OutputError, write_atomic};

/// Characters of a text in the file; the run's journal has the rest.
const SHOWN: usize = 2000;

/// Writes the rows as one test suite, judged by `rule`.
///
/// # Errors
/// [`OutputError`] if the file cannot be written; one that was there is then as
/// it was.
pub fn write_junit(
    path: &Path,
    suite: &str,
    rule: Rule,
    rows: &[ScoredRow],
) -> Result<(), OutputError> {
    let xml = junit(suite, rule, rows);
    write_atomic(path, |file| {
        file.write_all(xml.as_bytes())
            .map_err(|source| OutputError::Write {
                path: path.to_owned(),
                source,
            })
    })
}

/// What a case came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Right,
    Wrong,
    NoAnswer,
    NoGold,
}

fn case(rule: Rule, row: &ScoredRow) -> Case {
    match (row.item.outcome, rule.mark(row)) {
        (Outcome::Answered, Some(true)) => Case::Right,
        (Outcome::Answered, Some(false)) => Case::Wrong,
        (Outcome::Answered, None) => Case::NoGold,
        _ => Case::NoAnswer,
    }
}

fn junit(suite: &str, rule: Rule, rows: &[ScoredRow]) -> String {
    let count = |wanted| rows.iter().filter(|row| case(rule, row) == wanted).count();
    let seconds: f64 = rows.iter().filter_map(|row| row.item.latency).sum();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        rows.len(),
        count(Case::Wrong),
        count(Case::NoAnswer),
        count(Case::NoGold),
    );
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"convfinqa\" {counts}>\n\
         <testsuite name=\"{}\" {counts}>\n<properties><property name=\"rule\" value=\"{}\"/></properties>\n",
        text(suite),
        rule.name()
    );
    for row in rows {
        write_case(&mut xml, rule, row);
    }
    xml.push_str("</testsuite>\n</testsuites>\n");
    xml
}

fn write_case(xml: &mut String, rule: Rule, row: &ScoredRow) {
    let item = &row.item;
    // Writing to a string does not fail.
    let _ = write!(
        xml,
        "<testcase classname=\"{}\" name=\"{}: {}\" time=\"{:.3}\"",
        text(&item.key.id),
        text(&item.key.part),
        text(&item.question),
        item.latency.unwrap_or_default()
    );
    let gold = item.ground_truth.as_deref().unwrap_or_default();
    let _ = match case(rule, row) {
        Case::Right => writeln!(xml, "/>"),
        Case::Wrong => writeln!(
            xml,
            "><failure type=\"{}\" message=\"gold {}, answered {}\"/></testcase>",
            rule.name(),
            text(gold),
            text(&item.prediction)
        ),
        Case::NoAnswer => writeln!(
            xml,
            "><error type=\"{0}\" message=\"no answer: {0}\"/></testcase>",
            item.outcome.name()
        ),
        Case::NoGold => writeln!(xml, "><skipped message=\"no gold\"/></testcase>"),
    };
}

/// A text as an attribute's value: escaped, cut, and without the characters
/// that XML has no way to write.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(SHOWN));
    for c in text.chars().take(SHOWN) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Gold, QuestionKey};
    use crate::score::Item;

    fn row(part: &str, gold: Option<&str>, prediction: &str, outcome: Outcome) -> ScoredRow {
        ScoredRow::score(Item {
            key: QuestionKey {
                id: "a<b".to_owned(),
                part: part.to_owned(),
            },
            epoch: "0".to_owned(),
            turns: None,
            filename: "page".to_owned(),
            kind: None,
            question: "is \"x\" > 1 & \u{0}?".to_owned(),
            ground_truth: gold.map(str::to_owned),
            gold: Gold {
                answer: gold.map(str::to_owned),
                ..Gold::default()
            },
            prediction: prediction.to_owned(),
            answer: prediction.to_owned(),
            value: None,
            program: None,
            document: None,
            outcome,
            latency: Some(0.5),
        })
    }

    #[test]
    fn every_question_is_one_case_of_one_kind() {
        let rows = [
            row("0", Some("1"), "1", Outcome::Answered),
            row("1", Some("1"), "7", Outcome::Answered),
            row("2", Some("1"), "", Outcome::ContentFilter),
            row("3", None, "1", Outcome::Answered),
        ];
        let xml = junit("run \"1\"", Rule::FinancialEquivalence, &rows);
        assert_eq!(xml.matches("<testcase ").count(), 4);
        assert!(
            xml.contains("tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"1\" time=\"2.000\"")
        );
        assert!(xml.contains("message=\"gold 1, answered 7\""));
        assert!(xml.contains("type=\"content_filter\""));
        assert!(xml.contains("is &quot;x&quot; &gt; 1 &amp; \u{fffd}?"));
        assert!(xml.contains("classname=\"a&lt;b\"") && !xml.contains('\0'));
    }
}
