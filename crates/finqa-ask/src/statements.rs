//! Finds the primary statements that a filing lacks, so that a question about one of them gets a
//! reason instead of a guess. Banks, for example, often have their statements in an exhibit.

use finqa_core::page::Statement;
use finqa_core::text::single_spaced;
use finqa_documents::{Block, Document, PrintedTable};

const INCOME: &str = "income statement";
const BALANCES: &str = "balance sheet";
const CASH_FLOWS: &str = "cash flow statement";

/// Each statement with the names that questions and titles use for it.
const NAMES: [(&str, &[&str]); 3] = [
    (
        INCOME,
        &[
            "income statement", "statement of income", "statement of operations",
            "statement of earnings", "profit and loss",
        ],
    ),
    (
        BALANCES,
        &[
            "balance sheet", "statement of financial position", "statement of financial condition",
            "statement of condition",
        ],
    ),
    (
        CASH_FLOWS,
        &["cash flow statement", "statement of cash flows"],
    ),
];

/// Maximum number of words of a paragraph that can be a statement's title. A longer paragraph may
/// only mention the statement. Set by hand.
const TITLE: usize = 12;

/// The primary statements that a filing lacks. Empty for a document without the cover data of a
/// filing, because other documents need not have these statements.
pub(super) fn absent(document: &Document) -> Vec<&'static str> {
    if document.cover.period_end.is_empty() && document.cover.fiscal_year.is_none() {
        return Vec::new();
    }
    let titles = document.blocks.iter().flat_map(|block| match block {
        Block::Text(text) if text.split_whitespace().count() > TITLE => Vec::new(),
        Block::Text(text) => vec![text.as_str()],
        Block::Table(table) => {
            let corner = table.rows.first().and_then(|row| row.first());
            let corner = corner.map_or("", |cell| cell.text.as_str());
            vec![table.title.as_str(), corner]
        }
    });
    let by_rows = document.tables().flat_map(kinds_by_rows);
    let found: Vec<&str> = titles.filter_map(kind).chain(by_rows).collect();
    let all = NAMES.iter().map(|(name, _)| *name);
    all.filter(|name| !found.contains(name)).collect()
}

/// The statement that a title names; `None` for a statement of equity, because [`NAMES`] has none,
/// and for all other titles.
fn kind(title: &str) -> Option<&'static str> {
    let lower = title.to_lowercase();
    match Statement::named(title)? {
        Statement::Balances => Some(BALANCES),
        Statement::Flows if lower.contains("cash") => Some(CASH_FLOWS),
        Statement::Flows if lower.contains("equity") => None,
        Statement::Flows => Some(INCOME),
    }
}

/// Rows by which a statement is recognized under any title, such as an income statement called
/// "Results". A table must have one row of each of the two lists.
const ROWS: [(&str, [&[&str]; 2]); 3] = [
    (
        INCOME,
        [
            &[
                "net income", "net earnings", "net loss", "net profit", "profit for the",
                "profit after tax",
            ],
            &["income tax", "before tax", "tax expense", "taxes"],
        ],
    ),
    (
        BALANCES,
        [
            &["total assets"],
            &["total liabilities", "total equity", "liabilities and"],
        ],
    ),
    (
        CASH_FLOWS,
        [
            &["operating activities"],
            &["investing activities", "financing activities"],
        ],
    ),
];

/// Minimum number of rows of a table that is recognized by its rows. A table of selected data has
/// some of these rows too, but fewer rows in all. Set by hand.
const LEAST_ROWS: usize = 8;

/// The statements whose rows this table has.
fn kinds_by_rows(table: &PrintedTable) -> Vec<&'static str> {
    let labels = table.rows.iter().filter_map(|row| row.first());
    let labels: Vec<String> = labels.map(|cell| cell.text.to_lowercase()).collect();
    let has = |names: &&[&str]| {
        let mut labels = labels.iter();
        labels.any(|label| {
            // A name begins at a word: "total assets" does not match "subtotal assets".
            names
                .iter()
                .any(|name| label.starts_with(name) || label.contains(&format!(" {name}")))
        })
    };
    let full = labels.len() >= LEAST_ROWS;
    let found = ROWS
        .iter()
        .filter(|(_, rows)| full && rows.iter().all(&has));
    found.map(|(name, _)| *name).collect()
}

/// The reason to withhold or doubt an answer: the question names a statement that the file lacks,
/// or the answer is `unsure` and the file lacks all three statements. Otherwise `None`.
pub(super) fn lacking(absent: &[&str], question: &str, unsure: bool) -> Option<String> {
    let asked = single_spaced(&question.to_lowercase()).replace("statements of", "statement of");
    let named = NAMES.iter().find(|(name, words)| {
        absent.contains(name) && words.iter().any(|word| asked.contains(word))
    });
    match named {
        Some((name, _)) => Some(format!("this file has no {name}")),
        None if unsure && absent.len() == NAMES.len() => Some(format!(
            "this file has no {INCOME}, {BALANCES} or {CASH_FLOWS}; they may be in an exhibit"
        )),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use finqa_documents::PrintedCell;

    #[test]
    fn a_statement_that_is_named_or_meant_must_be_in_the_file() {
        let all = [INCOME, BALANCES, CASH_FLOWS];
        let none = "this file has no income statement, balance sheet or cash flow statement; \
            they may be in an exhibit";
        for (absent, question, unsure, why) in [
            (&all[..], "net income in 2031?", true, Some(none)),
            (&all, "net income in 2031?", false, None),
            (
                &all,
                "net income in the statements of operations in 2031?",
                false,
                Some("this file has no income statement"),
            ),
            (&[BALANCES], "net income in 2031?", true, None),
            (
                &[BALANCES],
                "goodwill on the balance sheet?",
                false,
                Some("this file has no balance sheet"),
            ),
            (&[INCOME], "goodwill on the balance sheet?", true, None),
        ] {
            assert_eq!(
                lacking(absent, question, unsure).as_deref(),
                why,
                "{question}"
            );
        }
    }

    #[test]
    fn rows_tell_a_statement_of_another_title() {
        let table = |labels: &[&str]| PrintedTable {
            rows: (labels.iter())
                .map(|label| {
                    vec![PrintedCell {
                        text: (*label).to_owned(),
                        ..PrintedCell::default()
                    }]
                })
                .collect(),
            ..PrintedTable::default()
        };
        let results = [
            "", "Premiums", "Fees", "Claims", "Staff", "Income before taxes", "Income taxes",
            "Net income",
        ];
        assert_eq!(kinds_by_rows(&table(&results)), [INCOME]);
        // A table of selected data has fewer rows and is not a statement.
        assert!(kinds_by_rows(&table(&results[5..])).is_empty());
    }

    #[test]
    fn a_title_names_its_statement() {
        for (title, name) in [
            ("CONSOLIDATED STATEMENTS OF CASH FLOWS", Some(CASH_FLOWS)),
            ("Consolidated statements of earnings", Some(INCOME)),
            (
                "Consolidated Statements of Operations for the Years Ended December 31, 2031, 2030 and 2029",
                Some(INCOME),
            ),
            ("CONSOLIDATED STATEMENTS OF CONDITION", Some(BALANCES)),
            ("Statement of financial position", Some(BALANCES)),
            ("Statements of changes in equity", None),
            ("Revenue by segment", None),
        ] {
            assert_eq!(kind(title), name, "{title}");
        }
    }
}
