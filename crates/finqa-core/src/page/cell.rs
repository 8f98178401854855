//! One cell: the text as published and what it is read as.

use crate::number::{self, Scale};

/// The source of a table, which decides the defects that its cells may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableOrigin {
    /// The published records: lost dashes, numbers written twice, flattened headers,
    /// lower case.
    Published,
    /// A document of the user: every cell means what it says.
    Own,
}

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellKind {
    /// A single number, with or without currency, percent sign and footnote.
    Number {
        /// As printed, with its sign: 14.1 for `14.1%`, -2913 for `-2913 ( 2913 )`.
        value: f64,
        /// A percentage; its share is `value / 100`.
        percent: bool,
        /// Written twice in the file, as `-2913 ( 2913 )` or `28% ( 28 % )`.
        doubled: bool,
        /// Below zero. Gold programs take the positive magnitude of about two thirds of
        /// these: outflows, charges, decreases.
        negative: bool,
        /// The scale word in the cell itself, as in `$ 2.7 billion`.
        scale: Option<Scale>,
    },
    /// A dash, also one lost to its escape `2014`: nothing, or nil.
    Dash,
    /// Anything else that is not blank.
    Text,
    /// Blank.
    Empty,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The text as published.
    pub raw: String,
    /// The literal of a program for it: `-2913`, `28%`, `103102`; a dash as `—`; other text
    /// with its lost escapes repaired.
    pub literal: String,
    pub kind: CellKind,
}

impl Cell {
    /// Reads a cell. A lone `2013` or `2014` is a number here: whether it is a
    /// dash shows only in the table around it, see [`Cell::is_lost_dash`].
    pub fn read(raw: &str) -> Self {
        Self::read_as(raw, TableOrigin::Published)
    }

    /// Reads a cell; of a document of the user nothing in it is repaired.
    pub(super) fn read_as(raw: &str, origin: TableOrigin) -> Self {
        let published = origin == TableOrigin::Published;
        let text = raw.trim();
        let (literal, kind) = if text.is_empty() {
            (String::new(), CellKind::Empty)
        } else if is_dash(text) {
            (DASH.to_owned(), CellKind::Dash)
        } else if let Some((literal, kind)) = read_number(text, published) {
            (literal, kind)
        } else if published {
            (super::normalise_sentence(text).into_owned(), CellKind::Text)
        } else {
            (text.to_owned(), CellKind::Text)
        };
        Self {
            raw: raw.to_owned(),
            literal,
            kind,
        }
    }

    /// The cell as a dash, its text kept.
    #[must_use]
    pub(super) fn into_dash(self) -> Self {
        Self {
            literal: DASH.to_owned(),
            kind: CellKind::Dash,
            ..self
        }
    }

    /// The number as printed (14.1 for `14.1%`), if it is one.
    pub(crate) fn value(&self) -> Option<f64> {
        match self.kind {
            CellKind::Number { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The number as a program reads its literal: 0.141 for `14.1%`.
    pub fn fraction(&self) -> Option<f64> {
        match self.kind {
            CellKind::Number { value, percent, .. } if percent => Some(value / 100.0),
            _ => self.value(),
        }
    }

    /// True if the cell may be the rest of an en dash (U+2013) or em dash (U+2014): `2014`,
    /// `$ 2014`, `2013`. Only if no years belong here.
    pub fn is_lost_dash(&self) -> bool {
        let text = self.raw.trim();
        let text = text.strip_prefix('$').map_or(text, str::trim_start);
        let text = text.strip_suffix('%').map_or(text, str::trim_end);
        matches!(text, "2013" | "2014")
    }

    /// True if the cell is a lone year (1900–2099).
    pub fn is_year(&self) -> bool {
        let text = self.raw.trim();
        text.len() == 4
            && text
                .parse::<u16>()
                .is_ok_and(|year| (1900..2100).contains(&year))
    }
}

/// The form of every dash, whatever the file has.
pub(super) const DASH: &str = "—";

fn is_dash(text: &str) -> bool {
    let text = text.strip_prefix('$').map_or(text, str::trim_start);
    let text = text.strip_suffix('%').map_or(text, str::trim_end);
    !text.is_empty()
        && text
            .chars()
            .all(|c| matches!(c, '-' | '–' | '—' | '−' | '‒' | '―') || c.is_whitespace())
}

/// A cell that is one number and nothing else but a footnote mark.
fn read_number(text: &str, published: bool) -> Option<(String, CellKind)> {
    // `( 41 ) % (  % )`: what is left of a negative percentage written twice.
    let (text, half_doubled) = match text.strip_suffix("(  % )").filter(|_| published) {
        Some(front) => (front.trim_end(), true),
        None => (text, false),
    };
    let reading = number::read(text)?;
    let before = text.get(..reading.span.start)?;
    let after = text.get(reading.span.end..)?;
    if !before.trim().is_empty() || !is_footnote(after.trim()) {
        return None;
    }
    let digits = leading_digits(text);
    let kind = CellKind::Number {
        value: reading.value,
        percent: reading.percent,
        doubled: published && (half_doubled || is_doubled(text, &digits)),
        negative: reading.value < 0.0,
        scale: reading.scale,
    };
    let sign = if reading.value < 0.0 { "-" } else { "" };
    let percent = if reading.percent { "%" } else { "" };
    Some((format!("{sign}{digits}{percent}"), kind))
}

/// The digits and the point of the first number, thousands separators dropped.
fn leading_digits(text: &str) -> String {
    text.chars()
        .skip_while(|c| !c.is_ascii_digit() && *c != '.')
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .filter(|c| *c != ',')
        .collect()
}

/// True if the same digits follow the number in parentheses.
fn is_doubled(text: &str, digits: &str) -> bool {
    let Some((front, back)) = text.rsplit_once('(') else {
        return false;
    };
    leading_digits(front) == digits && !digits.is_empty() && leading_digits(back) == digits
}

/// Nothing, asterisks, or a mark of up to two characters in parentheses.
fn is_footnote(text: &str) -> bool {
    if text.chars().all(|c| matches!(c, '*' | '†' | '‡')) {
        return true;
    }
    let open = |c| matches!(c, '(' | '[');
    let close = |c| matches!(c, ')' | ']');
    text.split_whitespace()
        .collect::<String>()
        .strip_prefix(open)
        .and_then(|rest| rest.strip_suffix(close))
        .is_some_and(|mark| {
            (1..=2).contains(&mark.len()) && mark.chars().all(|c| c.is_ascii_alphanumeric())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(raw: &str) -> (String, f64, bool, bool) {
        let cell = Cell::read(raw);
        match cell.kind {
            CellKind::Number {
                value,
                percent,
                doubled,
                negative,
                ..
            } => {
                assert_eq!(negative, value < 0.0);
                (cell.literal, value, percent, doubled)
            }
            other => panic!("{raw} is {other:?}"),
        }
    }

    #[test]
    fn numbers_are_read_as_they_are_filed() {
        for (raw, literal, value, percent, doubled) in [
            ("74397", "74397", 74397.0, false, false),
            ("$ 103102", "103102", 103_102.0, false, false),
            ("$103,102", "103102", 103_102.0, false, false),
            (".455", ".455", 0.455, false, false),
            ("-2913 ( 2913 )", "-2913", -2913.0, false, true),
            ("$ -50.5 ( 50.5 )", "-50.5", -50.5, false, true),
            ("28% ( 28 % )", "28%", 28.0, true, true),
            ("11.1% ( 11.1 % )", "11.1%", 11.1, true, true),
            ("( 41 ) % (  % )", "-41%", -41.0, true, true),
            ("( 39.4 )", "-39.4", -39.4, false, false),
            ("( $ 4 )", "-4", -4.0, false, false),
            ("1269242 ( c )", "1269242", 1_269_242.0, false, false),
            ("1500000 ( 3 )", "1500000", 1_500_000.0, false, false),
            ("$ 2.7 billion", "2.7", 2.7, false, false),
        ] {
            assert_eq!(
                number(raw),
                (literal.to_owned(), value, percent, doubled),
                "{raw}"
            );
        }
    }

    #[test]
    fn what_is_not_one_number_is_text_dash_or_nothing() {
        for (raw, kind) in [
            ("", CellKind::Empty),
            ("  ", CellKind::Empty),
            ("-", CellKind::Dash),
            ("$ -", CellKind::Dash),
            ("—", CellKind::Dash),
            ("- -", CellKind::Dash),
            ("n/a", CellKind::Text),
            ("6 months", CellKind::Text),
            ("3-20", CellKind::Text),
            ("december 31 2009", CellKind::Text),
            ("4/25/2010", CellKind::Text),
            ("31 to 150 ( 84/78 )", CellKind::Text),
            (
                "28% ( 28 % ) to 84% ( 84 % ) ( 61%/60% ( 61%/60 % ) )",
                CellKind::Text,
            ),
            ("$ 81.99 2013 $ 85.05", CellKind::Text),
        ] {
            assert_eq!(Cell::read(raw).kind, kind, "{raw}");
        }
    }
}
