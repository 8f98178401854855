//! The input of an agent, without gold: a page, a question and the earlier turns. `Gold` is a type
//! of `finqa-score`, a package that no agent depends on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::number::Value;
use crate::page::{CellSource, Cover, LazyPage, Page, PagePlaces, PageText, TableStart};

/// What a question is about: a page of the dataset, or a user's document or a part of it. It has the
/// sentences before a table, the table, and the sentences after it. The file that a user asks about
/// is `finqa_documents::Document`, which makes such a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The record's id, such as `Single_JKHY/2009/page_28.pdf-3`.
    pub id: String,
    /// The name of the report page, such as `JKHY/2009/page_28.pdf`. Intervals are clustered by
    /// page.
    pub filename: String,
    /// Sentences before the table, as published.
    pub pre_text: Vec<String>,
    /// Sentences after the table, as published.
    pub post_text: Vec<String>,
    /// Cell texts as published; row 0 is the header. Rows may have different lengths.
    pub table: Vec<Vec<String>>,
    /// The start of each table, if `table` contains several tables one below the other. Empty for a
    /// single table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<TableStart>,
    /// The file's data about cells of `table` in addition to their text, sorted by row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<CellSource>,
    /// The cover's data, if the document is a report or a part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cover: Option<Cover>,
    /// The table before the dataset's tokenisation, if the file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_ori: Option<Vec<Vec<String>>>,
    /// True for a document of the user. Its text is not repaired, because it has none of the
    /// dataset's defects.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// The cached results of [`Document::page`] and [`Document::places`].
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

    /// The document in the form from which the page is parsed.
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

    /// All sentences: first `pre_text`, then `post_text`. The first sentence is `t1`.
    pub fn sentences(&self) -> impl Iterator<Item = &str> {
        self.pre_text
            .iter()
            .chain(&self.post_text)
            .map(String::as_str)
    }

    /// The published text for an evidence id. `r3c2` is a cell (row 0 is the header, column 0 has
    /// the row labels), and `t5` is the fifth sentence. `None` if the page has no such cell or
    /// sentence, and for ids of earlier turns such as `h1`.
    pub fn evidence(&self, id: &str) -> Option<&str> {
        let id = id.trim();
        if let Some((row, column)) = crate::page::position(id) {
            return self.table.get(row)?.get(column).map(String::as_str);
        }
        let digits = id.strip_prefix(['t', 'T'])?;
        // `parse` alone would also accept `+5`.
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number: usize = digits.parse().ok()?;
        self.sentences().nth(number.checked_sub(1)?)
    }
}

/// The report page in a record's id, which is the id without `Single_` or `Double_` and without a
/// number such as `-3` at its end.
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

/// The identity of a question and of its output row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuestionKey {
    pub id: String,
    /// `qa`, `qa_0`, `qa_1`, or the number of the turn, counted from 0.
    pub part: String,
}

impl std::fmt::Display for QuestionKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Questions of an environment may lack a part.
        match self.part.as_str() {
            "" => f.write_str(&self.id),
            part => write!(f, "{} ({part})", self.id),
        }
    }
}

/// The source of the value of an earlier turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HistorySource {
    /// The agents computed it when they answered that turn.
    Own,
    /// The value is the dataset's answer (`--history gold`).
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
    /// A description of the value, such as `net cash from operating activities, 2009`.
    pub label: Option<String>,
    pub source: HistorySource,
}

/// Tells whether a question is part of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// A question without a conversation.
    #[default]
    StandAlone,
    /// A turn of a conversation, including the first turn.
    Turn,
}

/// A question with everything that an agent may see: its document and the earlier turns, but not
/// its gold.
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

/// The source of a figure in an answer: a cell, a sentence or an earlier turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CitedEvidence {
    /// The evidence id: `r{row}c{col}`, `t{n}` or `h{n}`.
    pub id: String,
    /// The figure as written in the source.
    pub literal: String,
}
