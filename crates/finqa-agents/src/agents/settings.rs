//! How the two agents are set up: plain options, validated by `config`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::models::{ChatModel, ChatRequest, Format, Message};
use crate::prompt::{Prompts, Rendering};

use super::answer::AnswerFrom;
use super::opinion::OpinionUse;

/// Who criticises (`--critic`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CriticMode {
    /// The deterministic checks and an LLM.
    #[default]
    Llm,
    /// The deterministic checks alone: no call, no cost.
    Rules,
    /// Nobody: the first draft stands.
    Off,
}

/// What a request asks of the provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// 0 to 1; `None` leaves it to the provider.
    pub temperature: Option<f64>,
    /// Limit on output tokens of one reply.
    pub max_output_tokens: Option<u32>,
    /// Seed, where the provider has one; see [`Sampling::nth`].
    pub seed: Option<u64>,
    /// First drafts drawn, of which the commonest value is taken; 0 and 1 draw one.
    pub samples: u32,
}

impl Sampling {
    /// What sample `number` (from 1) of pass `epoch` (from 0) is asked with. Each
    /// has a seed of its own, or a provider that honours seeds would give the same
    /// reply again: `seed + epoch × samples + (number − 1)`. The first sample of
    /// the first pass has the seed as given.
    #[must_use]
    pub fn nth(&self, epoch: u32, number: u32) -> Self {
        let passed = u64::from(epoch) * u64::from(self.samples.max(1));
        let offset = passed + u64::from(number.saturating_sub(1));
        Self {
            seed: self.seed.map(|seed| seed.wrapping_add(offset)),
            ..self.clone()
        }
    }

    /// A request for JSON of the given schema.
    pub(super) fn request(
        &self,
        node: &str,
        messages: Vec<Message>,
        schema_name: &str,
        schema: serde_json::Value,
    ) -> ChatRequest {
        ChatRequest {
            node: node.to_owned(),
            messages,
            temperature: self.temperature,
            max_output_tokens: self.max_output_tokens,
            seed: self.seed,
            format: Format::JsonSchema {
                name: schema_name.to_owned(),
                schema,
                strict: true,
            },
            ..ChatRequest::default()
        }
    }

    /// A request for plain text.
    pub(super) fn text_request(&self, node: &str, messages: Vec<Message>) -> ChatRequest {
        ChatRequest {
            temperature: self.temperature,
            max_output_tokens: self.max_output_tokens,
            seed: self.seed,
            ..ChatRequest::new(node, messages)
        }
    }
}

/// Where answers come from.
#[derive(Clone)]
pub enum Backend {
    /// The embedded pair: no network, no key.
    Offline,
    /// Chat models for the two agents, which may be the same.
    Llm {
        /// Writes analyses.
        analyst: Arc<dyn ChatModel>,
        /// Criticises them.
        critic: Arc<dyn ChatModel>,
    },
}

/// Everything the pair is built from.
#[derive(Clone)]
pub struct PairOptions {
    /// Where answers come from.
    pub backend: Backend,
    /// Who criticises.
    pub critic: CriticMode,
    /// Whether the deterministic checks run (`--no-verify` turns them off).
    pub verify: bool,
    /// Analyst replies with their verdicts, at most; at least 1.
    pub max_rounds: u32,
    /// What decides the value.
    pub answer_from: AnswerFrom,
    /// Below this confidence the offline pair abstains; 0 never.
    pub min_confidence: f64,
    /// What a second opinion by the embedded rules is used for, beside a chat model.
    pub opinion: OpinionUse,
    /// From this confidence on a second opinion that differs is shown to the critic.
    pub opinion_confidence: f64,
    /// The templates.
    pub prompts: Arc<Prompts>,
    /// How the page is shown.
    pub rendering: Rendering,
    /// What requests ask of the provider.
    pub sampling: Sampling,
}

/// The confidence from which a second opinion that differs is more often right
/// than the answer: 3 of 3 times on the answers of three models, where from 0.8
/// on it is 8 of 16 (docs/offline.md).
pub const OPINION_CONFIDENCE: f64 = 0.85;

impl PairOptions {
    /// The defaults over a backend: the embedded templates, every check, an LLM
    /// critic where there is an LLM.
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        Self {
            critic: match backend {
                Backend::Offline => CriticMode::Rules,
                Backend::Llm { .. } => CriticMode::Llm,
            },
            backend,
            verify: true,
            max_rounds: 3,
            answer_from: AnswerFrom::default(),
            min_confidence: 0.0,
            opinion: OpinionUse::default(),
            opinion_confidence: OPINION_CONFIDENCE,
            prompts: Arc::new(Prompts::embedded()),
            rendering: Rendering::default(),
            sampling: Sampling::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_of_each_pass_has_a_seed_of_its_own() {
        let seeds = |seed, samples| {
            let sampling = Sampling {
                seed,
                samples,
                ..Sampling::default()
            };
            let passes = (0..3).flat_map(|epoch| (1..=samples.max(1)).map(move |n| (epoch, n)));
            passes
                .map(|(epoch, number)| sampling.nth(epoch, number).seed)
                .collect::<Vec<_>>()
        };
        assert_eq!(seeds(Some(7), 0), [Some(7), Some(8), Some(9)]);
        let pairs = [7, 8, 9, 10, 11, 12].map(Some);
        assert_eq!(seeds(Some(7), 2), pairs);
        assert_eq!(seeds(None, 1), [None; 3]);
        assert_eq!(seeds(Some(u64::MAX), 1), [Some(u64::MAX), Some(0), Some(1)]);
    }
}
