//! The amounts of a table in one notation: which sign marks the decimals is decided once for
//! each column, by the cells that leave no doubt, and amounts in another notation than
//! `-1,234.5` are rewritten.

use std::sync::LazyLock;

use finqa_core::page::Cell;
use finqa_core::regex;
use regex::Regex;

/// An amount as people write it: what comes before it, its digits with their marks, and what
/// comes after it.
static AMOUNT: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?x)^\s*
        (?P<before>[-+\u{2212}\u{2013}(\s]*[$\u{20ac}\u{a3}\u{a5}]?[-+\u{2212}\u{2013}(\s]*)
        (?P<digits>\d+(?:[.,'\u{2019}]\d+|[\x20\u{a0}\u{202f}]\d{3}\b)*)
        (?P<after>\D*(?:[(\[]\w{1,2}[)\]]\s*)?)$"
    )
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

/// Rewrites the cells below the header; a note for each column in which a value changes.
pub(super) fn normalise(rows: &mut [Vec<String>]) -> Vec<String> {
    let Some((header, body)) = rows.split_first_mut() else {
        return Vec::new();
    };
    let columns: Vec<(usize, Evidence)> = (1..header.len())
        .filter(|column| !header.get(*column).is_some_and(|name| names_notes(name)))
        .map(|column| {
            let mut sum = Evidence::default();
            let amounts: Vec<Amount> = body
                .iter()
                .filter_map(|row| Amount::read(row.get(column)?))
                .collect();
            amounts.iter().for_each(|amount| sum.add(amount.evidence));
            if sum.is_comma().is_none() && groups_by_points(&amounts) {
                sum.comma = 1;
            }
            (column, sum)
        })
        .collect();
    let mut table = Evidence::default();
    columns.iter().for_each(|(_, column)| table.add(*column));
    let mut notes = Vec::new();
    for (column, found) in columns {
        let comma = found.is_comma().or(table.is_comma()).unwrap_or(false);
        let mut example = None;
        for cell in body.iter_mut().filter_map(|row| row.get_mut(column)) {
            if let Some(plain) = Amount::read(cell).and_then(|amount| amount.rewritten(comma)) {
                if Cell::read(cell).kind != Cell::read(&plain).kind {
                    example = example.or(Some((cell.clone(), plain.clone())));
                }
                *cell = plain;
            }
        }
        if let Some((written, plain)) = example {
            let name = header.get(column).map_or("", String::as_str);
            let marks = match comma {
                true if written.contains(',') => " has decimal commas",
                true if written.contains('.') => " separates thousands by points",
                _ => "",
            };
            notes.push(format!(
                "column {name:?}{marks}: {written} is read as {plain}"
            ));
        }
    }
    notes
}

/// True if "1.204" is among "415" and "230": decimals would all have the same digits after the
/// point, so it separates thousands.
fn groups_by_points(amounts: &[Amount<'_>]) -> bool {
    let digits = amounts.iter().map(|amount| amount.digits);
    let (pointed, whole): (Vec<&str>, Vec<&str>) = digits.partition(|digits| digits.contains('.'));
    let small = |digits: &&str| digits.len() <= 3 && digits.chars().all(|c| c.is_ascii_digit());
    let large = whole.iter().any(|digits| digits.len() == 3);
    !pointed.is_empty() && large && whole.iter().all(small)
}

/// True if a column holds references to notes, `3,4` being two of them.
fn names_notes(header: &str) -> bool {
    let name = header.trim().trim_end_matches('.').to_lowercase();
    matches!(name.as_str(), "note" | "notes" | "ref" | "refs")
}

/// A cell that is an amount.
struct Amount<'t> {
    before: &'t str,
    digits: &'t str,
    after: &'t str,
    /// Which sign marks its decimals; nothing if both readings are possible.
    evidence: Evidence,
}

impl<'t> Amount<'t> {
    fn read(cell: &'t str) -> Option<Self> {
        let found = AMOUNT.captures(cell)?;
        let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
        let (before, digits, after) = (part("before"), part("digits"), part("after"));
        let count = |marks: &[char]| before.matches(marks).count();
        let closed = cell.matches(')').count() == cell.matches('(').count();
        (closed && count(&['(']) <= 1 && count(&['-', '+', '\u{2212}', '\u{2013}']) <= 1)
            .then_some(())?;
        Some(Self {
            before,
            digits,
            after,
            evidence: evidence(digits)?,
        })
    }

    /// The amount in plain notation; `None` if it is that already.
    fn rewritten(&self, comma: bool) -> Option<String> {
        let Self { before, after, .. } = *self;
        let comma = self.evidence.is_comma().unwrap_or(comma);
        let (decimal, group) = if comma { (',', '.') } else { ('.', ',') };
        let plain: String = self
            .digits
            .chars()
            .filter(|c| c.is_ascii_digit() || *c == decimal)
            .map(|c| if c == decimal { '.' } else { c })
            .collect();
        let marks = |text: &str, any: &[char]| text.contains(any);
        let closed = marks(before, &['(']);
        let minus = marks(before, &['-', '\u{2212}', '\u{2013}']);
        let is_currency = |c: &char| matches!(c, '$' | '\u{20ac}' | '\u{a3}' | '\u{a5}');
        let touches = !after.starts_with(char::is_whitespace);
        // `5 m` may be metres and `5 b` a footnote: letters must touch the number.
        let suffix =
            after.trim_matches(|c: char| c.is_whitespace() || matches!(c, ')' | '%' | '*'));
        let scale = match suffix {
            "" => Some(""),
            "k" | "K" if touches => Some(" thousand"),
            "m" | "M" if touches => Some(" million"),
            "b" | "B" if touches => Some(" billion"),
            "bn" => Some(" billion"),
            "thousand" => Some(" thousand"),
            "million" => Some(" million"),
            "billion" => Some(" billion"),
            one if one.chars().count() == 1 && one.chars().all(|c| is_currency(&c)) => Some(""),
            _ => None,
        };
        let (tail, behind) = match scale {
            Some(scale) => {
                let percent = if after.contains('%') { "%" } else { "" };
                (format!("{percent}{scale}"), after)
            }
            // Other words stay as they are.
            None if closed => (after.replacen(')', "", 1), ""),
            None => (after.to_owned(), ""),
        };
        let currency: String = before
            .chars()
            .chain(behind.chars())
            .filter(is_currency)
            .collect();
        let sign = if closed || minus { "-" } else { "" };
        let space = if currency.is_empty() { "" } else { " " };
        let spaced = ['\'', '\u{2019}', ' ', '\u{a0}', '\u{202f}'];
        let unusual = comma
            || marks(self.digits, &spaced)
            || marks(before, &['+'])
            || before.ends_with(['\u{20ac}', '\u{a3}', '\u{a5}'])
            || closed && minus
            || marks(behind, &['*', '$', '\u{20ac}', '\u{a3}'])
            || !(tail.trim_start_matches('%').is_empty() || behind.is_empty() || !touches)
            || self.digits.split(group).skip(1).any(|part| part.len() < 3);
        unusual.then(|| format!("{currency}{space}{sign}{plain}{tail}"))
    }
}

/// What digits with marks between them say about the decimal sign; `None` if they are not
/// an amount but, for example, a date or a version.
fn evidence(digits: &str) -> Option<Evidence> {
    let space = |c: char| if c.is_whitespace() { ' ' } else { c };
    let marks: Vec<char> = digits
        .chars()
        .filter(|c| !c.is_ascii_digit())
        .map(space)
        .collect();
    let groups: Vec<&str> = digits.split(|c: char| !c.is_ascii_digit()).collect();
    let Some((last, earlier)) = marks.split_last() else {
        return Some(Evidence::default());
    };
    let whole = groups.split_last().map_or(&[][..], |(_, whole)| whole);
    let decimals =
        matches!(last, ',' | '.') && !earlier.contains(last) && is_grouped(whole, earlier);
    let comma = match (is_grouped(&groups, &marks), decimals) {
        (false, false) => return None,
        (false, true) => *last == ',',
        (true, false) if *last == ',' => false,
        (true, false) if *last == '.' => true,
        (true, _) => return Some(Evidence::default()),
    };
    Some(Evidence {
        comma: usize::from(comma),
        point: usize::from(!comma),
    })
}

/// True if groups of digits are thousands under one mark: `1`, `12 345`, `1.234.567`, and with
/// commas the Indian `12,34,567`.
fn is_grouped(groups: &[&str], marks: &[char]) -> bool {
    let Some((first, rest)) = groups.split_first() else {
        return false;
    };
    let Some((last, middle)) = rest.split_last() else {
        return true;
    };
    let one_mark = marks
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a == b));
    let all = |length: usize| middle.iter().all(|group| group.len() == length);
    let thousands = first.len() <= 3 && all(3);
    let indian = first.len() <= 2 && all(2) && marks.first() == Some(&',');
    one_mark && !first.starts_with('0') && last.len() == 3 && (thousands || indian)
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
            "1'234'567", "1 234 567", "1,23,456", "1.2M", "1,234*", "+7.5%", "45 \u{20ac}", "-(5)",
            "$1.2bn", "\u{20ac}61.4", "\u{a5}4,500",
        ]);
        assert_eq!(
            rewritten,
            [
                "1234567", "1234567", "123456", "1.2 million", "1234", "7.5%", "\u{20ac} 45", "-5",
                "$ 1.2 billion", "\u{20ac} 61.4", "\u{a5} 4500",
            ]
        );
    }

    #[test]
    fn dotted_references_dates_and_lists_are_not_amounts() {
        for cell in [
            "3.1.2", "31.12.2019", "1,2,3", "1.2.3", "1,234,56", "1.234,5.6", "12.34.567",
            "0171 234 567", "555-1234", "2019 100", "555 123 4567", "2021-03-04", "12:30", "10-20",
            "1/2", "3/4/2021", "1'23", "1 234'567", "--5,5", "(5,5",
        ] {
            assert_eq!(
                column(&[cell, "1,234", "12,345"]),
                [cell, "1,234", "12,345"]
            );
        }
    }

    #[test]
    fn a_dotted_cell_decides_nothing_about_other_columns() {
        for reference in ["3.1.2", "31.12.2019", "1,2,3"] {
            let mut rows = vec![
                ["item", "closed", "2021", "2020"]
                    .map(str::to_owned)
                    .to_vec(),
                ["Revenue", reference, "1,234", "1.234"]
                    .map(str::to_owned)
                    .to_vec(),
            ];
            let before = rows.clone();
            assert_eq!(normalise(&mut rows), Vec::<String>::new());
            assert_eq!(rows, before);
        }
    }

    #[test]
    fn a_column_of_note_numbers_is_left_as_it_is() {
        let mut rows = vec![
            ["item", "Note", "2021"].map(str::to_owned).to_vec(),
            ["Revenue", "3,4", "1,234"].map(str::to_owned).to_vec(),
        ];
        let before = rows.clone();
        assert_eq!(normalise(&mut rows), Vec::<String>::new());
        assert_eq!(rows, before);
    }

    #[test]
    fn every_change_of_a_value_is_noted() {
        for (cells, note) in [
            (
                vec!["1.234", "1.234.567"],
                "separates thousands by points: 1.234 is read as 1234",
            ),
            (vec!["555 123 456"], ": 555 123 456 is read as 555123456"),
            (vec!["1.5", "2.5", "0,5"], ": 0,5 is read as 0.5"),
        ] {
            let mut rows = vec![vec!["item".to_owned(), "2021".to_owned()]];
            rows.extend(
                cells
                    .iter()
                    .map(|cell| vec![String::new(), (*cell).to_owned()]),
            );
            let notes = normalise(&mut rows);
            assert!(notes.len() == 1 && notes[0].ends_with(note), "{notes:?}");
        }
    }

    #[test]
    fn signs_footnotes_and_words_take_part_in_the_columns_notation() {
        assert_eq!(
            column(&[
                "0,5", "\u{2013}1.234", "1.234 (a)", "1.234 mn", "1,5 m", "(1.234) %",
                "1.234 Stück", "1.234,5-",
            ]),
            [
                "0.5", "-1234", "1234 (a)", "1234 mn", "1.5 m", "-1234%", "1234 Stück", "1234.5-",
            ]
        );
    }
}
