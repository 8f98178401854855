//! Builds paragraphs and tables from lines with positions, of a PDF or of text in aligned columns.
//! `positioned` defines the lines, and `table` finds the tables among them.
//!
//! The distances and lengths in these files are set by hand. `.ci/filings` measures what is read of
//! filings.

mod positioned;
mod table;

use regex::Captures;

use finqa_core::pattern;
use finqa_core::text::Pattern;

use crate::block::{Block, PrintedTable};
use crate::cells;
use crate::grid::spans::PrintedCell;
use positioned::LINES_APART;
pub(crate) use positioned::{PlacedLine, PlacedPiece};
use table::{cells, extent, header};

/// The dots that lead from a label to its figures.
static LEADER: Pattern = pattern!(r"(?:\. ?){3,}");

/// Share of the width, in percent, that a line must reach for its paragraph to continue in the next
/// line.
const FULL_LINE_PERCENT: usize = 75;

/// The lines of a text whose columns are aligned with spaces. The unit of positions is a character.
pub(crate) fn of_text(text: &str) -> Vec<PlacedLine> {
    let mut lines = Vec::new();
    let mut top = 0.0;
    for line in text.lines() {
        top += 1.0;
        // As many spaces, so that the pieces behind keep their positions.
        let blank = |leader: &Captures<'_>| {
            " ".repeat(leader.get(0).map_or(0, |leader| leader.as_str().len()))
        };
        // Eight spaces for a tab, wherever it is in the line.
        let line = line.replace('\t', "        ");
        let pieces = pieces(&LEADER.replace_all(&line, blank));
        if !pieces.is_empty() {
            lines.push(PlacedLine {
                top,
                height: 1.0,
                pieces,
            });
        }
    }
    lines
}

/// Splits a line into pieces at gaps of two or more spaces, and before a figure that follows
/// another one.
fn pieces(line: &str) -> Vec<PlacedPiece> {
    let mut found: Vec<PlacedPiece> = Vec::new();
    for (at, c) in line.chars().enumerate().filter(|(_, c)| !c.is_whitespace()) {
        // The first piece is the label of a row, in which a figure does not begin a new piece.
        let is_first = found.len() == 1;
        match found.last_mut() {
            Some(last)
                if at == last.end || at == last.end + 1 && (is_first || !last.ends_before(c)) =>
            {
                if at > last.end {
                    last.text.push(' ');
                }
                last.text.push(c);
                last.end = at + 1;
            }
            _ => found.push(PlacedPiece {
                start: at,
                end: at + 1,
                text: c.to_string(),
            }),
        }
    }
    found
}

/// A part of a page: running text or a table.
pub(crate) enum Part<'l> {
    Text(&'l [PlacedLine]),
    /// The lines of a table, and its cells.
    Table(&'l [PlacedLine], Vec<Vec<PrintedCell>>),
}

/// Removes rules, such as a line of dashes, and joins currency and percent signs to their figures.
pub(crate) fn tidied(mut lines: Vec<PlacedLine>) -> Vec<PlacedLine> {
    for line in &mut lines {
        line.pieces.retain(|piece| !piece.is_rule());
        join_signs(&mut line.pieces);
    }
    lines.retain(|line| !line.pieces.is_empty());
    lines
}

/// Splits tidied lines into text and tables, in their order.
pub(crate) fn parts(lines: &[PlacedLine]) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = lines;
    while let Some(at) = rest.iter().position(PlacedLine::is_row) {
        let (above, from_row) = rest.split_at(at);
        let (length, columns) = extent(from_row);
        let header = header(above, from_row, &columns);
        let (both, after) = rest.split_at(at + length);
        let (text, table) = both.split_at(at - header);
        let rows = table.iter().filter(|line| line.is_row()).count();
        // A single row without a header is running text.
        match cells(table, header, &columns).filter(|_| rows + header > 1) {
            Some(cells) => parts.extend([Part::Text(text), Part::Table(table, cells)]),
            None => parts.push(Part::Text(both)),
        }
        rest = after;
    }
    parts.push(Part::Text(rest));
    parts
}

/// The paragraphs and tables of a page, in their order.
pub(crate) fn blocks(lines: Vec<PlacedLine>) -> Vec<Block> {
    let lines = tidied(lines);
    let width = lines.iter().map(PlacedLine::end).max().unwrap_or(0);
    let blocks = parts(&lines).into_iter().flat_map(|part| match part {
        Part::Text(lines) => paragraphs(lines, width),
        Part::Table(_, rows) => vec![Block::Table(PrintedTable {
            rows,
            ..PrintedTable::default()
        })],
    });
    blocks.collect()
}

/// Joins a currency sign with the number after it, and a number with its percent sign. The joined
/// piece starts where the number does, so that the figures of a column stay aligned.
fn join_signs(pieces: &mut Vec<PlacedPiece>) {
    pieces.dedup_by(|next, last| {
        let joined = cells::opens(&last.text) && cells::is_figure(&next.text)
            || cells::closes(&next.text) && cells::is_figure(&last.text);
        if joined {
            if cells::opens(&last.text) {
                last.start = next.start;
            }
            last.text = format!("{} {}", last.text, next.text);
            last.end = next.end;
        }
        joined
    });
}

/// Joins lines of running text into paragraphs. A line that ends early ends its paragraph.
fn paragraphs(lines: &[PlacedLine], width: usize) -> Vec<Block> {
    let mut texts: Vec<String> = Vec::new();
    let mut last: Option<&PlacedLine> = None;
    for line in lines {
        let joined = last.is_some_and(|last| {
            let full = last.end() * 100 >= width * FULL_LINE_PERCENT;
            // A line in another size begins a paragraph, such as a heading.
            full && line.below(last) <= LINES_APART && (line.height - last.height).abs() < 1.0
        });
        match texts.last_mut() {
            Some(text) if joined => {
                text.push(' ');
                text.push_str(&line.text());
            }
            _ => texts.push(line.text()),
        }
        last = Some(line);
    }
    texts.into_iter().map(Block::Text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::printed_texts;

    fn read(text: &str) -> (Vec<Vec<Vec<String>>>, Vec<String>) {
        printed_texts(blocks(of_text(text)))
    }

    #[test]
    fn columns_are_where_figures_lie_and_headings_are_centred_on_them() {
        let text = "
Consolidated income
                                 Years ended March 31,
                             -----------------------------
                                   2031             2030
                             -------------    ------------
                                EUR     %        EUR    %
Premiums ...................  1,204    58        987   57
Investment income               300    42       (12)   43
                              -----   ---      -----  ---
                              1,504   100        975  100
";
        let (tables, texts) = read(text);
        assert_eq!(texts, ["Consolidated income"]);
        let period = "Years ended March 31, ";
        let headings =
            ["2031 EUR", "2031 %", "2030 EUR", "2030 %"].map(|head| format!("{period}{head}"));
        assert_eq!(tables[0][0][1..], headings);
        assert_eq!(
            tables[0][1..],
            [
                ["Premiums", "1,204", "58", "987", "57"],
                ["Investment income", "300", "42", "(12)", "43"],
                ["", "1,504", "100", "975", "100"],
            ]
        );
    }

    #[test]
    fn a_label_over_two_lines_is_one_and_a_heading_is_none_of_it() {
        let text = "
                                       2031    2030
Current assets:
  Receivables (net of allowances
    of $150 and $153)                   $ 7     $ 9
  Income attributable to the            12      10
    holders of shares
Total                                   $ 19    $ 19
";
        let rows = [
            ["", "2031", "2030"],
            ["Current assets:", "", ""],
            [
                "Receivables (net of allowances of $150 and $153)",
                "$ 7",
                "$ 9",
            ],
            ["Income attributable to the holders of shares", "12", "10"],
            ["Total", "$ 19", "$ 19"],
        ];
        assert_eq!(read(text).0, [rows]);
    }

    #[test]
    fn the_unit_below_the_headings_is_in_the_corner() {
        let text = "
                                                 2031      2030
                                              (in million EUR, except ratios)
Assets:
amounts in accordance with Dutch principles
Total assets                                  244,216   228,808
Loans                                          20,000    10,000
";
        let (tables, _) = read(text);
        assert_eq!(
            tables[0][0],
            ["(in million EUR, except ratios)", "2031", "2030"]
        );
        assert_eq!(
            tables[0][2][0],
            "amounts in accordance with Dutch principles"
        );
    }

    /// Before, "Group" was only above the first date.
    #[test]
    fn a_heading_between_columns_is_of_all_below_it() {
        let text = "
                              Group                      Company
                     31.12.2031  31.12.2030     31.12.2031  31.12.2030
Plant                    84,310      79,655         14,310       9,655
Goodwill                  2,400       2,100            400         100
";
        let (tables, _) = read(text);
        let heads = ["Group", "Company"]
            .map(|of| ["31.12.2031", "31.12.2030"].map(|day| format!("{of} {day}")));
        assert_eq!(tables[0][0][1..], heads.concat());
    }

    #[test]
    fn sentences_and_lists_are_no_tables() {
        let text = "
Sales rose by 5 in 2031, as they did in 2030, and costs fell by 3 since fewer
people travelled. We expect
31,  2032.

(1)  Includes the figures of 12 plants.
";
        let (tables, texts) = read(text);
        assert_eq!(tables.len(), 0, "{tables:?}");
        assert_eq!(texts.len(), 3, "{texts:?}");
    }
}
