//! The analyst node: one reply, read with one re-ask, becomes a round.

use std::sync::Arc;

use futures::future::BoxFuture;
use tracing::{Instrument, Span};

use crate::dataset::Outcome;
use crate::graph::Node;
use crate::models::{ChatModel, ChatRequest, Message};
use crate::parse::{self, Analysis, Leniency, Parsed};
use crate::prompt::{Prompts, Rendering};

use super::answer::{Answer, AnswerFrom, CriticVerdict, Round};
use super::exchange::{Exchange, Failure};
use super::offline::OfflineAnalyst;
use super::settings::Sampling;
use super::trace;
use super::vote::Ballot;
use super::wiring::Route;

/// What an analyst gives: an analysis and the reply it was read from.
pub(super) struct Draft {
    pub(super) analysis: Analysis,
    pub(super) leniencies: Vec<Leniency>,
    pub(super) reply: String,
    pub(super) reasked: bool,
}

/// Who writes analyses.
pub(super) enum AnalystKind {
    /// A chat model.
    Llm(LlmAnalyst),
    /// The embedded solver.
    Offline(OfflineAnalyst),
}

/// The analyst's node in the graph.
pub(super) struct AnalystNode {
    pub(super) kind: AnalystKind,
    pub(super) answer_from: AnswerFrom,
}

impl Node<Exchange, Route, Failure> for AnalystNode {
    fn routes(&self) -> &[Route] {
        &[Route::Submit, Route::Stop]
    }

    fn run<'a>(&'a self, exchange: &'a mut Exchange) -> BoxFuture<'a, Result<Route, Failure>> {
        Box::pin(async move {
            let number = exchange.next_round();
            exchange.round = trace::round(number);
            let span = trace::agent(&exchange.round, "analyst");
            let taken = self.answer(exchange, number).instrument(span.clone()).await;
            let said = match taken {
                Ok(Route::Submit) => exchange.rounds.last().map(|round| round.reply.as_str()),
                // The round ends here.
                _ => {
                    exchange.round = Span::none();
                    None
                }
            };
            trace::done(&span, &taken, said);
            taken
        })
    }
}

impl AnalystNode {
    /// Adds a round with an answer, if there is one.
    async fn answer(&self, exchange: &mut Exchange, number: u32) -> Result<Route, Failure> {
        let drafted = match &self.kind {
            AnalystKind::Llm(analyst) => analyst.draft(exchange, self.answer_from).await.map(Some),
            AnalystKind::Offline(analyst) => Ok(analyst.draft(exchange)),
        };
        let draft = match drafted {
            Ok(Some(draft)) => draft,
            Ok(None) => {
                exchange.stop = Some(super::StopReason::NoNewAnswer);
                return Ok(Route::Stop);
            }
            Err(failure) if failure.cancelled || failure.fatal => return Err(failure),
            Err(failure) => {
                exchange.stop = Some(super::StopReason::Failed);
                exchange.failure = Some(failure);
                return Ok(Route::Stop);
            }
        };
        let answer = Answer::settle(&draft.analysis, &exchange.question, self.answer_from);
        exchange.rounds.push(Round {
            number,
            reply: draft.reply,
            answer,
            leniencies: draft.leniencies,
            reasked: draft.reasked,
            findings: Vec::new(),
            critic_reply: None,
            verdict: CriticVerdict::Skipped,
        });
        Ok(Route::Submit)
    }
}

/// An analyst that is a chat model.
pub(super) struct LlmAnalyst {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) prompts: Arc<Prompts>,
    pub(super) rendering: Rendering,
    pub(super) sampling: Sampling,
}

impl LlmAnalyst {
    /// The first draft is the commonest of the samples; a revision answers to
    /// criticism and is drawn once.
    async fn draft(
        &self,
        exchange: &mut Exchange,
        answer_from: AnswerFrom,
    ) -> Result<Draft, Failure> {
        let samples = if exchange.rounds.is_empty() {
            self.sampling.samples.max(1)
        } else {
            1
        };
        let mut ballot = Ballot::default();
        for number in 1..=samples {
            match self.sample(exchange, number).await {
                Ok(draft) => {
                    let answer = Answer::settle(&draft.analysis, &exchange.question, answer_from);
                    ballot.cast(answer.value.as_ref(), draft);
                }
                Err(failure) if failure.cancelled || failure.fatal => return Err(failure),
                Err(failure) => ballot.spoil(failure),
            }
        }
        let opinion = exchange.opinion.as_ref();
        let (draft, tally) = ballot.winner(opinion)?;
        if samples > 1 {
            exchange.votes = Some(tally);
        }
        Ok(draft)
    }

    /// One draft, the `number`th from 1. The node's name tells the samples
    /// apart, so that a resumed run recalls each with its own reply.
    async fn sample(&self, exchange: &mut Exchange, number: u32) -> Result<Draft, Failure> {
        let round = exchange.next_round();
        let node = |name: &str| match number {
            1 => name.to_owned(),
            number => format!("{name}#{number}"),
        };
        let sampling = self.sampling.nth(number);
        let mut messages = self.dialogue(exchange)?;
        let request = request_of(&sampling, &node("analyst"), messages.clone());
        let reply = exchange.call(&*self.model, round, &request).await?;
        let failure = match parse::analysis(&reply) {
            Ok(parsed) => return Ok(draft(parsed, reply, false)),
            Err(failure) => failure,
        };
        // One re-ask that quotes the error; a second failure is the outcome.
        messages.push(Message::assistant(reply));
        messages.push(Message::user(
            self.prompts
                .reask(&failure.to_string())
                .map_err(prompt_failure)?,
        ));
        let request = request_of(&sampling, &node("analyst_reask"), messages);
        let reply = exchange.call(&*self.model, round, &request).await?;
        match parse::analysis(&reply) {
            Ok(parsed) => Ok(draft(parsed, reply, true)),
            Err(failure) => Err(Failure::new(Outcome::ParseFailure, failure.to_string())),
        }
    }

    /// System and question, then each earlier reply with the criticism it drew.
    fn dialogue(&self, exchange: &Exchange) -> Result<Vec<Message>, Failure> {
        let prompt = self
            .prompts
            .analyst(&exchange.question, &self.rendering)
            .map_err(prompt_failure)?;
        let mut messages = vec![Message::system(prompt.system), Message::user(prompt.user)];
        for round in &exchange.rounds {
            messages.push(Message::assistant(round.reply.clone()));
            let criticism = super::critic::criticism(round);
            messages.push(Message::user(
                self.prompts.revise(&criticism).map_err(prompt_failure)?,
            ));
        }
        Ok(messages)
    }
}

fn request_of(sampling: &Sampling, node: &str, messages: Vec<Message>) -> ChatRequest {
    sampling.request(node, messages, "analysis", parse::analysis_schema())
}

fn draft(parsed: Parsed<Analysis>, reply: String, reasked: bool) -> Draft {
    Draft {
        analysis: parsed.value,
        leniencies: parsed.leniencies,
        reply,
        reasked,
    }
}

/// A template that cannot be rendered fails every question alike.
pub(super) fn prompt_failure(error: crate::prompt::PromptError) -> Failure {
    Failure {
        fatal: true,
        ..Failure::new(Outcome::ProviderError, error.to_string())
    }
}
