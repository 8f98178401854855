//! The critic node, which first runs the deterministic checks and then asks the LLM critic.

use async_trait::async_trait;
use tracing::Instrument;

use crate::graph::Node;
use crate::llm::ChatMessage;
use crate::parse::{self, CriticVerdict};
use crate::prompt::CriticView;

use super::failure::QuestionFailure;
use super::question_state::{LlmAgent, QuestionState, Route, opening};
use super::settings::CriticMode;
use super::solution::{Round, StopReason};
use super::trace;
use super::verify::{self, Finding};

/// The message to a critic that asked for a revision but whose findings cannot be read.
const FINDINGS: &str = "The findings of this verdict could not be read. Give the same verdict \
                        again as one JSON object, with `findings` as a list of objects that have \
                        the keys `where`, `problem` and `fix`, and nothing else.";

/// The critic as a node of the state machine.
pub(super) struct CriticNode {
    pub(super) mode: CriticMode,
    /// True to run all deterministic checks. If false, only an answer that is unusable in any case
    /// gets a finding.
    pub(super) checks: bool,
    pub(super) max_rounds: u32,
    /// True to turn a second opinion into a finding if it is sure and differs from the answer.
    pub(super) shows_opinion: bool,
    pub(super) llm: Option<LlmAgent>,
}

#[async_trait]
impl Node<QuestionState, Route, QuestionFailure> for CriticNode {
    fn routes(&self) -> &[Route] {
        &[Route::Accept, Route::Revise]
    }

    async fn run(&self, state: &mut QuestionState) -> Result<Route, QuestionFailure> {
        let span = trace::agent(&state.round, "critic");
        let taken = self.review(state).instrument(span.clone()).await;
        let round = state.so_far.rounds.last();
        let reply = round.and_then(|round| round.critic_reply.as_deref());
        trace::record_step(&span, &taken, reply);
        if let Some(round) = round {
            trace::record_verdict(&state.round, round);
        }
        taken
    }
}

impl CriticNode {
    /// Reviews the last round, and sets its findings and its verdict. Returns [`Route::Revise`] if
    /// the analyst should answer again.
    async fn review(&self, state: &mut QuestionState) -> Result<Route, QuestionFailure> {
        // The graph enters this node only after a draft.
        let Some(round) = state.so_far.rounds.last() else {
            return Ok(Route::Accept);
        };
        let mut findings = Vec::new();
        if self.mode != CriticMode::Off {
            findings = if self.checks {
                verify::check(&state.question, &round.answer)
            } else {
                verify::unusable(&round.answer)
            };
            findings.extend(self.other_opinion(state, round));
        }
        let is_objected = findings.iter().any(|finding| finding.kind.sends_back());
        let opinion = state.so_far.opinion.as_ref();
        let differs = opinion.is_some_and(|opinion| !opinion.agrees_with(&round.answer));
        let is_asked = match self.mode {
            CriticMode::Llm => true,
            CriticMode::Auto => is_objected || differs,
            CriticMode::Rules | CriticMode::Off => false,
        };
        if let Some(round) = state.so_far.rounds.last_mut() {
            round.findings = findings;
        }
        let (verdict, reply, error) = match self.llm.as_ref().filter(|_| is_asked) {
            Some(critic) => match critic.verdict(state).await {
                Ok((verdict, reply)) => (verdict, Some(reply), None),
                Err(failure) if !failure.is_outcome() => return Err(failure),
                // Keep the answer. Its round records that no critic reviewed it.
                Err(failure) => (CriticVerdict::Skipped, None, Some(failure.message)),
            },
            None if self.mode == CriticMode::Off => (CriticVerdict::Skipped, None, None),
            None if is_objected => {
                let findings = Vec::new();
                (CriticVerdict::Revise { findings }, None, None)
            }
            None => (CriticVerdict::Ok, None, None),
        };
        if let Some(round) = state.so_far.rounds.last_mut() {
            round.verdict = verdict;
            round.critic_reply = reply;
            round.critic_error = error;
        }
        let Some(stop) = self.stop(&state.so_far.rounds, is_objected) else {
            return Ok(Route::Revise);
        };
        state.so_far.stop = stop;
        Ok(Route::Accept)
    }

    /// The second opinion as a finding, if it may be shown to critics, is sure, and differs from
    /// the answer.
    fn other_opinion(&self, state: &QuestionState, round: &Round) -> Option<Finding> {
        let opinion = state.so_far.opinion.as_ref();
        let opinion = opinion.filter(|_| self.shows_opinion)?;
        let differs = opinion.is_sure() && !opinion.agrees_with(&round.answer);
        differs.then(|| opinion.finding())
    }

    /// The reason to end the loop after the last round; `None` to continue.
    fn stop(&self, rounds: &[Round], is_objected: bool) -> Option<StopReason> {
        let round = rounds.last()?;
        match &round.verdict {
            CriticVerdict::Ok if !is_objected => Some(StopReason::Accepted),
            CriticVerdict::Skipped | CriticVerdict::Unparsable { .. } if !is_objected => {
                Some(StopReason::NoVerdict)
            }
            _ if repeats(rounds) => Some(StopReason::NoNewAnswer),
            _ if round.number >= self.max_rounds => Some(StopReason::RoundLimit),
            _ => None,
        }
    }
}

/// True if the last round has the answer and the program of an earlier round. More rounds would
/// then only add cost.
fn repeats(rounds: &[Round]) -> bool {
    rounds.split_last().is_some_and(|(last, earlier)| {
        earlier.iter().any(|round| {
            round.answer.printed == last.answer.printed
                && round.answer.program == last.answer.program
        })
    })
}

impl LlmAgent {
    /// Asks the LLM critic. If it asks for a revision without a readable finding, it is asked once
    /// more. If that reply cannot be read either, its words are the finding.
    async fn verdict(
        &self,
        state: &mut QuestionState,
    ) -> Result<(CriticVerdict, String), QuestionFailure> {
        let Some(round) = state.so_far.rounds.last() else {
            return Ok((CriticVerdict::Skipped, String::new()));
        };
        let number = round.number;
        let view = CriticView {
            analysis: round.answer.to_analysis_json(),
            value: round.answer.value.as_ref().map(ToString::to_string),
            printed: round.answer.printed.clone(),
            findings: round.findings.iter().map(ToString::to_string).collect(),
        };
        let prompt = self.prompts.critic(&state.question, &view)?;
        let sampling = self.sampling.nth(state.epoch, self.samples, 1);
        let request = sampling.verdict_request(opening(prompt));
        let mut again = request.clone();
        let reply = state.call(&*self.model, number, request).await?;
        let Some(unread) = parse::unread_revision(&reply) else {
            return Ok((parse::verdict(&reply), reply));
        };
        again.node = "critic_reask".to_owned();
        again.messages.push(ChatMessage::assistant(reply.as_str()));
        again.messages.push(ChatMessage::user(FINDINGS));
        let reply = match state.call(&*self.model, number, again).await {
            Err(failure) if !failure.is_outcome() => return Err(failure),
            // If the second request fails, the first reply still asked for a revision.
            second => second.unwrap_or(reply),
        };
        let verdict = match parse::verdict(&reply) {
            CriticVerdict::Unparsable { .. } => CriticVerdict::Revise {
                findings: vec![parse::unread_revision(&reply).unwrap_or(unread)],
            },
            verdict => verdict,
        };
        Ok((verdict, reply))
    }
}
