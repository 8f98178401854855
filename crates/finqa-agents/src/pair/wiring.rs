//! Connects the two agents: `START → analyst → critic → END`, with `critic → analyst` on *revise*.

use std::sync::Arc;

use async_trait::async_trait;

use crate::graph::{CompiledGraph, Graph, GraphError, GraphRunError, RunOptions};
use crate::llm::{ChatModel, Scope, Stop};
use finqa_core::question::Question;

use super::analyst::AnalystNode;
use super::calls::{ANALYST, CRITIC, CallMemory};
use super::critic::CriticNode;
use super::embedded::EmbeddedAgent;
use super::failure::{Fault, Interruption, QuestionFailure, RunFailure};
use super::opinion::OpinionUse;
use super::question_state::{LlmAgent, QuestionState, Route};
use super::settings::{AgentSettings, Backend, PairOptions};
use super::solution::{Round, Solution};
use super::solver::Solver;
use super::withhold::{abstain, arbitrate, close, without_agreement};

/// The solver with an analyst and a critic.
pub struct TwoAgentSolver {
    graph: CompiledGraph<QuestionState, Route, QuestionFailure>,
    settings: AgentSettings,
    /// True if the embedded analyst answers. Its confidence is calibrated, so it can decide which
    /// answers are withheld; a chat model's confidence cannot.
    is_calibrated: bool,
    /// The embedded analyst that gives second opinions on a chat model's answers.
    second_opinion: Option<EmbeddedAgent>,
}

impl TwoAgentSolver {
    /// # Errors
    /// A [`GraphError`] if the wiring is wrong. A test makes sure that it is not.
    pub fn new(options: &PairOptions) -> Result<Self, GraphError> {
        let graph = Graph::builder()
            .node(ANALYST, Box::new(analyst(options)))
            .node(CRITIC, Box::new(critic(options)))
            .start(ANALYST)
            .edge(ANALYST, Route::Submit, CRITIC)
            .edge(ANALYST, Route::Stop, crate::graph::END)
            .edge(CRITIC, Route::Accept, crate::graph::END)
            .edge(CRITIC, Route::Revise, ANALYST)
            .compile()?;
        let is_calibrated = matches!(options.backend, Backend::Embedded);
        let has_opinion = !is_calibrated && options.settings.second_opinion != OpinionUse::Off;
        Ok(Self {
            graph,
            settings: options.settings.clone(),
            is_calibrated,
            second_opinion: has_opinion.then(EmbeddedAgent::default),
        })
    }

    pub fn graph(&self) -> &CompiledGraph<QuestionState, Route, QuestionFailure> {
        &self.graph
    }

    /// Replaces an answer by the embedded analyst's if that is more likely to be right, and
    /// withholds an answer that is not certain enough.
    fn choose(&self, solution: Solution, question: &Question) -> Solution {
        let Some(embedded) = &self.second_opinion else {
            return if self.is_calibrated {
                abstain(solution, self.settings.min_confidence)
            } else {
                solution
            };
        };
        match (self.settings.second_opinion, self.settings.model_accuracy) {
            (OpinionUse::Arbitrate, Some(accuracy)) => {
                arbitrate(solution, accuracy, || Some(embedded.answer(question)?.0))
            }
            (OpinionUse::Require, _) => without_agreement(solution),
            _ => solution,
        }
    }
}

#[async_trait]
impl Solver for TwoAgentSolver {
    async fn solve(
        &self,
        question: Arc<Question>,
        epoch: u32,
        memory: CallMemory,
        stop: Stop,
        on_round: &(dyn for<'r> Fn(&'r Round) + Send + Sync),
    ) -> Result<Solution, Interruption> {
        let mut state = QuestionState::new(Arc::clone(&question), epoch, memory, stop.clone());
        let second = self.second_opinion.as_ref();
        state.so_far.opinion = second.and_then(|embedded| embedded.opinion(&question));
        let hook = |node: &str, state: &QuestionState| {
            if let (CRITIC, Some(round)) = (node, state.so_far.rounds.last()) {
                on_round(round);
            }
        };
        // Each round takes two steps, and an analyst that stops takes one more step.
        let rounds = usize::try_from(self.settings.max_rounds).unwrap_or(usize::MAX);
        let options = RunOptions {
            step_limit: rounds.saturating_mul(2).saturating_add(1),
            // A drain is noticed by the next model call (`calls`).
            cancel: stop.abort,
            hook: Some(&hook),
        };
        match self.graph.run(&mut state, options).await {
            Ok(()) => Ok(self.choose(close(state), &question)),
            Err(GraphRunError::Cancelled { .. }) => Err(Interruption::Cancelled),
            Err(GraphRunError::Node { source, .. }) => match source.scope {
                Scope::Cancelled => Err(Interruption::Cancelled),
                Scope::Run => Err(Interruption::Fatal(RunFailure {
                    message: source.message,
                    fault: source.fault,
                })),
                Scope::Provider => {
                    state.failure = Some(source);
                    Err(Interruption::Provider(Box::new(close(state))))
                }
                Scope::Request => {
                    state.failure = Some(source);
                    Ok(self.choose(close(state), &question))
                }
            },
            Err(error @ (GraphRunError::StepLimit { .. } | GraphRunError::Undeclared { .. })) => {
                Err(Interruption::Fatal(RunFailure {
                    message: error.to_string(),
                    fault: Fault::Bug,
                }))
            }
        }
    }
}

fn llm(options: &PairOptions, model: &Arc<dyn ChatModel>) -> LlmAgent {
    LlmAgent {
        model: Arc::clone(model),
        prompts: Arc::clone(&options.prompts),
        sampling: options.sampling.clone(),
        samples: options.settings.samples,
    }
}

fn analyst(options: &PairOptions) -> AnalystNode {
    match &options.backend {
        Backend::Embedded => AnalystNode::Embedded(Box::default()),
        Backend::Llm { analyst, .. } => AnalystNode::Llm(llm(options, analyst)),
    }
}

/// The node of the critic. It has a model only if a chat model is the analyst.
fn critic(options: &PairOptions) -> CriticNode {
    CriticNode {
        mode: options.critic(),
        checks: options.checks,
        // `Settings` of `finqa-journal` allow 1 and more.
        max_rounds: options.settings.max_rounds.max(1),
        shows_opinion: matches!(
            options.settings.second_opinion,
            OpinionUse::Show | OpinionUse::Require | OpinionUse::Arbitrate
        ),
        llm: match &options.backend {
            Backend::Llm { critic, .. } => Some(llm(options, critic)),
            Backend::Embedded => None,
        },
    }
}
