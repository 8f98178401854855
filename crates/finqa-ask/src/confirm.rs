//! Decides whether a chat model's answer is sure: its figures are in the cells that it cites, the
//! question names these cells, and the embedded analyst, which reads the whole document, is sure of
//! the same answer.

use std::sync::Arc;

use finqa_agents::pair::{Answer, EmbeddedAgent, verify};
use finqa_core::page::position;
use finqa_core::program::Program;
use finqa_core::question::{CitedEvidence, Document, Question};
use finqa_core::text::single_spaced;
use finqa_embedded::{Explanation, Passage, Passages, names_row};

use super::cited::cited_table;
use super::written::{common_unit, write};

/// The embedded analyst, which reads the whole document even if the chat model sees an excerpt.
pub(super) struct DocumentReader {
    agent: EmbeddedAgent,
    page: Arc<Document>,
}

/// The embedded analyst's answer to a question, or the reason why it has none.
pub(super) struct SecondReading {
    answer: Result<Answer, String>,
}

impl DocumentReader {
    pub(super) fn new(page: Arc<Document>) -> Self {
        Self {
            agent: EmbeddedAgent::default(),
            page,
        }
    }

    /// How the embedded analyst reads and answers a question.
    pub(super) fn explain(&self, question: &Question) -> Explanation {
        self.agent.explain(&self.about(question))
    }

    /// The same question, about the whole document instead of the excerpt that a chat model sees.
    fn about(&self, question: &Question) -> Question {
        Question {
            document: Arc::clone(&self.page),
            ..question.clone()
        }
    }

    /// Asks the question about the whole document.
    pub(super) fn ask(&self, question: &Question) -> SecondReading {
        let question = self.about(question);
        let mut answer = self.agent.answer_or_reason(&question);
        if let Ok(answer) = &mut answer {
            write(&question, answer);
        }
        SecondReading { answer }
    }
}

impl SecondReading {
    /// Ids of the cells and sentences of the whole document that the embedded analyst's answer
    /// cites.
    pub(super) fn places(&self) -> impl Iterator<Item = &str> {
        let answer = self.answer.iter();
        let cited = answer.flat_map(|answer| &answer.evidence);
        cited.map(|cited| cited.id.as_str())
    }

    /// The reason why the embedded analyst does not confirm a chat model's answer; `None` if it
    /// does. If both have the same answer, a doubt of the embedded analyst is a doubt of the
    /// model's answer too.
    pub(super) fn doubt(&self, answer: &Answer) -> Option<String> {
        let own = match &self.answer {
            Ok(own) => own,
            Err(why) => return Some(format!("the embedded analyst does not confirm it: {why}")),
        };
        let label = own.label.as_deref().filter(|label| !label.is_empty());
        let label = label.map(|label| format!(" ({})", single_spaced(label)));
        let named = format!(
            "{}{}",
            single_spaced(&own.printed),
            label.unwrap_or_default()
        );
        match (&own.doubt, own.is_same(answer)) {
            (doubt, true) => doubt.clone(),
            (None, false) => Some(format!("the embedded analyst is sure of {named}")),
            (Some(why), false) => Some(format!(
                "the embedded analyst does not confirm it: its own guess is {named}, {why}"
            )),
        }
    }
}

/// The reason why a chat model's answer is not sure, without regard to the embedded analyst: a
/// check objects, it neither cites a figure nor calculates with one, it cites a row that the
/// question does not name, or it states another scale than its figures have. `None` if there is
/// none of these.
pub(super) fn model_doubt(question: &Question, answer: &Answer) -> Option<String> {
    let mut findings = verify::check(question, answer).into_iter();
    if let Some(found) = findings.find(|found| found.kind.sends_back()) {
        let problem = found.problem.trim_end_matches('.');
        return Some(format!("{}: {problem}", found.place));
    }
    let program = answer.program.as_deref().map(Program::parse);
    let calculates = matches!(&program, Some(Ok(program)) if program.literals().next().is_some());
    if answer.evidence.is_empty() && !calculates {
        return Some("it cites no figure of the document".to_owned());
    }
    if let Some(cited) = answer.evidence.iter().find(|one| !is_named(question, one)) {
        let literal = &cited.literal;
        let of = row_of(question, &cited.id).unwrap_or(&cited.id);
        return Some(format!(
            "{literal} is of {of:?}, which the question does not name"
        ));
    }
    let scales = answer.unit.scale.zip(common_unit(question, answer).scale);
    let (stated, printed) = scales.filter(|(stated, printed)| stated != printed)?;
    let (stated, printed) = (stated.word(), printed.word());
    Some(format!(
        "it is said to be in {stated}s, but its figures are in {printed}s"
    ))
}

/// The label of a cited cell's row; `None` if `id` is not the id of a cell.
fn row_of<'q>(question: &'q Question, id: &str) -> Option<&'q String> {
    let (table, row) = cited_table(question, position(id)?)?;
    Some(&table.rows().get(row)?.label)
}

/// True if the question or an earlier one names the row of a cited cell, or shares a word with a
/// cited sentence.
fn is_named(question: &Question, cited: &CitedEvidence) -> bool {
    let earlier = question.history.iter().map(|entry| entry.question.as_str());
    let asked = || earlier.clone().chain([question.text.as_str()]);
    match position(&cited.id) {
        Some(_) => row_of(question, &cited.id)
            .is_some_and(|label| names_row(asked(), &without_figures(label))),
        // An id without a text on the page is an earlier answer, which was judged in its own turn.
        None => question.document.evidence(&cited.id).is_none_or(|text| {
            let passages = Passages::read([Passage { text, above: "" }]);
            asked().any(|asked| passages.fit(asked).iter().any(|fit| *fit > 0.0))
        }),
    }
}

/// A row's name without words that have digits, so that a question need not repeat the year of
/// "Notes due 2031".
fn without_figures(name: &str) -> String {
    let words = name.split_whitespace();
    let words = words.filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}
