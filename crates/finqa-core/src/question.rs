//! The input of an agent: a page, a question and the earlier turns, without gold. `Gold` is a
//! type of the package `convfinqa`, which nothing here can name.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::number::Value;
use crate::page::{CellSource, Cover, LazyPage, Page, PagePlaces, PageText, TableStart};

/// A report page: the sentences before its table, the table, and the sentences after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Record id, e.g. `Single_JKHY/2009/page_28.pdf-3`.
    pub id: String,
    /// Report page, e.g. `JKHY/2009/page_28.pdf`. Intervals are clustered by it.
    pub filename: String,
    /// Sentences before the table, as published.
    pub pre_text: Vec<String>,
    /// Sentences after the table, as published.
    pub post_text: Vec<String>,
    /// Cell strings as published; row 0 is the header. Rows may differ in length.
    pub table: Vec<Vec<String>>,
    /// Where each table begins, if `table` contains several, one below the other. Empty for a
    /// single table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableStart>,
    /// What the file says about cells of `table` beyond their text, sorted by row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<CellSource>,
    /// The cover's data, if the document is a report or a part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cover: Option<Cover>,
    /// The table before the dataset's tokenisation, if the file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_ori: Option<Vec<Vec<String>>>,
    /// True for a document of the user. It has none of the dataset's defects, so its text is
    /// not repaired.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// The cached results of [`Document::page`] and [`Document::places`].
    #[doc(hidden)]
    #[serde(skip)]
    pub lazy_page: LazyPage,
}

impl Document {
    /// The page, parsed on first use and shared by all questions about the document.
    pub fn page(&self) -> &Page {
        self.lazy_page.page(&self.text())
    }

    /// The numbers of the page with their ids, collected on first use.
    pub fn places(&self) -> &PagePlaces {
        self.lazy_page.places(&self.text())
    }

    fn text(&self) -> PageText<'_> {
        PageText {
            filename: &self.filename,
            before: &self.pre_text,
            after: &self.post_text,
            table: &self.table,
            starts: &self.tables,
            sources: &self.sources,
            table_ori: self.table_ori.as_deref(),
            own: self.own,
            report: self.cover.is_some(),
        }
    }

    /// All sentences, `pre_text` before `post_text`. The first is `t1`.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.pre_text
            .iter()
            .chain(&self.post_text)
            .map(String::as_str)
    }

    /// The published text of an evidence id: `r3c2` is a cell (row 0 is the header, column 0
    /// the row labels), `t5` the fifth sentence. `None` if the page has no such cell or
    /// sentence, and for ids of earlier turns such as `h1`.
    pub fn evidence(&self, id: &str) -> Option<&str> {
        let id = id.trim();
        if let Some((row, column)) = crate::page::position(id) {
            return self.table.get(row)?.get(column).map(String::as_str);
        }
        let digits = id.strip_prefix(['t', 'T'])?;
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number: usize = digits.parse().ok()?;
        self.sentences().nth(number.checked_sub(1)?)
    }
}

/// The report page in a record's id: the id without `Single_` or `Double_` and without a number
/// such as `-3` at its end.
pub fn page_of_record(id: &str) -> &str {
    let page = id
        .strip_prefix("Single_")
        .or_else(|| id.strip_prefix("Double_"))
        .unwrap_or(id);
    match page.rsplit_once('-') {
        Some((base, n)) if !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()) => base,
        _ => page,
    }
}

/// Identifies a question and its output row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuestionKey {
    pub id: String,
    /// `qa`, `qa_0`, `qa_1`, or the number of the turn, counted from 0.
    pub part: String,
}

impl std::fmt::Display for QuestionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Questions of an environment may have no part.
        match self.part.as_str() {
            "" => f.write_str(&self.id),
            part => write!(f, "{} ({part})", self.id),
        }
    }
}

/// Who computed the value of an earlier turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistorySource {
    /// The agents, when they answered that turn.
    Own,
    /// The dataset; `run` puts its answers here with `--history gold`.
    Gold,
}

/// An earlier turn of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    pub question: String,
    /// The answer's value; `None` if the turn has no answer.
    pub value: Option<Value>,
    /// The turn's program in the dataset's language, if it has one.
    pub program: Option<String>,
    /// What the value is, e.g. `net cash from operating activities, 2009`.
    pub label: Option<String>,
    pub source: HistorySource,
}

/// Whether a question is part of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// A question without a conversation.
    #[default]
    StandAlone,
    /// A turn of a conversation; the first turn too.
    Turn,
}

/// A question with everything that an agent may see: its document and the earlier turns, but no
/// gold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub key: QuestionKey,
    pub kind: QuestionKind,
    pub document: Arc<Document>,
    /// The question's text, trimmed.
    pub text: String,
    /// Earlier turns, oldest first; empty for a stand-alone question.
    pub history: Vec<HistoryEntry>,
}

/// Where an answer takes a figure from: a cell, a sentence or an earlier turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedEvidence {
    /// `r{row}c{col}`, `t{n}` or `h{n}`.
    pub id: String,
    /// The figure as the source writes it.
    pub literal: String,
}
