//! The agent: a model that reasons, calls a tool, sees the result and goes on
//! (`ReAct`), by the provider's tool calling. What it does with bad calls,
//! missing calls and floods of text is decided here, the same for every model.

use std::sync::Arc;

use serde_json::Value;

use super::PlayError;
use super::game::{Game, count};
use super::record::{Ending, Episode, FORMAT, Identity, Played, Spent};
use super::session::{Asked, Session};
use finqa_agents::models::{ChatModel, PriceOf, Stop, ToolSpec, messages_json, tools_json};
use finqa_env::tools::specs;

/// What the model is told before the question.
pub(super) const INSTRUCTIONS: &str = include_str!("../../prompts/player.txt");

/// How the agent plays.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentOptions {
    /// Tool calls after which an episode is given up; at least 1.
    pub max_steps: u32,
    /// Sampling temperature; left to the provider where absent.
    pub temperature: Option<f64>,
    /// Limit on output tokens of one reply.
    pub max_output_tokens: Option<u32>,
    /// Seed of sampling, where the provider has one.
    pub sampling_seed: Option<u64>,
    /// Most characters of one tool result that the model is shown.
    pub result_chars: usize,
    /// Most characters of all tool results of an episode together.
    pub total_chars: usize,
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self {
            max_steps: 20,
            temperature: None,
            max_output_tokens: None,
            sampling_seed: None,
            // About 4,000 and 50,000 tokens: the sentences of the longest page of
            // ConvFinQA fit the first, and any model's context the second.
            result_chars: 16_000,
            total_chars: 200_000,
        }
    }
}

impl AgentOptions {
    /// What a player that pays for no tokens is shown of a server's results: those
    /// of an honest server whole, and of any server no more than memory and the
    /// episodes' file can hold.
    #[must_use]
    pub fn of_a_server() -> Self {
        Self {
            result_chars: 2_000_000,
            total_chars: 8_000_000,
            ..Self::default()
        }
    }

    /// Tool results shown whole, however long: for a player and an environment
    /// inside this process.
    #[must_use]
    pub fn unbounded() -> Self {
        Self {
            result_chars: usize::MAX,
            total_chars: usize::MAX,
            ..Self::default()
        }
    }
}

/// A model at play: one for all episodes.
#[derive(Clone)]
pub(super) struct Agent {
    pub model: Arc<dyn ChatModel>,
    pub options: AgentOptions,
    pub price: PriceOf,
    pub player: Arc<Identity>,
    /// The tools as a model is shown them, and as the record holds them.
    tools: Vec<ToolSpec>,
    tools_json: Arc<Vec<Value>>,
}

/// Why an episode failed, beside what stands in its record.
pub(super) enum Trouble {
    /// The session is of no use any more.
    Environment(PlayError),
    /// Every episode would fail alike.
    Fatal(PlayError),
    /// Given up on request.
    Cancelled,
}

/// The environment's tools in the form in which models are told of tools.
pub(super) fn tool_specs() -> Vec<ToolSpec> {
    specs()
        .iter()
        .map(|spec| ToolSpec {
            name: spec.name.to_owned(),
            description: spec.description.to_owned(),
            parameters: spec.input_schema(),
        })
        .collect()
}

impl Agent {
    pub fn new(
        model: Arc<dyn ChatModel>,
        options: AgentOptions,
        price: PriceOf,
        player: Arc<Identity>,
    ) -> Self {
        let tools = tool_specs();
        let tools_json = Arc::new(tools_json(&tools));
        Self {
            model,
            options,
            price,
            player,
            tools,
            tools_json,
        }
    }

    /// The tools as a model is shown them.
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// Plays one episode to its end; a failed one is recorded as well.
    pub async fn play(
        &self,
        session: &mut Session,
        asked: Asked,
        stop: &Stop,
    ) -> (Episode, Option<Trouble>) {
        let mut game = Game::new(self, &asked);
        let trouble = game.run(session, stop).await.err();
        if trouble.is_none() && game.ground_truth.is_none() {
            // A server that fails only now has still graded the episode.
            game.ground_truth = session.ground_truth().await.unwrap_or_default();
        }
        let (ending, error) = match (&trouble, game.ending) {
            (None, Some((ending, error))) => (ending, error),
            (None, None) => (Ending::Failed, Some("it came to no end".to_owned())),
            (Some(Trouble::Environment(error) | Trouble::Fatal(error)), _) => {
                (Ending::Failed, Some(error.to_string()))
            }
            (Some(Trouble::Cancelled), _) => {
                (Ending::Failed, Some(PlayError::Cancelled.to_string()))
            }
        };
        let played = Played {
            format: FORMAT,
            question_id: asked.id,
            company: asked.company,
            question: asked.question,
            outcome: ending,
            answer: game.answer,
            answer_from_text: game.answer_from_text,
            reward: match ending {
                Ending::Failed => None,
                // An episode without a submission is worth nothing, by the contract.
                _ => Some(game.reward.unwrap_or(0.0)),
            },
            ground_truth: game.ground_truth,
            error,
            step_count: count(game.steps.len()),
            invalid_calls: count(game.steps.iter().filter(|s| s.error.is_some()).count()),
            text_replies: game.text_replies,
            calls_from_text: game.calls_from_text,
            spent: Spent::of(&game.calls, &game.usage),
            calls: game.calls,
            seconds: game.started.elapsed().as_secs_f64(),
            ended: jiff::Timestamp::now().to_string(),
            player: Arc::clone(&self.player),
        };
        let episode = Episode {
            played: Arc::new(played),
            steps: game.steps,
            messages: messages_json(&game.request.messages),
            tools: Arc::clone(&self.tools_json),
        };
        (episode, trouble)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_shown_to_a_model_are_those_of_the_environment() {
        let names: Vec<String> = tool_specs().into_iter().map(|tool| tool.name).collect();
        assert_eq!(
            names,
            [
                "get_descriptions",
                "get_table_info",
                "sql_query",
                "submit_answer"
            ]
        );
        for name in names {
            assert!(INSTRUCTIONS.contains(&format!("{name}(")), "{name}");
        }
    }
}
