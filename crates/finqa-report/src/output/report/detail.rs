//! The details of a question that the page's script shows: programs step by step, the places of
//! their figures on the page, and the whole exchange with the models.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;

use serde::Serialize;

use crate::output::answer::verdict_text;
use finqa_agents::llm::Role;
use finqa_agents::pair::verify::LiteralPlaces;
use finqa_agents::pair::{Answer, Call, EpisodeEnd, Round, Solution, StopReason, ToolStep};
use finqa_core::program::{Argument, Program};
use finqa_score::dataset::{Dataset, Document, Gold, Outcome};
use finqa_score::score::{Row, Scores};

use super::elements::{Elements, Store};

/// Maximum number of places that are shown for a figure. A figure in more places does not show
/// where it is from. Set by hand.
const MOST_PLACES: usize = 8;

/// Everything that the page shows when a question is opened.
#[derive(Serialize)]
pub(super) struct QuestionDetail<'a> {
    question: &'a str,
    filename: &'a str,
    /// The page's number among the stored pages; `None` if the page is not available.
    page: Option<usize>,
    gold: &'a Gold,
    gold_program: ExecutedProgram,
    answer: Option<&'a Answer>,
    program: ExecutedProgram,
    outcome: Outcome,
    stop: StopReason,
    chosen_round: Option<u32>,
    error: Option<&'a str>,
    scores: &'a Scores,
    rounds: Vec<RoundDetail<'a>>,
    episode: Option<EpisodeDetail<'a>>,
    calls: Vec<CallDetail<'a>>,
}

/// The steps of a question that was played as an episode, its end and its reward.
#[derive(Serialize)]
struct EpisodeDetail<'a> {
    end: EpisodeEnd,
    reward: Option<f64>,
    steps: Vec<StepDetail<'a>>,
}

/// A step of an episode: its tool call, and what the tool returned.
#[derive(Serialize)]
struct StepDetail<'a> {
    #[serde(flatten)]
    step: &'a ToolStep,
    /// The tool's result as the model saw it.
    result: Option<&'a str>,
}

/// A round with its verdict in words.
#[derive(Serialize)]
struct RoundDetail<'a> {
    #[serde(flatten)]
    round: &'a Round,
    /// The verdict in a few words.
    said: String,
    /// For each finding of the checks, true if it sends the answer back.
    objects: Vec<bool>,
}

/// A program executed step by step.
#[derive(Debug, Default, Serialize)]
struct ExecutedProgram {
    steps: Vec<ExecutedStep>,
    /// The reason why the program cannot be parsed or executed.
    error: Option<String>,
    /// The places of the program's figures on the page: evidence ids such as `r1c2`, by literal.
    places: BTreeMap<String, Vec<String>>,
}

/// A step of a program, and its printed result.
#[derive(Debug, Serialize)]
struct ExecutedStep {
    text: String,
    result: Option<String>,
}

/// A call without the parts that are stored elsewhere: messages of earlier calls for the question,
/// and texts that many questions share.
#[derive(Serialize)]
struct CallDetail<'a> {
    node: &'a str,
    round: u32,
    attempts: u32,
    seconds: f64,
    error: Option<&'a str>,
    model: Option<&'a str>,
    finish: Option<&'a str>,
    /// Number of input tokens and of output tokens.
    tokens: Option<(u64, u64)>,
    messages: Vec<SharedMessage>,
    /// The reply as it came; `None` if a round stores the same text.
    reply: Option<&'a str>,
}

/// A message in parts, each of which is the number of a shared text.
#[derive(Serialize)]
struct SharedMessage {
    role: String,
    parts: Vec<usize>,
}

/// Collects the details of a run's questions row by row.
pub(super) struct Details<'p> {
    /// The documents by record id.
    documents: HashMap<&'p str, &'p Arc<Document>>,
    /// The number of each stored page in [`Store::Pages`], by record id.
    pages: HashMap<&'p str, usize>,
    elements: Elements,
}

impl<'p> Details<'p> {
    pub(super) fn new(dataset: Option<&'p Dataset>) -> Self {
        let records = dataset.into_iter().flat_map(|dataset| &dataset.records);
        Self {
            documents: records
                .map(|record| (record.id(), &record.document))
                .collect(),
            pages: HashMap::new(),
            elements: Elements::new(),
        }
    }

    pub(super) fn finish(self) -> Elements {
        self.elements
    }

    /// Stores the details of a row. Rows are numbered in the order in which they are added.
    pub(super) fn add(&mut self, row: &Row) -> io::Result<()> {
        let document = self.documents.get(row.key.id.as_str()).copied();
        let page = document.map(|found| self.page(found)).transpose()?;
        let calls = self.calls(&row.solution)?;
        let solution = &row.solution;
        let places = document.map(LiteralPlaces::of_page);
        let places = places.as_ref();
        let table = document.map_or(&[][..], |document| &document.table);
        let work = |text| ExecutedProgram::of(text, table, places);
        let detail = QuestionDetail {
            question: &row.question,
            filename: &row.filename,
            page,
            gold: &row.gold,
            gold_program: work(row.gold.program.as_deref()),
            answer: solution.answer.as_ref(),
            program: work(
                solution
                    .answer
                    .as_ref()
                    .and_then(|answer| answer.program.as_deref()),
            ),
            outcome: solution.outcome,
            stop: solution.stop,
            chosen_round: solution.chosen_round,
            error: solution.error.as_deref(),
            scores: &row.scores,
            rounds: solution.rounds.iter().map(RoundDetail::of).collect(),
            episode: EpisodeDetail::of(solution),
            calls,
        };
        self.elements.put(Store::Details, &detail).map(drop)
    }

    /// Stores a page and returns its number. The document's id is not stored, so that records about
    /// the same page share one entry.
    fn page(&mut self, document: &'p Document) -> io::Result<usize> {
        if let Some(number) = self.pages.get(document.id.as_str()) {
            return Ok(*number);
        }
        let page = (&document.pre_text, &document.table, &document.post_text);
        let hash = blake3::hash(&serde_json::to_vec(&page)?);
        let number = self.elements.share(Store::Pages, hash, &page)?;
        self.pages.insert(&document.id, number);
        Ok(number)
    }

    /// The calls of a question, each without the messages of its earlier calls.
    fn calls<'a>(&mut self, solution: &'a Solution) -> io::Result<Vec<CallDetail<'a>>> {
        let mut calls = Vec::with_capacity(solution.calls.len());
        let mut known = Vec::new();
        for call in &solution.calls {
            let mut messages = Vec::new();
            for message in &call.messages {
                let same = (message.role, message.content.as_str());
                if known.contains(&same) {
                    continue;
                }
                known.push(same);
                let parts = message.content.split("\n\n").map(|text| {
                    let hash = blake3::hash(text.as_bytes());
                    self.elements.share(Store::Texts, hash, text)
                });
                messages.push(SharedMessage {
                    role: crate::output::csv::name(&message.role),
                    parts: parts.collect::<Result<_, _>>()?,
                });
            }
            calls.push(CallDetail::of(call, messages, &solution.rounds));
        }
        Ok(calls)
    }
}

impl ExecutedProgram {
    /// Executes a program on a table. Without a program, there are no steps.
    fn of(text: Option<&str>, table: &[Vec<String>], places: Option<&LiteralPlaces>) -> Self {
        let Some(text) = text else {
            return Self::default();
        };
        let program = match Program::parse(text) {
            Ok(program) => program,
            Err(error) => {
                return Self {
                    steps: vec![ExecutedStep {
                        text: text.to_owned(),
                        result: None,
                    }],
                    error: Some(error.to_string()),
                    ..Self::default()
                };
            }
        };
        let (results, error) = match program.execute_steps(table) {
            Ok(results) => (results, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let result = |at: usize| results.get(at).map(ToString::to_string);
        let mut steps: Vec<ExecutedStep> = program
            .steps()
            .iter()
            .enumerate()
            .map(|(at, step)| ExecutedStep {
                text: step.to_string(),
                result: result(at),
            })
            .collect();
        // A number alone has no steps. It is shown as one.
        if steps.is_empty() {
            let value = program.execute_unrounded(table).ok();
            steps.push(ExecutedStep {
                text: text.trim().to_owned(),
                result: value.map(|value| value.to_string()),
            });
        }
        let literals = program.steps().iter().flat_map(|step| {
            step.arguments.iter().filter_map(|argument| match argument {
                Argument::Literal { text, .. } => Some(text.as_str()),
                _ => None,
            })
        });
        let number = program.is_number().then_some(text.trim());
        let found = literals.chain(number).filter_map(|literal| {
            let ids: Vec<String> = places?
                .find(literal)
                .iter()
                .map(|p| p.source.to_string())
                .collect();
            // Constants of the language are not figures of the page.
            (!ids.is_empty() && ids.len() <= MOST_PLACES && !literal.starts_with("const_"))
                .then(|| (literal.to_owned(), ids))
        });
        Self {
            steps,
            error,
            places: found.collect(),
        }
    }
}

impl<'a> EpisodeDetail<'a> {
    /// Pairs each step with the result of its tool. `None` if the question was not played as an
    /// episode.
    fn of(solution: &'a Solution) -> Option<Self> {
        let episode = solution.episode.as_ref()?;
        let answered = solution.calls.iter().filter(|call| call.is_answered());
        let messages = answered.flat_map(|call| &call.messages);
        // An answer that was taken from a text reply is the last step, and no tool returned a
        // result for it.
        let mut results = messages
            .chain(&episode.messages)
            .filter(|message| message.role == Role::Tool)
            .map(|message| message.content.as_str());
        let steps = episode.steps.iter().map(|step| StepDetail {
            step,
            result: results.next(),
        });
        Some(Self {
            end: episode.end,
            reward: episode.reward,
            steps: steps.collect(),
        })
    }
}

impl<'a> RoundDetail<'a> {
    fn of(round: &'a Round) -> Self {
        let findings = round.findings.iter();
        Self {
            round,
            said: verdict_text(round),
            objects: findings.map(|found| found.kind.sends_back()).collect(),
        }
    }
}

impl<'a> CallDetail<'a> {
    fn of(call: &'a Call, messages: Vec<SharedMessage>, rounds: &[Round]) -> Self {
        let reply = call.reply.as_ref();
        let content = reply.map(|reply| reply.content.as_str());
        let shown_elsewhere = |text: &&str| {
            rounds
                .iter()
                .any(|round| round.reply == **text || round.critic_reply.as_deref() == Some(text))
        };
        Self {
            node: &call.node,
            round: call.round,
            attempts: call.attempts,
            seconds: call.seconds,
            error: call.error.as_deref(),
            model: reply.map(|reply| reply.model.as_str()),
            finish: reply.map(|reply| reply.finish.as_str()),
            tokens: reply
                .and_then(|reply| reply.usage)
                .map(|usage| (usage.input_tokens, usage.output_tokens)),
            messages,
            reply: content.filter(|text| !shown_elsewhere(text)),
        }
    }
}
