//! `report.html`: a run in one file that a person looks at, without a network.
//!
//! The scorecard and every figure stand in the page as it is written (the
//! template, `page.html`); the questions follow as JSON, one element each, which
//! the page's script reads when one is opened. Texts that many questions share
//! (pages, prompts) stand once. Whatever comes from data or models is only ever
//! inserted as text, and the page's own policy refuses any other script and
//! every request.
//!
//! It decides nothing and scores nothing: numbers come from the [`Summary`] and
//! the journal's rows, causes from whoever knows them.

mod detail;
mod figures;
mod flow;
mod glance;
mod json;
mod pages;
mod view;

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use minijinja::Environment;
use serde::Serialize;

use crate::dataset::QuestionKey;
use crate::run::{Journal, Row};

use super::Summary;
use super::folder::{SinkError, write_atomic};
use glance::{Glance, Index};
use json::write_embedded;

pub use pages::{Pages, records_of};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Where the template leaves room for the questions. Escaped text cannot hold it.
const DATA: &str = "<!-- data -->";

/// What a report is made from.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    /// The run.
    pub journal: &'a Journal,
    /// What it comes to.
    pub summary: &'a Summary,
    /// The pages that were asked about.
    pub pages: &'a Pages,
    /// Why answers are wrong, where an analysis says so.
    pub causes: &'a Causes,
}

/// Why answers are wrong, by question and repetition.
pub type Causes = HashMap<(QuestionKey, u32), Explained>;

/// Why an answer is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The cause's name, such as `wrong_row`.
    pub cause: String,
    /// What it was seen by, in one line.
    pub detail: String,
}

impl Report<'_> {
    /// Writes the report, whole or not at all. One question is in memory at a
    /// time, beside a line for each.
    ///
    /// # Errors
    /// [`SinkError`] if the journal cannot be read or the file not be written.
    pub fn write(&self, path: &Path) -> Result<(), SinkError> {
        let mut rows = Vec::new();
        self.journal.for_each_row(|row| {
            let cause = self.explained(&row);
            rows.push(Glance::of(&row, cause.map(|found| found.cause.as_str())));
        })?;
        let frame = self.frame(&rows).map_err(|source| SinkError::Page {
            path: path.to_owned(),
            source,
        })?;
        let (head, tail) = frame.split_once(DATA).unwrap_or((&frame, ""));
        let error = |source| SinkError::Write {
            path: path.to_owned(),
            source,
        };
        write_atomic(path, |file| {
            file.write_all(head.as_bytes()).map_err(error)?;
            let mut elements = Elements::new(file);
            elements
                .put("index", "", &Index::of(&rows))
                .map_err(error)?;
            let mut failed = None;
            self.journal.for_each_row(|row| {
                if failed.is_none() {
                    failed = elements
                        .question(&row, self.pages, self.explained(&row))
                        .err();
                }
            })?;
            failed.map_or(Ok(()), |source| Err(error(source)))?;
            file.write_all(tail.as_bytes()).map_err(error)
        })
    }

    fn explained(&self, row: &Row) -> Option<&Explained> {
        self.causes.get(&(row.key.clone(), row.epoch))
    }

    /// The page without its questions.
    fn frame(&self, rows: &[Glance]) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        environment.add_filter("spaced", |text: &str| text.replace('_', " "));
        environment.add_filter("fixed", |value: f64, decimals: usize| {
            format!("{value:.decimals$}")
        });
        environment.add_filter("short", figures::short);
        environment.add_filter("grouped", grouped);
        // The name decides that everything is escaped as HTML.
        environment.add_template("page.html", TEMPLATE)?;
        let page = environment.get_template("page.html")?;
        // The run's id is random, so no text of its data can know it.
        let nonce = blake3::hash(self.summary.run.id.as_bytes()).to_hex();
        let view = view::View::of(self.summary, rows, self.pages.why_missing());
        page.render(minijinja::context! {
            view => minijinja::Value::from(minijinja::value::Serde(&view)),
            nonce => nonce.as_str(),
            style => minijinja::Value::from_safe_string(STYLE.to_owned()),
            script => minijinja::Value::from_safe_string(SCRIPT.to_owned()),
        })
    }
}

/// The page's JSON elements, shared texts written before their first use.
struct Elements<'w> {
    out: &'w mut dyn Write,
    texts: Shared,
    pages: Shared,
}

/// Numbers of what stands in the file already, by hash.
#[derive(Default)]
struct Shared(HashMap<blake3::Hash, usize>);

impl Shared {
    /// The number of a text, and whether it is new.
    fn number(&mut self, bytes: &[u8]) -> (usize, bool) {
        let next = self.0.len();
        let number = *self.0.entry(blake3::hash(bytes)).or_insert(next);
        (number, number == next)
    }
}

impl<'w> Elements<'w> {
    fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out,
            texts: Shared::default(),
            pages: Shared::default(),
        }
    }

    fn put(
        &mut self,
        name: &str,
        number: &str,
        value: &(impl Serialize + ?Sized),
    ) -> std::io::Result<()> {
        write!(
            self.out,
            "<script type=\"application/json\" id=\"{name}{number}\">"
        )?;
        write_embedded(self.out, value)?;
        self.out.write_all(b"</script>\n")
    }

    fn question(
        &mut self,
        row: &Row,
        pages: &Pages,
        cause: Option<&Explained>,
    ) -> std::io::Result<()> {
        let document = pages.get(&row.key.id);
        let page = document
            .map(|document| {
                // The id is a record's; records of one page share the rest.
                let page = (&document.pre_text, &document.table, &document.post_text);
                let (number, new) = self.pages.number(&serde_json::to_vec(&page)?);
                if new {
                    self.put("p", &number.to_string(), &page)?;
                }
                Ok::<_, std::io::Error>(number)
            })
            .transpose()?;
        let detail = detail::detail(row, document, page, cause, |text| {
            let (number, new) = self.texts.number(text.as_bytes());
            if new {
                self.put("t", &number.to_string(), text)?;
            }
            Ok::<_, std::io::Error>(number)
        })?;
        self.put("q", &row.index.to_string(), &detail)
    }
}

/// A count with its thousands set apart.
fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
