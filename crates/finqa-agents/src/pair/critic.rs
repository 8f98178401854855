//! The critic node: the deterministic checks first, then the LLM critic.

use async_trait::async_trait;
use tracing::{Instrument, Span};

use crate::graph::Node;
use crate::parse::{self, ParsedVerdict};
use crate::prompt::CriticView;

use super::exchange::{Exchange, LlmAgent, Route, opening};
use super::failure::QuestionFailure;
use super::settings::CriticMode;
use super::solution::{CriticVerdict, Round, StopReason};
use super::trace;
use super::verify::{self, Finding};

pub(super) struct CriticNode {
    pub(super) mode: CriticMode,
    /// The deterministic checks are made.
    pub(super) checks: bool,
    pub(super) max_rounds: u32,
    /// A second opinion that is sure and differs is a finding.
    pub(super) shows_opinion: bool,
    pub(super) llm: Option<LlmAgent>,
}

#[async_trait]
impl Node<Exchange, Route, QuestionFailure> for CriticNode {
    fn routes(&self) -> &[Route] {
        &[Route::Accept, Route::Revise]
    }

    async fn run(&self, exchange: &mut Exchange) -> Result<Route, QuestionFailure> {
        let span = trace::agent(&exchange.round, "critic");
        let taken = self.judge(exchange).instrument(span.clone()).await;
        let round = exchange.rounds.last();
        let reply = round.and_then(|round| round.critic_reply.as_deref());
        trace::record_step(&span, &taken, reply);
        if let Some(round) = round {
            trace::record_verdict(&exchange.round, round);
        }
        exchange.round = Span::none();
        taken
    }
}

impl CriticNode {
    /// Gives the last round its findings and its verdict.
    async fn judge(&self, exchange: &mut Exchange) -> Result<Route, QuestionFailure> {
        let findings = match exchange.rounds.last() {
            Some(round) if self.mode != CriticMode::Off => {
                let mut findings = verify::findings(&exchange.question, &round.answer, self.checks);
                findings.extend(self.other_opinion(exchange, round));
                findings
            }
            _ => Vec::new(),
        };
        if let Some(round) = exchange.rounds.last_mut() {
            round.findings = findings;
        }
        let mut reply = None;
        let mut error = None;
        let is_asked = match (self.mode, exchange.rounds.last()) {
            (CriticMode::Auto, Some(round)) => {
                round.objections() > 0 || exchange.opinion_disagrees(&round.answer)
            }
            (mode, _) => mode == CriticMode::Llm,
        };
        let verdict = match (self.mode, &self.llm) {
            (CriticMode::Off, _) => CriticVerdict::Skipped,
            (_, Some(critic)) if is_asked => match critic.verdict(exchange).await {
                Ok((verdict, text)) => {
                    reply = Some(text);
                    verdict
                }
                Err(failure) if !failure.is_outcome() => return Err(failure),
                Err(failure) => {
                    // The answer is kept; its round says that no critic reviewed it.
                    error = Some(failure.message);
                    CriticVerdict::Skipped
                }
            },
            _ => rules_verdict(exchange.rounds.last()),
        };
        if let Some(round) = exchange.rounds.last_mut() {
            round.verdict = verdict;
            round.critic_reply = reply;
            round.critic_error = error;
        }
        Ok(self.decide(exchange))
    }

    /// The second opinion, where it is sure and the answer differs.
    fn other_opinion(&self, exchange: &Exchange, round: &Round) -> Option<Finding> {
        let opinion = exchange.opinion.as_ref().filter(|_| self.shows_opinion)?;
        let differs = opinion.is_sure() && !opinion.agrees_with(&round.answer);
        differs.then(|| opinion.finding())
    }

    fn decide(&self, exchange: &mut Exchange) -> Route {
        let Some(round) = exchange.rounds.last() else {
            return Route::Accept;
        };
        let clean = round.objections() == 0;
        let stop = match &round.verdict {
            CriticVerdict::Ok if clean => Some(StopReason::Accepted),
            CriticVerdict::Skipped if clean => Some(StopReason::NoVerdict),
            CriticVerdict::Unparsable { .. } if clean => Some(StopReason::NoVerdict),
            _ if repeats(&exchange.rounds) => Some(StopReason::NoNewAnswer),
            _ if round.number >= self.max_rounds => Some(StopReason::RoundLimit),
            _ => None,
        };
        exchange.stop = stop;
        if stop.is_some() {
            Route::Accept
        } else {
            Route::Revise
        }
    }
}

/// True if the last round repeats an earlier one: more rounds would only add cost.
fn repeats(rounds: &[Round]) -> bool {
    rounds.split_last().is_some_and(|(last, earlier)| {
        earlier.iter().any(|round| {
            round.answer.printed == last.answer.printed
                && round.answer.program == last.answer.program
        })
    })
}

fn rules_verdict(round: Option<&Round>) -> CriticVerdict {
    match round {
        Some(round) if round.objections() > 0 => CriticVerdict::Revise {
            findings: Vec::new(),
        },
        _ => CriticVerdict::Ok,
    }
}

impl LlmAgent {
    async fn verdict(
        &self,
        exchange: &mut Exchange,
    ) -> Result<(CriticVerdict, String), QuestionFailure> {
        let Some(round) = exchange.rounds.last() else {
            return Ok((CriticVerdict::Skipped, String::new()));
        };
        let number = round.number;
        let view = CriticView {
            analysis: round.answer.to_analysis_json(),
            value: round.answer.value.as_ref().map(ToString::to_string),
            printed: round.answer.printed.clone(),
            findings: round.findings.iter().map(ToString::to_string).collect(),
        };
        let prompt = self.prompts.critic(&exchange.question, &view)?;
        let sampling = self.sampling.nth(exchange.epoch, self.samples, 1);
        let request = sampling.verdict_request(opening(prompt));
        let reply = exchange.call(&*self.model, number, request).await?;
        let verdict = match parse::verdict(&reply).value {
            ParsedVerdict::AllOk => CriticVerdict::Ok,
            ParsedVerdict::Revise { findings } => CriticVerdict::Revise { findings },
            ParsedVerdict::Unparsable { reason } => CriticVerdict::Unparsable { reason },
        };
        Ok((verdict, reply))
    }
}
