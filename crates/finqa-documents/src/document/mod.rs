//! Builds a document from what was read: its paragraphs and tables in their order, each table with
//! the heading and the unit above it. `page` makes the pages that questions are asked about, and
//! `confirm` says which figures may be misread.
//!
//! The lengths and counts by which headings, running lines and years are recognized are set by
//! hand. `.ci/filings` measures what is read of filings.

mod above;
mod confirm;
mod cover;
mod page;

pub use page::Shown;

use std::collections::HashMap;
use std::sync::Arc;

use finqa_core::page::{Caption, Cell, Cover, Statement};
use finqa_core::question;
use serde_json::json;

use above::{
    HEADING, above_title, is_footnote, is_page_mark, page_line, running_lines, share_unit,
    states_every_unit, unit_line, without_numbers,
};

use crate::block::{self, Block, PrintedTable};
use crate::cells::{is_figure, is_year};
use crate::grid::spans::PrintedCell;

/// Maximum number of paragraphs above a table that are searched for its title and unit.
const ABOVE: usize = 4;

/// The file that a user asks about, read once for all questions about it. It makes the pages that
/// the agents see, each a [`question::Document`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The name of its file.
    pub name: String,
    pub blocks: Vec<Block>,
    pub cover: Cover,
    /// True if columns were found by the positions of figures on a page, so that they may be wrong.
    pub(crate) placed: bool,
    /// True if the end of the file may be missing.
    pub(crate) cut: bool,
    /// What is read differently than it is written, one line each.
    pub notes: Vec<String>,
    /// What the file has but is not read, one line each.
    pub left_out: Vec<String>,
    /// Tables of hidden sheets, rows and columns, without their figures. They give the reason if a
    /// figure is only there.
    pub(crate) hidden: Vec<PrintedTable>,
    /// The unit that a line states for all following tables that have none of their own.
    pub(crate) every_unit: Option<String>,
    /// The unit that is stated above the title of the first table.
    pub(crate) first_unit: Option<String>,
    /// For a file that is not a report: its one table and its text.
    pub(crate) plain: Option<Arc<question::Document>>,
}

impl Document {
    /// Names each table by the paragraphs above it, and joins the parts of a table that the end of
    /// a page has cut.
    pub(crate) fn of_blocks(
        name: &str,
        blocks: Vec<Block>,
        tagged: &HashMap<String, String>,
        notes: Vec<String>,
    ) -> Self {
        let mut filing = Self {
            name: name.to_owned(),
            cover: cover::read(&blocks, tagged),
            notes,
            ..Self::default()
        };
        let running = running_lines(&blocks);
        for block in block::in_one_notation(blocks, &mut filing.notes) {
            if let Block::Text(text) = &block
                && states_every_unit(text)
            {
                filing.every_unit = Some(text.clone());
            }
            if page_line(&block).is_some_and(|line| running.contains(&without_numbers(&line))) {
                continue;
            }
            match block {
                Block::Text(text) => filing.blocks.push(Block::Text(text)),
                Block::Table(table) => filing.add(table),
            }
        }
        share_unit(&mut filing.blocks, filing.first_unit.take());
        filing
    }

    /// Adds a table, with the title and unit from the texts above it, which are then no paragraphs
    /// of their own. The rest of a table that the end of a page has cut is added to its start.
    fn add(&mut self, mut table: PrintedTable) {
        let texts = self.blocks.iter().rev().map_while(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::Table(_) => None,
        });
        let above: Vec<&str> = texts
            .take(ABOVE)
            .filter(|text| !is_page_mark(text))
            .collect();
        table.unit = above.iter().find_map(|text| unit_line(text)).or_else(|| {
            let unit = self.unit_before().or_else(|| self.every_unit.clone());
            unit.filter(|_| !table.has_unit())
        });
        let mut headings = above.iter().filter(|text| {
            text.len() <= HEADING && !text.starts_with('(') && !Caption::is_alone(text)
        });
        table.title = headings.next().copied().unwrap_or_default().to_owned();
        if self.tables().next().is_none() {
            self.first_unit = above_title(&above, &table.title);
        }
        table.label_rows();
        // A table without a text above it can be the rest of a table on the page before.
        let cut = above.is_empty();
        // The title and the unit are shown with the table.
        let texts = self.blocks.iter().rev();
        let texts = texts.take_while(|block| matches!(block, Block::Text(_)));
        let start = self.blocks.len() - texts.count();
        let is_own = |text: &String| *text == table.title || table.unit.as_ref() == Some(text);
        let above = self.blocks.split_off(start);
        let others = above
            .into_iter()
            .filter(|block| !matches!(block, Block::Text(text) if is_own(text)));
        self.blocks.extend(others);
        let last = self.blocks.iter_mut().rev().find_map(|block| match block {
            Block::Table(table) => Some(table),
            Block::Text(_) => None,
        });
        match last.filter(|last| cut && last.continues_in(&table)) {
            Some(last) => last.rows.extend(table.rows.into_iter().skip(1)),
            None => self.blocks.push(Block::Table(table)),
        }
    }

    /// The unit of the previous table, if only page marks or footnotes are between the two tables.
    /// If headings are between them too, the unit applies only if it mentions several "tables".
    /// `None` otherwise.
    fn unit_before(&self) -> Option<String> {
        let mut only_marks = true;
        for block in self.blocks.iter().rev() {
            match block {
                Block::Text(text) if is_page_mark(text) || is_footnote(text) || is_year(text) => {}
                // Running text, or the start of another item or note: the unit above ends here.
                Block::Text(text)
                    if text.len() > HEADING / 2
                        || text.ends_with('.')
                        || ["Item", "ITEM", "Note", "NOTE"]
                            .iter()
                            .any(|of| text.starts_with(of)) =>
                {
                    return None;
                }
                Block::Text(_) => only_marks = false,
                Block::Table(last) => {
                    let unit = last.unit.clone();
                    let unit = unit.or_else(|| last.own_unit().map(|unit| format!("({unit})")));
                    return unit.filter(|unit| only_marks || unit.contains("tables"));
                }
            }
        }
        None
    }

    /// True for a report with any number of tables, false for a page with one table.
    pub fn is_report(&self) -> bool {
        self.plain.is_none()
    }

    /// The tables in their order. A page that is not a report has none here; see [`Self::listed`].
    pub fn tables(&self) -> impl Iterator<Item = &PrintedTable> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            Block::Text(_) => None,
        })
    }
}

impl PrintedTable {
    /// The headings of its columns.
    pub fn headings(&self) -> impl Iterator<Item = &str> {
        let cells = self.rows.iter().take(1).flatten().skip(1);
        cells.map(|cell| cell.text.as_str())
    }

    /// The number of rows with formulas whose values the file lacks, and the number of those rows
    /// in which every such value was computed.
    pub fn formulas(&self) -> (usize, usize) {
        let lacks = |cell: &&PrintedCell| {
            let source = cell.source.as_ref();
            source.is_some_and(|source| source.formula.is_some())
        };
        let computed = |cell: &PrintedCell| {
            let source = cell.source.as_ref();
            source.is_some_and(|source| source.unread.is_none())
        };
        let rows = self.rows.iter().skip(1);
        let rows = rows.filter(|row| row.iter().any(|cell| lacks(&cell)));
        let sums = rows
            .clone()
            .filter(|row| row.iter().filter(lacks).all(computed));
        (rows.count(), sums.count())
    }

    /// The table for `--list-tables --json`: its texts, and the value of each figure. Amounts are
    /// in units, and percentages are as printed. `number` is the table's position in the list, from
    /// 1.
    pub fn json(&self, number: usize) -> serde_json::Value {
        let document = self.document();
        let table = &document.page().table;
        // A column has percentages only if its heading says so too, because its first row can have
        // a percentage above amounts.
        let says = |heading: &str| {
            ["%", "percent", "change"]
                .iter()
                .any(|it| heading.contains(it))
        };
        let columns = table.columns().iter().enumerate();
        let shares: Vec<bool> = columns
            .map(|(at, one)| says(&one.label.to_lowercase()) && table.is_of_percent(at))
            .collect();
        let cell = |row: usize, column: usize, cell: &PrintedCell| {
            let figure = table.cell(row, column).and_then(Cell::value);
            let scale = table
                .scale_at(row, column)
                .map_or(1.0, |scale| f64::from(scale.units()));
            // A percentage has the sign of its tag, but neither its power nor a scale.
            let in_units = |figure: f64| match cell.tags.first() {
                Some(tag) if cell.text.contains('%') => tag.signed(figure),
                None if cell.text.contains('%') || shares.get(column) == Some(&true) => figure,
                Some(tag) => tag.value(figure),
                None => figure * scale,
            };
            let value = figure.filter(|_| row > 0 && column > 0).map(in_units);
            json!({ "text": cell.text, "value": value, "tags": cell.tags })
        };
        let rows = self.rows.iter().enumerate().map(|(row, cells)| {
            let cells = cells.iter().enumerate();
            cells.map(|(column, one)| cell(row, column, one)).collect()
        });
        json!({
            "table": number,
            "title": self.title,
            "unit": self.unit,
            "rows": rows.collect::<Vec<Vec<serde_json::Value>>>(),
        })
    }

    /// A page with only this table.
    fn document(&self) -> question::Document {
        self.document_of(self.rows.iter())
    }

    /// A page with only the header and the rows without figures, which can state the unit.
    fn without_figures(&self) -> question::Document {
        let digits = |cell: &PrintedCell| cell.text.contains(|c: char| c.is_ascii_digit());
        let figure = |cell: &PrintedCell| digits(cell) && is_figure(&cell.text);
        let figures = |row: &&Vec<PrintedCell>| row.iter().skip(1).any(figure);
        let rows = self.rows.iter().enumerate();
        let kept = rows.filter(|(at, row)| *at == 0 || !figures(row));
        self.document_of(kept.map(|(_, row)| row))
    }

    /// A page with these rows of the table and the lines above it.
    fn document_of<'r>(
        &self,
        rows: impl Iterator<Item = &'r Vec<PrintedCell>>,
    ) -> question::Document {
        let texts = |row: &Vec<PrintedCell>| row.iter().map(|cell| cell.text.clone()).collect();
        question::Document {
            pre_text: self.above(),
            table: rows.map(texts).collect(),
            own: true,
            cover: Some(Cover::default()),
            ..question::Document::default()
        }
    }

    /// The line above the table that states its unit, or the unit in its title or its cells.
    pub fn stated_unit(&self) -> Option<String> {
        let line = self.unit.clone().filter(|unit| *unit != self.title);
        line.or_else(|| self.own_unit())
    }

    /// True if the title or the cells state a unit for the whole table, and not for one column.
    fn has_unit(&self) -> bool {
        let document = self.without_figures();
        let table = &document.page().table;
        table.caption().is_some_and(|one| one.scale.is_none()) || table.scale().is_some()
    }

    /// The unit that the title or the cells state.
    fn own_unit(&self) -> Option<String> {
        let document = self.without_figures();
        Some(document.page().table.caption()?.text.clone())
    }

    /// The lines above the table: its title and its unit, as far as there are any.
    pub fn above(&self) -> Vec<String> {
        let lines = [Some(&self.title), self.unit.as_ref()];
        let lines = lines.into_iter().flatten().filter(|line| !line.is_empty());
        lines.cloned().collect()
    }

    /// True if the title is the name of a primary statement.
    pub fn is_statement(&self) -> bool {
        Statement::named(&self.title).is_some()
    }

    /// True if the next table has the same headings or none, so that it can be the rest of this
    /// one.
    fn continues_in(&self, other: &Self) -> bool {
        let (Some(head), Some(next)) = (self.rows.first(), other.rows.first()) else {
            return false;
        };
        let bare = next.iter().all(|cell| cell.text.is_empty());
        head.len() == next.len() && (bare || head == next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::html::blocks;
    use crate::tags::{Tag, TagPeriod};

    fn read(html: &str) -> Document {
        let (blocks, tagged) = blocks(html).unwrap();
        Document::of_blocks("f.htm", blocks, &tagged, Vec::new())
    }

    const ROW: &str = "<tr><td>Rent</td><td>5</td></tr>";
    const HEAD: &str = "<tr><td></td><td>2031</td></tr>";

    #[test]
    fn a_table_has_the_heading_and_the_unit_above_it() {
        let filing = read(&format!(
            "<p>Costs by kind</p><p>(In millions)</p><table>{HEAD}{ROW}</table>"
        ));
        let table = filing.tables().next().unwrap();
        assert_eq!(table.title, "Costs by kind");
        assert_eq!(table.unit.as_deref(), Some("(In millions)"));
    }

    #[test]
    fn a_unit_is_of_the_tables_that_follow_it() {
        let table = format!("<table>{HEAD}{ROW}</table>");
        let other = format!("<table>{}{ROW}</table>", HEAD.replace("2031", "2030"));
        for (above, between, of_both) in [
            ("Costs (in millions):", "", true),
            (
                "The following tables show costs (in millions):",
                "<p>Other</p>",
                true,
            ),
            (
                "The following table shows costs (in millions):",
                "<p>Other</p>",
                false,
            ),
            (
                "The tables show costs (in millions):", "<p>It rose.</p>", false,
            ),
            ("Costs by kind (in 000\u{2019}s) (Unaudited).", "", true),
        ] {
            let filing = read(&format!("<p>{above}</p>{table}{between}{other}"));
            let units: Vec<bool> = filing.tables().map(|one| one.unit.is_some()).collect();
            assert_eq!(units, [true, of_both], "{above} {between}");
        }
    }

    /// Before, each table was read in full to find its unit.
    #[test]
    fn the_unit_of_a_table_is_found_without_its_figures() {
        let rows: String = (0..9)
            .map(|n| format!("<tr><td>{n}</td><td>5</td></tr>"))
            .collect();
        let filing = read(&format!(
            "<p>a</p><table>{HEAD}<tr><td>In millions</td></tr>{rows}</table>"
        ));
        let table = filing.tables().next().unwrap();
        assert_eq!(table.without_figures().table.len(), 2);
        assert_eq!(table.stated_unit().as_deref(), Some("In millions"));
    }

    #[test]
    fn a_unit_of_all_pages_is_of_every_table_that_states_none() {
        let line =
            "Amounts in millions of dollars except per share amounts or as otherwise specified.";
        let table = format!("<table>{HEAD}{ROW}</table>");
        let page = |n: usize| {
            format!(
                "<p>Costs {}</p>{table}<p>It rose.</p><p>{line}</p><p>{n}</p>",
                "x".repeat(n)
            )
        };
        let own = format!("<p>Staff (in thousands)</p>{table}");
        let filing = read(&((1..7).map(page).collect::<String>() + &own));
        let units: Vec<Option<&str>> = filing.tables().map(|one| one.unit.as_deref()).collect();
        assert_eq!(units[1..6], [Some(line); 5]);
        assert_eq!(units[6], Some("Staff (in thousands)"));
    }

    #[test]
    fn a_table_that_the_end_of_a_page_cuts_is_one() {
        let rest = "<tr><td>Fees</td><td>7</td></tr>";
        let cut = |between: &str, head: &str| {
            read(&format!(
                "<p>Costs</p><table>{HEAD}{ROW}</table>{between}<table>{head}{rest}</table>"
            ))
        };
        for head in ["", HEAD] {
            let filing = cut("<p>41</p><p>Table of Contents</p>", head);
            let rows: Vec<usize> = filing.tables().map(|table| table.rows.len()).collect();
            assert_eq!(rows, [3], "{head}");
        }
        assert_eq!(cut("<p>Income</p>", HEAD).tables().count(), 2);
    }

    #[test]
    fn what_is_on_every_page_is_no_heading() {
        let page = |n: usize| {
            let title = "Costs of ".to_owned() + &"x".repeat(n);
            format!("<p>{title}</p><p>Acme Corp. | {n}</p><table>{HEAD}{ROW}</table>")
        };
        let filing = read(&(1..7).map(page).collect::<String>());
        let titles: Vec<&str> = filing.tables().map(|table| table.title.as_str()).collect();
        assert_eq!(titles.len(), 6);
        assert!(
            titles.iter().all(|title| title.starts_with("Costs of x")),
            "{titles:?}"
        );
    }

    #[test]
    fn headings_that_differ_in_their_years_are_kept() {
        let year = |year: u32| {
            format!("<p>Acme 2031 report | {year}</p><p>FY{year}</p><table>{HEAD}{ROW}</table>")
        };
        let filing = read(&(2019..2025).map(year).collect::<String>());
        let titles: Vec<&str> = filing.tables().map(|table| table.title.as_str()).collect();
        let years = ["FY2019", "FY2020", "FY2021", "FY2022", "FY2023", "FY2024"];
        assert_eq!(titles, years);
    }

    #[test]
    fn a_percentage_has_the_value_that_is_printed() {
        let tag = |percent: f64| Tag {
            concept: "x:Rate".to_owned(),
            period: TagPeriod {
                start: None,
                end: "2031-03-31".to_owned(),
            },
            unit: "pure".to_owned(),
            scale: -2,
            negative: percent < 0.0,
            comma: None,
            dimensions: Vec::new(),
        };
        let cell = |text: &str, tags: Vec<Tag>| PrintedCell {
            text: text.to_owned(),
            tags,
            source: None,
        };
        let table = PrintedTable {
            unit: Some("(In millions)".to_owned()),
            rows: vec![
                vec![
                    cell("", vec![]),
                    cell("2031", vec![]),
                    cell("2030", vec![]),
                    cell("2029", vec![]),
                ],
                vec![
                    cell("Tax rate", vec![]),
                    cell("21.5%", vec![tag(1.0)]),
                    cell("20.0%", vec![]),
                    cell("4.5%", vec![tag(-1.0)]),
                ],
            ],
            ..PrintedTable::default()
        };
        let json = table.json(1);
        let values: Vec<&serde_json::Value> =
            (1..4).map(|at| &json["rows"][1][at]["value"]).collect();
        assert_eq!(values, [21.5, 20.0, -4.5]);
    }
}
