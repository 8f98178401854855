//! Tables in plain text, their columns aligned with blanks. Lines are a table only where their
//! cells leave no doubt; all others are text.

use finqa_core::page::{Cell, CellKind};
use finqa_core::text::single_spaced;

use crate::grid::plain::{NumberedRow, PlainBlock};

/// A tab is as wide as this many blanks at most.
const TAB: usize = 8;

/// How far the ends of the cells of a column may lie apart: a bracket and a percent sign.
const APART: usize = 2;

/// The most characters of a heading within a table.
const HEADING: usize = 60;

/// Currency signs that may stand before an amount.
const SIGNS: [char; 3] = ['$', '\u{20ac}', '\u{a3}'];

/// A piece of a line between wide gaps, with the columns of its characters.
#[derive(Clone, Debug)]
struct Piece {
    start: usize,
    end: usize,
    text: String,
}

impl Piece {
    fn is_amount(&self) -> bool {
        let bare = self.text.trim_start_matches(SIGNS);
        let bare = bare.trim();
        matches!(bare, "-" | "\u{2013}" | "\u{2014}" | "n/a")
            || Cell::read(bare).kind == CellKind::Number
    }

    fn meets(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

struct AlignedLine {
    number: u64,
    pieces: Vec<Piece>,
}

impl AlignedLine {
    fn read(index: usize, line: &str) -> Self {
        Self {
            number: index as u64 + 1,
            pieces: pieces(line),
        }
    }

    /// A line of dashes under or over figures.
    fn is_rule(&self) -> bool {
        let mut marks = self.pieces.iter().flat_map(|piece| piece.text.chars());
        !self.pieces.is_empty() && marks.all(|c| matches!(c, '-' | '=' | '_' | ' '))
    }

    fn is_heading(&self) -> bool {
        let ends = |piece: &Piece| piece.text.ends_with(['.', '!', '?']);
        matches!(self.pieces.as_slice(), [one] if one.end <= HEADING && !ends(one))
    }

    fn is_row(&self) -> bool {
        self.pieces.len() > 1
    }

    fn has_amounts(&self) -> bool {
        self.pieces.iter().skip(1).any(Piece::is_amount)
    }

    /// Words and years alone, as above the columns of a table.
    fn is_header(&self) -> bool {
        let figure = |piece: &Piece| piece.is_amount() && !Cell::read(&piece.text).is_year();
        self.is_row() && !self.pieces.iter().any(figure)
    }
}

/// The pieces of a line between two or more blanks; a currency sign is part of its amount.
fn pieces(line: &str) -> Vec<Piece> {
    let line = line.replace('\t', &" ".repeat(TAB));
    let mut found: Vec<Piece> = Vec::new();
    for (at, c) in line.chars().enumerate().filter(|(_, c)| !c.is_whitespace()) {
        match found.last_mut() {
            Some(last) if at <= last.end + 1 || is_sign(&last.text) => {
                if at > last.end {
                    last.text.push(' ');
                }
                last.text.push(c);
                last.end = at + 1;
            }
            _ => found.push(Piece {
                start: at,
                end: at + 1,
                text: c.to_string(),
            }),
        }
    }
    found
}

fn is_sign(text: &str) -> bool {
    text.strip_prefix(SIGNS).is_some_and(str::is_empty)
}

/// The text and the tables of a plain text, in their order.
pub(crate) fn blocks(text: &str) -> Vec<PlainBlock> {
    let lines: Vec<&str> = text.lines().collect();
    let read: Vec<AlignedLine> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| AlignedLine::read(index, line))
        .collect();
    let mut blocks = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let rest = read.get(at..).unwrap_or_default();
        match table(rest) {
            Some((rows, length)) => {
                blocks.push(PlainBlock::Text(std::mem::take(&mut plain)));
                blocks.push(PlainBlock::Table(rows));
                at += length;
            }
            None => {
                plain.push_str(line);
                plain.push('\n');
                at += 1;
            }
        }
    }
    blocks.push(PlainBlock::Text(plain));
    blocks
}

/// The table that lines begin with, and how many they are.
fn table(lines: &[AlignedLine]) -> Option<(Vec<NumberedRow>, usize)> {
    lines.first().filter(|line| line.is_row())?;
    let length = extent(lines);
    let lines = lines.get(..length)?;
    let rows: Vec<&AlignedLine> = lines
        .iter()
        .filter(|line| !line.pieces.is_empty() && !line.is_rule())
        .collect();
    let width = rows
        .iter()
        .map(|line| line.pieces.len())
        .max()
        .filter(|width| *width > 1)?;
    // The columns, by the rows that have all of them.
    let full: Vec<&[Piece]> = rows
        .iter()
        .filter(|line| line.pieces.len() == width && line.has_amounts() && !line.is_header())
        .map(|line| line.pieces.as_slice())
        .collect();
    if full.len() < 2 {
        return None;
    }
    let columns: Option<Vec<Piece>> = (0..width).map(|column| span(&full, column)).collect();
    let columns = columns?;
    let amounts = |column: usize| {
        let mut cells = full.iter().filter_map(|row| row.get(column));
        cells.all(Piece::is_amount)
    };
    if !(1..width).any(amounts) {
        return None;
    }
    let place = |line: &&AlignedLine| -> Option<NumberedRow> {
        let pieces = &line.pieces;
        let mut cells = vec![String::new(); width];
        let mut next = 0;
        for piece in pieces {
            let before = columns
                .get(1)
                .is_none_or(|second| piece.end <= second.start);
            let whole = pieces.len() == width || line.is_heading() && piece.start < HEADING;
            let at = match next == 0 && (before || whole) && piece.start < first_end(&columns) {
                true => 0,
                false => {
                    let after = columns.iter().enumerate().skip(next.max(1));
                    let mut met = after.filter(|(_, column)| piece.meets(column));
                    met.next()?.0
                }
            };
            *cells.get_mut(at)? = single_spaced(&piece.text);
            next = at + 1;
        }
        Some((line.number, cells))
    };
    let placed: Option<Vec<NumberedRow>> = rows.iter().map(place).collect();
    Some((placed?, length))
}

fn first_end(columns: &[Piece]) -> usize {
    columns.first().map_or(0, |first| first.end)
}

/// Where a column lies, if its cells begin or end together; labels may be of any length.
fn span(full: &[&[Piece]], column: usize) -> Option<Piece> {
    let of = |end: fn(&Piece) -> usize| -> Option<(usize, usize)> {
        let cells = || full.iter().filter_map(|row| row.get(column)).map(end);
        Some((cells().min()?, cells().max()?))
    };
    let (starts, ends) = (of(|cell| cell.start)?, of(|cell| cell.end)?);
    let together = [starts, ends].iter().any(|(low, high)| high - low <= APART);
    (together || column == 0).then(|| Piece {
        start: starts.0,
        end: ends.1,
        text: String::new(),
    })
}

/// How many lines a table may have: rows, headings among them, and single blank lines, to the
/// header of another one.
fn extent(lines: &[AlignedLine]) -> usize {
    let mut length = 0;
    let (mut blank, mut apart, mut figures) = (false, false, false);
    for (at, line) in lines.iter().enumerate() {
        let empty = line.pieces.is_empty();
        let other = figures && apart && line.is_header();
        let part = empty || line.is_row() || line.is_heading() || line.is_rule();
        if other || !part || empty && blank {
            break;
        }
        blank = empty;
        apart = empty || apart && !line.is_row();
        if line.is_row() || line.is_rule() && figures {
            figures |= line.has_amounts() && !line.is_header();
            length = at + 1;
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of each table, and the text.
    fn read(text: &str) -> (Vec<Vec<Vec<String>>>, String) {
        let mut tables = Vec::new();
        let mut plain = String::new();
        for block in blocks(text) {
            match block {
                PlainBlock::Table(rows) => {
                    tables.push(rows.into_iter().map(|(_, row)| row).collect())
                }
                PlainBlock::Text(text) => plain.push_str(&text),
            }
        }
        (tables, plain)
    }

    #[test]
    fn columns_are_read_by_their_alignment() {
        let text = "Accounts of Oriel
                          2033      2032
                         £'000     £'000
Assets
Plant                   84,310    79,655
Goodwill                 2,400         -

Liabilities
Trade payables         (35,744)  (33,210)
Loans                             (1,200)
                       -------   -------
Net assets              50,966    45,245

Sales rose.  They may rise again.
";
        let (tables, plain) = read(text);
        let [table] = tables.as_slice() else {
            panic!("{tables:?}");
        };
        assert_eq!(
            table,
            &[
                ["", "2033", "2032"],
                ["", "£'000", "£'000"],
                ["Assets", "", ""],
                ["Plant", "84,310", "79,655"],
                ["Goodwill", "2,400", "-"],
                ["Liabilities", "", ""],
                ["Trade payables", "(35,744)", "(33,210)"],
                ["Loans", "", "(1,200)"],
                ["Net assets", "50,966", "45,245"],
            ]
        );
        assert!(plain.starts_with("Accounts of Oriel\n"), "{plain}");
        assert!(plain.contains("Sales rose."), "{plain}");
    }

    #[test]
    fn each_header_begins_a_table_and_text_and_ragged_lines_are_none() {
        for (tables, text) in [
            (
                2,
                "Line    2033   2032\nPipes     10      9\nPumps     20     19\n\n\
                 Line    Share   Rank\nPipes     10%      2\nPumps     20%      1\n",
            ),
            (
                0,
                "Sales rose by 5.  Costs fell by 3.\nProfit rose by 8.  Cash fell.\n",
            ),
            (0, "Pipes  10  9\nPumps that are large        20     19\n"),
            (0, "1.  First 2032\n2.  Second 2033\n"),
            (0, "Pipes    10    9\n"),
        ] {
            assert_eq!(read(text).0.len(), tables, "{text}");
        }
    }
}
