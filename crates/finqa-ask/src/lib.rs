//! Answers questions about a user's own document, one after the other; a question may refer to the
//! earlier ones.
//!
//! - **In:** a file, or a [`Document`] that is already read, and the text of each question.
//! - **Out:** an [`Asked`] for each question: the question with the page that the agents saw, and
//!   the solution with its answer, probability and doubt.
//!
//! Read [`Session::ask`] first: it takes the page, asks the agents (`finqa_agents::pair`) and
//! applies the calibration. Then read `excerpt`, which chooses the part of a report that a chat
//! model is shown, `cited` and `written` (the figures of an answer, and how it is written),
//! `confirm`, which judges a chat model's answer, and `gate`, which decides whether an answer is
//! sure.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

mod cited;
mod confirm;
mod excerpt;
mod gate;
mod statements;
mod written;

use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use finqa_agents::graph::GraphError;
use finqa_agents::llm::Stop;
use finqa_agents::pair::{
    Backend, CallMemory, Interruption, OpinionUse, PairOptions, RunFailure, Solution, Solver,
    TwoAgentSolver, answer_history,
};
use finqa_core::question::{self, HistoryEntry, Question, QuestionKey, QuestionKind};
use finqa_documents::{Document, DocumentError};
use finqa_score::calibration::Calibrator;

pub use cited::{cited_table, cited_tag};
use confirm::{DocumentReader, SecondReading};
use excerpt::ReadDocument;
use finqa_core::error::{Kind, Kinded};
pub use finqa_embedded::{
    AnswerSource, AskedFigure, ExplainedFigure, ExplainedProgram, Explanation,
};

/// The default of `--page-tokens`: the maximum size of the excerpt of a report that a chat model is
/// shown. Three characters count as one token. With 6,000 tokens, as many excerpts have the figures
/// of the answer (docs/embedded-analyst.md, "Reports as filed").
pub const PAGE_TOKENS: usize = 2000;

/// Why a session cannot be opened, or a question cannot be asked.
#[derive(Debug, Error)]
pub enum AskError {
    /// The document cannot be read.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The state machine of the two agents is wired wrongly. This is a bug, which a test excludes.
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

/// A document, the agents that answer questions about it, and the questions asked so far.
pub struct Session {
    agents: TwoAgentSolver,
    judge: Option<Calibrator>,
    source: PageSource,
    /// The embedded analyst, which confirms a chat model's answers; `None` if it answers alone.
    second_reader: Option<DocumentReader>,
    /// The embedded analyst that explains its answers, if explanations are wanted.
    explainer: Option<DocumentReader>,
    /// True if a chat model's answer is sure only if `second_reader` gives the same answer.
    confirms: bool,
    /// True if second opinions are not off.
    has_opinions: bool,
    /// The primary statements that a filing lacks, such as "balance sheet"; empty for other files.
    absent: Vec<&'static str>,
    history: Vec<HistoryEntry>,
    stop: Stop,
}

/// A question and its solution.
pub struct Asked {
    /// The question with the page that the agents saw.
    pub question: Arc<Question>,
    /// The answer, or why there is none. The answer is sure if it has no doubt.
    pub solution: Solution,
    /// How the embedded analyst reads and answers the question. `None` if it was not asked.
    pub explanation: Option<Explanation>,
}

/// Which page the agents see.
enum PageSource {
    /// One page with the whole document, for every question. The [`Document`] is kept for its notes
    /// and doubts.
    Whole(Arc<question::Document>, Box<Document>),
    /// For each question, the parts of a report that fit it best, within `tokens`.
    Excerpt {
        report: Box<ReadDocument>,
        tokens: usize,
    },
}

impl Session {
    /// Opens a file for questions to the embedded analyst, which needs neither a model nor a key.
    ///
    /// # Errors
    /// [`AskError::Document`] if the file cannot be read: one line that names it and says what to
    /// do.
    pub fn open(file: &Path) -> Result<Self, AskError> {
        let document = finqa_documents::open(file)?;
        let options = PairOptions::new(Backend::Embedded);
        Self::new(document, &options, PAGE_TOKENS, None, Stop::default())
    }

    /// Starts a session about a document that is already read. A chat model is shown at most
    /// `page_tokens` of a report. `judge` adds the probability that an answer is right.
    ///
    /// # Errors
    /// [`AskError::Wiring`] if the state machine of the agents is wired wrongly, which is a bug.
    pub fn new(
        document: Document,
        options: &PairOptions,
        page_tokens: usize,
        judge: Option<Calibrator>,
        stop: Stop,
    ) -> Result<Self, AskError> {
        // The embedded analyst reads the whole report; only a chat model needs an excerpt.
        let is_model = !matches!(options.backend, Backend::Embedded);
        let whole = !document.is_report() || !is_model;
        let opinion = options.settings.second_opinion;
        let page = document.whole();
        Ok(Self {
            agents: TwoAgentSolver::new(options)?,
            judge,
            second_reader: is_model.then(|| DocumentReader::new(Arc::clone(&page))),
            explainer: None,
            confirms: !matches!(opinion, OpinionUse::Off | OpinionUse::Record),
            has_opinions: !matches!(opinion, OpinionUse::Off),
            absent: statements::absent(&document),
            source: if whole {
                PageSource::Whole(page, Box::new(document))
            } else {
                PageSource::Excerpt {
                    report: Box::new(ReadDocument::new(document)),
                    tokens: page_tokens,
                }
            },
            history: Vec::new(),
            stop,
        })
    }

    /// The same session, whose answers come with the embedded analyst's explanation. With a chat
    /// model, it explains the second opinion, and there is none if second opinions are off.
    #[must_use]
    pub fn with_explanations(mut self) -> Self {
        let page = match &self.source {
            PageSource::Whole(page, _) => Arc::clone(page),
            PageSource::Excerpt { report, .. } => report.document().whole(),
        };
        let is_asked = self.second_reader.is_none() || self.has_opinions;
        self.explainer = is_asked.then(|| DocumentReader::new(page));
        self
    }

    /// The document that is asked about.
    pub fn document(&self) -> &Document {
        match &self.source {
            PageSource::Whole(_, document) => document,
            PageSource::Excerpt { report, .. } => report.document(),
        }
    }

    /// The name of the calibration that the probabilities come from; `None` without probabilities.
    pub fn calibration(&self) -> Option<String> {
        Some(self.judge.as_ref()?.calibration().name())
    }

    /// Asks one question, which may refer to the earlier ones. Returns `None` if the session was
    /// stopped; the question is then not part of the history.
    ///
    /// # Errors
    /// [`AskError::Failure`] if no question can succeed.
    pub async fn ask(&mut self, text: &str) -> Result<Option<Asked>, AskError> {
        let (question, second) = self.question(text);
        let Some(mut solution) = solve(&self.agents, &question, &self.stop).await? else {
            return Ok(None);
        };
        if let Some(judge) = &self.judge {
            solution = judge.judge(solution);
        }
        let mut explanation = self.explainer.as_ref().map(|one| one.explain(&question));
        // The history takes the answer before it is withheld or written with its unit.
        let entry = answer_history(&question.text, solution.answer.as_ref());
        self.history.push(entry);
        // Without confirmation, the second reading only chose the cells of the excerpt.
        let second = second.filter(|_| self.confirms);
        // The explanation is about the embedded analyst's answer. With a chat model, the doubts are
        // about the model's answer, so they are not added. `gate` has `doubts` and
        // `judge_and_write`.
        if let (Some(explanation), None) = (&mut explanation, &self.second_reader) {
            explanation.add_doubts(self.doubts(&question, &solution, None));
        }
        self.judge_and_write(&question, &mut solution, second.as_ref());
        if let (Some(explanation), None) = (&mut explanation, &self.second_reader) {
            let answer = solution.answer.as_ref();
            explanation.add_doubts(answer.and_then(|answer| answer.doubt.clone()));
            if answer.is_none() {
                explanation.withheld();
                explanation.add_doubts(solution.error.clone());
            }
        }
        Ok(Some(Asked {
            question,
            solution,
            explanation,
        }))
    }

    /// A question with the page that the agents see. With a chat model, also the embedded analyst's
    /// answer, whose cells the excerpt must have.
    fn question(&self, text: &str) -> (Arc<Question>, Option<SecondReading>) {
        let document = match &self.source {
            PageSource::Whole(page, _) => Arc::clone(page),
            // Set below, because the excerpt is chosen for the question.
            PageSource::Excerpt { .. } => Arc::default(),
        };
        let mut question = Question {
            key: QuestionKey {
                id: self.document().name.clone(),
                part: self.history.len().to_string(),
            },
            kind: if self.history.is_empty() {
                QuestionKind::StandAlone
            } else {
                QuestionKind::Turn
            },
            document,
            text: text.trim().to_owned(),
            history: self.history.clone(),
        };
        let second = self.second_reader.as_ref();
        let second = second.map(|reader| reader.ask(&question));
        // The second reader was asked first, because the excerpt must contain the cells that it
        // cites.
        if let PageSource::Excerpt { report, tokens } = &self.source {
            // A follow-up may name only what it changes, so the excerpt must fit the words of the
            // question before it too.
            let last = self.history.last();
            let before = last.map_or("", |earlier| earlier.question.as_str());
            let places = second.iter().flat_map(SecondReading::places);
            let asked = format!("{before} {text}");
            question.document = Arc::new(report.excerpt(&asked, places, *tokens));
        }
        (Arc::new(question), second)
    }

    /// Forgets all questions so far, so that the next one cannot refer to them.
    pub fn forget(&mut self) {
        self.history.clear();
    }
}

/// Asks the agents; `None` if the session was stopped.
async fn solve(
    agents: &TwoAgentSolver,
    question: &Arc<Question>,
    stop: &Stop,
) -> Result<Option<Solution>, AskError> {
    let memory = CallMemory::default();
    // A session asks each question once, so its epoch is 0, and shows no rounds.
    let asking = agents.solve(Arc::clone(question), 0, memory, stop.clone(), &|_| {});
    let solution = tokio::select! {
        // A run finishes its requests in flight after the first Ctrl-C. A session has only this
        // question, so it drops the question at once.
        () = stop.drain.cancelled() => return Ok(None),
        solution = asking => solution,
    };
    match solution {
        Ok(solution) => Ok(Some(solution)),
        Err(Interruption::Cancelled) => Ok(None),
        // The next question can be asked, because the provider may work again by then. This one's
        // solution contains the error.
        Err(Interruption::Provider(solution)) => Ok(Some(*solution)),
        Err(Interruption::Fatal(failure)) => Err(failure.into()),
    }
}
