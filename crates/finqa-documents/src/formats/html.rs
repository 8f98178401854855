//! Reads HTML into paragraphs and tables in their order, without what is hidden.

use std::borrow::Cow;
use std::collections::HashMap;

use finqa_core::pattern;
use finqa_core::text::{Pattern, single_spaced};
use scraper::{ElementRef, Html, Node};

use super::{nesting, styles, submission};
use crate::block::{Block, PrintedTable};
use crate::grid::spans::{self, PrintedCell, SpannedCell};
use crate::lines;
use crate::tags::{Contexts, Tag};
use crate::text::printed;

/// An element with a prefix that is closed by `/>`. HTML ignores this end, so the element would
/// contain everything after it.
static CLOSED: Pattern = pattern!(r#"<([A-Za-z]+:[\w.-]+)((?:[^<>"']|"[^"]*"|'[^']*')*)/>"#);

/// A table. In filings of the 1990s, a table contains lines of text instead of rows, and an HTML
/// parser would move these lines out of it.
static TABLE: Pattern = pattern!(r"(?is)<table\b[^>]*>.*?</table>");
/// The tags of such a table. `<S>` and `<C>` mark its columns.
static TABLE_MARKS: Pattern = pattern!(r"(?i)</?(?:table|caption|s|c)\b[^>]*>");

/// Maximum number of columns or rows that a cell can span. Larger spans are cut to it. Set by hand;
/// it bounds what a wrong attribute does.
const WIDEST: usize = 200;

/// A page mark in filings of the 1990s. It has no end tag, so it would contain everything after
/// it.
static PAGE: Pattern = pattern!(r"(?i)<page>");

/// Reads a filing into its blocks and the tagged facts of its cover.
///
/// # Errors
/// Why the page cannot be read: its elements are nested too deeply.
pub(crate) fn blocks(text: &str) -> Result<(Vec<Block>, HashMap<String, String>), String> {
    let text = submission::page(text);
    // Before the check, which would count these elements as open.
    let text = CLOSED.replace_all(&text, "<$1$2></$1>");
    nesting::check_text(&text)?;
    let text = PAGE.replace_all(&text, "<hr>");
    let mut html = Html::parse_document(&with_lines(&text));
    nesting::check(&html)?;
    // Before hidden elements are removed, because a filing hides its contexts.
    let contexts = Contexts::read(&html);
    styles::remove_hidden(&mut html);
    let mut walk = Walk {
        contexts,
        blocks: Vec::new(),
        paragraph: String::new(),
    };
    walk.element(html.root_element());
    walk.end_paragraph();
    Ok((walk.blocks, walk.contexts.cover))
}

/// Puts each table that has lines of text instead of rows into `<pre>`, which keeps its columns.
fn with_lines(text: &str) -> Cow<'_, str> {
    let has_rows = |table: &str| {
        let mut tags = table.as_bytes().windows(3);
        tags.any(|tag| tag.eq_ignore_ascii_case(b"<tr"))
    };
    let tables = TABLE.find_iter(text);
    let mut tables = tables.filter(|table| !has_rows(table.as_str())).peekable();
    if tables.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut page, mut end) = (String::new(), 0);
    for table in tables {
        page.push_str(text.get(end..table.start()).unwrap_or_default());
        let lines = TABLE_MARKS.replace_all(table.as_str(), "");
        page.push_str(&format!("<pre>{lines}</pre>"));
        end = table.end();
    }
    page.push_str(text.get(end..).unwrap_or_default());
    Cow::Owned(page)
}

/// Collects blocks while walking through the elements of a filing.
struct Walk {
    contexts: Contexts,
    blocks: Vec<Block>,
    /// The text of the current paragraph.
    paragraph: String,
}

impl Walk {
    /// Adds the open paragraph to the blocks, unless it is empty.
    fn end_paragraph(&mut self) {
        let text = printed(&std::mem::take(&mut self.paragraph));
        if !text.is_empty() {
            self.blocks.push(Block::Text(text));
        }
    }

    /// Reads an element and everything in it, in the order of the page.
    fn element(&mut self, element: ElementRef<'_>) {
        let name = element.value().name();
        // Nothing in these is printed. `Contexts::read` has read what `ix:header` contains.
        if matches!(name, "head" | "script" | "style" | "ix:header") {
            return;
        }
        match name {
            "table" => {
                self.end_paragraph();
                return self.table(element);
            }
            "pre" => {
                self.end_paragraph();
                // Its tables have columns that are aligned with spaces.
                let text: String = element.text().collect();
                self.blocks.extend(lines::blocks(lines::of_text(&text)));
                return;
            }
            "sup" if is_mark(element, &self.paragraph) => return,
            _ => {}
        }
        let whole = is_paragraph(name);
        if whole {
            self.end_paragraph();
        }
        self.children(element);
        match name {
            "br" | "td" | "th" => self.paragraph.push(' '),
            _ if whole => self.end_paragraph(),
            _ => {}
        }
    }

    /// Adds the texts in an element to the open paragraph and reads its child elements, in order.
    fn children(&mut self, element: ElementRef<'_>) {
        for child in element.children() {
            if let Node::Text(text) = child.value() {
                self.paragraph.push_str(text);
            }
            if let Some(child) = ElementRef::wrap(child) {
                self.element(child);
            }
        }
    }

    /// Reads a table: as a table if it has figures, otherwise as the texts or tables it arranges.
    fn table(&mut self, table: ElementRef<'_>) {
        let rows = self.rows(table);
        let inner = table
            .descendent_elements()
            .filter(|inner| inner.value().name() == "table" && table_around(*inner) == Some(table));
        let inner: Vec<ElementRef<'_>> = inner.collect();
        // A copy, because the texts are used if the table has no figures.
        match spans::grid(rows.clone()) {
            Some(rows) => {
                self.blocks.push(Block::Table(PrintedTable {
                    rows,
                    ..PrintedTable::default()
                }));
                inner.into_iter().for_each(|table| self.element(table));
            }
            // The table only arranges other tables.
            None if !inner.is_empty() => {
                self.children(table);
                self.end_paragraph();
            }
            // The table only arranges text.
            None => {
                let line = |row: &Vec<SpannedCell>| {
                    let cells: Vec<&str> =
                        row.iter().map(|cell| cell.content.text.as_str()).collect();
                    single_spaced(&cells.join(" "))
                };
                let lines = rows.iter().map(line).filter(|line| !line.is_empty());
                self.blocks.extend(lines.map(Block::Text));
            }
        }
    }

    /// The rows of a table with the columns that each cell covers, without the rows of inner
    /// tables.
    fn rows(&self, table: ElementRef<'_>) -> Vec<Vec<SpannedCell>> {
        let mut rows = Vec::new();
        // The columns (from, to) that cells of earlier rows still cover, and for how many more
        // rows.
        let mut covered: Vec<(usize, usize, usize)> = Vec::new();
        for row in table
            .descendent_elements()
            .filter(|inner| inner.value().name() == "tr")
            .filter(|row| table_around(*row) == Some(table))
        {
            let mut cells = Vec::new();
            let mut at = 0;
            let of_row = row
                .child_elements()
                .filter(|cell| matches!(cell.value().name(), "td" | "th"));
            for cell in of_row {
                while let Some((_, end, _)) = covered
                    .iter()
                    .find(|(start, end, _)| (*start..*end).contains(&at))
                {
                    at = *end;
                }
                let end = at + covers(cell, "colspan");
                match covers(cell, "rowspan") {
                    1 => {}
                    rows => covered.push((at, end, rows)),
                }
                cells.push(SpannedCell {
                    start: at,
                    end,
                    content: self.cell(cell),
                });
                at = end;
            }
            covered.iter_mut().for_each(|(_, _, rows)| *rows -= 1);
            covered.retain(|(_, _, rows)| *rows > 0);
            rows.push(cells);
        }
        rows
    }

    /// The text of a cell, with the XBRL tags of its figures.
    fn cell(&self, cell: ElementRef<'_>) -> PrintedCell {
        let mut read = CellText {
            contexts: &self.contexts,
            text: String::new(),
            tags: Vec::new(),
        };
        read.element(cell);
        PrintedCell {
            text: printed(&read.text),
            tags: read.tags,
            source: None,
        }
    }
}

/// Collects the text and the tags of a cell.
struct CellText<'c> {
    contexts: &'c Contexts,
    text: String,
    tags: Vec<Tag>,
}

impl CellText<'_> {
    /// Adds the text and the tags of an element of a cell. Tables inside the cell and marks of
    /// footnotes are left out.
    fn element(&mut self, element: ElementRef<'_>) {
        self.tags.extend(self.contexts.tag(element));
        for child in element.children() {
            if let Node::Text(text) = child.value() {
                self.text.push_str(text);
            }
            let Some(child) = ElementRef::wrap(child) else {
                continue;
            };
            match child.value().name() {
                // A table inside the cell is read separately.
                "table" => continue,
                "sup" if is_mark(child, &self.text) => continue,
                _ => {}
            }
            let apart = is_paragraph(child.value().name()) || child.value().name() == "br";
            if apart {
                self.text.push(' ');
            }
            self.element(child);
            if apart {
                self.text.push(' ');
            }
        }
    }
}

/// The number of columns or rows that a cell spans; 1 if the attribute is missing or wrong.
fn covers(cell: ElementRef<'_>, attribute: &str) -> usize {
    let number = cell
        .attr(attribute)
        .and_then(|number| number.trim().parse().ok());
    number.unwrap_or(1).clamp(1, WIDEST)
}

/// The innermost table that contains an element.
fn table_around(element: ElementRef<'_>) -> Option<ElementRef<'_>> {
    let mut around = element.ancestors().filter_map(ElementRef::wrap);
    around.find(|around| around.value().name() == "table")
}

/// Maximum number of characters of a reference to notes. A longer raised text is read. Set by hand.
const MARK: usize = 12;

/// True if a raised text after other text refers to a note: "1", "(a)", "*". A raised text with
/// other characters, such as "1/2", is part of the text.
fn is_mark(raised: ElementRef<'_>, before: &str) -> bool {
    let text: String = raised.text().collect();
    let marks = |c: char| c.is_alphanumeric() || c.is_whitespace() || "()[],*†‡§¶#".contains(c);
    !before.trim().is_empty() && text.chars().all(marks) && text.chars().count() <= MARK
}

/// True for elements that begin and end a paragraph.
fn is_paragraph(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "tr"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "li"
            | "hr"
            | "center"
            | "body"
            | "dt"
            | "dd"
            | "blockquote"
            | "section"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(text: &str) -> Vec<Vec<Vec<PrintedCell>>> {
        let tables = blocks(text)
            .unwrap()
            .0
            .into_iter()
            .filter_map(|block| match block {
                Block::Table(table) => Some(table.rows),
                Block::Text(_) => None,
            });
        tables.collect()
    }

    fn texts(rows: &[Vec<PrintedCell>]) -> Vec<Vec<String>> {
        let row = |row: &Vec<PrintedCell>| row.iter().map(|cell| cell.text.clone()).collect();
        rows.iter().map(row).collect()
    }

    const TAGGED: &str = r#"<html><body><div style="display: none"><ix:header><ix:hidden>
<ix:nonNumeric name="dei:AmendmentFlag" contextRef="c1"/></ix:hidden><ix:resources>
<xbrli:context id="c1"><xbrli:entity><xbrli:identifier scheme="s">1</xbrli:identifier></xbrli:entity>
<xbrli:period><xbrli:startDate>2030-04-01</xbrli:startDate><xbrli:endDate>2031-03-31</xbrli:endDate></xbrli:period></xbrli:context>
<xbrli:context id="c2"><xbrli:entity><xbrli:segment><xbrldi:explicitMember dimension="us-gaap:StatementBusinessSegmentsAxis">x:NorthMember</xbrldi:explicitMember></xbrli:segment></xbrli:entity>
<xbrli:period><xbrli:instant>2031-03-31</xbrli:instant></xbrli:period></xbrli:context>
<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>
</ix:resources></ix:header></div><p>Statement of income</p>
<table><tr><td>&#160;</td><td>2031</td></tr>
<tr><td>Loss</td><td>(<ix:nonFraction name="us-gaap:NetIncomeLoss" contextRef="c1" unitRef="usd" scale="6" sign="-">842</ix:nonFraction></td><td>)</td></tr>
<tr><td>Cash</td><td><ix:nonFraction name="us-gaap:Cash" contextRef="c2" unitRef="usd" scale="6"><ix:nonFraction name="x:Cash" contextRef="c2" unitRef="usd" scale="6">12</ix:nonFraction></ix:nonFraction></td></tr>
</table></body></html>"#;

    #[test]
    fn a_figure_has_the_period_unit_and_sign_of_its_tag() {
        let tables = tables(TAGGED);
        let [table] = tables.as_slice() else {
            panic!("{tables:?}")
        };
        assert_eq!(
            texts(table),
            [["", "2031"], ["Loss", "(842)"], ["Cash", "12"]]
        );
        let [tag] = table[1][1].tags.as_slice() else {
            panic!("{table:?}")
        };
        assert_eq!(tag.concept, "us-gaap:NetIncomeLoss");
        assert_eq!(
            (tag.unit.as_str(), tag.scale, tag.negative),
            ("USD", 6, true)
        );
        assert_eq!(tag.period.start.as_deref(), Some("2030-04-01"));
        assert_eq!(tag.period.end, "2031-03-31");
        assert_eq!(tag.dimensions, []);
        let nested = &table[2][1].tags;
        assert_eq!(nested.len(), 2);
        assert_eq!(nested[1].concept, "x:Cash");
        assert_eq!(nested[1].dimensions[0].1, "x:NorthMember");
    }

    #[test]
    fn hidden_cells_and_characters_of_no_width_are_not_seen() {
        let table = "<p>Costs<br>by kind</p><table>
            <tr><td style='DISPLAY : none'></td><td></td><td>March 31,<br>2031</td></tr>
            <tr><td style='display:none'>x</td><td>Rent\u{200b}</td><td>\u{200b}5</td></tr>
            <tr class=old><td></td><td>Fees</td><td>7</td></tr><tr hidden><td></td><td>Tax</td><td>8</td></tr></table>
            <style>tr.old { visibility: collapse }</style>";
        assert_eq!(
            blocks(table).unwrap().0[0],
            Block::Text("Costs by kind".to_owned())
        );
        assert_eq!(
            texts(&tables(table)[0]),
            [["", "March 31, 2031"], ["Rent", "5"]]
        );
    }

    #[test]
    fn a_cell_over_several_rows_keeps_its_columns() {
        let table = "<table><tr><td rowspan='2'>Item</td><td colspan='2'>Year</td></tr>
            <tr><td>2031</td><td>2030</td></tr><tr><td>Rent</td><td>5</td><td>4</td></tr></table>";
        assert_eq!(
            texts(&tables(table)[0]),
            [["Item", "Year 2031", "Year 2030"], ["Rent", "5", "4"]]
        );
    }

    #[test]
    fn a_table_of_lines_without_rows_is_read_by_its_columns() {
        let table = "<p>Selected data</p><TABLE><CAPTION>\n                        2031     2030\n<S>                  <C>      <C>\nPremiums              1,150      980\nFees                     12       11\n</TABLE><p>After it.</p>";
        let (read, _) = blocks(table).unwrap();
        assert_eq!(read.first(), Some(&Block::Text("Selected data".to_owned())));
        assert_eq!(read.last(), Some(&Block::Text("After it.".to_owned())));
        let rows = [
            ["", "2031", "2030"],
            ["Premiums", "1,150", "980"],
            ["Fees", "12", "11"],
        ];
        assert_eq!(texts(&tables(table)[0]), rows);
    }

    #[test]
    fn a_table_that_only_lays_text_out_is_text() {
        let table = "<table><tr><td>Item 7.</td><td>Discussion</td></tr></table>";
        assert_eq!(
            blocks(table).unwrap().0,
            [Block::Text("Item 7. Discussion".to_owned())]
        );
    }

    #[test]
    fn a_table_in_a_table_is_one_of_its_own() {
        let inner =
            "<table><tr><td></td><td>2031</td></tr><tr><td>Rent</td><td>5</td></tr></table>";
        let rows = [["", "2031"], ["Rent", "5"]];
        let layout = format!("<table><tr><td>Costs</td></tr><tr><td>{inner}</td></tr></table>");
        let read = blocks(&layout).unwrap().0;
        assert_eq!(read[0], Block::Text("Costs".to_owned()));
        let read = tables(&layout);
        assert_eq!(
            read.iter().map(|table| texts(table)).collect::<Vec<_>>(),
            [rows]
        );
        let outer = format!("<table><tr><td>Fees</td><td>7</td><td>{inner}</td></tr></table>");
        let read = tables(&outer);
        assert_eq!(texts(&read[0]), [["", ""], ["Fees", "7"]]);
        assert_eq!(texts(&read[1]), rows);
    }

    #[test]
    fn a_raised_mark_is_no_digit_of_its_figure() {
        let table =
            "<p><sup>1</sup> Net sales<sup>(a)</sup></p><table><tr><td></td><td>2031</td></tr>
            <tr><td>Rent<sup>*</sup></td><td>1,204<sup>1</sup></td></tr>
            <tr><td>Rate</td><td>12<sup>1/2</sup></td></tr></table>";
        assert_eq!(
            blocks(table).unwrap().0[0],
            Block::Text("1 Net sales".to_owned())
        );
        assert_eq!(
            texts(&tables(table)[0])[1..],
            [["Rent", "1,204"], ["Rate", "121/2"]]
        );
    }
}
