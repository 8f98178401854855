//! Finds the column labels. They are taken from the table's first row if it is sound. Otherwise
//! they are repaired with `table_ori`, and if that fails, numbered.
//!
//! The dataset's tokeniser flattened headers of several rows: it repeated the upper row over as
//! many columns as the row has cells. Some labels therefore occur twice or are on the wrong column.
//! `table_ori` still has the separate rows.

use std::collections::{HashMap, HashSet};

use super::cell::TableOrigin;
use super::years::{year_of, years_in};
use crate::text::single_spaced;

/// The labels of all columns of `table`, whose row 0 is the header. The label of the corner comes
/// first. In a document of the user, the published labels are used, and labels that occur twice are
/// numbered.
pub(super) fn labels(
    table: &[Vec<String>],
    original: Option<&[Vec<String>]>,
    origin: TableOrigin,
) -> Vec<String> {
    let published = origin == TableOrigin::Published;
    let label = |cell: &String| {
        if published {
            tidy(cell)
        } else {
            cell.trim().to_owned()
        }
    };
    let header: Vec<String> = table
        .first()
        .map(|row| row.iter().map(label).collect())
        .unwrap_or_default();
    let sound = !repeats(header.get(1..).unwrap_or_default());
    if let Some(repaired) = original.and_then(|original| from_original(table, original))
        && !repeats(repaired.get(1..).unwrap_or_default())
        && (!sound || differs(&header, &repaired))
    {
        return repaired;
    }
    if sound {
        header
    } else {
        numbered(header, published)
    }
}

/// True if a label occurs twice; blank labels do not count.
fn repeats(labels: &[String]) -> bool {
    let mut seen = HashSet::new();
    labels
        .iter()
        .filter(|label| !label.is_empty())
        .any(|label| !seen.insert(label.as_str()))
}

/// True if the repaired labels and the published labels name different years, which means that the
/// header is on the wrong columns. Any other difference is only one of spelling.
fn differs(published: &[String], repaired: &[String]) -> bool {
    published
        .iter()
        .zip(repaired)
        .skip(1)
        .any(|(published, repaired)| years_in(published) != years_in(repaired))
}

/// Builds the labels from the rows of `table_ori` above its first row of data. `None` if its rows
/// do not match those of `table`, or if its header cells cannot be distributed over the columns.
fn from_original(table: &[Vec<String>], original: &[Vec<String>]) -> Option<Vec<String>> {
    let width = table.first()?.len();
    let data = table.get(1..)?;
    let rows = original.len().checked_sub(data.len())?;
    // With a single header row, `table_ori` has the same header as `table`.
    if rows < 2 || data.is_empty() || width < 2 {
        return None;
    }
    let (header, body) = original.split_at_checked(rows)?;
    let matching = body
        .iter()
        .zip(data)
        .filter(|(original, row)| same_label(original.first(), row.first()))
        .count();
    // One row label in five may differ (set by hand). If more differ, the two tables do not match.
    if matching * 5 < data.len() * 4 {
        return None;
    }
    let header: Vec<Vec<String>> = header
        .iter()
        .map(|row| row.iter().map(|cell| tidy(&strip_tags(cell))).collect())
        .collect();
    let (leaf, upper) = header.split_last()?;
    if leaf.len() == width {
        spread(leaf, upper)
    } else {
        in_sequence(&header, width)
    }
}

/// Combines a full row of labels with the rows of spanning labels above it. `None` if the spans of
/// a row cannot be equally wide.
fn spread(leaf: &[String], upper: &[Vec<String>]) -> Option<Vec<String>> {
    let (corner, leaves) = leaf.split_first()?;
    let columns = leaves.len();
    let mut labels = leaves.to_vec();
    let mut corner = corner.clone();
    // From the innermost row outwards, so that the outermost label comes first.
    for row in upper.iter().rev() {
        let spans: Vec<&String> = match row.split_first() {
            // A row of full width has its own corner cell.
            Some((first, rest)) if first.is_empty() || row.len() == columns + 1 => {
                if corner.is_empty() {
                    corner.clone_from(first);
                }
                rest.iter().filter(|cell| !cell.is_empty()).collect()
            }
            _ => row.iter().filter(|cell| !cell.is_empty()).collect(),
        };
        if spans.is_empty() {
            continue;
        }
        // The widths of the spans are not known, so all are taken as equally wide.
        if columns % spans.len() != 0 {
            return None;
        }
        let each = columns / spans.len();
        for (index, label) in labels.iter_mut().enumerate() {
            let span = spans.get(index / each)?;
            *label = tidy(&format!("{span} {label}"));
        }
    }
    labels.insert(0, corner);
    Some(labels)
}

/// Combines header cells that became separate rows, one for each column in reading order. If the
/// first cell has words and a year and the others are bare years, they get the words too
/// (`year ended june 30, 2009`, `2008`, `2007`). `None` unless there is one cell for each column;
/// the cell of the corner may be missing.
fn in_sequence(header: &[Vec<String>], width: usize) -> Option<Vec<String>> {
    let mut cells: Vec<String> = header
        .iter()
        .flatten()
        .filter(|cell| !cell.is_empty())
        .cloned()
        .collect();
    let corner = match cells.len().checked_sub(width) {
        Some(0) => cells.remove(0),
        Some(_) => return None,
        None if cells.len() + 1 == width => String::new(),
        None => return None,
    };
    if let Some((first, rest)) = cells.split_first_mut()
        && let [year] = years_in(first).as_slice()
        && rest.iter().all(|cell| year_of(cell).is_some())
        && let Some(words) = first.strip_suffix(&year.to_string())
    {
        for cell in rest {
            *cell = tidy(&format!("{words} {cell}"));
        }
    }
    cells.insert(0, corner);
    Some(cells)
}

/// Numbers labels that occur several times: `a (group 2)`. In a published table, a spanning label
/// may have been repeated over the wrong columns: in `p a | p b | p a | b`, the last column lacks
/// `p`. Then only the first `a` and the first `b` get `p`, because it may not belong to the others.
fn numbered(labels: Vec<String>, published: bool) -> Vec<String> {
    let Some((corner, columns)) = labels.split_first() else {
        return labels;
    };
    let (leaves, prefix) = match misplaced_span(columns).filter(|_| published) {
        Some((leaves, prefix)) => (leaves, Some(prefix)),
        None => (columns.to_vec(), None),
    };
    let mut out = vec![corner.clone()];
    let mut total: HashMap<&str, usize> = HashMap::new();
    for leaf in leaves.iter().filter(|leaf| !leaf.is_empty()) {
        *total.entry(leaf).or_default() += 1;
    }
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for leaf in &leaves {
        let of = total.get(leaf.as_str()).copied().unwrap_or(0);
        let so_far = seen.entry(leaf).or_default();
        let earlier = if leaf.is_empty() { 0 } else { *so_far };
        *so_far += 1;
        out.push(match (earlier, &prefix) {
            (0, Some(prefix)) => format!("{prefix} {leaf}"),
            (0, None) if of < 2 => leaf.clone(),
            (0, None) => format!("{leaf} (group 1)"),
            (n, _) => format!("{leaf} (group {})", n + 1),
        });
    }
    out
}

/// Finds spanning words that precede every label but the last, although one of these labels repeats
/// the last: `2031 a`, `2031 b`, `b`. Returns the labels without the spanning words, and these
/// words. Otherwise `None`.
fn misplaced_span(columns: &[String]) -> Option<(Vec<String>, String)> {
    let (last, rest) = columns.split_last()?;
    let prefix = rest.iter().find_map(|label| {
        label
            .strip_suffix(last.as_str())
            .and_then(|front| front.strip_suffix(' '))
            .filter(|front| !last.is_empty() && !front.is_empty())
    })?;
    let mut leaves = rest
        .iter()
        .map(|label| {
            let leaf = label.strip_prefix(prefix)?.strip_prefix(' ')?;
            Some(leaf.to_owned())
        })
        .collect::<Option<Vec<_>>>()?;
    leaves.push(last.clone());
    Some((leaves, prefix.to_owned()))
}

/// True if two row labels differ only in case, punctuation, tags or lost escapes.
fn same_label(a: Option<&String>, b: Option<&String>) -> bool {
    let key = |label: &str| -> String {
        strip_tags(label)
            .chars()
            .filter(|c| c.is_ascii_alphanumeric())
            .map(|c| c.to_ascii_lowercase())
            .collect()
    };
    match (a, b) {
        (Some(a), Some(b)) => {
            let (a, b) = (key(a), key(b));
            // A lost escape leaves only its digits: `company2019s`.
            a == b || a == b.replace("2019", "") || a == b.replace("2014", "")
        }
        _ => false,
    }
}

/// Removes tags such as `<sup>` and keeps the text inside.
fn strip_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        let Some((name, after)) = tag.split_once('>') else {
            break;
        };
        out.push_str(before);
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
            out.push('<');
            out.push_str(name);
            out.push('>');
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Converts a label to lower case and single spaces, like the other cells of published tables.
fn tidy(text: &str) -> String {
    single_spaced(&super::normalise_sentence(text).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter()
            .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
            .collect()
    }

    #[test]
    fn a_header_lost_over_two_rows_comes_back_from_the_original() {
        let table = rows(&[
            &[
                "2008", "year ended june 30 2009 2008", "year ended june 30 2009 2008",
                "year ended june 30 2009",
            ],
            &["net sales", "$ 30", "$ 20", "$ 10"],
        ]);
        let original = rows(&[
            &["", "Year Ended June 30, 2009"],
            &["2008", "2007"],
            &["Net sales", "$30", "$20", "$10"],
        ]);
        let labels = labels(&table, Some(&original), TableOrigin::Published);
        assert_eq!(
            labels,
            [
                "", "year ended june 30, 2009", "year ended june 30, 2008",
                "year ended june 30, 2007"
            ]
        );
    }

    #[test]
    fn spans_of_the_original_are_spread_over_their_columns() {
        let table = rows(&[
            &["in millions", "east 2010", "east 2009", "east 2010", "2009"],
            &["capital", "1", "2", "3", "4"],
        ]);
        let original = rows(&[
            &["", "East", "West<sup>(1)</sup>"],
            &["(in millions)", "2010", "2009", "2010", "2009"],
            &["Capital", "1", "2", "3", "4"],
        ]);
        assert_eq!(
            labels(&table, Some(&original), TableOrigin::Published),
            [
                "(in millions)", "east 2010", "east 2009", "west(1) 2010", "west(1) 2009"
            ]
        );
    }

    #[test]
    fn without_the_original_a_misplaced_span_is_taken_off_the_later_group() {
        let table = rows(&[
            &["quarter", "2002 high", "2002 low", "2002 high", "low"],
            &["first", "1", "2", "3", "4"],
        ]);
        let labels = labels(&table, None, TableOrigin::Published);
        assert_eq!(
            labels,
            [
                "quarter", "2002 high", "2002 low", "high (group 2)", "low (group 2)"
            ]
        );
    }

    #[test]
    fn labels_that_simply_repeat_are_numbered() {
        let table = rows(&[&["", "amount", "share", "amount"], &["a", "1", "2", "3"]]);
        assert_eq!(
            labels(&table, None, TableOrigin::Published),
            ["", "amount (group 1)", "share", "amount (group 2)"]
        );
    }

    /// Comparing each label with all others took a minute for 50,000 columns. A test with quadratic
    /// time would exceed its time limit.
    #[test]
    fn a_million_columns_of_one_label_are_numbered_in_one_pass() {
        let columns = 1_000_000;
        let mut header = vec![String::new()];
        header.resize(columns + 1, "amount".to_owned());
        let labels = numbered(header, true);
        assert_eq!(labels.len(), columns + 1);
        assert_eq!(labels[1], "amount (group 1)");
        assert_eq!(labels[columns], "amount (group 1000000)");
    }

    #[test]
    fn a_sound_header_stays_whatever_the_original_spells() {
        let table = rows(&[&["", "2012 total", "2011 total"], &["a", "1", "2"]]);
        let original = rows(&[&["", "Total for"], &["", "2012", "2011"], &["A", "1", "2"]]);
        let labels = labels(&table, Some(&original), TableOrigin::Published);
        assert_eq!(labels, ["", "2012 total", "2011 total"]);
    }

    #[test]
    fn one_label_in_five_may_differ_in_the_original() {
        let labelled = |header: &[&[&str]], names: [&'static str; 5]| {
            let data = names.map(|name| [name, "1", "2"]);
            let data: Vec<&[&str]> = data.iter().map(|row| row.as_slice()).collect();
            rows(&[header, data.as_slice()].concat())
        };
        let table = labelled(&[&["", "total", "total"]], ["a", "b", "c", "d", "e"]);
        for (names, expected) in [
            (["a", "b", "c", "d", "x"], "2012 total"),
            (["a", "b", "c", "x", "x"], "total (group 1)"),
        ] {
            let header: [&[&str]; 2] = [&["", "2012", "2011"], &["", "total", "total"]];
            let original = labelled(&header, names);
            let labels = labels(&table, Some(&original), TableOrigin::Published);
            assert_eq!(labels[1], expected, "{names:?}");
        }
    }

    #[test]
    fn an_original_that_does_not_fit_is_left_alone() {
        let table = rows(&[&["", "2012", "2012"], &["a", "1", "2"]]);
        for original in [
            rows(&[]),
            rows(&[&["x"]]),
            rows(&[&["", "x", "y", "z", "w"], &["", "2"], &["a", "1", "2"]]),
            rows(&[&["", "2012"], &["", "2011", "2010"], &["other", "1", "2"]]),
        ] {
            assert_eq!(
                labels(&table, Some(&original), TableOrigin::Published),
                ["", "2012 (group 1)", "2012 (group 2)"]
            );
        }
    }
}
