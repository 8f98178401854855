//! The two agents on the graph: `START → analyst → critic → END`, with
//! `critic → analyst` on *revise*.

use std::sync::Arc;

use crate::graph::{CompiledGraph, Graph, GraphError, GraphRunError, RunOptions, StepEvent};
use crate::llm::{ChatModel, Scope, Stop};
use finqa_core::question::Question;

use super::analyst::AnalystNode;
use super::best::{abstain, arbitrate, close, without_agreement};
use super::calls::CallMemory;
use super::critic::CriticNode;
use super::embedded::EmbeddedAgent;
use super::exchange::{Exchange, LlmAgent, Route};
use super::failure::{Fault, Interruption, QuestionFailure, RunFailure};
use super::opinion::OpinionUse;
use super::settings::{Backend, PairOptions};
use super::solution::{Round, Solution};

const ANALYST: &str = "analyst";
const CRITIC: &str = "critic";

pub struct Pair {
    graph: CompiledGraph<Exchange, Route, QuestionFailure>,
    step_limit: usize,
    /// An answer below this confidence is withheld; 0 for never.
    min_confidence: f64,
    /// Gives second opinions on a chat model's answers.
    second_opinion: Option<EmbeddedAgent>,
    /// The second opinion must agree.
    agreement_required: bool,
    /// The model's accuracy, if the likelier of the two answers is returned.
    model_accuracy: Option<f64>,
}

impl Pair {
    /// # Errors
    /// A [`GraphError`] if the wiring is wrong, which a test excludes.
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
        // Two steps a round, and one for an analyst that stops.
        let rounds = usize::try_from(options.settings.max_rounds).unwrap_or(usize::MAX);
        let settings = &options.settings;
        let (opinion_use, min_confidence) = match options.backend {
            Backend::Embedded => (OpinionUse::Off, settings.min_confidence),
            // A chat model's own confidence is not calibrated.
            Backend::Llm { .. } => (settings.second_opinion, 0.0),
        };
        let is_arbitrated = opinion_use == OpinionUse::Arbitrate;
        Ok(Self {
            graph,
            second_opinion: (opinion_use != OpinionUse::Off).then(EmbeddedAgent::default),
            agreement_required: opinion_use == OpinionUse::Require,
            model_accuracy: settings.model_accuracy.filter(|_| is_arbitrated),
            step_limit: rounds.saturating_mul(2).saturating_add(1),
            min_confidence,
        })
    }

    pub fn graph(&self) -> &CompiledGraph<Exchange, Route, QuestionFailure> {
        &self.graph
    }

    /// Answers one question in the pass `epoch` (from 0); `on_round` is called with every
    /// reviewed round.
    ///
    /// # Errors
    /// [`Interruption`] if the run was cancelled, the provider failed, or no question can
    /// succeed; any other failure is an outcome in [`Solution`].
    pub async fn ask(
        &self,
        question: Arc<Question>,
        epoch: u32,
        memory: CallMemory,
        stop: Stop,
        on_round: &(dyn Fn(&Round) + Send + Sync),
    ) -> Result<Solution, Interruption> {
        let opinion = self
            .second_opinion
            .as_ref()
            .and_then(|embedded| embedded.opinion(&question));
        let mut exchange = Exchange::new(Arc::clone(&question), epoch, memory, stop.clone());
        exchange.opinion = opinion;
        let hook = |event: &StepEvent<'_, Route>, exchange: &Exchange| {
            if let (CRITIC, Some(round)) = (event.node, exchange.rounds.last()) {
                on_round(round);
            }
        };
        let options = RunOptions {
            step_limit: self.step_limit,
            cancel: stop.abort,
            hook: Some(&hook),
        };
        match self.graph.run(&mut exchange, options).await {
            Ok(()) => Ok(self.choose(close(exchange), &question)),
            Err(GraphRunError::Cancelled { .. }) => Err(Interruption::Cancelled),
            Err(GraphRunError::Node { source, .. }) => match source.scope {
                Scope::Cancelled => Err(Interruption::Cancelled),
                Scope::Run => Err(Interruption::Fatal(RunFailure::from_provider(
                    source.message,
                ))),
                Scope::Provider => {
                    exchange.failure = Some(source);
                    Err(Interruption::Provider(Box::new(close(exchange))))
                }
                Scope::Request => {
                    exchange.failure = Some(source);
                    Ok(self.choose(close(exchange), &question))
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

    /// Replaces an answer that is less likely right than the embedded analyst's, and
    /// withholds one that is not certain enough.
    fn choose(&self, solution: Solution, question: &Question) -> Solution {
        if let (Some(accuracy), Some(embedded)) = (self.model_accuracy, &self.second_opinion) {
            return arbitrate(solution, accuracy, || embedded.answer(question));
        }
        let solution = abstain(solution, self.min_confidence);
        if self.agreement_required {
            without_agreement(solution)
        } else {
            solution
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

fn critic(options: &PairOptions) -> CriticNode {
    let mode = options.critic();
    CriticNode {
        mode,
        checks: options.checks,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_graph_beyond_its_step_limit_is_a_bug() {
        let mut pair = Pair::new(&PairOptions::new(Backend::Embedded)).unwrap();
        pair.step_limit = 0;
        let question = Arc::new(Question {
            key: finqa_core::question::QuestionKey {
                id: "page".to_owned(),
                part: "qa".to_owned(),
            },
            document: Arc::default(),
            text: "what was revenue?".to_owned(),
            history: Vec::new(),
        });
        let solution = pair
            .ask(question, 0, CallMemory::default(), Stop::default(), &|_| {})
            .await;
        let Err(Interruption::Fatal(failure)) = solution else {
            panic!("{solution:?}");
        };
        assert_eq!(failure.fault, Fault::Bug, "{failure}");
    }
}
