//! The settings of the two agents.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::llm::{ChatMessage, ChatModel, ChatRequest, Provider, ReplyFormat};
use crate::parse;
use crate::prompt::Prompts;

use super::opinion::OpinionUse;

/// Who reviews answers (`--critic`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum CriticMode {
    /// An LLM and the deterministic checks.
    Llm,
    /// The deterministic checks, and an LLM if a check finds an error or the second opinion
    /// differs.
    Auto,
    /// The deterministic checks alone, without a model call.
    Rules,
    /// No review and no revision.
    Off,
}

/// What decides the two agents' answers, whichever model they ask.
#[derive(clap::Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Agents")]
#[serde(default, deny_unknown_fields)]
pub struct AgentSettings {
    /// Who reviews each answer [default: llm with a chat model, otherwise rules]
    #[arg(long, value_name = "WHO")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critic: Option<CriticMode>,
    /// The critic's model [default: the analyst's]
    #[arg(long, value_name = "MODEL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critic_model: Option<String>,
    /// Provider of the critic's model [default: the analyst's]
    #[arg(long, value_name = "PROVIDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critic_provider: Option<Provider>,
    /// Base URL of the critic's server [default: with --critic-provider, that provider's; otherwise
    /// the analyst's]
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critic_base_url: Option<String>,
    /// Maximum analyst–critic rounds per question
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub max_rounds: u32,
    /// Withhold answers of the embedded analyst below this confidence (0 to 1) [default: 0]
    #[arg(
        long,
        value_name = "P",
        default_value_t = 0.0,
        hide_default_value = true
    )]
    pub min_confidence: f64,
    /// How to use the embedded analyst's second opinion on a chat model's answer
    #[arg(long, value_name = "USE", default_value = "show")]
    pub second_opinion: OpinionUse,
    /// Share of the model's answers that are right (0 to 1); required with --second-opinion
    /// arbitrate
    #[arg(long, value_name = "P")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_accuracy: Option<f64>,
    /// Number of first drafts that the analyst writes per question; the most common answer wins
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub samples: u32,
    /// Folder whose .j2 files replace the built-in prompt templates of the same name
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
}

impl AgentSettings {
    /// The reviewer of answers. Without a chat model, only the checks review them.
    pub fn critic(&self, has_chat_model: bool) -> CriticMode {
        match self.critic.unwrap_or(CriticMode::Llm) {
            CriticMode::Llm | CriticMode::Auto if !has_chat_model => CriticMode::Rules,
            critic => critic,
        }
    }

    /// True if the critic's model is on a different server than the analyst's.
    pub fn has_critic_server(&self) -> bool {
        self.critic_provider.is_some() || self.critic_base_url.is_some()
    }
}

finqa_core::options::declared_defaults!(AgentSettings, Sampling);

/// How replies are sampled.
#[derive(clap::Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Model")]
#[serde(default, deny_unknown_fields)]
pub struct Sampling {
    /// Sampling temperature, 0 to 2 [default: the provider's]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Seed for shuffling and, where the provider supports it, for sampling
    #[arg(long, value_name = "S")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Maximum output tokens per reply [default: 4096; 32768 for a model that is known to reason]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

impl Sampling {
    /// The sampling of draft `number` (from 1) of `samples` drafts in pass `epoch` (from 0). Each
    /// draft has a different seed (`seed + epoch × samples + (number − 1)`), because a provider
    /// that uses seeds would otherwise return the same reply again.
    pub fn nth(&self, epoch: u32, samples: u32, number: u32) -> Self {
        let passed = u64::from(epoch) * u64::from(samples.max(1));
        let offset = passed + u64::from(number.saturating_sub(1));
        Self {
            seed: self.seed.map(|seed| seed.wrapping_add(offset)),
            ..self.clone()
        }
    }

    /// A request whose reply must be JSON in the schema of an analysis.
    pub(super) fn analysis_request(&self, node: &str, messages: Vec<ChatMessage>) -> ChatRequest {
        let format = ReplyFormat::JsonSchema {
            name: "analysis".to_owned(),
            schema: parse::analysis_schema(),
            strict: true,
            or_text: false,
        };
        self.request(node, messages, format)
    }

    /// A request for a verdict. A provider without schemas may answer `ALL_OK` as text.
    pub(super) fn verdict_request(&self, messages: Vec<ChatMessage>) -> ChatRequest {
        let format = ReplyFormat::JsonSchema {
            name: "verdict".to_owned(),
            schema: parse::verdict_schema(),
            strict: true,
            or_text: true,
        };
        self.request("critic", messages, format)
    }

    fn request(&self, node: &str, messages: Vec<ChatMessage>, format: ReplyFormat) -> ChatRequest {
        ChatRequest {
            temperature: self.temperature,
            max_output_tokens: self.max_tokens,
            seed: self.seed,
            format,
            ..ChatRequest::new(node, messages)
        }
    }
}

/// The source of the answers.
#[derive(Clone)]
pub enum Backend {
    Embedded,
    /// The chat models of the two agents, which may be the same.
    Llm {
        analyst: Arc<dyn ChatModel>,
        critic: Arc<dyn ChatModel>,
    },
}

/// All options from which a [`TwoAgentSolver`](super::TwoAgentSolver) is made.
#[derive(Clone)]
pub struct PairOptions {
    pub backend: Backend,
    pub settings: AgentSettings,
    pub sampling: Sampling,
    pub prompts: Arc<Prompts>,
    /// True to run the deterministic checks. False if only the length of prompts is measured,
    /// because there are no answers to check.
    pub checks: bool,
}

impl PairOptions {
    /// The default settings for a backend, with the embedded templates.
    pub fn new(backend: Backend) -> Self {
        Self {
            backend,
            settings: AgentSettings::default(),
            sampling: Sampling::default(),
            prompts: Arc::new(Prompts::embedded()),
            checks: true,
        }
    }

    /// The reviewer of answers for this backend.
    pub fn critic(&self) -> CriticMode {
        let has_chat_model = matches!(self.backend, Backend::Llm { .. });
        self.settings.critic(has_chat_model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_of_each_pass_has_a_seed_of_its_own() {
        let seeds = |seed, samples: u32| {
            let sampling = Sampling {
                seed,
                ..Sampling::default()
            };
            let passes = (0..3).flat_map(|epoch| (1..=samples.max(1)).map(move |n| (epoch, n)));
            passes
                .map(|(epoch, number)| sampling.nth(epoch, samples, number).seed)
                .collect::<Vec<_>>()
        };
        assert_eq!(seeds(Some(7), 0), [Some(7), Some(8), Some(9)]);
        let pairs = [7, 8, 9, 10, 11, 12].map(Some);
        assert_eq!(seeds(Some(7), 2), pairs);
        assert_eq!(seeds(None, 1), [None; 3]);
        assert_eq!(seeds(Some(u64::MAX), 1), [Some(u64::MAX), Some(0), Some(1)]);
    }
}
