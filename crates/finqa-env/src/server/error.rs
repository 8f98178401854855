//! Errors that stop the whole server. The error of a single request is only sent to its client.

use finqa_core::error::{Kind, Kinded};
use std::net::SocketAddr;

/// The errors of starting and running the server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The server cannot listen on the address, because it is in use or does not belong to this
    /// machine.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    /// The official MCP transport over standard input and output ended with an error.
    #[error("the MCP session over standard input and output failed: {message}")]
    Stdio { message: String },
}

impl Kinded for ServerError {
    fn kind(&self) -> Kind {
        // The user chose the address, and the client on standard input.
        Kind::Usage
    }
}
