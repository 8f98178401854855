//! A server in the test's own process. The root package's tests include this file.

use std::net::SocketAddr;
use std::sync::Arc;

use finqa_env::episode::EpisodeRules;
use finqa_env::server::{ServerOptions, bind, serve};
use finqa_env::tools::Tools;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A server that runs until it is stopped.
pub struct RunningServer {
    address: SocketAddr,
    shutdown: CancellationToken,
    task: JoinHandle<()>,
}

impl RunningServer {
    /// Starts a server on the address of the options; port 0 takes a free port.
    pub async fn start(tools: Arc<Tools>, rules: EpisodeRules, options: ServerOptions) -> Self {
        let listener = bind(&options).await.expect("a free port on loopback");
        let address = listener.local_addr().expect("an address");
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(serve(listener, tools, rules, options, shutdown.clone()));
        Self {
            address,
            shutdown,
            task,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL, e.g. `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops the server and waits until it has ended.
    pub async fn stop(self) {
        self.shutdown.cancel();
        self.task.await.expect("a clean end");
    }
}
