//! The template variables of a question: plain text, ids, no gold.

use minijinja::context;

use finqa_core::page::normalise_sentence;
use finqa_core::question::{Document, HistoryEntry, Question};

/// A rendered prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The system prompt, equal for every question.
    pub system: String,
    /// Page, earlier turns, question.
    pub user: String,
    /// Bytes of `user` that every question about the page begins with; 0 where the templates
    /// do not begin with the page.
    pub page_bytes: usize,
}

/// The critic's input in addition to page and question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticView {
    pub analysis: String,
    /// The program's result; `None` without a program that executes.
    pub value: Option<String>,
    pub printed: String,
    /// The findings of the deterministic checks, one a line.
    pub findings: Vec<String>,
}

/// The variables of the user templates.
pub(super) fn variables(question: &Question, critic: &CriticView) -> minijinja::Value {
    let document = &*question.document;
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

/// Sentences with their ids; blank ones are left out but keep their number.
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

fn table(document: &Document) -> String {
    if document.table.is_empty() {
        return String::new();
    }
    let page = document.page();
    let titles = document.tables.iter().map(|start| start.above.join("\n"));
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
