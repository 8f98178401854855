//! The analyst node. It turns a reply into a round. If a reply cannot be read, it asks once more.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use tracing::Instrument;

use crate::graph::Node;
use crate::llm::ChatMessage;
use crate::parse;
use finqa_core::outcome::Outcome;
use finqa_core::text::{cut, single_spaced};

use super::answer::Answer;
use super::calls::order_samples;
use super::embedded::EmbeddedAgent;
use super::failure::QuestionFailure;
use super::question_state::{LlmAgent, QuestionState, Route, opening};
use super::solution::{Round, StopReason};
use super::trace;
use super::vote::most_common;

/// The message to the model after a reply that was cut off at its limit.
const CUT: &str = "it was too long and was cut off; write fewer words";

/// The analyst, which writes the drafts: a chat model or the embedded analyst.
pub(super) enum AnalystNode {
    Llm(LlmAgent),
    Embedded(Box<EmbeddedAgent>),
}

#[async_trait]
impl Node<QuestionState, Route, QuestionFailure> for AnalystNode {
    fn routes(&self) -> &[Route] {
        &[Route::Submit, Route::Stop]
    }

    async fn run(&self, state: &mut QuestionState) -> Result<Route, QuestionFailure> {
        state.round = trace::round(state.next_round());
        let span = trace::agent(&state.round, "analyst");
        let taken = self.answer(state).instrument(span.clone()).await;
        let rounds = &state.so_far.rounds;
        let reply = match taken {
            Ok(Route::Submit) => rounds.last().map(|round| round.reply.as_str()),
            _ => None,
        };
        trace::record_step(&span, &taken, reply);
        taken
    }
}

impl AnalystNode {
    /// Drafts an answer and adds it as a round. A failure that is the question's outcome is stored
    /// in the state, and the route is `Stop`. Other failures are errors.
    async fn answer(&self, state: &mut QuestionState) -> Result<Route, QuestionFailure> {
        let drafted = match self {
            Self::Llm(analyst) => analyst.draft(state).await.map(Some),
            Self::Embedded(analyst) => Ok(analyst.draft(state)),
        };
        let is_first = state.so_far.rounds.is_empty();
        let failure = match drafted {
            Ok(Some(round)) => match no_value(&round.answer) {
                None => {
                    state.so_far.rounds.push(round);
                    return Ok(Route::Submit);
                }
                Some(reason) => Some(parse_failure(reason)),
            },
            Ok(None) if is_first => {
                let reason = match self {
                    Self::Embedded(analyst) => analyst.reason(&state.question),
                    Self::Llm(_) => "the reply has no answer".to_owned(),
                };
                Some(parse_failure(reason))
            }
            Ok(None) => None,
            Err(failure) if !failure.is_outcome() => return Err(failure),
            Err(failure) => Some(failure),
        };
        state.so_far.stop = match failure {
            Some(_) => StopReason::Failed,
            None => StopReason::NoNewAnswer,
        };
        state.failure = failure;
        Ok(Route::Stop)
    }
}

impl LlmAgent {
    /// Drafts an answer. The first draft is the most common one among the samples. A revision is an
    /// answer to criticism and is sampled once.
    async fn draft(&self, state: &mut QuestionState) -> Result<Round, QuestionFailure> {
        let samples = if state.so_far.rounds.is_empty() {
            self.samples.max(1)
        } else {
            1
        };
        // A live provider can serve the other samples from its prompt cache if the first sample was
        // requested earlier. In a batch, all samples are requested together, so that they are in
        // the same wave.
        let together = if self.model.sends_batches() {
            samples
        } else {
            1
        };
        let asked = state.calls.calls.len();
        let mut drafts = Vec::new();
        for numbers in [1..=together, together + 1..=samples] {
            drafts.extend(self.sample(state, numbers).await?);
        }
        if let Some(made) = state.calls.calls.get_mut(asked..) {
            order_samples(made);
        }
        let (draft, votes) = most_common(drafts, state.so_far.opinion.as_ref())?;
        if samples > 1 {
            state.so_far.votes = Some(votes);
        }
        Ok(draft)
    }

    /// Samples the drafts with these numbers (from 1) in parallel. Each has its own node name, so
    /// that a resumed run gives each sample its own reply.
    async fn sample(
        &self,
        state: &mut QuestionState,
        numbers: RangeInclusive<u32>,
    ) -> Result<Vec<Result<Round, QuestionFailure>>, QuestionFailure> {
        let epoch = state.epoch;
        let request = |name: &str, number: u32, messages: Vec<ChatMessage>| {
            let sampling = self.sampling.nth(epoch, self.samples, number);
            match number {
                1 => sampling.analysis_request(name, messages),
                number => sampling.analysis_request(&format!("{name}#{number}"), messages),
            }
        };
        let dialogue = self.dialogue(state)?;
        let first = numbers.clone();
        let first = first.map(|number| request("analyst", number, dialogue.clone()));
        let replies = state.call_all(&*self.model, first.collect()).await?;
        let mut drafts = Vec::new();
        let (mut places, mut again) = (Vec::new(), Vec::new());
        for (number, reply) in numbers.zip(replies) {
            let draft = match &reply {
                Ok(reply) => read(state, reply),
                Err(failure) => Err(failure.clone()),
            };
            let (quoted, error) = match (reply, &draft) {
                // The user chose this limit, so a reply that is cut off at it is not requested
                // again.
                (Err(QuestionFailure { cut, .. }), _) => {
                    (cut.filter(|_| self.sampling.max_tokens.is_none()), CUT)
                }
                (Ok(reply), Err(failure)) => (Some(reply), failure.message.as_str()),
                (Ok(_), Ok(_)) => (None, ""),
            };
            // Ask the model once more, with the error. If that fails too, the failure is the
            // outcome.
            if let Some(quoted) = quoted {
                let mut messages = dialogue.clone();
                messages.push(ChatMessage::assistant(quoted));
                messages.push(ChatMessage::user(self.prompts.reask(error)?));
                places.push(drafts.len());
                again.push(request("analyst_reask", number, messages));
            }
            drafts.push(draft);
        }
        let replies = state.call_all(&*self.model, again).await?;
        for (place, reply) in places.into_iter().zip(replies) {
            if let Some(draft) = drafts.get_mut(place) {
                *draft = reply
                    .and_then(|reply| read(state, &reply))
                    .map(|draft| Round {
                        reasked: true,
                        ..draft
                    });
            }
        }
        Ok(drafts)
    }

    /// The conversation: the system prompt and the question, then each earlier reply with its
    /// criticism.
    fn dialogue(&self, state: &QuestionState) -> Result<Vec<ChatMessage>, QuestionFailure> {
        let mut messages = opening(self.prompts.analyst(&state.question)?);
        for round in &state.so_far.rounds {
            messages.push(ChatMessage::assistant(round.reply.clone()));
            messages.push(ChatMessage::user(self.prompts.revise(&round.criticism())?));
        }
        Ok(messages)
    }
}

/// Reads the draft in a reply. If the reply cannot be read or has no value, the error says why in
/// one line.
fn read(state: &QuestionState, reply: &str) -> Result<Round, QuestionFailure> {
    let analysis = parse::analysis(reply).map_err(|failure| parse_failure(failure.to_string()))?;
    let answer = Answer::from_analysis(&analysis, &state.question);
    match no_value(&answer) {
        Some(reason) => Err(parse_failure(reason)),
        None if is_echo(&answer, &state.so_far.rounds) => Err(parse_failure(
            "its `answer` repeats the criticism of the answer before".to_owned(),
        )),
        None => Ok(Round::new(state.next_round(), reply.to_owned(), answer)),
    }
}

/// True if an answer only repeats a sentence of the criticism before it. Its figures are the
/// critic's. A text of up to four words (set by hand) is not a sentence, and may be the right
/// figure, which the critic named.
fn is_echo(answer: &Answer, rounds: &[Round]) -> bool {
    let stated = single_spaced(&answer.stated);
    let is_sentence = answer.program.is_none() && stated.split(' ').count() > 4;
    let mut criticism = rounds.iter().flat_map(Round::criticism);
    is_sentence && criticism.any(|line| line.contains(&stated))
}

fn parse_failure(reason: String) -> QuestionFailure {
    QuestionFailure::new(Outcome::ParseFailure, reason)
}

/// Says why an answer has no value; `None` if it has one.
fn no_value(answer: &Answer) -> Option<String> {
    if answer.value.is_some() {
        return None;
    }
    let program = match (&answer.program_error, &answer.program) {
        (Some(error), _) => format!("its program cannot be executed ({error}), and "),
        (None, None) => "it has no program, and ".to_owned(),
        (None, Some(_)) => String::new(),
    };
    // The limit is set by hand: the message is one line.
    let stated = cut(&single_spaced(&answer.stated), 200, "…");
    Some(format!(
        "{program}its `answer` (`{stated}`) is neither one number nor yes or no"
    ))
}
