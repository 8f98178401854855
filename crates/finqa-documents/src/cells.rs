//! Recognizes what the text of a cell is (a figure, a year, a sign that belongs to the next cell),
//! and brings figures into one notation.
//!
//! Whether a comma marks the decimals is decided for each column, otherwise for its table,
//! otherwise for the document, from the cells that allow one reading only and from tags. Digits
//! that are not written as `1,234.5` are rewritten. The text around the digits is left to
//! `finqa_core::number`.

use finqa_core::number::{self, fold, is_currency};
use finqa_core::page::{Cell, MONTHS, has_sides, names_notes, split_side, year_of, years_in};
use finqa_core::pattern;
use finqa_core::text::Pattern;

/// True for a currency sign or an open bracket whose number is in the next cell.
pub(crate) fn opens(text: &str) -> bool {
    let bare = text.trim_matches(|c| fold(c) == '-' || "( +".contains(c));
    is_currency(bare) || bare.is_empty() && text.contains('(')
}

/// True for a text that belongs to the number in the cell before it: `)`, `%`, `pts`.
pub(crate) fn closes(text: &str) -> bool {
    let marks = text.chars().all(|c| matches!(fold(c), ')' | '%' | ' '));
    marks || matches!(text, "pts" | "bps" | ")pts" | "x")
}

/// Headings that a schedule can have after its years.
const AFTER_YEARS: [&str; 6] = [
    "thereafter", "later", "later years", "beyond", "total", "after",
];

/// True if a table has no column of labels: its headings are two or more years, possibly followed
/// by [`AFTER_YEARS`], and only figures are below the first one.
pub(crate) fn lacks_labels<'t>(
    header: impl IntoIterator<Item = &'t str>,
    first: impl IntoIterator<Item = &'t str>,
) -> bool {
    let mut years = 0;
    for (at, heading) in header.into_iter().enumerate() {
        let lower = heading.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphabetic());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let words = words.join(" ");
        let dated = !years_in(heading).is_empty();
        let dated = dated && ["", "fy", "fiscal", "fiscal year", "year"].contains(&words.as_str());
        if !dated && (at == 0 || !AFTER_YEARS.contains(&words.as_str())) {
            return false;
        }
        years += usize::from(dated);
    }
    let mut first = first.into_iter();
    years > 1 && first.all(|cell| is_figure(cell) && year_of(cell).is_none())
}

/// Maximum length of a figure in bytes, with its currency and scale. Longer texts are not parsed.
/// Set by hand.
const LONGEST: usize = 48;

/// True for a text that is only a number or a dash, possibly with a footnote mark such as `*` after
/// it. An open bracket counts as closed, because the closing one can be in the next cell.
pub(crate) fn is_figure(text: &str) -> bool {
    let bare = text.trim().trim_end_matches(['*', '†', '‡']);
    let dash = |c: char| fold(c) == '-' || "$€£¥()% ".contains(c);
    // A slash or a colon is in dates, fractions and times.
    if bare.len() > LONGEST || bare.contains(['/', ':']) {
        return false;
    }
    if !bare.contains(|c: char| c.is_ascii_digit()) {
        return bare.chars().all(dash) && bare.contains(|c| fold(c) == '-');
    }
    let open = bare.contains('(') && !bare.contains(')');
    let closed = if open {
        format!("{bare})")
    } else {
        bare.to_owned()
    };
    let plain = || WrittenFigure::read(&closed)?.rewritten(None, false);
    number::whole(&closed).is_ok()
        || split_side(bare).is_some()
        || plain().is_some_and(|plain| number::whole(&plain).is_ok())
}

/// True for a year, with or without a mark: "2024", "2024 (1)", "2024*".
pub(crate) fn is_year(text: &str) -> bool {
    let text = whole_year(text).unwrap_or(text);
    // Up to four bytes are for a blank and a mark.
    text.len() <= 8
        && text.get(..4).is_some_and(|year| years_in(year).len() == 1)
        && !text.chars().skip(4).any(|c| matches!(c, ',' | '.' | '%'))
}

/// The year of a text that a spreadsheet or a program wrote as a decimal number: "2031.0".
pub(crate) fn whole_year(text: &str) -> Option<&str> {
    text.strip_suffix(".0")
        .filter(|year| year_of(year).is_some())
}

/// True for "11.3 years". A whole number of years, such as "5 years", may be a heading.
pub(crate) fn is_duration(text: &str) -> bool {
    let number = text.strip_suffix(" years");
    number.is_some_and(|number| number.contains('.') && is_figure(number))
}

/// True if a heading names a period.
pub(crate) fn names_period(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = ["ended", "ending", "fiscal"];
    !years_in(text).is_empty() || words.iter().chain(&MONTHS).any(|word| lower.contains(word))
}

/// An amount as people write it: the text before it, its digits with the marks between them, and
/// the text after it, in which only a mark such as `(1)` can have digits.
static AMOUNT: Pattern = pattern!(
    r"(?x)^(?P<before>\D*?)
        (?P<digits>\d+(?:[.,'\u{2019}]\d+|[\x20\u{a0}\u{202f}\u{2009}]\d{3}\b)*)
        (?P<after>\D*(?:[(\[]\w{1,2}[)\]]\s*)?)$"
);

/// A cell whose text may be rewritten, and whether its tag says that a comma marks its decimals.
pub(crate) type WrittenCell<'c> = (&'c mut String, Option<bool>);

/// True if a comma marks the decimals, given how many more cells show a comma than a point; `None`
/// on a tie.
fn is_comma(votes: i32) -> Option<bool> {
    (votes != 0).then_some(votes > 0)
}

/// For each column, the number of cells that show a decimal comma, minus the number of those that
/// show a decimal point. The numbers of notes in a column "Note" do not count.
fn columns(rows: &[Vec<WrittenCell<'_>>]) -> Vec<(usize, i32)> {
    let Some((header, body)) = rows.split_first() else {
        return Vec::new();
    };
    let of_column = |column: usize| {
        let cells = body.iter().filter_map(|row| row.get(column));
        let votes = cells.filter_map(|(text, comma)| match comma {
            Some(comma) => Some(if *comma { 1 } else { -1 }),
            None => Some(WrittenFigure::read(text)?.votes),
        });
        (column, votes.sum())
    };
    let columns = 1..header.len();
    let columns = columns.filter(|at| !header.get(*at).is_some_and(|(name, _)| names_notes(name)));
    columns.map(of_column).collect()
}

/// The votes of all columns of a table: above zero for a decimal comma, below for a point.
pub(crate) fn votes(rows: &[Vec<WrittenCell<'_>>]) -> i32 {
    columns(rows).iter().map(|(_, votes)| votes).sum()
}

/// Rewrites the cells below the header. Returns a note for each column in which a value changes.
/// `document` has the votes of all tables; `None` for a file with a single table.
pub(crate) fn normalise(rows: &mut [Vec<WrittenCell<'_>>], document: Option<i32>) -> Vec<String> {
    let columns = columns(rows);
    let of_table: i32 = columns.iter().map(|(_, votes)| votes).sum();
    let sides = has_sides(rows.iter().flatten().map(|(text, _)| text.as_str()));
    let Some((header, body)) = rows.split_first_mut() else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    for (column, votes) in columns {
        let grouped = || {
            let cells = body.iter().filter_map(|row| row.get(column));
            let figures: Option<Vec<WrittenFigure>> =
                (document.is_none() && votes == 0).then(|| {
                    cells
                        .filter_map(|(cell, _)| WrittenFigure::read(cell))
                        .collect()
                });
            figures
                .filter(|figures| groups_by_points(figures))
                .map(|_| true)
        };
        let comma = is_comma(votes).or_else(grouped).or(is_comma(of_table));
        // If nothing shows it, a point marks the decimals.
        let comma = comma.or(is_comma(document.unwrap_or(0))).unwrap_or(false);
        let mut example = None;
        for (cell, tagged) in body.iter_mut().filter_map(|row| row.get_mut(column)) {
            let of_cell = Some(tagged.unwrap_or(comma));
            let written = WrittenFigure::read(cell);
            if let Some(plain) = written.and_then(|figure| figure.rewritten(of_cell, sides)) {
                if Cell::read(cell).value() != Cell::read(&plain).value() {
                    example = example.or(Some((cell.clone(), plain.clone())));
                }
                **cell = plain;
            }
        }
        if let Some((written, plain)) = example {
            let name = header.get(column).map_or("", |(name, _)| name.as_str());
            let marks = if comma && written.contains(',') {
                " has decimal commas"
            } else if comma && written.contains('.') {
                " separates thousands by points"
            } else {
                ""
            };
            notes.push(format!(
                "column {name:?}{marks}: {written} is read as {plain}"
            ));
        }
    }
    notes
}

/// True if a column has "1.204" between "415" and "230". If the point marked decimals, the other
/// cells would have it too, so it separates thousands.
fn groups_by_points(amounts: &[WrittenFigure<'_>]) -> bool {
    let digits = amounts.iter().map(|amount| amount.digits);
    let (pointed, whole): (Vec<&str>, Vec<&str>) = digits.partition(|digits| digits.contains('.'));
    // A whole number of more than three digits would have a point too.
    let small = |digits: &&str| digits.len() <= 3 && digits.chars().all(|c| c.is_ascii_digit());
    let large = whole.iter().any(|digits| digits.len() == 3);
    !pointed.is_empty() && large && whole.iter().all(small)
}

/// The parts of a cell that is a figure.
struct WrittenFigure<'t> {
    before: &'t str,
    digits: &'t str,
    after: &'t str,
    /// 1 if a comma marks its decimals, -1 if a point does, 0 if both readings are possible.
    votes: i32,
}

impl<'t> WrittenFigure<'t> {
    /// `None` for anything but a figure. A cell with two signs, an open bracket or words before the
    /// digits that are not a currency may mean something else.
    fn read(cell: &'t str) -> Option<Self> {
        let found = AMOUNT.captures(cell)?;
        let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
        let (before, digits, after) = (part("before"), part("digits"), part("after"));
        let count = |mark: char| before.matches(|c| fold(c) == mark).count();
        let words = before.split(|c: char| !c.is_alphabetic() && c != '.');
        let mut words = words.filter(|word| word.contains(char::is_alphabetic));
        let closed = cell.matches(')').count() == cell.matches('(').count();
        let understood = closed && words.all(is_currency) && count('(') <= 1;
        (understood && count('-') + count('+') <= 1).then_some(())?;
        Some(Self {
            before,
            digits,
            after,
            votes: votes_of(digits)?,
        })
    }

    /// The cell with its digits as `1234.5`; `None` if they are written like that already, or in
    /// groups of three between commas. With `sides`, "Cr" is the side of an account and not a
    /// crore.
    fn rewritten(&self, comma: Option<bool>, sides: bool) -> Option<String> {
        let Self {
            before,
            digits,
            after,
            ..
        } = *self;
        let comma = is_comma(self.votes).or(comma).unwrap_or(false);
        let decimal = if comma { ',' } else { '.' };
        let usual = |group: &str| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit());
        let whole = digits.split('.').next().unwrap_or_default();
        if !comma && whole.split(',').skip(1).all(usual) && !digits.contains(other_mark) {
            return None;
        }
        let kept = digits
            .chars()
            .filter(|c| c.is_ascii_digit() || *c == decimal);
        let plain: String = kept.map(|c| if c == decimal { '.' } else { c }).collect();
        // After groups such as `1,23,456`, "Cr" means crore.
        let groups: Vec<usize> = digits.split(',').map(str::len).collect();
        let indian = matches!(groups.as_slice(), [_, middle @ .., 3] if middle.contains(&2));
        let after = if indian && !sides && after.trim().eq_ignore_ascii_case("cr") {
            " crore"
        } else {
            after
        };
        Some(format!("{before}{plain}{after}"))
    }
}

/// True for a mark between groups of digits that is neither a comma nor a point.
fn other_mark(c: char) -> bool {
    !c.is_ascii_digit() && !matches!(c, ',' | '.')
}

/// 1 if the digits show that a comma marks the decimals, -1 for a point, 0 if both are possible.
/// `None` if they are not an amount but, for example, a date or a version.
pub(crate) fn votes_of(digits: &str) -> Option<i32> {
    let space = |c: char| if c.is_whitespace() { ' ' } else { c };
    let marks: Vec<char> = digits
        .chars()
        .filter(|c| !c.is_ascii_digit())
        .map(space)
        .collect();
    let groups: Vec<&str> = digits.split(|c: char| !c.is_ascii_digit()).collect();
    let Some((last, earlier)) = marks.split_last() else {
        return Some(0);
    };
    let whole = groups.split_last().map_or(&[][..], |(_, whole)| whole);
    let decimals =
        matches!(last, ',' | '.') && !earlier.contains(last) && is_grouped(whole, earlier);
    let comma = match (is_grouped(&groups, &marks), decimals) {
        (false, false) => return None,
        (false, true) => *last == ',',
        // Groups under the same mark several times: the mark separates thousands.
        (true, false) if *last == ',' => false,
        (true, false) if *last == '.' => true,
        (true, _) => return Some(0),
    };
    Some(if comma { 1 } else { -1 })
}

/// True if the groups are thousands under one mark: `1`, `12 345`, `1.234.567`; with commas also
/// the Indian `12,34,567`. `0.500` is not thousands.
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

    fn rows(columns: &[&str], lines: &[&[&str]]) -> Vec<Vec<String>> {
        let lines = std::iter::once(columns).chain(lines.iter().copied());
        let row = |line: &[&str]| line.iter().map(|cell| (*cell).to_owned()).collect();
        lines.map(row).collect()
    }

    fn written(rows: &mut [Vec<String>]) -> Vec<Vec<WrittenCell<'_>>> {
        let rows = rows.iter_mut();
        rows.map(|row| row.iter_mut().map(|cell| (cell, None)).collect())
            .collect()
    }

    /// The rewritten cells of a column, and the notes about them.
    fn column(cells: &[&str]) -> (Vec<String>, Vec<String>) {
        let lines: Vec<[&str; 2]> = cells.iter().map(|cell| ["", cell]).collect();
        let lines: Vec<&[&str]> = lines.iter().map(|line| &line[..]).collect();
        let mut rows = rows(&["item", "2021"], &lines);
        let notes = normalise(&mut written(&mut rows), None);
        let cells = rows.into_iter().skip(1).map(|mut row| row.remove(1));
        (cells.collect(), notes)
    }

    #[test]
    fn a_column_is_read_in_one_notation() {
        for (name, cells, read) in [
            (
                "decimal commas",
                &["12.345,60", "-6.100,25", "1.234", "0,5", "7"][..],
                &["12345.60", "-6100.25", "1234", "0.5", "7"][..],
            ),
            (
                "a comma before 3 digits",
                &["1,234", "0,5"],
                &["1.234", "0.5"],
            ),
            ("thousands", &["1.234", "1.234.567"], &["1234", "1234567"]),
            (
                "whole numbers of 3 digits",
                &["1.204", "415", "1.619"],
                &["1204", "415", "1619"],
            ),
            (
                "other separators, and what is around the digits",
                &[
                    "1'234'567", "1 234 567", "1,23,456", "1.2M", "1,234*", "-(5)",
                ],
                &["1234567", "1234567", "123456", "1.2M", "1,234*", "-(5)"],
            ),
            (
                "signs, footnotes and words",
                &[
                    "0,5", "\u{2013}1.234", "1.234 (a)", "1.234 mn", "1,5 m", "(1.234) %",
                    "1.234 Stück", "1.234,5-",
                ],
                &[
                    "0.5", "\u{2013}1234", "1234 (a)", "1234 mn", "1.5 m", "(1234) %",
                    "1234 Stück", "1234.5-",
                ],
            ),
        ] {
            assert_eq!(column(cells).0, read, "{name}");
        }
        for usual in [
            &["1.204", "415.250", "7"][..],
            &["1.204", "1415", "415"],
            &[
                "1,234.5", "1,234", "1.234", "(12.5)", "$ (3.2)", "12.5%", "(12.5%)", "n/a", "",
                "3/4", "2019",
            ],
        ] {
            assert_eq!(column(usual).0, usual, "decimal points");
        }
        for cell in [
            "3.1.2", "31.12.2019", "1,2,3", "1.2.3", "1,234,56", "1.234,5.6", "12.34.567",
            "0171 234 567", "555-1234", "2019 100", "555 123 4567", "2021-03-04", "12:30", "10-20",
            "1/2", "3/4/2021", "1'23", "1 234'567", "--5,5", "(5,5",
        ] {
            let cells = [cell, "1,234", "12,345"];
            assert_eq!(column(&cells).0, cells, "references, dates and lists");
        }
    }

    #[test]
    fn a_figure_is_understood_whole() {
        for text in [
            "1,204", "(12", "(12)", "-USD 45", "(₹60)", "R$ 12", "△1,250", "45-", "3.8E+11",
            "1 234,6", "1.234.567,8", "1'234.5", "12,34,567", "4.5%", "—", "$ —", "2.7 billion",
            "x—",
        ] {
            assert_eq!(is_figure(text), text != "x—", "{text}");
        }
        for text in [
            "<0.1", "Note 5", "5 years", "Dec-31", "12/31/31", "9/30", "3-20", "A", "", "Level 1",
        ] {
            assert!(!is_figure(text), "{text}");
        }
        for text in ["US$", "(", "-(", "Rs.", "($", "− €", "CHF"] {
            assert!(opens(text), "{text}");
        }
    }

    #[test]
    fn a_notation_is_of_a_column_else_of_the_table_else_of_the_document() {
        let read = |rows: &mut Vec<Vec<String>>, document| {
            normalise(&mut written(rows), document);
            rows.iter()
                .skip(1)
                .flat_map(|row| row[1..].to_vec())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let table = |lines: &[&[&str]]| rows(&["item", "2021", "2020"], lines);
        let open: &[&[&str]] = &[&["a", "1.234", "5.678"]];
        assert_eq!(read(&mut table(open), Some(0)), "1.234 5.678");
        assert_eq!(read(&mut table(open), Some(3)), "1234 5678");
        let other: &[&[&str]] = &[&["a", "1.234,5", "5.678"], &["b", "0,5", "1.000"]];
        assert_eq!(read(&mut table(other), Some(-9)), "1234.5 5678 0.5 1000");
        let mut tagged = table(&[&["a", "1,234", "1,234"]]);
        let mut cells = written(&mut tagged);
        cells[1][1].1 = Some(true);
        normalise(&mut cells, Some(-9));
        assert_eq!(tagged[1], ["a", "1.234", "1.234"]);
    }

    #[test]
    fn references_and_notes_decide_nothing_about_other_columns() {
        for (name, cell) in [
            ("closed", "3.1.2"),
            ("closed", "31.12.2019"),
            ("closed", "1,2,3"),
            ("Note", "3,4"),
        ] {
            let header = ["item", name, "2021", "2020"];
            let line = ["Revenue", cell, "1,234", "1.234"];
            let before = rows(&header, &[&line]);
            let mut read = before.clone();
            assert_eq!(
                normalise(&mut written(&mut read), None),
                Vec::<String>::new()
            );
            assert_eq!(read, before);
        }
    }

    #[test]
    fn every_change_of_a_value_is_noted() {
        for (cells, note) in [
            (
                &["1.234", "1.234.567"][..],
                "separates thousands by points: 1.234 is read as 1234",
            ),
            (&["555 123 456"], ": 555 123 456 is read as 555123456"),
            (&["1.5", "2.5", "0,5"], ": 0,5 is read as 0.5"),
        ] {
            let notes = column(cells).1;
            assert!(notes.len() == 1 && notes[0].ends_with(note), "{notes:?}");
        }
    }
}
