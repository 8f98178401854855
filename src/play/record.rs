//! A played episode as it is written down: one line of JSON each, complete in
//! itself, so that a trainer can read the file line by line.

use std::sync::Arc;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dataset::Outcome;
use finqa_agents::models::{NodeUsage, Usage};

/// The version of a line's layout; a newer one is refused.
pub const FORMAT: u32 = 1;

/// Who played, where: what must not change within one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// `offline`, or provider, address and model.
    pub model: String,
    /// blake3 of the questions and their tables' names, or the server's address.
    pub environment: String,
    /// The seed of the order of questions; `null` for the order of the file.
    pub seed: Option<u64>,
    /// Tool calls after which an episode is given up.
    pub max_steps: u32,
    /// What else changes what the model says: temperature, token limit, prompt.
    pub settings: String,
}

impl Identity {
    /// The first part in which `now` differs, with both values.
    #[must_use]
    pub fn difference(&self, now: &Self) -> Option<(&'static str, String, String)> {
        let seed = |seed: Option<u64>| seed.map_or_else(|| "none".to_owned(), |s| s.to_string());
        let parts = |of: &Self| {
            [
                ("model", of.model.clone()),
                ("environment", of.environment.clone()),
                ("seed", seed(of.seed)),
                ("step limit (--max-steps)", of.max_steps.to_string()),
                ("settings", of.settings.clone()),
            ]
        };
        parts(self)
            .into_iter()
            .zip(parts(now))
            .find(|((_, then), (_, now))| then != now)
            .map(|((what, then), (_, now))| (what, then, now))
    }
}

/// How an episode ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// An answer was submitted and graded.
    Submitted,
    /// The step limit, without an answer.
    StepLimit,
    /// The model neither called a tool nor said anything, twice.
    NoAnswer,
    /// The provider's filter stopped the prompt or the reply.
    ContentFilter,
    /// The model declined.
    Refusal,
    /// The conversation no longer fits the model's context.
    ContextFull,
    /// The environment or the provider failed: it has no reward, and is played
    /// again when the file is continued.
    Failed,
}

impl Ending {
    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::StepLimit => "step_limit",
            Self::NoAnswer => "no_answer",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
            Self::ContextFull => "context_full",
            Self::Failed => "failed",
        }
    }

    /// The outcome of the question in the words of the main job.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Submitted => Outcome::Answered,
            Self::StepLimit | Self::ContextFull => Outcome::BudgetStop,
            Self::NoAnswer => Outcome::ParseFailure,
            Self::ContentFilter => Outcome::ContentFilter,
            Self::Refusal => Outcome::Refusal,
            Self::Failed => Outcome::ProviderError,
        }
    }
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The tool, as the model named it.
    pub tool: String,
    /// Its arguments: an object, or the text that is none.
    pub arguments: Value,
    /// Why it reached no tool, if it did not: an invalid call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The reward; `null` on every step but the last.
    pub reward: Option<f64>,
    /// Whether the episode is over.
    pub done: bool,
}

/// One model call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// HTTP requests sent for it, retries included; 0 inside this process.
    pub requests: u32,
    /// Seconds, retries included.
    pub seconds: f64,
    /// Tokens, where the server says.
    pub usage: Option<Usage>,
    /// US dollars; `null` where no price is known.
    pub cost_usd: Option<Decimal>,
    /// The model that answered, as its server names it.
    pub model: String,
    /// Why the model stopped, or the error.
    pub finish: String,
    /// Sampling settings that the model does not take: `temperature`, `seed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// What model calls took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Model calls.
    pub calls: u64,
    /// HTTP requests, retries included.
    pub requests: u64,
    /// Tokens read and written, as far as servers say.
    #[serde(flatten)]
    pub tokens: Usage,
    /// Calls whose server told no tokens.
    pub without_usage: u64,
    /// US dollars; `null` if the price of any call is unknown.
    pub cost_usd: Option<Decimal>,
}

impl Spent {
    /// What these calls took, `usage` being theirs.
    pub(super) fn of(calls: &[ModelCall], usage: &NodeUsage) -> Self {
        // A model inside this process tells no tokens, and has none to tell.
        let untold = |call: &&ModelCall| call.requests > 0 && call.usage.is_none();
        Self {
            calls: calls.len() as u64,
            requests: usage.requests,
            tokens: usage.tokens,
            without_usage: calls.iter().filter(untold).count() as u64,
            cost_usd: usage.cost.total(),
        }
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.requests += other.requests;
        self.tokens += other.tokens;
        self.without_usage += other.without_usage;
        self.cost_usd = self.cost_usd.zip(other.cost_usd).map(|(a, b)| a + b);
    }
}

/// What an episode came to: a line less its conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The version of this layout.
    pub format: u32,
    /// The question's id, as the environment names it.
    pub question_id: String,
    /// The company whose tables answer it.
    pub company: String,
    /// What the agent was asked.
    pub question: String,
    /// How the episode ended.
    pub outcome: Ending,
    /// What was submitted.
    pub answer: Option<String>,
    /// Whether the answer is a text that the model wrote instead of calling a tool.
    pub answer_from_text: bool,
    /// 1.0 or 0.0; 0.0 without a submission, `null` if the episode failed.
    pub reward: Option<f64>,
    /// The truth, told by the environment once the episode is over.
    pub ground_truth: Option<String>,
    /// Why it failed or was stopped.
    pub error: Option<String>,
    /// Tool calls.
    pub step_count: u32,
    /// Of these, such as reached no tool.
    pub invalid_calls: u32,
    /// Replies without a tool call.
    pub text_replies: u32,
    /// Tool calls that the model wrote as text.
    #[serde(default)]
    pub calls_from_text: u32,
    /// The model calls.
    pub calls: Vec<ModelCall>,
    /// What they took together.
    pub spent: Spent,
    /// Seconds from the question to the end.
    pub seconds: f64,
    /// When it ended: RFC 3339, UTC.
    pub ended: String,
    /// Who played, where.
    pub player: Arc<Identity>,
}

/// A whole line: what an episode came to, and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Episode {
    /// What it came to.
    #[serde(flatten)]
    pub played: Arc<Played>,
    /// The tool calls in order.
    pub steps: Vec<Step>,
    /// The conversation, as chat completions list it.
    pub messages: Vec<Value>,
    /// The tools, as chat completions list them.
    pub tools: Arc<Vec<Value>>,
}
