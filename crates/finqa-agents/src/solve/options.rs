//! The options and the instructions of the tool-using agent.

use crate::llm::ToolSpec;
use crate::pair::Sampling;

/// The system prompt.
pub(super) const INSTRUCTIONS: &str = include_str!("../../../../prompts/tool_agent.txt");

#[derive(Clone, Debug, PartialEq)]
pub struct ToolAgentOptions {
    /// The tools that the environment offers.
    pub tools: Vec<ToolSpec>,
    /// The number of tool calls after which an episode is ended; at least 1.
    pub max_steps: u32,
    pub sampling: Sampling,
    /// Maximum number of characters of one tool result that the model is shown.
    pub result_chars: usize,
    /// Maximum number of characters of all tool results of an episode together.
    pub total_chars: usize,
    /// True to record the model's calls. Calls of a model inside this process are not recorded,
    /// because they cost nothing and can be made again.
    pub recorded: bool,
}

/// Maximum number of characters of one tool result, and of all results of an episode, that a model
/// is shown: about 4,000 and 50,000 tokens. The first is enough for the sentences of ConvFinQA's
/// longest page, and the second fits into the context of any model.
pub const SHOWN_CHARS: (usize, usize) = (16_000, 200_000);

/// The blake3 hash of the system prompt, which is part of a run's identity.
pub fn instructions_hash() -> String {
    blake3::hash(INSTRUCTIONS.as_bytes()).to_hex().to_string()
}
