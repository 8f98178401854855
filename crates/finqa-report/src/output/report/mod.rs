//! `report.html`: shows a run in one file, without a network.
//!
//! The template `report.html` writes the scorecard and every figure into the page. The questions
//! follow as compressed JSON, of which the page's script unpacks the parts that the reader opens.
//! Texts that many questions share (pages, prompts) are stored once. Text from data or models is
//! inserted only as text, and the page's content security policy refuses any other script and every
//! request.
//!
//! Nothing is scored here. Numbers come from the [`Summary`] and from the journal's rows, the
//! causes of misses from the caller.
//!
//! Reading order: this file, `view` with `figures` and `risk` (the data above the list), `list`
//! (the list of questions), `detail` (one question), `elements` (compressed data), `compared` (the
//! page of `compare`).

mod compared;
mod detail;
mod elements;
mod figures;
mod list;
mod risk;
mod view;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use minijinja::Environment;
use serde::Serialize;
use strum::VariantArray;

use crate::output::names;
use crate::output::numbers::{self, p_value};
use finqa_score::analysis::Miss;
use finqa_score::dataset::Dataset;
use finqa_score::improve::Improvement;
use finqa_score::score::{Row, Rule};

use super::staged::{OutputError, write_atomic};
use detail::Details;
use elements::Elements;
use finqa_journal::run::Summary;
use list::ReportQuestions;

pub use compared::write_comparison;

const TEMPLATES: [(&str, &str); 4] = [
    ("macros.html", include_str!("macros.html")),
    ("report.html", include_str!("report.html")),
    ("compare.html", include_str!("compare.html")),
    ("improve.html", include_str!("improve.html")),
];
const STYLE: &str = include_str!("page.css");
const BASE_SCRIPT: &str = include_str!("base.js");
const REPORT_SCRIPT: &str = include_str!("report.js");

/// Marks the place of the data in the template. Text that is escaped as HTML cannot contain it.
const DATA: &str = "<!-- data -->";

/// A report. The caller adds a run's rows one by one, so that it reads the journal only once for
/// all outputs.
pub struct Report<'a> {
    path: &'a Path,
    /// The reason why the pages are not available; `None` if they are.
    pages_missing: Option<&'a str>,
    list: ReportQuestions,
    details: Details<'a>,
    in_progress: Option<InProgress>,
}

/// The times that the page of a run in progress shows and uses: when it was written, when a browser
/// loads it again, and when the run counts as ended because no newer page was written.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct InProgress {
    /// Seconds since 1970 UTC.
    written: i64,
    /// Number of seconds after which a browser loads the page again.
    reload: u64,
    /// Number of seconds after `written` without a newer page, after which the process counts as
    /// killed and the run as ended.
    ended: u64,
}

impl InProgress {
    /// Describes a page that is written now and again within `rest`, or a little later.
    pub fn now(rest: Duration) -> Self {
        Self {
            written: jiff::Timestamp::now().as_second(),
            // The page is written every ten seconds, or less often.
            reload: 10,
            // A page that is written late must not look like one whose process was killed, so it
            // gets twice the announced time and a minute, which is set by hand.
            ended: 60 + 2 * rest.as_secs(),
        }
    }
}

impl<'a> Report<'a> {
    /// Text by which a report without pages is recognised. Text from the data cannot contain it,
    /// because its tags are escaped.
    pub const LACKS_PAGES: &'static str = "<strong>The report pages are not available";

    /// An empty report for the file at `path`. `records` has the pages, which the journal does not
    /// contain, or the reason why they are not available.
    pub fn new(path: &'a Path, records: Result<&'a Dataset, &'a str>) -> Self {
        Self {
            path,
            pages_missing: records.err(),
            list: ReportQuestions::new(),
            details: Details::new(records.ok()),
            in_progress: None,
        }
    }

    /// Marks the page as that of a run in progress, so that a browser loads it again and again.
    #[must_use]
    pub fn in_progress(self, state: InProgress) -> Self {
        Self {
            in_progress: Some(state),
            ..self
        }
    }

    /// Adds a row, in the plan's order. `miss` has the cause if the answer is wrong.
    pub fn add(&mut self, row: &Row, miss: Option<&Miss>) -> Result<(), OutputError> {
        self.list.add(row, miss);
        self.details.add(row).map_err(OutputError::at(self.path))
    }

    /// Writes the report. The file is written whole or not at all.
    pub fn write(self, summary: &Summary) -> Result<(), OutputError> {
        let mut view = view::ReportView::of(summary, &self.list, self.pages_missing);
        view.in_progress = self.in_progress;
        let mut elements = self.details.finish();
        let listed = self.list.write(&mut elements);
        listed.map_err(OutputError::at(self.path))?;
        WrittenPage {
            template: "report.html",
            script: REPORT_SCRIPT,
            // The nonce is made from the run's id, which is random, so text in the data cannot
            // contain it.
            secret: &summary.run.id,
        }
        .write(self.path, &view, Some(elements))
    }
}

/// Writes the page with the candidates of `improve`. The file is written whole or not at all.
pub fn write_improvement(path: &Path, found: &Improvement) -> Result<(), OutputError> {
    let page = WrittenPage {
        template: "improve.html",
        script: "",
        secret: &found.id,
    };
    page.write(path, found, None)
}

/// An HTML page: its template, and the script that shows the data in it.
struct WrittenPage<'p> {
    template: &'static str,
    script: &'static str,
    /// The text whose hash is the nonce in the content security policy.
    secret: &'p str,
}

impl WrittenPage<'_> {
    /// Renders the page and writes it to a file, with `elements` at the place of [`DATA`].
    fn write(
        &self,
        path: &Path,
        view: &impl Serialize,
        elements: Option<Elements>,
    ) -> Result<(), OutputError> {
        let frame = self.render(view).map_err(|source| OutputError::Page {
            path: path.to_owned(),
            source,
        })?;
        // Only `report.html` has the mark; the other pages have no compressed data.
        let (head, tail) = frame.split_once(DATA).unwrap_or((&frame, ""));
        write_atomic(path, |file| {
            file.write_all(head.as_bytes())?;
            if let Some(elements) = elements {
                elements.copy_to(file)?;
            }
            file.write_all(tail.as_bytes())
        })
    }

    /// Renders the page with the values of `view`. The mark [`DATA`] stays in it, where `write`
    /// then inserts the elements with the compressed data.
    fn render(&self, view: &impl Serialize) -> Result<String, minijinja::Error> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
        environment.add_filter("spaced", names::in_words);
        environment.add_filter("in_words", in_words);
        environment.add_filter("rule_title", |name: &str| {
            let mut rules = Rule::VARIANTS.iter();
            rules
                .find(|rule| rule.name() == name)
                .map_or("", |rule| rule.title())
        });
        environment.add_filter("fixed", |value: f64, decimals: usize| {
            format!("{value:.decimals$}")
        });
        environment.add_filter("signed", signed);
        environment.add_filter("short", figures::short);
        environment.add_filter("seconds", figures::seconds);
        environment.add_filter("p_value", p_value);
        environment.add_filter("grouped", finqa_core::text::grouped);
        environment.add_filter("counted", figures::counted);
        // The names end in `.html`, so that minijinja escapes inserted text as HTML.
        for (name, source) in TEMPLATES {
            environment.add_template(name, source)?;
        }
        let page = environment.get_template(self.template)?;
        let words: BTreeMap<_, _> = names::WORDS.into_iter().collect();
        // A map of texts can always be serialised.
        let words = serde_json::to_string(&words).unwrap_or_default();
        let script = format!(
            "\"use strict\"; const WORDS = {words};\n{BASE_SCRIPT}{}",
            self.script
        );
        let nonce = blake3::hash(self.secret.as_bytes()).to_hex();
        page.render(minijinja::context! {
            view => minijinja::Value::from(minijinja::value::Serde(view)),
            nonce => nonce.as_str(),
            style => minijinja::Value::from_safe_string(STYLE.to_owned()),
            script => minijinja::Value::from_safe_string(script),
        })
    }
}

/// A facet's value in words. The number of a turn becomes `turn N`.
fn in_words(value: &str, facet: &str) -> String {
    if facet == "part" && value.parse::<u32>().is_ok() {
        format!("turn {value}")
    } else {
        names::in_words(value)
    }
}

/// A difference with its sign, and with a typographic minus.
fn signed(value: f64, decimals: usize) -> String {
    numbers::signed(value, decimals).replace('-', "−")
}
