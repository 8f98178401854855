//! Starts `env serve` with the built-in data as a separate process.

use std::process::{Command, Stdio};

use crate::process::{Process, first_line};

pub struct EnvServer {
    pub process: Process,
    pub address: String,
}

impl EnvServer {
    /// Starts `program`, with further arguments of `env serve`, on a free port.
    pub fn start(program: &str, more: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(["env", "serve", "--port", "0"])
            .args(more)
            .env_remove("FINQA_DATA_PATH")
            .env_remove("FINQA_TOKEN")
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let line = first_line(child.stderr.take());
        let address = line
            .split("http://")
            .nth(1)
            .and_then(|rest| rest.split(';').next());
        Self {
            address: address.expect("an address").to_owned(),
            process: Process(child),
        }
    }
}
