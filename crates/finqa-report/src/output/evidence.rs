//! Describes the places that an answer cites: their labels and, for a user's report, the table, the
//! cell and the tag.

use serde::Serialize;

use finqa_ask::{cited_table, cited_tag};
use finqa_core::number::Scale;
use finqa_core::page::period::Times;
use finqa_core::page::{Statement, position, years_in};
use finqa_core::question::CitedEvidence;
use finqa_score::dataset::Question;

/// A cited figure with its place in words.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct NamedEvidence {
    /// `r{row}c{col}`, `t{n}` or `h{n}`.
    pub id: String,
    /// Row and column of a cell together, the text of a sentence, or an earlier question; empty if
    /// the place does not exist.
    pub label: String,
    /// The label of a cell's row.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub row: String,
    /// The label of a cell's column.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub column: String,
    /// The heading above a sentence, or above a row of a table.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub heading: String,
    /// The figure as the program cites it.
    pub literal: String,
    /// The table, the cell and the tag of the figure. Only figures of a user's report have them.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub filed: Option<FiledPlace>,
}

/// A place in a user's report.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct FiledPlace {
    /// The title of the table, which is that of a statement or of a part of a note.
    pub table: String,
    /// The page of a PDF on which the table begins, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<usize>,
    /// The sheet and the cell of a workbook, such as `Key figures!D4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// The formula by which this program computed the figure, because the file has no value for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// True for an amount in a primary statement if neither the report nor a tag states its scale.
    /// Always false for a workbook.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub scale_unknown: bool,
    /// The concept of the figure's tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concept: Option<String>,
    /// The period of the figure's tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
}

/// Maximum number of words in a paragraph that counts as a heading. Set by hand.
const HEADING: usize = 12;

impl NamedEvidence {
    /// Names the place of a cited figure. `label` is empty if there is no such place.
    pub(super) fn new(question: &Question, cited: &CitedEvidence) -> Self {
        let (row, column, heading) = names(question, &cited.id).unwrap_or_default();
        let label = match (row.as_str(), column.as_str()) {
            ("", "") => label(question, &cited.id),
            (row, "") => row.to_owned(),
            ("", column) => column.to_owned(),
            (row, column) => format!("{row} · {column}"),
        };
        Self {
            id: cited.id.clone(),
            label,
            row,
            column,
            heading: heading
                .or_else(|| heading_of(question, &cited.id))
                .unwrap_or_default(),
            literal: cited.literal.clone(),
            filed: FiledPlace::read(question, &cited.id),
        }
    }

    /// The period of a cell: the one in its column's or its row's label, otherwise the one of its
    /// tag.
    pub(super) fn period(&self) -> Option<&str> {
        let mut printed = [&self.column, &self.row].into_iter();
        let printed =
            printed.find(|name| Times::heading(name).0.is_some() || !years_in(name).is_empty());
        let tagged = || self.filed.as_ref()?.period.as_deref();
        printed.map(String::as_str).or_else(tagged)
    }

    /// The place where a person finds the figure: the cell of a workbook, otherwise the id.
    pub(super) fn place(&self) -> &str {
        let cell = self.filed.as_ref().and_then(|filed| filed.cell.as_deref());
        cell.unwrap_or(&self.id)
    }

    /// The place in one line, with the table, page, scale and tag if the figure is from a report.
    pub(super) fn in_words(&self) -> String {
        let Some(filed) = &self.filed else {
            return self.label.clone();
        };
        let scale = match filed.scale {
            Some(scale) => format!("in {}s", scale.word()),
            None if filed.scale_unknown => "no scale is printed".to_owned(),
            None => String::new(),
        };
        let tag = filed.concept.iter().zip(&filed.period);
        let tag = tag.map(|(concept, period)| format!("tagged {concept}, {period}"));
        let computed = filed.formula.as_ref();
        let computed = computed.map(|formula| format!("computed: {formula}"));
        let page = filed.page.map(|page| format!("page {page}"));
        let parts = [
            self.label.clone(),
            filed.table.clone(),
            page.unwrap_or_default(),
            scale,
        ];
        let parts = parts.into_iter().chain(tag).chain(computed);
        let parts = parts.filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("; ")
    }
}

impl FiledPlace {
    /// Describes a cell of a report; `None` for other places.
    fn read(question: &Question, id: &str) -> Option<Self> {
        let place = position(id)?;
        let tables = question.document.tables.iter();
        // All tables are rows of one, so the last that starts at or above the row has the cell.
        let start = tables.rev().find(|start| start.row <= place.0)?;
        let tag = cited_tag(question, place);
        let mut sources = question.document.sources.iter();
        let source = sources.find(|source| (source.row, source.column) == place);
        let cell = start.places.name(place.0 - start.row, place.1);
        let (table, row) = cited_table(question, place).unzip();
        let scale = table
            .zip(row)
            .and_then(|(table, row)| table.scale_at(row, place.1));
        // A workbook's cells are in plain units, so an unknown scale is reported only for other
        // files.
        let statement = start
            .above
            .iter()
            .any(|line| Statement::named(line).is_some());
        let lacks = table
            .zip(row)
            .is_some_and(|(table, row)| table.lacks_scale(row, place.1));
        Some(Self {
            scale,
            scale_unknown: lacks && statement && cell.is_none() && tag.is_none(),
            cell,
            formula: source.and_then(|source| source.formula.clone()),
            table: start.above.first().cloned().unwrap_or_default(),
            page: start.page,
            concept: tag.map(|tag| tag.concept.clone()),
            period: tag.map(|tag| tag.period.clone()),
        })
    }
}

/// The labels of a cell's row and column, and the heading above its row. `None` if there is no such
/// cell.
fn names(question: &Question, id: &str) -> Option<(String, String, Option<String>)> {
    let place = position(id)?;
    let (table, row) = cited_table(question, place)?;
    let (row, column) = (table.rows().get(row), table.columns().get(place.1));
    let section = row.and_then(|row| Some(row.section.as_deref()?.to_owned()));
    let row = row.map_or("", |row| row.label.trim());
    let column = column.map_or("", |column| column.label.trim());
    Some((row.to_owned(), column.to_owned(), section))
}

/// The nearest heading above a sentence of a report. `None` for a page of the dataset.
fn heading_of(question: &Question, id: &str) -> Option<String> {
    if question.document.tables.is_empty() {
        return None;
    }
    let before = id
        .strip_prefix('t')?
        .parse::<usize>()
        .ok()?
        .checked_sub(1)?;
    let sentences: Vec<&str> = question.document.sentences().take(before).collect();
    let is_heading = |text: &&&str| {
        text.split_whitespace().count() <= HEADING && !text.ends_with(['.', ':', ';', ','])
    };
    let heading = sentences.iter().rev().find(is_heading)?;
    Some((*heading).to_owned())
}

/// The text of a cited sentence or of an earlier question. Empty if there is no such place.
fn label(question: &Question, id: &str) -> String {
    if let Some(text) = question.document.evidence(id) {
        return text.to_owned();
    }
    let earlier = id
        .trim()
        .strip_prefix(['h', 'H'])
        .and_then(|n| n.parse::<usize>().ok());
    earlier
        .and_then(|n| question.history.get(n.checked_sub(1)?))
        .map(|entry| entry.question.clone())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use finqa_core::page::{FigureTag, TableStart};
    use finqa_core::question::{Document, QuestionKey, QuestionKind};

    /// A question over a table whose first column has a tag for 2033 with this scale. The second
    /// column has two tags for a year that ends `behind` years after its heading.
    fn question(heading: &str, unit: &str, scale: i32, behind: u16) -> Question {
        let others = [2, 2].map(|column| FigureTag {
            row: 2,
            column,
            concept: "us-gaap:Costs".to_owned(),
            period: format!("{}-10-01 to {}-09-30", 2030 + behind, 2031 + behind),
            unit: "USD".to_owned(),
            scale: 6,
            members: Vec::new(),
        });
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let document = Document {
            table: vec![
                row(["", heading, "2031"]),
                row(["Net sales", "1,204", "987"]),
                row(["Costs", "700", "600"]),
            ],
            tables: vec![TableStart {
                row: 0,
                above: vec!["Income".to_owned(), unit.to_owned()],
                tags: vec![FigureTag {
                    row: 1,
                    column: 1,
                    concept: "us-gaap:Revenues".to_owned(),
                    period: "2032-10-01 to 2033-09-30".to_owned(),
                    unit: "USD".to_owned(),
                    scale,
                    members: Vec::new(),
                }]
                .into_iter()
                .chain(others)
                .collect(),
                ..TableStart::default()
            }],
            own: true,
            ..Document::default()
        };
        Question {
            key: QuestionKey {
                id: "report.htm".to_owned(),
                part: "0".to_owned(),
            },
            kind: QuestionKind::StandAlone,
            document: Arc::new(document),
            text: "net sales?".to_owned(),
            history: Vec::new(),
        }
    }

    fn cited() -> CitedEvidence {
        CitedEvidence {
            id: "r1c1".to_owned(),
            literal: "1,204".to_owned(),
        }
    }

    #[test]
    fn a_place_in_a_report_has_its_table_scale_and_tag() {
        let named = NamedEvidence::new(&question("2033", "(In millions)", 6, 0), &cited());
        assert_eq!(
            named.in_words(),
            "Net sales · 2033; Income; in millions; tagged us-gaap:Revenues, 2032-10-01 to 2033-09-30"
        );
    }

    #[test]
    fn a_statement_without_a_scale_says_so() {
        let words = |title: &str, label: &str| {
            let mut question = question("2033", "", 6, 0);
            let document = Arc::make_mut(&mut question.document);
            document.table[1][0] = label.to_owned();
            document.tables[0].above = vec![title.to_owned()];
            document.tables[0].tags.clear();
            let words = NamedEvidence::new(&question, &cited()).in_words();
            words.ends_with("; no scale is printed")
        };
        let statement = "Consolidated statements of income";
        assert!(words(statement, "Net sales"));
        for (title, label) in [
            ("Income (in millions)", "Net sales"),
            (
                "Consolidated statements of income (in dollars)",
                "Net sales",
            ),
            ("Income", "Net sales"),
            (statement, "Diluted earnings per share"),
            (statement, "Weighted-average shares"),
            (statement, "Number of employees"),
        ] {
            assert!(!words(title, label), "{title} {label}");
        }
    }
}
