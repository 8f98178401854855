//! `convfinqa graph`: draws the agents' state machine, from the same object that a run executes.

use finqa_agents::pair::{Backend, PairOptions, TwoAgentSolver};

use super::{Exit, Failure, stdout};

#[derive(clap::Args, Debug)]
pub(crate) struct GraphArgs {
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    format: Format,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Mermaid,
    Dot,
}

pub(crate) fn execute(args: &GraphArgs) -> Result<Exit, Failure> {
    // Nodes and edges are the same for every backend.
    let agents = TwoAgentSolver::new(&PairOptions::new(Backend::Embedded))?;
    let drawing = match args.format {
        Format::Mermaid => agents.graph().mermaid(),
        Format::Dot => agents.graph().dot(),
    };
    stdout::print(|out| writeln!(out, "{}", drawing.trim_end()))?;
    Ok(Exit::Done)
}
