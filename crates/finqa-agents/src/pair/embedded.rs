//! The embedded analyst as an agent. It drafts answers instead of a chat model, or gives a second
//! opinion on a chat model's answers.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::parse::Analysis;
use finqa_core::number::{Value, print};
use finqa_core::program::Program;
use finqa_core::question::{Document, Question};
use finqa_embedded::{EmbeddedAnalyst, EmbeddedAnswer, Explanation, PageIndex};

use super::answer::Answer;
use super::opinion::SecondOpinion;
use super::percent;
use super::question_state::QuestionState;
use super::solution::Round;
use super::verify;

/// The number of pages whose index is kept. The turns of a conversation share a page, so its index
/// is used several times. Set by hand: it bounds the memory. The oldest index is dropped even if it
/// is still used; its page is then indexed again.
const PAGES_KEPT: usize = 16;

/// The embedded analyst, with the indexes of the last pages.
#[derive(Default)]
pub struct EmbeddedAgent {
    analyst: EmbeddedAnalyst,
    /// Indexed pages, the newest first.
    pages: Mutex<VecDeque<(Arc<Document>, PageIndex)>>,
}

impl EmbeddedAgent {
    /// An agent with other weights than the built-in ones, for measurements.
    pub fn new(analyst: EmbeddedAnalyst) -> Self {
        Self {
            analyst,
            ..Self::default()
        }
    }

    /// The embedded analyst's answer; `None` if no number of the page fits.
    fn embedded_answer(&self, question: &Question) -> Option<EmbeddedAnswer> {
        self.analyst
            .answer(&self.page(&question.document), question)
    }

    /// The reason why there is no answer.
    pub(super) fn reason(&self, question: &Question) -> String {
        let why = self
            .analyst
            .reason(&self.page(&question.document), question);
        why.unwrap_or_else(|| "the document contains no number that fits the question".to_owned())
    }

    /// The answer to a question, or the reason why there is none.
    pub fn answer_or_reason(&self, question: &Question) -> Result<Answer, String> {
        let answer = self.answer(question).map(|(answer, _)| answer);
        answer.ok_or_else(|| self.reason(question))
    }

    /// How the embedded analyst reads and answers a question.
    pub fn explain(&self, question: &Question) -> Explanation {
        let page = self.page(&question.document);
        self.analyst.explain(&page, question)
    }

    /// The second opinion on a question. `None` if there is no answer. Also `None` if the question
    /// names a year that is not on the page, because the embedded analyst would answer for another
    /// year.
    pub fn opinion(&self, question: &Question) -> Option<SecondOpinion> {
        if verify::unnamed_year(question).is_some() {
            return None;
        }
        self.embedded_answer(question).map(SecondOpinion::from)
    }

    /// The embedded analyst's answer, together with the same answer in the form of an analyst's
    /// reply. `None` if it has no answer.
    pub(super) fn answer(&self, question: &Question) -> Option<(Answer, Analysis)> {
        let EmbeddedAnswer {
            best,
            confidence,
            doubt,
            words,
            values,
            ..
        } = self.embedded_answer(question)?;
        let analysis = Analysis {
            steps: best.steps,
            program: Some(best.program).filter(|_| words.is_none()),
            // Empty with a program, whose value is the answer.
            answer: words.clone().unwrap_or_default(),
            evidence: best.evidence,
            unit: Some(best.unit),
            label: Some(best.label).filter(|label| !label.is_empty()),
            confidence: Some(confidence),
        };
        let mut answer = Answer::from_analysis(&analysis, question);
        // A label or a period is not a number, even if its words contain one. A year is a number.
        if let Some(words) = words.filter(|words| words.parse::<f64>().is_err()) {
            answer.printed.clone_from(&words);
            answer.value = Some(Value::Text(words));
        }
        let answer = Answer {
            doubt,
            values,
            ..answer
        };
        Some((answer, analysis))
    }

    /// The only draft. `None` if no number of the page fits, or if the critic sent the draft back.
    pub(super) fn draft(&self, state: &QuestionState) -> Option<Round> {
        if !state.so_far.rounds.is_empty() {
            return None;
        }
        let (answer, analysis) = self.answer(&state.question)?;
        // An `Analysis` can always be serialised.
        let reply = serde_json::to_string(&analysis).unwrap_or_default();
        Some(Round::new(1, reply, answer))
    }

    /// The index of a document's page: one of those kept, or a new one, which is then kept.
    fn page(&self, document: &Arc<Document>) -> PageIndex {
        let known = |(page, _): &&(Arc<Document>, PageIndex)| Arc::ptr_eq(page, document);
        if let Some((_, page)) = self.pages.lock().iter().find(known) {
            return page.clone();
        }
        // Index the page without holding the lock, so that questions about other pages do not wait.
        // Two questions about a new page may therefore both index it.
        let page = self.analyst.index(document);
        let mut pages = self.pages.lock();
        pages.truncate(PAGES_KEPT - 1);
        pages.push_front((Arc::clone(document), page.clone()));
        page
    }
}

impl From<EmbeddedAnswer> for SecondOpinion {
    fn from(answer: EmbeddedAnswer) -> Self {
        let best = answer.best;
        let printed = match Program::parse(&best.program) {
            Ok(program) => percent::print(&program, &best.value, best.unit, best.in_percent),
            // An answer that is a label has no program.
            Err(_) => print(&best.value, best.unit, best.in_percent),
        };
        Self {
            printed,
            value: best.value,
            program: best.program,
            evidence: best.evidence,
            confidence: answer.confidence,
            agrees: None,
            arbitration: None,
        }
    }
}
