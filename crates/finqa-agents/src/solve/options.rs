//! The options and the instructions of the tool-using agent.

use crate::llm::ToolSpec;
use crate::pair::Sampling;

/// The instructions to the model before the question.
pub(super) const INSTRUCTIONS: &str = include_str!("../../../../prompts/tool_agent.txt");

/// The options of the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAgentOptions {
    /// The environment's tools.
    pub tools: Vec<ToolSpec>,
    /// Tool calls after which an episode is given up; at least 1.
    pub max_steps: u32,
    /// How replies are sampled.
    pub sampling: Sampling,
    /// Most characters of one tool result that the model is shown.
    pub result_chars: usize,
    /// Most characters of all tool results of an episode together.
    pub total_chars: usize,
    /// Record the model's calls. Those of a model inside this process cost nothing and are
    /// made again instead.
    pub recorded: bool,
}

/// Most characters of one tool result, and of all of an episode, that a model is
/// shown: about 4,000 and 50,000 tokens. The sentences of the longest page of
/// ConvFinQA fit the first, and any model's context the second.
pub const SHOWN_CHARS: (usize, usize) = (16_000, 200_000);

/// blake3 of the instructions to a model before the question: part of a run's identity.
pub fn instructions_hash() -> String {
    blake3::hash(INSTRUCTIONS.as_bytes()).to_hex().to_string()
}
