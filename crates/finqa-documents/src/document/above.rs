//! What lines above a table are: units, marks of a page, notes.

use finqa_core::page::Caption;

/// The most characters of a heading; a longer paragraph is text.
pub(super) const HEADING: usize = 240;

/// A page number, or the link to the table of contents.
pub(super) fn is_page_mark(text: &str) -> bool {
    let mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || "-–—|.".contains(c);
    let bare = text.trim_matches(mark);
    bare.is_empty() || bare.eq_ignore_ascii_case("table of contents")
}

/// "(In millions, except per share amounts)", or a sentence that ends with it.
pub(super) fn states_unit(text: &str) -> bool {
    let unit = Caption::in_label(text).and_then(|unit| unit.scale);
    let ends = text.starts_with('(') || text.trim_end_matches('.').ends_with([':', ')']);
    unit.is_some() && ends || Caption::is_alone(text)
}

/// The line above a table that states its unit, or what a paragraph says of it: "in the following
/// table (in millions), which shows …".
pub(super) fn unit_line(text: &str) -> Option<String> {
    if states_unit(text) {
        return Some(text.to_owned());
    }
    let (_, of_table) = text.split_once("following table")?;
    let unit = Caption::in_label(of_table).filter(|unit| unit.scale.is_some())?;
    let apart = of_table.contains(&format!("({})", unit.text));
    apart.then(|| format!("({})", unit.text))
}

/// "(1) Not applicable."
pub(super) fn is_footnote(text: &str) -> bool {
    let mark = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    mark.is_some_and(|(mark, _)| (1..=2).contains(&mark.len()))
}

/// "Amounts in millions of dollars except per share amounts or as otherwise specified."
pub(super) fn states_every_unit(text: &str) -> bool {
    let lower = text.to_lowercase();
    let otherwise = [
        "unless otherwise", "unless stated", "unless noted", "except as otherwise",
        "or as otherwise", "except where otherwise",
    ];
    text.len() <= HEADING
        && otherwise.iter().any(|words| lower.contains(words))
        && ["amount", "figures", "dollars", "values"]
            .iter()
            .any(|of| lower.contains(of))
        && Caption::in_label(text).is_some_and(|unit| unit.scale.is_some())
}
