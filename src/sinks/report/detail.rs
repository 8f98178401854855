//! One question's details, as the page's script shows them: programs step by
//! step, where their figures stand on the page, the whole exchange.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::agents::verify::Places;
use crate::agents::{Answer, Call, Round, StopReason};
use crate::dataset::{Document, Gold, Outcome, Question};
use crate::program::{Argument, Program};
use crate::run::Row;
use crate::score::Scores;

use super::Explained;

/// A figure that stands at more places than this says nothing by its places.
const MOST_PLACES: usize = 8;

/// Everything that the page shows when a question is opened.
#[derive(Serialize)]
pub(super) struct Detail<'a> {
    question: &'a str,
    filename: &'a str,
    /// Number of the page's element; absent if the page is not at hand.
    page: Option<usize>,
    gold: &'a Gold,
    gold_program: Worked,
    answer: Option<&'a Answer>,
    program: Worked,
    outcome: Outcome,
    stop: StopReason,
    chosen_round: Option<u32>,
    error: Option<&'a str>,
    scores: &'a Scores,
    cause: Option<&'a Explained>,
    rounds: &'a [Round],
    calls: Vec<Sent<'a>>,
}

/// A program worked through.
#[derive(Debug, Default, Serialize)]
struct Worked {
    steps: Vec<Worked1>,
    /// Why it cannot be executed.
    error: Option<String>,
    /// Where its figures stand on the page: literal, evidence ids.
    places: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Worked1 {
    text: String,
    /// What the step comes to.
    result: Option<String>,
}

/// A call without what stands elsewhere: messages of earlier calls, and texts
/// that many questions share.
#[derive(Serialize)]
struct Sent<'a> {
    node: &'a str,
    round: u32,
    attempts: u32,
    seconds: f64,
    error: Option<&'a str>,
    model: Option<&'a str>,
    finish: Option<&'a str>,
    /// Tokens in and out.
    tokens: Option<(u64, u64)>,
    messages: Vec<Shared>,
    /// The reply as it came, unless a round holds the same text.
    reply: Option<&'a str>,
}

/// A message in parts, each the number of a text's element.
#[derive(Serialize)]
struct Shared {
    role: String,
    parts: Vec<usize>,
}

/// The row's details; `share` gives the number under which a text is kept.
pub(super) fn detail<'a, E>(
    row: &'a Row,
    document: Option<&Arc<Document>>,
    page: Option<usize>,
    cause: Option<&'a Explained>,
    mut share: impl FnMut(&str) -> Result<usize, E>,
) -> Result<Detail<'a>, E> {
    let settled = &row.settled;
    let places = document.map(|document| places(row, document));
    let table = document.map_or(&[][..], |document| &document.table);
    let work = |text: Option<&str>| {
        text.map(|text| Worked::of(text, table, places.as_ref()))
            .unwrap_or_default()
    };
    let mut calls = Vec::with_capacity(settled.calls.len());
    let mut known = Vec::new();
    for call in &settled.calls {
        let mut messages = Vec::new();
        for message in &call.messages {
            let same = (message.role, message.content.as_str());
            if known.contains(&same) {
                continue;
            }
            known.push(same);
            let parts = message.content.split("\n\n").map(&mut share);
            messages.push(Shared {
                role: crate::sinks::csv::name(&message.role),
                parts: parts.collect::<Result<_, _>>()?,
            });
        }
        calls.push(Sent::of(call, messages, &settled.rounds));
    }
    Ok(Detail {
        question: &row.question,
        filename: &row.filename,
        page,
        gold: &row.gold,
        gold_program: work(row.gold.program.as_deref()),
        answer: settled.answer.as_ref(),
        program: work(
            settled
                .answer
                .as_ref()
                .and_then(|answer| answer.program.as_deref()),
        ),
        outcome: settled.outcome,
        stop: settled.stop,
        chosen_round: settled.chosen_round,
        error: settled.error.as_deref(),
        scores: &row.scores,
        cause,
        rounds: &settled.rounds,
        calls,
    })
}

fn places(row: &Row, document: &Arc<Document>) -> Places {
    Places::of(&Question {
        key: row.key.clone(),
        document: Arc::clone(document),
        text: String::new(),
        history: Vec::new(),
    })
}

impl Worked {
    fn of(text: &str, table: &[Vec<String>], places: Option<&Places>) -> Self {
        let program = match Program::parse(text) {
            Ok(program) => program,
            Err(error) => {
                return Self {
                    steps: vec![Worked1 {
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
        let mut steps: Vec<Worked1> = program
            .steps()
            .iter()
            .enumerate()
            .map(|(at, step)| Worked1 {
                text: step.to_string(),
                result: result(at),
            })
            .collect();
        if steps.is_empty() {
            let value = program.execute_unrounded(table).ok();
            steps.push(Worked1 {
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
            let ids: Vec<String> = places?.find(literal).iter().map(|p| p.id.clone()).collect();
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

impl<'a> Sent<'a> {
    fn of(call: &'a Call, messages: Vec<Shared>, rounds: &[Round]) -> Self {
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
