//! Reads PDFs. The characters of each page are joined to lines by their positions, and each line is
//! split into pieces at wide gaps, so that columns can be found. Only text is read; a scanned page
//! has none.
//!
//! The distances and limits in this folder are set by hand. `.ci/filings` measures what is read of
//! filings.

mod glyphs;

use hayro_font::FontCache;
use hayro_font::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};

use glyphs::{Direction, Glyph, Glyphs};

use crate::block::Block;
use crate::lines::{self, PlacedLine, PlacedPiece};

/// The mark at the end of a PDF.
const END: &[u8] = b"%%EOF";

/// Minimum number of characters in another direction for which a note says that they are not read.
const TURNED: usize = 40;

/// Distances as multiples of a character's height: the largest between the baselines of one line,
/// and the smallest between words and between columns.
const SAME_LINE: f64 = 0.5;
const BETWEEN_WORDS: f64 = 0.15;
const BETWEEN_COLUMNS: f64 = 1.0;

/// Largest distance, as a multiple of the height, at which a repeated character is dropped, because
/// many PDFs print a character twice to make it look bold.
const PRINTED_TWICE: f64 = 0.1;

/// Reads a PDF into the blocks of its pages, with notes about pages that are not upright.
///
/// # Errors
/// Why the file cannot be read, and what to do.
pub(crate) fn blocks(mut bytes: Vec<u8>) -> Result<(Vec<Block>, Vec<String>), String> {
    // A mail program or a server may have added bytes after the end.
    let ends = bytes.windows(END.len()).rposition(|mark| mark == END);
    if let Some(end) = ends {
        bytes.truncate(end + END.len());
    } else {
        return Err("it is cut off: it does not end like a PDF; get the whole file".to_owned());
    }
    let pdf = Pdf::new(bytes).map_err(refusal)?;
    let pages = pdf.pages();
    let fonts = FontCache::new();
    let (mut blocks, mut notes) = (Vec::new(), Vec::new());
    for (number, page) in (1..).zip(pages.iter()) {
        let glyphs = Glyphs::of_page(page, &fonts).ok_or_else(|| {
            format!("page {number} draws more than a page for readers does; leave it out")
        })?;
        let (glyphs, note) = in_one_direction(glyphs);
        notes.extend(note.map(|note| format!("page {number} {note}")));
        let lines = lines_of(glyphs);
        let mut of_page = lines::blocks(without_page_number(lines));
        for block in &mut of_page {
            if let Block::Table(table) = block {
                table.page = Some(number);
            }
        }
        blocks.extend(of_page);
    }
    if blocks.is_empty() {
        let reason = if pages.is_empty() {
            "it has no pages"
        } else {
            "it has no text, only pictures of pages; run it through text recognition (OCR) first"
        };
        return Err(reason.to_owned());
    }
    Ok((blocks, notes))
}

/// Keeps the characters in the most frequent direction of the page and turns them upright. The note
/// says that the page was turned or that characters were dropped; `None` if fewer than [`TURNED`]
/// characters of an upright page were dropped.
fn in_one_direction(mut glyphs: Vec<Glyph>) -> (Vec<Glyph>, Option<String>) {
    use Direction::{Down, Left, Right, Up};
    let count = |of: Direction| glyphs.iter().filter(|one| one.direction == of).count();
    // On a tie, `max_by_key` takes the last, so text that runs to the right wins.
    let most = [Up, Left, Down, Right]
        .into_iter()
        .max_by_key(|of| count(*of));
    let main = most.unwrap_or(Right);
    let (read, all) = (count(main), glyphs.len());
    glyphs.retain(|one| one.direction == main);
    // Turning makes positions negative, which `units` would cut to 0, so they are shifted.
    let left = glyphs.iter().map(|one| one.start).fold(0.0, f64::min);
    let top = glyphs.iter().map(|one| one.baseline).fold(0.0, f64::min);
    for one in glyphs.iter_mut().filter(|_| main != Right) {
        one.start -= left;
        one.end -= left;
        one.baseline -= top;
    }
    let note = match main {
        Right if all - read < TURNED => return (glyphs, None),
        Right => "has text that runs sideways, which is not read",
        Left => "is printed upside down; it is read turned",
        Up | Down => "is printed sideways; it is read turned",
    };
    (glyphs, Some(note.to_owned()))
}

/// Why a PDF cannot be read, and what to do.
fn refusal(error: LoadPdfError) -> String {
    let reason = match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
            "it needs a password; save it without one"
        }
        LoadPdfError::Decryption(_) => {
            "it is encrypted in a way that cannot be read; save it without encryption"
        }
        LoadPdfError::Invalid => "it is damaged, or is not a PDF; get it again",
    };
    reason.to_owned()
}

/// Converts points to tenths of a point, because the positions of pieces are whole numbers. A
/// negative position becomes 0.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast ends at the bounds of the type"
)]
fn units(points: f64) -> usize {
    (points * 10.0) as usize
}

/// Groups characters into lines from top to bottom, each with its pieces from left to right.
fn lines_of(mut glyphs: Vec<Glyph>) -> Vec<PlacedLine> {
    glyphs.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    let mut lines: Vec<Vec<Glyph>> = Vec::new();
    for glyph in glyphs {
        let first = lines.last().and_then(|line| line.first());
        let same = first.is_some_and(|first| {
            glyph.baseline - first.baseline < SAME_LINE * glyph.height.min(first.height)
        });
        match lines.last_mut().filter(|_| same) {
            Some(line) => line.push(glyph),
            None => lines.push(vec![glyph]),
        }
    }
    lines.into_iter().filter_map(line_of).collect()
}

/// Joins the characters of a line to pieces. A space is added at gaps between words. A new piece
/// begins at a wide gap, and before a figure that follows another figure.
fn line_of(mut glyphs: Vec<Glyph>) -> Option<PlacedLine> {
    glyphs.sort_by(|a, b| a.start.total_cmp(&b.start));
    let glyphs = without_leaders(&glyphs);
    let height = glyphs.iter().map(|glyph| glyph.height).fold(0.0, f64::max);
    let top = glyphs
        .iter()
        .map(|glyph| glyph.baseline)
        .fold(0.0, f64::max);
    let mut pieces: Vec<PlacedPiece> = Vec::new();
    let mut last: Option<Glyph> = None;
    for glyph in glyphs {
        let again = |last: &Glyph| {
            last.text == glyph.text && glyph.start - last.start < PRINTED_TWICE * height
        };
        if last.as_ref().is_some_and(again) {
            continue;
        }
        let gap = last.as_ref().map(|last| (glyph.start - last.end) / height);
        // The first piece is the label of a row, in which a figure does not begin a new piece.
        let is_first = pieces.len() == 1;
        let apart = |piece: &PlacedPiece, gap: f64| {
            let begins = |c: char| piece.ends_before(c);
            let another = gap > BETWEEN_WORDS && !is_first && glyph.text.chars().any(begins);
            gap > BETWEEN_COLUMNS || another
        };
        match (pieces.last_mut(), gap) {
            (Some(piece), Some(gap)) if !apart(piece, gap) => {
                if gap > BETWEEN_WORDS {
                    piece.text.push(' ');
                }
                piece.text.push_str(&glyph.text);
                piece.end = piece.end.max(units(glyph.end));
            }
            _ => pieces.push(PlacedPiece {
                start: units(glyph.start),
                end: units(glyph.end),
                text: glyph.text.clone(),
            }),
        }
        last = Some(glyph);
    }
    (!pieces.is_empty()).then_some(PlacedLine {
        top,
        height,
        pieces,
    })
}

/// Removes the dots that lead from a label to its figures: three or more in a row.
fn without_leaders(glyphs: &[Glyph]) -> Vec<Glyph> {
    let is_dot = |glyph: &Glyph| glyph.text == ".";
    let runs = glyphs.chunk_by(|a, b| is_dot(a) == is_dot(b));
    let words = runs.filter(|run| run.len() < 3 || !run.iter().all(is_dot));
    words.flatten().cloned().collect()
}

/// Removes a page number: a short number such as `F-3` that is the only text of the first or
/// the last line.
fn without_page_number(mut lines: Vec<PlacedLine>) -> Vec<PlacedLine> {
    let is_number = |line: &PlacedLine| {
        let [piece] = line.pieces.as_slice() else {
            return false;
        };
        let number = piece
            .text
            .trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let number = number.trim_start_matches(|c: char| c.is_alphabetic() || c == '-');
        !number.is_empty() && number.len() <= 3 && number.bytes().all(|c| c.is_ascii_digit())
    };
    lines.pop_if(|last| is_number(last));
    if lines.first().is_some_and(is_number) {
        lines.remove(0);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::printed_texts;

    /// Builds a PDF of pages with these drawing operators, with Helvetica as F1. It has no
    /// table of objects, so the reader has to find them.
    fn pdf(pages: &[&str]) -> Vec<u8> {
        let count = pages.len();
        let kids: String = (0..count)
            .map(|at| format!("{} 0 R ", 4 + 2 * at))
            .collect();
        let mut file = format!(
            "%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n\
             2 0 obj << /Type /Pages /Count {count} /Kids [{kids}] /MediaBox [0 0 612 792] \
             /Resources << /Font << /F1 3 0 R >> >> >> endobj\n\
             3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> endobj\n"
        );
        for (at, drawing) in pages.iter().enumerate() {
            let (page, content, length) = (4 + 2 * at, 5 + 2 * at, drawing.len());
            file.push_str(&format!(
                "{page} 0 obj << /Type /Page /Parent 2 0 R /Contents {content} 0 R >> endobj\n\
                 {content} 0 obj << /Length {length} >> stream\n{drawing}\nendstream endobj\n"
            ));
        }
        file.push_str("trailer << /Root 1 0 R >>\n%%EOF\n");
        file.into_bytes()
    }

    /// Draws texts of ten points at these positions.
    fn drawn(texts: &[(u32, u32, &str)]) -> String {
        let one =
            |(x, y, text): &(u32, u32, &str)| format!("BT /F1 10 Tf {x} {y} Td ({text}) Tj ET\n");
        texts.iter().map(one).collect()
    }

    fn read_pages(pages: &[&str]) -> (Vec<Vec<Vec<String>>>, Vec<String>) {
        printed_texts(blocks(pdf(pages)).unwrap().0)
    }

    #[test]
    fn a_table_is_read_by_the_places_of_its_figures() {
        let page = drawn(&[
            (200, 740, "Statements of income"),
            (410, 710, "Year ended March 31,"),
            (410, 698, "2031"),
            (500, 698, "2030"),
            (72, 686, "Net sales ..............................."),
            (380, 686, "$"),
            (409, 686, "1,204"),
            (470, 686, "$"),
            (502, 686, "987"),
            (72, 674, "Interest"),
            (412, 674, "(12)"),
            (510, 674, "\\227"),
            (300, 30, "F-3"),
        ]);
        let (tables, texts) = read_pages(&[&page]);
        let rows = [
            ["", "Year ended March 31, 2031", "Year ended March 31, 2030"],
            ["Net sales", "$ 1,204", "$ 987"],
            ["Interest", "(12)", "—"],
        ];
        assert_eq!(tables, [rows]);
        assert_eq!(texts, ["Statements of income"]);
    }

    /// The first year counted as a second label, so the line was no header.
    #[test]
    fn years_centred_above_figures_that_end_at_the_right_are_headings() {
        let page = drawn(&[
            (72, 710, "Item"),
            (330, 710, "2031"),
            (480, 710, "2030"),
            (72, 698, "Net sales"),
            (395, 698, "1,204"),
            (555, 698, "987"),
            (72, 686, "Interest"),
            (400, 686, "(12)"),
            (560, 686, "8"),
        ]);
        let rows = [
            ["Item", "2031", "2030"],
            ["Net sales", "1,204", "987"],
            ["Interest", "(12)", "8"],
        ];
        let (tables, texts) = read_pages(&[&page]);
        assert_eq!(tables, [rows]);
        assert_eq!(texts.len(), 0, "{texts:?}");
    }

    #[test]
    fn words_are_put_together_however_they_are_drawn() {
        for (name, drawing) in [
            (
                "kerned, its blanks by distance",
                "BT /F1 10 Tf 72 700 Td [(N) -20 (et) -278 (sales)] TJ ET",
            ),
            (
                "one by one, from the right",
                "BT /F1 10 Tf 90 700 Td (sales) Tj -18 0 Td (Net) Tj ET",
            ),
            (
                "twice, as bold type",
                "BT /F1 10 Tf 72 700 Td (Net sales) Tj 0.3 0 Td (Net sales) Tj ET",
            ),
            (
                "on the next line",
                "BT /F1 10 Tf 12 TL 72 712 Td (Net sales) ' ET",
            ),
            (
                "in points of the drawing",
                "q 10 0 0 10 72 700 cm BT /F1 1 Tf (Net sales) Tj ET Q",
            ),
            ("spaced", "BT /F1 10 Tf 0.5 Tc 72 700 Td (Net sales) Tj ET"),
            (
                "raised",
                "BT /F1 10 Tf 72 700 Td (Net ) Tj 3 Ts (sales) Tj ET",
            ),
        ] {
            assert_eq!(read_pages(&[drawing]).1, ["Net sales"], "{name}");
        }
    }

    #[test]
    fn a_table_that_ends_on_the_next_page_begins_there_with_its_label() {
        let page = |label: &str, figure: &str| {
            drawn(&[
                (72, 700, label),
                (72, 688, "Loans"),
                (500, 688, figure),
                (72, 676, "Shares"),
                (500, 676, figure),
            ])
        };
        let (tables, texts) =
            read_pages(&[&page("Assets", "1,200"), &page("Liabilities", "1,300")]);
        assert_eq!(texts.len(), 0, "{texts:?}");
        assert_eq!(
            tables[1],
            [
                ["", ""],
                ["Liabilities", ""],
                ["Loans", "1,300"],
                ["Shares", "1,300"]
            ]
        );
    }

    #[test]
    fn what_has_no_text_is_refused_with_the_reason() {
        let whole = pdf(&["BT /F1 10 Tf 72 700 Td (Sales) Tj ET"]);
        let cut = whole[..whole.len() / 2].to_vec();
        let mut damaged = whole.clone();
        damaged.splice(9..whole.len() - 20, [b'x'; 40]);
        for (file, reason) in [
            (pdf(&["0 0 m 9 9 l S"]), "no text, only pictures"),
            (cut, "it is cut off"),
            (damaged, "it is damaged"),
            (b"<html></html> %%EOF".to_vec(), "it is damaged"),
        ] {
            let error = blocks(file).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_page_that_is_not_upright_is_turned_and_said_to_be_so() {
        let table = drawn(&[
            (72, 500, "Statements of income in thousands of dollars"),
            (300, 480, "2031"),
            (400, 480, "2030"),
            (72, 460, "Net sales"),
            (295, 460, "1,204"),
            (402, 460, "987"),
        ]);
        let rows = [["", "2031", "2030"], ["Net sales", "1,204", "987"]];
        for (matrix, note) in [
            (
                "0 1 -1 0 612 0",
                "page 2 is printed sideways; it is read turned",
            ),
            (
                "0 -1 1 0 0 792",
                "page 2 is printed sideways; it is read turned",
            ),
            (
                "-1 0 0 -1 612 792",
                "page 2 is printed upside down; it is read turned",
            ),
        ] {
            let turned = format!("q {matrix} cm\n{table}Q\n");
            let upright = drawn(&[(72, 700, "Costs rose by a tenth.")]);
            let (read, notes) = blocks(pdf(&[&upright, &turned])).unwrap();
            assert_eq!(notes, [note]);
            assert_eq!(printed_texts(read).0, [rows], "{matrix}");
        }
        let aside = "q 0 1 -1 0 612 0 cm BT /F1 10 Tf 72 20 Td (Printed on the side of the page, in small letters) Tj ET Q\n";
        let (read, notes) = blocks(pdf(&[&format!("{table}{table}{aside}")])).unwrap();
        assert_eq!(
            notes,
            ["page 1 has text that runs sideways, which is not read"]
        );
        assert!(!printed_texts(read).1.concat().contains("side of the page"));
    }

    #[test]
    fn bytes_behind_the_end_are_no_part_of_it() {
        let mut file = pdf(&["BT /F1 10 Tf 72 700 Td (Sales) Tj ET"]);
        file.extend([b'x'; 5000]);
        assert!(blocks(file).is_ok());
    }

    #[test]
    fn a_damaged_file_is_never_a_panic() {
        let whole = pdf(&[&drawn(&[
            (72, 700, "Net sales"),
            (300, 700, "1,204"),
            (400, 700, "987"),
        ])]);
        for at in (0..whole.len()).step_by(3) {
            let mut damaged = whole.clone();
            damaged[at] = damaged[at].wrapping_add(7);
            let _ = blocks(damaged);
        }
    }

    #[test]
    fn a_page_that_draws_without_end_is_refused() {
        let form = |name: u32, next: u32| {
            let drawing = "/X Do\n".repeat(30);
            format!(
                "{name} 0 obj << /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length {} \
                 /Resources << /XObject << /X {next} 0 R >> >> >> stream\n{drawing}\nendstream endobj\n",
                drawing.len()
            )
        };
        let forms: String = (10..18).map(|at| form(at, at + 1)).collect();
        let file = pdf(&["/X Do"]);
        let file = String::from_utf8(file)
            .unwrap()
            .replace("/Resources << ", "/Resources << /XObject << /X 10 0 R >> ");
        let file = file.replace("trailer", &format!("{forms}trailer"));
        let error = blocks(file.into_bytes()).unwrap_err();
        assert!(error.starts_with("page 1 draws more"), "{error}");
    }
}
