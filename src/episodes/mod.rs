//! Environments for the tool-using agent: this process's own, and servers that
//! speak OpenEnv's WebSocket protocol; and the offline baseline, a model without
//! a network that plays in both.

mod address;
mod baseline;
mod dealer;
mod error;
mod job;
mod local;
mod question;
mod remote;
mod server;
mod sessions;

use finqa_agents::models::ToolSpec;
use finqa_env::tools::specs;

pub use address::Address;
pub use baseline::Baseline;
pub use dealer::ServerDealer;
pub use error::RemoteError;
pub(crate) use job::job;
pub use job::{EpisodeEnvironment, EpisodeOptions, EpisodePlace};
pub use local::LocalEnvironment;
pub use server::ServerEnvironment;
pub use sessions::{Note, SessionPool};

/// The environment's tools as they are described to models.
#[must_use]
pub fn tool_specs() -> Vec<ToolSpec> {
    let tools = specs().iter().map(|spec| ToolSpec {
        name: spec.name.to_owned(),
        description: spec.description.to_owned(),
        parameters: spec.input_schema(),
    });
    tools.collect()
}
