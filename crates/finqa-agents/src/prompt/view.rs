//! Creates the template variables for a question: the page, with the ids by which a model cites its
//! sentences and cells, the earlier turns, and the question.

use minijinja::context;

use finqa_core::page::normalise_sentence;
use finqa_core::question::{Document, HistoryEntry, Question};

/// A rendered prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The system prompt, which is the same for every question.
    pub system: String,
    /// The user message: the page, earlier turns and the question; for the critic also the
    /// analysis.
    pub user: String,
    /// The number of bytes at the start of `user` that are the same for all questions about the
    /// page. It is 0 if the templates do not begin with the page.
    pub page_bytes: usize,
}

/// The information that the critic is shown in addition to the page and the question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticView {
    pub analysis: String,
    /// The answer's value; `None` if the answer has none.
    pub value: Option<String>,
    pub printed: String,
    /// The findings of the deterministic checks, one line each.
    pub findings: Vec<String>,
}

/// The variables of the user templates.
pub(super) fn variables(question: &Question, critic: &CriticView) -> minijinja::Value {
    let document = &*question.document;
    // The dataset's sentences lost apostrophes, quotes and dashes. Sentences of a user's own
    // document did not.
    let repaired = !document.own;
    let boundary = document.pre_text.len();
    let value = critic.value.as_deref();
    context! {
        before => sentences(&document.pre_text, 0, repaired),
        table => table(document),
        after => sentences(&document.post_text, boundary, repaired),
        history => turns(&question.history),
        question => question.text.as_str(),
        analysis => critic.analysis.as_str(),
        value => value.unwrap_or("none, it could not be executed"),
        printed => critic.printed.as_str(),
        findings => critic.findings.clone(),
    }
}

/// The sentences with their ids. The ids continue after the first `before` sentences of the page.
/// Sentences of blanks and periods are left out but counted, so that an id is a position on the
/// page.
fn sentences(text: &[String], before: usize, repaired: bool) -> Vec<minijinja::Value> {
    text.iter()
        .enumerate()
        .filter(|(_, sentence)| sentence.contains(|c: char| !c.is_whitespace() && c != '.'))
        .map(|(index, sentence)| {
            let text = if repaired {
                normalise_sentence(sentence).into_owned()
            } else {
                sentence.clone()
            };
            context! { id => format!("t{}", before + index + 1), text }
        })
        .collect()
}

/// The tables of the page in Markdown, each below its titles.
fn table(document: &Document) -> String {
    if document.table.is_empty() {
        return String::new();
    }
    let page = document.page();
    let titles = document.tables.iter().map(|start| start.above.join("\n"));
    // Tables without an entry in `document.tables` have no title.
    let titles = titles.chain(std::iter::repeat(String::new()));
    let shown = page
        .tables()
        .zip(titles)
        .map(|(table, title)| match title.as_str() {
            "" => table.to_markdown(),
            title => format!("{title}\n\n{}", table.to_markdown()),
        });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// The earlier turns as variables of a template, with the ids `h1`, `h2`, ….
fn turns(history: &[HistoryEntry]) -> Vec<minijinja::Value> {
    history
        .iter()
        .enumerate()
        .map(|(index, entry)| {
            let program = entry.program.as_deref().map(|p| format!("program: {p}"));
            let notes: Vec<&str> = program
                .as_deref()
                .into_iter()
                .chain(entry.label.as_deref())
                .filter(|note| !note.is_empty())
                .collect();
            let value = entry.value.as_ref();
            context! {
                id => format!("h{}", index + 1),
                question => entry.question.as_str(),
                value => value.map_or_else(|| "no answer".to_string(), ToString::to_string),
                notes => notes.join("; "),
            }
        })
        .collect()
}
