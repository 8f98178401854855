//! `convfinqa env serve` and `env check`, and the server spoken to by the public
//! Python clients and through a proxy. Its other tests are in `crates/finqa-env`.

mod cli;
mod needs_haproxy;
mod needs_python;

use std::sync::Arc;

use finqa_env::episode::EpisodeRules;
use finqa_env::server::ServerOptions;
use finqa_env::tools::{ToolLimits, Tools};

use crate::support::running::RunningServer;

/// Options for a test: a free port.
fn options() -> ServerOptions {
    ServerOptions {
        port: 0,
        ..ServerOptions::default()
    }
}

async fn start(options: ServerOptions) -> RunningServer {
    let catalog = finqa_run::env_build::builtin().expect("the built-in data");
    let tools = Tools::new(Arc::new(catalog), ToolLimits::default());
    RunningServer::start(Arc::new(tools), EpisodeRules::default(), options).await
}
