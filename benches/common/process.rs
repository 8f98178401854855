//! A server as a separate process, and messages over a WebSocket to it.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A process that is killed on drop.
pub struct Process(pub Child);

impl Process {
    /// A value of `/proc/PID/status` in MB: `VmRSS:` is the resident memory, `VmHWM:` its peak.
    pub fn memory(&self, name: &str) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: f64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib * 1024.0 / 1e6)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The first line that a process prints.
pub fn first_line(output: Option<impl Read>) -> String {
    let mut line = String::new();
    let mut output = BufReader::new(output.expect("its output"));
    output.read_line(&mut line).expect("a line");
    line
}

/// Sends a message and returns the next text; `None` if the connection ends.
pub async fn ask(socket: &mut Socket, message: &str) -> Option<String> {
    socket.send(Message::text(message)).await.ok()?;
    loop {
        match socket.next().await?.ok()? {
            Message::Text(text) => return Some(text.as_str().to_owned()),
            Message::Close(_) => return None,
            _ => {}
        }
    }
}
