//! Questions about a user's own document, one by one, each with the earlier ones as its history.
//!
//! A [`Session`] opens a document (`finqa_documents`), chooses the page that is asked about
//! (`excerpt`), asks the agents, and alone decides whether an answer is sure (`gate`).

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

mod excerpt;
mod gate;

use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use finqa_agents::graph::GraphError;
use finqa_agents::llm::Stop;
use finqa_agents::pair::{
    Backend, CallMemory, Interruption, OpinionUse, Pair, PairOptions, RunFailure, Solution, Solver,
    answer_history,
};
use finqa_core::question::{self, HistoryEntry, Question, QuestionKey, QuestionKind};
use finqa_documents::{Document, DocumentError};
use finqa_score::calibration::Judge;

use excerpt::ReadDocument;
use finqa_core::error::{Kind, Kinded};
pub use gate::{cited_table, cited_tag};

/// The most tokens of a page that a chat model is shown, of three characters each.
pub const PAGE_TOKENS: usize = 2000;

/// The errors of asking.
#[derive(Debug, Error)]
pub enum AskError {
    /// The document cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The wiring of the agents is wrong, which a test excludes.
    #[error(transparent)]
    Wiring(#[from] GraphError),
    /// No question can succeed: a wrong address, key or model.
    #[error(transparent)]
    Failure(#[from] RunFailure),
}

impl Kinded for AskError {
    fn kind(&self) -> Kind {
        match self {
            Self::Document(error) => error.kind(),
            Self::Wiring(error) => error.kind(),
            Self::Failure(error) => error.kind(),
        }
    }
}

/// A document and who answers about it.
pub struct Session {
    pair: Pair,
    judge: Option<Judge>,
    source: PageSource,
    /// A second opinion that is sure and differs is a reason for doubt.
    shows_opinion: bool,
    history: Vec<HistoryEntry>,
    stop: Stop,
}

/// A question and what came of it.
pub struct Asked {
    /// With the page that it was asked about.
    pub question: Arc<Question>,
    /// Its answer, if any, has a doubt unless it is sure.
    pub solution: Solution,
}

/// Where the page of a question comes from.
enum PageSource {
    Whole(Arc<question::Document>, Box<Document>),
    /// The best parts of a report for each question.
    Excerpt {
        report: Box<ReadDocument>,
        tokens: usize,
    },
}

impl Session {
    /// Opens a file for questions to the embedded analyst: no model, no key.
    ///
    /// # Errors
    /// One line that names the file and says what to do if it cannot be read.
    pub fn open(file: &Path) -> Result<Self, AskError> {
        let document = finqa_documents::open(file)?;
        let options = PairOptions::new(Backend::Embedded);
        Self::new(document, &options, PAGE_TOKENS, None, Stop::default())
    }

    /// Questions about a document that is already read; a chat model is shown up to so many tokens
    /// of a report, and `judge` gives the probability that an answer is right.
    pub fn new(
        document: Document,
        options: &PairOptions,
        page_tokens: usize,
        judge: Option<Judge>,
        stop: Stop,
    ) -> Result<Self, AskError> {
        let whole = !document.is_report() || matches!(options.backend, Backend::Embedded);
        Ok(Self {
            pair: Pair::new(options)?,
            judge,
            source: match whole {
                true => PageSource::Whole(Arc::new(document.whole()), Box::new(document)),
                false => PageSource::Excerpt {
                    report: Box::new(ReadDocument::new(document)),
                    tokens: page_tokens,
                },
            },
            shows_opinion: options.settings.second_opinion == OpinionUse::Show,
            history: Vec::new(),
            stop,
        })
    }

    /// The document that is asked about.
    pub fn document(&self) -> &Document {
        match &self.source {
            PageSource::Whole(_, document) => document,
            PageSource::Excerpt { report, .. } => report.document(),
        }
    }

    /// The name of the calibration that probabilities are from.
    pub fn calibration(&self) -> Option<String> {
        Some(self.judge.as_ref()?.calibration().name())
    }

    /// Asks one question, which may refer to the earlier ones; `None` if it was given up because
    /// the session is stopped.
    ///
    /// # Errors
    /// [`AskError::Failure`] if no question can succeed.
    pub async fn ask(&mut self, text: &str) -> Result<Option<Asked>, AskError> {
        let document = self.page(text);
        let question = Arc::new(Question {
            key: QuestionKey {
                id: document.id.clone(),
                part: self.history.len().to_string(),
            },
            kind: match self.history.is_empty() {
                true => QuestionKind::StandAlone,
                false => QuestionKind::Turn,
            },
            document,
            text: text.trim().to_owned(),
            history: self.history.clone(),
        });
        let memory = CallMemory::default();
        let stop = self.stop.clone();
        let asking = self
            .pair
            .solve(Arc::clone(&question), 0, memory, stop, &|_| {});
        let solution = tokio::select! {
            // There is nothing to drain: the first Ctrl-C gives the question up.
            () = self.stop.drain.cancelled() => return Ok(None),
            solution = asking => solution,
        };
        let mut solution = match solution {
            Ok(solution) => solution,
            Err(Interruption::Cancelled) => return Ok(None),
            Err(Interruption::Provider(solution)) => *solution,
            Err(Interruption::Fatal(failure)) => return Err(failure.into()),
        };
        if let Some(judge) = &self.judge {
            solution = judge.judge(solution);
        }
        let entry = answer_history(&question.text, solution.answer.as_ref());
        self.history.push(entry);
        let doubt = self.doubt(&question, &solution);
        if let Some(answer) = &mut solution.answer {
            answer.doubt = doubt;
        }
        Ok(Some(Asked { question, solution }))
    }

    /// Takes the next question for the first: it refers to none before it.
    pub fn forget(&mut self) {
        self.history.clear();
    }

    fn page(&self, question: &str) -> Arc<question::Document> {
        match &self.source {
            PageSource::Whole(page, _) => Arc::clone(page),
            PageSource::Excerpt { report, tokens } => {
                // A follow-up names what it changes.
                let last = self.history.last();
                let before = last.map_or("", |earlier| earlier.question.as_str());
                Arc::new(report.excerpt(&format!("{before} {question}"), *tokens))
            }
        }
    }
}
