//! The ways in which the statement is rendered, one a line.

use std::fmt;

use super::formats::{Block, Cell, csv, html, markdown, pdf, text, workbook};
use super::statement::{Kind, NOTE, NOTE_TITLE, Row, STATEMENT, YEARS};

/// A file's format, its notation of numbers, their unit, the heading of 2033, and the layout.
pub struct Way(Format, Notation, Unit, &'static str, Layout);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Csv(char),
    Markdown,
    Text,
    Html,
    /// Its numbers have this number format, or are texts; what is stored is the printed number
    /// times the factor.
    Book(&'static str, f64),
    Pdf,
}

/// How numbers are written: the marks between thousands and before decimals, those around a loss,
/// the currency before the digits, and the sign of a percentage.
#[derive(Clone, Copy, PartialEq)]
struct Notation(
    &'static str,
    &'static str,
    (&'static str, &'static str),
    &'static str,
    &'static str,
);

/// What the numbers are in.
#[derive(Clone, Copy, PartialEq)]
pub struct Unit {
    words: &'static str,
    place: UnitPlace,
    pub factor: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum UnitPlace {
    /// In parentheses behind the title.
    Title,
    /// A line of its own between title and table.
    Line,
    /// The cell above the labels.
    Corner,
    /// Behind the period of each column.
    Heading,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    Plain,
    OldestFirst,
    /// Rows without numbers name what follows.
    Sections,
    /// A line above the years says what they are.
    TwoHeads,
    /// Empty columns and rows make room.
    Blanks,
    /// A column of references to notes.
    Notes,
    NoteFirst,
    NoNote,
    /// A copy with other figures is hidden: a block with `display: none`, or a hidden sheet.
    HiddenCopy,
    /// By a class of the style sheet.
    HiddenByClass,
}

use Format::{Book, Csv, Html, Markdown, Pdf, Text};
use Layout::{
    Blanks, HiddenByClass, HiddenCopy, NoNote, NoteFirst, Notes, OldestFirst, Plain, Sections,
    TwoHeads,
};
use UnitPlace::{Corner, Heading, Line, Title};

const US: Notation = Notation(",", ".", ("(", ")"), "", "%");
const MINUS: Notation = Notation(",", ".", ("-", ""), "", "%");
const LONG_MINUS: Notation = Notation(",", ".", ("\u{2212}", ""), "", "%");
const BEHIND: Notation = Notation(",", ".", ("", "-"), "", "%");
const TRIANGLE: Notation = Notation(",", ".", ("\u{25b3}", ""), "", "%");
const UNGROUPED: Notation = Notation("", ".", ("-", ""), "", "%");
const DOLLARS: Notation = Notation(",", ".", ("(", ")"), "$", "%");
const MINUS_DOLLARS: Notation = Notation(",", ".", ("-", ""), "$", "%");
const RUPEES: Notation = Notation(",", ".", ("(", ")"), "\u{20b9}", "%");
const GERMAN: Notation = Notation(".", ",", ("-", ""), "", " %");
const FRENCH: Notation = Notation("\u{202f}", ",", ("\u{2212}", ""), "", "\u{a0}%");
const SWISS: Notation = Notation("'", ".", ("-", ""), "", "%");

const MILLIONS: Unit = unit("(in millions, except per share data)", Line, 1e6);
const EUROS: Unit = unit("in EUR million", Line, 1e6);

const fn unit(words: &'static str, place: UnitPlace, factor: f64) -> Unit {
    Unit {
        words,
        place,
        factor,
    }
}

const BOOK: Format = Book("#,##0.0;(#,##0.0)", 1.0);
const TEXTS: Format = Book("", 1.0);
const ACCOUNTING: Format = Book("_(* #,##0.0_);_(* \\(#,##0.0\\);_(* \"-\"??_);_(@_)", 1.0);

pub const WAYS: &[Way] = &[
    Way(Csv(','), US, MILLIONS, "2033", Plain),
    Way(Csv(';'), US, MILLIONS, "2033", Plain),
    Way(Csv('\t'), US, MILLIONS, "2033", Plain),
    Way(Markdown, US, MILLIONS, "2033", Plain),
    Way(Text, US, MILLIONS, "2033", Plain),
    Way(Html, US, MILLIONS, "2033", Plain),
    Way(BOOK, US, MILLIONS, "2033", Plain),
    Way(TEXTS, US, MILLIONS, "2033", Plain),
    Way(Pdf, US, MILLIONS, "2033", Plain),
    Way(Csv(','), MINUS, MILLIONS, "2033", Plain),
    Way(Csv(','), LONG_MINUS, MILLIONS, "2033", Plain),
    Way(Csv(','), BEHIND, MILLIONS, "2033", Plain),
    Way(Csv(','), TRIANGLE, MILLIONS, "2033", Plain),
    Way(Csv(','), DOLLARS, MILLIONS, "2033", Plain),
    Way(Csv(','), MINUS_DOLLARS, MILLIONS, "2033", Plain),
    Way(Csv(','), RUPEES, MILLIONS, "2033", Plain),
    Way(Csv(','), SWISS, MILLIONS, "2033", Plain),
    Way(Csv(';'), GERMAN, EUROS, "2033", Plain),
    Way(Csv(';'), FRENCH, EUROS, "2033", Plain),
    Way(Csv(','), UNGROUPED, EUROS, "2033", Plain),
    Way(Html, MINUS, MILLIONS, "2033", Plain),
    Way(Html, LONG_MINUS, MILLIONS, "2033", Plain),
    Way(Html, BEHIND, MILLIONS, "2033", Plain),
    Way(Html, TRIANGLE, MILLIONS, "2033", Plain),
    Way(Html, DOLLARS, MILLIONS, "2033", Plain),
    Way(Html, MINUS_DOLLARS, MILLIONS, "2033", Plain),
    Way(Html, RUPEES, MILLIONS, "2033", Plain),
    Way(Html, SWISS, MILLIONS, "2033", Plain),
    Way(Html, GERMAN, EUROS, "2033", Plain),
    Way(Html, FRENCH, EUROS, "2033", Plain),
    Way(Html, UNGROUPED, EUROS, "2033", Plain),
    Way(Markdown, LONG_MINUS, MILLIONS, "2033", Plain),
    Way(Markdown, TRIANGLE, MILLIONS, "2033", Plain),
    Way(Markdown, DOLLARS, MILLIONS, "2033", Plain),
    Way(Markdown, GERMAN, EUROS, "2033", Plain),
    Way(Text, MINUS, MILLIONS, "2033", Plain),
    Way(Text, DOLLARS, MILLIONS, "2033", Plain),
    Way(Text, GERMAN, EUROS, "2033", Plain),
    Way(TEXTS, GERMAN, EUROS, "2033", Plain),
    Way(TEXTS, TRIANGLE, MILLIONS, "2033", Plain),
    Way(Pdf, MINUS, MILLIONS, "2033", Plain),
    Way(Pdf, DOLLARS, MILLIONS, "2033", Plain),
    Way(Csv(','), US, unit("\u{a3}m", Corner, 1e6), "2033", Plain),
    Way(Csv(','), US, unit("$ thousands", Title, 1e3), "2033", Plain),
    Way(
        Csv(','),
        US,
        unit("(\u{20b9} in crore)", Line, 1e7),
        "2033",
        Plain,
    ),
    Way(Csv(','), US, unit("TEUR", Corner, 1e3), "2033", Plain),
    Way(Csv(','), US, unit("US$m", Heading, 1e6), "2033", Plain),
    Way(Html, US, unit("\u{a3}m", Corner, 1e6), "2033", Plain),
    Way(
        Html,
        US,
        unit("\u{20ac} million", Corner, 1e6),
        "2033",
        Plain,
    ),
    Way(Html, US, unit("RMB'000", Heading, 1e3), "2033", Plain),
    Way(
        Html,
        US,
        unit("(Millions, Except Per Share Amounts)", Title, 1e6),
        "2033",
        Plain,
    ),
    Way(Html, US, unit("(NOK mill.)", Line, 1e6), "2033", Plain),
    Way(
        Html,
        US,
        unit("In EUR thousand", Corner, 1e3),
        "2033",
        Plain,
    ),
    Way(Html, US, unit("Mio. EUR", Heading, 1e6), "2033", Plain),
    Way(BOOK, US, unit("CHF m", Corner, 1e6), "2033", Plain),
    Way(BOOK, US, unit("$ thousands", Title, 1e3), "2033", Plain),
    Way(
        BOOK,
        US,
        unit("(\u{20b9} in lakh)", Line, 1e5),
        "2033",
        Plain,
    ),
    Way(BOOK, US, unit("US$m", Heading, 1e6), "2033", Plain),
    Way(
        Pdf,
        US,
        unit("(in thousands of euros)", Line, 1e3),
        "2033",
        Plain,
    ),
    Way(Text, US, unit("(\u{a3}'000)", Corner, 1e3), "2033", Plain),
    Way(Csv(','), US, MILLIONS, "FY2033", Plain),
    Way(Csv(','), US, MILLIONS, "FY33", Plain),
    Way(Csv(','), US, MILLIONS, "2033-12", Plain),
    Way(Csv(','), US, MILLIONS, "2033-12-31", Plain),
    Way(Csv(','), US, MILLIONS, "31.12.2033", Plain),
    Way(Csv(','), US, MILLIONS, "CY33", Plain),
    Way(Csv(','), US, MILLIONS, "F2033", Plain),
    Way(Html, US, MILLIONS, "Fiscal 2033", Plain),
    Way(Html, US, MILLIONS, "Dec 2033", Plain),
    Way(Html, US, MILLIONS, "12/31/2033", Plain),
    Way(Html, US, MILLIONS, "December 31, 2033", Plain),
    Way(Html, US, MILLIONS, "Year ended December 31, 2033", Plain),
    Way(Html, US, MILLIONS, "12/31/33", Plain),
    Way(TEXTS, US, MILLIONS, "2033.0", Plain),
    Way(BOOK, US, MILLIONS, "2033A", Plain),
    Way(Pdf, US, MILLIONS, "Dec 31, 2033", Plain),
    Way(Text, US, MILLIONS, "FY 2033", Plain),
    Way(Csv(','), US, MILLIONS, "2033", OldestFirst),
    Way(Csv(','), US, MILLIONS, "2033", Sections),
    Way(Csv(','), US, MILLIONS, "2033", TwoHeads),
    Way(Csv(','), US, MILLIONS, "2033", Notes),
    Way(Csv(','), US, MILLIONS, "2033", NoteFirst),
    Way(Csv(','), US, MILLIONS, "2033", NoNote),
    Way(Csv(';'), GERMAN, EUROS, "FY2033", NoNote),
    Way(Csv(','), US, unit("US$m", Heading, 1e6), "2033", NoNote),
    Way(Html, US, MILLIONS, "2033", OldestFirst),
    Way(Html, US, MILLIONS, "2033", Sections),
    Way(Html, US, MILLIONS, "2033", TwoHeads),
    Way(Html, US, MILLIONS, "2033", Blanks),
    Way(Html, US, MILLIONS, "2033", Notes),
    Way(Html, US, MILLIONS, "2033", NoteFirst),
    Way(Html, US, MILLIONS, "2033", HiddenCopy),
    Way(Html, US, MILLIONS, "2033", HiddenByClass),
    Way(Markdown, US, MILLIONS, "2033", Sections),
    Way(Text, US, MILLIONS, "2033", Sections),
    Way(Text, US, MILLIONS, "2033", TwoHeads),
    Way(Pdf, US, MILLIONS, "2033", Sections),
    Way(Pdf, US, MILLIONS, "2033", TwoHeads),
    Way(BOOK, US, MILLIONS, "2033", OldestFirst),
    Way(BOOK, US, MILLIONS, "2033", Sections),
    Way(BOOK, US, MILLIONS, "2033", TwoHeads),
    Way(BOOK, US, MILLIONS, "2033", Blanks),
    Way(BOOK, US, MILLIONS, "2033", NoteFirst),
    Way(BOOK, US, MILLIONS, "2033", HiddenCopy),
    Way(Book("#,##0.0,,", 1e6), US, MILLIONS, "2033", Plain),
    Way(ACCOUNTING, US, MILLIONS, "2033", Plain),
];

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(format, notation, unit, head, layout) = self;
        let loss = notation.write(-1204.7, Kind::Money);
        let (words, place) = (unit.words, unit.place);
        write!(f, "{format:?} {loss} {words} {place:?} {head} {layout:?}")
    }
}

impl Notation {
    fn write(self, value: f64, kind: Kind) -> String {
        let Self(group, point, loss, currency, percent) = self;
        let decimals = if kind == Kind::PerShare { 2 } else { 1 };
        let plain = format!("{:.decimals$}", value.abs());
        let (whole, fraction) = plain.split_once('.').unwrap();
        let mut digits = String::new();
        for (at, digit) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at) % 3 == 0 {
                digits += group;
            }
            digits.push(digit);
        }
        let (before, behind) = if value < 0.0 { loss } else { ("", "") };
        match kind {
            Kind::Percent => format!("{before}{digits}{point}{fraction}{behind}{percent}"),
            _ => format!("{before}{currency}{digits}{point}{fraction}{behind}"),
        }
    }
}

impl Way {
    /// Every direct question is answered and sure.
    pub fn is_plain(&self) -> bool {
        let Self(_, notation, unit, head, layout) = self;
        (notation, unit, *head, layout) == (&US, &MILLIONS, "2033", &Plain)
    }

    pub fn unit(&self) -> Unit {
        self.2
    }

    pub fn extension(&self) -> &'static str {
        match self.0 {
            Csv('\t') => "tsv",
            Csv(_) => "csv",
            Markdown => "md",
            Text => "txt",
            Html => "htm",
            Book(..) => "xlsx",
            Pdf => "pdf",
        }
    }

    pub fn file(&self) -> Vec<u8> {
        let title = "Consolidated statements of income";
        let (statement, note) = (self.table(title, &STATEMENT), self.table(NOTE_TITLE, &NOTE));
        let parts = match self.4 {
            NoteFirst => [note, statement],
            NoNote => [statement, Vec::new()],
            _ => [statement, note],
        };
        let mut blocks = vec![Block::Line("Acme Holdings".to_owned())];
        blocks.extend(parts.into_iter().flatten());
        let others = STATEMENT.map(|row| Row {
            values: row.values.map(|value| value * 1.1),
            ..row
        });
        let copy = matches!(self.4, HiddenCopy | HiddenByClass).then(|| self.table(title, &others));
        match self.0 {
            Csv(separator) => csv(&blocks, separator),
            Markdown => markdown(&blocks),
            Text => text(&blocks),
            Html => html(&blocks, copy.as_deref(), self.4 == HiddenByClass),
            Book(..) => workbook(&blocks, copy.as_deref()),
            Pdf => pdf(&blocks),
        }
    }

    fn table(&self, title: &str, rows: &[Row]) -> Vec<Block> {
        let Self(format, _, Unit { words, place, .. }, head, layout) = self;
        let mut blocks = vec![Block::Line(match place {
            Title => format!("{title} {words}"),
            _ => title.to_owned(),
        })];
        if *place == Line {
            blocks.push(Block::Line((*words).to_owned()));
        }
        let mut cells: Vec<Vec<Cell>> = Vec::new();
        let mut add = |texts: Vec<String>| {
            cells.push(texts.into_iter().map(Cell::text).collect());
        };
        if *layout == TwoHeads {
            // Centred, where a page has places.
            let spanning = match format {
                Text | Pdf => ["", "", "Year ended December 31,", ""],
                _ => ["", "Year ended December 31,", "", ""],
            };
            add(spanning.map(str::to_owned).into());
        }
        let heading = |year: u32| {
            let year = head
                .replace("2033", &year.to_string())
                .replace("33", &(year % 100).to_string());
            match place {
                Heading => format!("{year} {words}"),
                _ => year,
            }
        };
        let corner = if *place == Corner { words } else { "" };
        add([vec![corner.to_owned()], YEARS.map(heading).into()].concat());
        for (at, row) in rows.iter().enumerate() {
            let section = match at {
                3 => "Operating expenses:",
                16 => "Per share:",
                _ => "",
            };
            if *layout == Sections && !section.is_empty() {
                cells.push(
                    [section, "", "", ""]
                        .map(|it| Cell::text(it.to_owned()))
                        .into(),
                );
            }
            let figures = row.values.map(|value| self.cell(value, row.kind));
            let label = Cell::text(row.label.to_owned());
            cells.push([label].into_iter().chain(figures).collect());
        }
        for (at, row) in cells.iter_mut().enumerate() {
            let blank = || Cell::text(String::new());
            match layout {
                OldestFirst => row[1..].reverse(),
                Blanks => [3, 2, 1].into_iter().for_each(|at| row.insert(at, blank())),
                Notes => row.insert(
                    1,
                    Cell::text(match at {
                        0 => "Note".to_owned(),
                        3 | 5 => at.to_string(),
                        _ => String::new(),
                    }),
                ),
                _ => {}
            }
        }
        if *layout == Blanks {
            let width = cells[0].len();
            cells.insert(1, vec![Cell::text(String::new()); width]);
        }
        blocks.push(Block::Table(cells));
        blocks
    }

    fn cell(&self, value: f64, kind: Kind) -> Cell {
        let text = self.1.write(value, kind);
        let stored = match (self.0, kind) {
            (TEXTS, _) => None,
            (Book(code, factor), Kind::Money) => Some((value * factor, code)),
            (Book(..), Kind::PerShare) => Some((value, "0.00")),
            (Book(..), Kind::Percent) => Some((value / 100.0, "0.0%")),
            _ => None,
        };
        Cell { text, stored }
    }
}
