//! The embedded analyst as one of the agents: it drafts answers in the chat model's place, or
//! gives a second opinion on the model's.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::parse::Analysis;
use finqa_core::number::print;
use finqa_core::program::Program;
use finqa_core::question::{Document, Question};
use finqa_embedded::{EmbeddedAnalyst, EmbeddedAnswer, PageIndex, RankedAnswer};

use super::answer::Answer;
use super::draft::AnalystDraft;
use super::exchange::{EmbeddedCandidates, Exchange};
use super::opinion::SecondOpinion;
use super::percent;
use super::solution::Round;
use super::verify::{self, FindingKind};

/// Pages whose index is kept: the turns of a conversation share a page.
const PAGES_KEPT: usize = 16;

#[derive(Default)]
pub struct EmbeddedAgent {
    analyst: EmbeddedAnalyst,
    pages: Mutex<Vec<(Arc<Document>, PageIndex)>>,
}

impl EmbeddedAgent {
    /// `None` if the page has no number that fits.
    fn embedded_answer(&self, question: &Question) -> Option<EmbeddedAnswer> {
        self.analyst
            .answer(&self.page(&question.document), question)
    }

    /// The second opinion on a question. There is none where the question names a year that
    /// the page lacks: the embedded analyst would answer for another year.
    pub fn opinion(&self, question: &Question) -> Option<SecondOpinion> {
        if verify::unnamed_year(question).is_some() {
            return None;
        }
        self.embedded_answer(question).map(SecondOpinion::from)
    }

    /// Its answer as an answer of the two agents.
    pub(super) fn answer(&self, question: &Question) -> Option<Answer> {
        let EmbeddedCandidates { mut left, doubt } = self.embedded_answer(question)?.into();
        let best = left.pop_front()?;
        Some(Answer {
            doubt,
            ..Answer::from_analysis(&best, question)
        })
    }

    fn page(&self, document: &Arc<Document>) -> PageIndex {
        let lock = || self.pages.lock();
        let known = |pages: &[(Arc<Document>, PageIndex)]| {
            let mut known = pages.iter();
            let page = known.find(|(known, _)| Arc::ptr_eq(known, document))?;
            Some(page.1.clone())
        };
        if let Some(page) = known(&lock()) {
            return page;
        }
        // Read without the lock: questions about other pages do not wait.
        let page = self.analyst.index(document);
        let mut pages = lock();
        if known(&pages).is_none() {
            if pages.len() >= PAGES_KEPT {
                pages.remove(0);
            }
            pages.push((Arc::clone(document), page.clone()));
        }
        page
    }

    /// The next draft: the best answer first; when that is sent back, the next best to which
    /// the checks do not object. `None` if none is left. The question is ranked once.
    pub(super) fn draft(&self, exchange: &mut Exchange) -> Option<AnalystDraft> {
        let question = &exchange.question;
        // The choice has weighed an answer's size: exchanging it broke more than it fixed.
        let weighed = |kind| matches!(kind, FindingKind::Doubt | FindingKind::Magnitude);
        let only_doubted = |round: &Round| {
            let mut objections = round.findings.iter().filter(|f| f.kind.sends_back());
            objections.all(|finding| weighed(finding.kind))
        };
        let candidates = match &mut exchange.candidates {
            None => exchange
                .candidates
                .insert(self.embedded_answer(question)?.into()),
            // Nothing speaks for another answer.
            Some(_) if exchange.rounds.last().is_some_and(only_doubted) => return None,
            Some(candidates) => candidates,
        };
        let analysis = loop {
            let next = candidates.left.pop_front()?;
            let mut rounds = exchange.rounds.iter();
            let is_first = rounds.len() == 0;
            let is_known = rounds.any(|round| round.answer.program == next.program);
            if is_first || !is_known && is_clean(question, &next) {
                break next;
            }
        };
        let reply = serde_json::to_string(&analysis).unwrap_or_default();
        Some(AnalystDraft {
            answer: Answer {
                doubt: candidates.doubt.clone(),
                ..Answer::from_analysis(&analysis, question)
            },
            leniencies: Vec::new(),
            reply,
            reasked: false,
        })
    }
}

fn is_clean(question: &Question, analysis: &Analysis) -> bool {
    let findings = verify::check(question, &Answer::from_analysis(analysis, question));
    findings.iter().all(|finding| !finding.kind.sends_back())
}

/// The answer and its alternatives, as analyses.
impl From<EmbeddedAnswer> for EmbeddedCandidates {
    fn from(answer: EmbeddedAnswer) -> Self {
        let mut first = Analysis {
            confidence: Some(answer.confidence),
            ..analysis(answer.best)
        };
        if let Some(words) = answer.words {
            first.program = None;
            first.answer = words;
        }
        let rest = answer.alternatives.into_iter().map(analysis);
        Self {
            left: std::iter::once(first).chain(rest).collect(),
            doubt: answer.doubt,
        }
    }
}

fn analysis(ranked: RankedAnswer) -> Analysis {
    Analysis {
        steps: ranked.steps,
        answer: String::new(),
        evidence: ranked.evidence,
        program: Some(ranked.program),
        unit: Some(ranked.unit),
        label: Some(ranked.label).filter(|label| !label.is_empty()),
        confidence: None,
    }
}

impl From<EmbeddedAnswer> for SecondOpinion {
    fn from(answer: EmbeddedAnswer) -> Self {
        let best = answer.best;
        let printed = match Program::parse(&best.program) {
            Ok(program) => percent::print(&program, &best.value, best.unit, best.in_percent),
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
