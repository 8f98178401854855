//! Questions as an agent may see them: page, text, earlier turns. No gold: that
//! is a type of the package `convfinqa`, which nothing here can name.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::number::Value;
use crate::page::{CellSource, Cover, LazyPage, Page, PagePlaces, PageText, TableStart};

/// One report page: sentences before the table, the table, sentences after it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Record id, e.g. `Single_JKHY/2009/page_28.pdf-3`.
    pub id: String,
    /// Report page, e.g. `JKHY/2009/page_28.pdf`: the cluster for statistics.
    pub filename: String,
    /// Sentences before the table, as published.
    pub pre_text: Vec<String>,
    /// Sentences after the table, as published.
    pub post_text: Vec<String>,
    /// Cell strings as published, row 0 the header; rows may be ragged.
    pub table: Vec<Vec<String>>,
    /// Where its tables begin, if `table` holds several, one below the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableStart>,
    /// What the file says of cells of `table` beyond their text, in the order of rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<CellSource>,
    /// Of a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cover: Option<Cover>,
    /// The table before tokenisation, if the file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_ori: Option<Vec<Vec<String>>>,
    /// A document of the user's own, which has none of the dataset's artefacts:
    /// it is not repaired.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// What [`Document::page`] and [`Document::places`] return.
    #[doc(hidden)]
    #[serde(skip)]
    pub lazy_page: LazyPage,
}

impl Document {
    /// The page, read once for all questions that share the document.
    pub fn page(&self) -> &Page {
        self.lazy_page.page(&self.text())
    }

    /// The places of the page's numbers, read once as well.
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

    /// All sentences, `pre_text` then `post_text`; sentence `t1` is the first.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.pre_text
            .iter()
            .chain(&self.post_text)
            .map(String::as_str)
    }

    /// The text that an evidence id names, as published: `r3c2` a cell (row 0 the
    /// header, column 0 the row labels), `t5` the fifth sentence. `None` if the
    /// page has no such cell or sentence; `h1` names an earlier turn, not the page.
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

/// The report page in a record's id: without `Single_`/`Double_` and without `-3`.
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

/// The key of a question and of its output row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuestionKey {
    /// Record id.
    pub id: String,
    /// `qa`, `qa_0`, `qa_1`, or the turn's number from 0.
    pub part: String,
}

impl std::fmt::Display for QuestionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A question of an environment may have no part.
        match self.part.as_str() {
            "" => f.write_str(&self.id),
            part => write!(f, "{} ({part})", self.id),
        }
    }
}

/// The source of an earlier turn's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistorySource {
    /// Our own earlier answer.
    Own,
    /// The dataset's earlier answer (`--history gold`), put here by `run`.
    Gold,
}

/// An earlier turn of the conversation, as the agents may see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// The earlier question.
    pub question: String,
    /// The value; `None` if it had no answer.
    pub value: Option<Value>,
    /// The program in the dataset's language, with its references resolved.
    pub program: Option<String>,
    /// The value's name, e.g. `net cash from operating activities, 2009`.
    pub label: Option<String>,
    /// The value's source.
    pub source: HistorySource,
}

/// Whether a question is part of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// By itself.
    #[default]
    StandAlone,
    /// A turn of a conversation, its first one included.
    Turn,
}

/// A question as an agent may see it: document, text, earlier turns. No gold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The question's key.
    pub key: QuestionKey,
    pub kind: QuestionKind,
    /// The report page.
    pub document: Arc<Document>,
    /// The question, trimmed.
    pub text: String,
    /// Earlier turns, oldest first; empty for a stand-alone question.
    pub history: Vec<HistoryEntry>,
}

/// The source of a figure: a cell, a sentence or an earlier question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedEvidence {
    /// `r{row}c{col}`, `t{n}` or `h{n}`.
    pub id: String,
    /// The figure as written there.
    pub literal: String,
}
