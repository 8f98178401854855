//! Writes the results of gates as JUnit XML, which CI systems show.

use std::path::Path;

use finqa_core::text::picture;
use finqa_report::output::write_text;

use super::Failure;
use super::exit::with_output_hint;

/// The option that names the JUnit file, for messages.
pub(super) const JUNIT: &str = "--junit FILE";

/// One condition of a gate.
pub(super) struct JUnitCase {
    pub(super) name: String,
    /// The reason why the condition does not hold; `None` if it holds.
    pub(super) failure: Option<String>,
}

/// Writes the conditions as one test suite.
pub(super) fn write_junit(path: &Path, command: &str, cases: &[JUnitCase]) -> Result<(), Failure> {
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let lines = cases.iter().map(|JUnitCase { name, failure }| {
        let class = format!("convfinqa.{command}");
        let name = escaped(name);
        match failure {
            None => format!("  <testcase classname=\"{class}\" name=\"{name}\"/>\n"),
            Some(reason) => format!(
                "  <testcase classname=\"{class}\" name=\"{name}\">\n    \
                 <failure message=\"{}\"/>\n  </testcase>\n",
                escaped(reason)
            ),
        }
    });
    let text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuite name=\"convfinqa {command}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\">\n\
         {}</testsuite>\n",
        cases.len(),
        lines.collect::<String>()
    );
    write_text(path, &text).map_err(with_output_hint(JUNIT))
}

/// A text for an XML attribute. XML allows no control characters, so they are replaced by pictures.
fn escaped(text: &str) -> String {
    let escape = |c: char| match c {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => picture(c).to_string(),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}
