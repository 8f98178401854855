//! Episodes: questions that a tool-using agent answers in an environment. The environment is in
//! this process, or on a server that speaks OpenEnv's WebSocket protocol.
//!
//! Reading order: `job` (the plan and the agent), `local` (an environment in this process),
//! `server` with `sessions`, `remote` and `tasks` (an environment on a server), `question` (an
//! environment's questions in a plan), `embedded` (the embedded analyst as a model that calls
//! tools, without a network).

mod address;
mod embedded;
mod error;
mod job;
mod local;
mod question;
mod remote;
mod server;
mod sessions;
mod tasks;

use finqa_agents::llm::ToolSpec;
use finqa_env::tools::specs;

pub use address::Address;
pub(crate) use embedded::EmbeddedModel;
pub use error::RemoteError;
pub use job::{EpisodeEnvironment, EpisodeOptions, EpisodePlace, job};
pub use local::LocalEnvironment;
pub use server::ServerEnvironment;

/// The environment's tools, as models are told about them.
pub fn tool_specs() -> Vec<ToolSpec> {
    let tools = specs().iter().map(|spec| ToolSpec {
        name: spec.name.to_owned(),
        description: spec.description.to_owned(),
        parameters: spec.input_schema(),
    });
    tools.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instructions_name_each_tool_of_the_environment() {
        let instructions = include_str!("../../../../prompts/tool_agent.txt");
        for tool in tool_specs() {
            let name = tool.name;
            assert!(instructions.contains(&format!("{name}(")), "{name}");
        }
    }
}
