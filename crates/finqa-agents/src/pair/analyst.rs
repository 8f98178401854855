//! The analyst node: one reply, read with at most one re-ask, becomes a round.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use tracing::{Instrument, Span};

use crate::graph::Node;
use crate::llm::ChatMessage;
use crate::parse;
use finqa_core::outcome::Outcome;
use finqa_core::text::{cut, single_spaced};

use super::answer::{Answer, AnswerFrom};
use super::calls::order_samples;
use super::draft::{AnalystDraft, DraftVotes};
use super::embedded::EmbeddedAgent;
use super::exchange::{Exchange, LlmAgent, Route, opening};
use super::failure::QuestionFailure;
use super::solution::{CriticVerdict, Round, StopReason};
use super::trace;

/// Who writes analyses.
pub(super) enum AnalystNode {
    Llm(LlmAgent),
    Embedded(Box<EmbeddedAgent>),
}

#[async_trait]
impl Node<Exchange, Route, QuestionFailure> for AnalystNode {
    fn routes(&self) -> &[Route] {
        &[Route::Submit, Route::Stop]
    }

    async fn run(&self, exchange: &mut Exchange) -> Result<Route, QuestionFailure> {
        let number = exchange.next_round();
        exchange.round = trace::round(number);
        let span = trace::agent(&exchange.round, "analyst");
        let taken = self.answer(exchange, number).instrument(span.clone()).await;
        let reply = match taken {
            Ok(Route::Submit) => exchange.rounds.last().map(|round| round.reply.as_str()),
            // The round ends here.
            _ => {
                exchange.round = Span::none();
                None
            }
        };
        trace::record_step(&span, &taken, reply);
        taken
    }
}

impl AnalystNode {
    async fn answer(&self, exchange: &mut Exchange, number: u32) -> Result<Route, QuestionFailure> {
        let drafted = match self {
            Self::Llm(analyst) => analyst.draft(exchange).await.map(Some),
            Self::Embedded(analyst) => Ok(analyst.draft(exchange)),
        };
        let draft = match drafted {
            Ok(Some(draft)) => draft,
            Ok(None) => {
                if exchange.rounds.is_empty() {
                    let reason = "the document contains no number that fits the question";
                    exchange.failure = Some(QuestionFailure::new(
                        Outcome::ParseFailure,
                        reason.to_owned(),
                    ));
                }
                exchange.stop = Some(StopReason::NoNewAnswer);
                return Ok(Route::Stop);
            }
            Err(failure) if !failure.is_outcome() => return Err(failure),
            Err(failure) => {
                exchange.stop = Some(StopReason::Failed);
                exchange.failure = Some(failure);
                return Ok(Route::Stop);
            }
        };
        if let Some(reason) = no_value(&draft.answer) {
            exchange.stop = Some(StopReason::Failed);
            exchange.failure = Some(QuestionFailure::new(Outcome::ParseFailure, reason));
            return Ok(Route::Stop);
        }
        exchange.rounds.push(Round {
            number,
            reply: draft.reply,
            answer: draft.answer,
            leniencies: draft.leniencies,
            reasked: draft.reasked,
            findings: Vec::new(),
            critic_reply: None,
            verdict: CriticVerdict::Skipped,
            critic_error: None,
        });
        Ok(Route::Submit)
    }
}

impl LlmAgent {
    /// The first draft is the most common of the samples; a revision answers criticism and
    /// is sampled once.
    async fn draft(&self, exchange: &mut Exchange) -> Result<AnalystDraft, QuestionFailure> {
        let samples = match exchange.rounds.is_empty() {
            true => self.samples.max(1),
            false => 1,
        };
        // A live provider may serve the others from its prompt cache if one is asked first.
        let together = match self.model.sends_batches() {
            true => samples,
            false => 1,
        };
        let asked = exchange.calls.calls.len();
        let mut votes = DraftVotes::default();
        for numbers in [1..=together, together + 1..=samples] {
            for drafted in self.sample(exchange, numbers).await? {
                match drafted {
                    Ok(draft) => votes.add(draft),
                    Err(failure) => votes.add_failure(failure),
                }
            }
        }
        if let Some(made) = exchange.calls.calls.get_mut(asked..) {
            order_samples(made);
        }
        let chosen = votes.winner(exchange.opinion.as_ref())?;
        if samples > 1 {
            exchange.votes = Some(chosen.tally);
            exchange.first_sample = chosen.first.map(Box::new);
        }
        Ok(chosen.draft)
    }

    /// The drafts with these numbers, from 1, sampled in parallel. Their node names differ,
    /// so that a resumed run gives each its own reply.
    async fn sample(
        &self,
        exchange: &mut Exchange,
        numbers: RangeInclusive<u32>,
    ) -> Result<Vec<Result<AnalystDraft, QuestionFailure>>, QuestionFailure> {
        let (round, epoch) = (exchange.next_round(), exchange.epoch);
        let request = |name: &str, number: u32, messages: Vec<ChatMessage>| {
            let sampling = self.sampling.nth(epoch, self.samples, number);
            match number {
                1 => sampling.analysis_request(name, messages),
                number => sampling.analysis_request(&format!("{name}#{number}"), messages),
            }
        };
        let dialogue = self.dialogue(exchange)?;
        let first = numbers
            .clone()
            .map(|number| request("analyst", number, dialogue.clone()));
        let first = first.collect();
        let unread = |failure: String| QuestionFailure::new(Outcome::ParseFailure, failure);
        let mut drafts = Vec::new();
        let mut again = Vec::new();
        let replies = exchange.call_all(&*self.model, round, first).await;
        for (number, reply) in numbers.zip(replies) {
            drafts.push(match reply {
                Ok(reply) => match read(&reply, exchange) {
                    Ok(draft) => Ok(draft),
                    // One re-ask that quotes the error; a second failure is the outcome.
                    Err(failure) => {
                        let mut messages = dialogue.clone();
                        let reask = self.prompts.reask(&failure)?;
                        messages.push(ChatMessage::assistant(reply));
                        messages.push(ChatMessage::user(reask));
                        again.push((drafts.len(), request("analyst_reask", number, messages)));
                        Err(unread(failure))
                    }
                },
                Err(failure) if !failure.is_outcome() => return Err(failure),
                Err(failure) => Err(failure),
            });
        }
        let (places, again): (Vec<_>, Vec<_>) = again.into_iter().unzip();
        let replies = exchange.call_all(&*self.model, round, again).await;
        for (place, reply) in places.into_iter().zip(replies) {
            let drafted = match reply {
                Ok(reply) => read(&reply, exchange)
                    .map(|draft| AnalystDraft {
                        reasked: true,
                        ..draft
                    })
                    .map_err(unread),
                Err(failure) if !failure.is_outcome() => return Err(failure),
                Err(failure) => Err(failure),
            };
            if let Some(draft) = drafts.get_mut(place) {
                *draft = drafted;
            }
        }
        Ok(drafts)
    }

    /// System and question, then each earlier reply with the criticism of it.
    fn dialogue(&self, exchange: &Exchange) -> Result<Vec<ChatMessage>, QuestionFailure> {
        let mut messages = opening(self.prompts.analyst(&exchange.question)?);
        for round in &exchange.rounds {
            messages.push(ChatMessage::assistant(round.reply.clone()));
            messages.push(ChatMessage::user(self.prompts.revise(&round.criticism())?));
        }
        Ok(messages)
    }
}

/// The draft in a reply, or in one line why there is none: the reply cannot be read, has no
/// value, or repeats what was said against an earlier round.
fn read(reply: &str, exchange: &Exchange) -> Result<AnalystDraft, String> {
    let parsed = parse::analysis(reply).map_err(|failure| failure.to_string())?;
    let answer = Answer::from_analysis(&parsed.value, &exchange.question);
    if let Some(reason) = no_value(&answer) {
        return Err(reason);
    }
    if answer.source == AnswerFrom::Text && is_echo(&answer.stated, &exchange.rounds) {
        return Err("its `answer` repeats a finding of the review instead of a value".to_owned());
    }
    Ok(AnalystDraft {
        answer,
        leniencies: parsed.leniencies,
        reply: reply.to_owned(),
        reasked: false,
    })
}

/// The reason why an answer has no value; `None` if it has one.
fn no_value(answer: &Answer) -> Option<String> {
    if answer.value.is_some() {
        return None;
    }
    let program = match (&answer.program_error, &answer.program) {
        (Some(error), _) => format!("its program cannot be executed ({error}), and "),
        (None, None) => "it has no program, and ".to_owned(),
        (None, Some(_)) => String::new(),
    };
    let stated = cut(&single_spaced(&answer.stated), 200, "…");
    Some(format!(
        "{program}its `answer` (`{stated}`) is neither one number nor yes or no"
    ))
}

/// True if a stated answer repeats the text of a finding about an earlier round.
fn is_echo(stated: &str, rounds: &[Round]) -> bool {
    let plain = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words: Vec<String> = words
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        format!(" {} ", words.join(" "))
    };
    let stated = plain(stated);
    // A finding may well contain a value such as `12.00 million`.
    let is_sentence = stated
        .split_whitespace()
        .filter(|w| w.contains(char::is_alphabetic))
        .count()
        >= 3;
    let repeats = |text: &str| {
        let text = plain(text);
        text.len() > 2 && (text.contains(&stated) || stated.contains(&text))
    };
    is_sentence
        && rounds.iter().any(|round| {
            let checks = round.findings.iter();
            let from_critic = match &round.verdict {
                CriticVerdict::Revise { findings } => findings.as_slice(),
                _ => &[],
            };
            checks.map(|found| &found.problem).any(|text| repeats(text))
                || from_critic.iter().any(|found| {
                    found.problem.split_whitespace().nth(2).is_some() && repeats(&found.problem)
                })
        })
}
