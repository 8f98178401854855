//! The amounts of a table in one notation: which sign marks the decimals is decided once for
//! each column, by the cells that leave no doubt, and amounts in another notation than
//! `-1,234.5` are rewritten.

use std::sync::LazyLock;

use regex::Regex;

/// An amount as people write it: what comes before it, its digits with their marks, and what
/// comes after it.
static AMOUNT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?x)^\s*
        (?P<before>[-+\u{2212}(\s]*[$\u{20ac}\u{a3}]?[-+\u{2212}(\s]*)
        (?P<digits>\d+(?:[.,'\u{2019}]\d+|[\x20\u{a0}\u{202f}]\d{3}\b)*)
        (?P<after>\s*(?:%|[kKmM]|bn|[bB]|[$\u{20ac}\u{a3}]|million|billion|thousand)?[\s)%*]*)$",
    )
    .ok()
});

/// The counts of cells for each decimal sign.
#[derive(Clone, Copy, Default)]
struct Evidence {
    comma: usize,
    point: usize,
}

impl Evidence {
    fn add(&mut self, other: Self) {
        self.comma += other.comma;
        self.point += other.point;
    }

    fn is_comma(self) -> Option<bool> {
        match (self.comma, self.point) {
            (0, 0) => None,
            (comma, point) => Some(comma > point),
        }
    }
}

/// Rewrites the cells below the header; a note for each column whose decimals are marked by
/// a comma.
pub(super) fn normalise(rows: &mut [Vec<String>]) -> Vec<String> {
    let Some((header, body)) = rows.split_first_mut() else {
        return Vec::new();
    };
    let width = header.len();
    let columns: Vec<Evidence> = (1..width)
        .map(|column| {
            let mut sum = Evidence::default();
            let cells = || body.iter().filter_map(|row| row.get(column));
            for cell in cells() {
                sum.add(evidence(cell));
            }
            if sum.is_comma().is_none() && groups_by_points(cells()) {
                sum.comma = 1;
            }
            sum
        })
        .collect();
    let mut table = Evidence::default();
    columns.iter().for_each(|column| table.add(*column));
    let mut notes = Vec::new();
    for (column, found) in (1..width).zip(columns) {
        let comma = found.is_comma().or(table.is_comma()).unwrap_or(false);
        let mut example = None;
        for cell in body.iter_mut().filter_map(|row| row.get_mut(column)) {
            if let Some(plain) = rewritten(cell, comma) {
                if comma && cell.contains([',', '.']) {
                    example = example.or(Some((cell.clone(), plain.clone())));
                }
                *cell = plain;
            }
        }
        if let Some((written, plain)) = example {
            let name = header.get(column).map_or("", String::as_str);
            let marks = match written.contains(',') {
                true => "has decimal commas",
                false => "separates thousands by points",
            };
            notes.push(format!(
                "column {name:?} {marks}: {written} is read as {plain}"
            ));
        }
    }
    notes
}

/// Whether "1.204" is among "415" and "230": decimals would all have the same digits after the
/// point, so it separates thousands.
fn groups_by_points<'a>(cells: impl Iterator<Item = &'a String>) -> bool {
    let all: Vec<String> = cells.filter_map(|cell| digits(cell)).collect();
    let (pointed, whole): (Vec<&String>, Vec<&String>) =
        all.iter().partition(|digits| digits.contains('.'));
    let small = |digits: &&String| digits.len() <= 3 && digits.chars().all(|c| c.is_ascii_digit());
    let large = whole.iter().any(|digits| digits.len() == 3);
    !pointed.is_empty() && large && whole.iter().all(small)
}

/// What a cell says about its column's decimal sign; nothing if both readings are possible.
fn evidence(cell: &str) -> Evidence {
    let none = Evidence::default();
    let Some(digits) = digits(cell) else {
        return none;
    };
    let (commas, points) = (digits.matches(',').count(), digits.matches('.').count());
    let after = |mark| digits.rsplit(mark).next().map_or(0, str::len);
    let comma = Evidence { comma: 1, point: 0 };
    let point = Evidence { comma: 0, point: 1 };
    match (commas, points) {
        (0, 0) => none,
        // The last of two marks is that of the decimals.
        (1.., 1..) if digits.rfind(',') > digits.rfind('.') => comma,
        (1.., 1..) => point,
        (1, 0) if after(',') != 3 || digits.starts_with("0,") => comma,
        (0, 1) if after('.') != 3 || digits.starts_with("0.") => point,
        (2.., 0) => point,
        (0, 2..) => comma,
        _ => none,
    }
}

fn digits(cell: &str) -> Option<String> {
    let found = AMOUNT.as_ref()?.captures(cell)?;
    Some(found.name("digits")?.as_str().to_owned())
}

/// The cell in plain notation; `None` if it is that already, or no amount.
fn rewritten(cell: &str, comma: bool) -> Option<String> {
    let found = AMOUNT.as_ref()?.captures(cell)?;
    let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
    let (before, after) = (part("before"), part("after"));
    let written = part("digits");
    let sure = evidence(cell);
    let comma = match sure.is_comma() {
        Some(sure) => sure,
        None => comma,
    };
    let (decimal, group) = if comma { (',', '.') } else { ('.', ',') };
    let kept: String = written
        .chars()
        .filter(|c| c.is_ascii_digit() || *c == decimal)
        .collect();
    // A mark that comes twice separates groups.
    let plain = match kept.matches(decimal).count() {
        0 => kept,
        1 => kept.replace(decimal, "."),
        _ => kept.replace(decimal, ""),
    };
    let marks = |text: &str, any: &[char]| text.contains(any);
    let closed = marks(before, &['(']);
    let negative = marks(before, &['-', '\u{2212}']) || closed;
    let currency: String = before
        .chars()
        .chain(after.chars())
        .filter(|c| matches!(c, '$' | '\u{20ac}' | '\u{a3}'))
        .collect();
    let scale = match after.trim_matches([' ', ')', '%', '*']) {
        "k" | "K" | "thousand" => " thousand",
        "m" | "M" | "million" => " million",
        "b" | "B" | "bn" | "billion" => " billion",
        _ => "",
    };
    let percent = if after.contains('%') { "%" } else { "" };
    let sign = if negative { "-" } else { "" };
    let space = if currency.is_empty() { "" } else { " " };
    let spaced = ['\'', '\u{2019}', ' ', '\u{a0}', '\u{202f}'];
    let unusual = comma
        || marks(written, &spaced)
        || marks(before, &['+'])
        || closed && marks(before, &['-', '\u{2212}'])
        || marks(after, &['*', '$', '\u{20ac}', '\u{a3}'])
        || !(scale.is_empty() || after.starts_with(' '))
        || written.split(group).skip(1).any(|part| part.len() < 3);
    let changed = unusual && plain.parse::<f64>().is_ok();
    changed.then(|| format!("{currency}{space}{sign}{plain}{percent}{scale}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str]) -> Vec<String> {
        let mut rows = vec![vec!["item".to_owned(), "2021".to_owned()]];
        rows.extend(
            cells
                .iter()
                .map(|cell| vec![String::new(), (*cell).to_owned()]),
        );
        normalise(&mut rows);
        rows.into_iter()
            .skip(1)
            .filter_map(|row| row.get(1).cloned())
            .collect()
    }

    #[test]
    fn a_column_with_decimal_commas_is_read_so_throughout() {
        assert_eq!(
            column(&["12.345,60", "-6.100,25", "1.234", "0,5", "7"]),
            ["12345.60", "-6100.25", "1234", "0.5", "7"]
        );
        assert_eq!(column(&["1,234", "0,5"]), ["1.234", "0.5"]);
        assert_eq!(column(&["1.234", "1.234.567"]), ["1234", "1234567"]);
    }

    #[test]
    fn points_among_whole_numbers_of_three_digits_separate_thousands() {
        assert_eq!(column(&["1.204", "415", "1.619"]), ["1204", "415", "1619"]);
        for decimals in [["1.204", "415.250", "7"], ["1.204", "1415", "415"]] {
            assert_eq!(column(&decimals), decimals);
        }
    }

    #[test]
    fn a_column_with_decimal_points_is_left_as_it_is() {
        let usual = [
            "1,234.5", "1,234", "1.234", "(12.5)", "$ (3.2)", "12.5%", "(12.5%)", "n/a", "", "3/4",
            "2019",
        ];
        assert_eq!(column(&usual), usual);
    }

    #[test]
    fn other_notations_are_rewritten_one_by_one() {
        let rewritten = column(&[
            "1'234'567",
            "1 234 567",
            "1,23,456",
            "1.2M",
            "1,234*",
            "+7.5%",
            "45 \u{20ac}",
            "-(5)",
            "$1.2bn",
        ]);
        assert_eq!(
            rewritten,
            [
                "1234567",
                "1234567",
                "123456",
                "1.2 million",
                "1234",
                "7.5%",
                "\u{20ac} 45",
                "-5",
                "$ 1.2 billion",
            ]
        );
    }
}
