//! A WebSocket to a server. The root package's tests include this file.

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::running::RunningServer;

pub struct Socket(pub WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub async fn open(server: &RunningServer, path: &str) -> Self {
        Self::at(&server.address().to_string(), path).await
    }

    pub async fn at(address: &str, path: &str) -> Self {
        let url = format!("ws://{address}{path}");
        let (stream, _) = tokio_tungstenite::connect_async(url)
            .await
            .expect("a socket");
        Self(stream)
    }

    pub async fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.expect("sent");
    }

    /// The next text, as JSON; `None` once the server has closed.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Text(text))) => {
                    return Some(serde_json::from_str(&text).expect("JSON"));
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// Sends a text and returns the answer.
    pub async fn raw(&mut self, text: &str) -> Value {
        self.send(text).await;
        self.answer().await
    }

    /// Sends a message and returns the answer.
    pub async fn ask(&mut self, message: Value) -> Value {
        self.raw(&message.to_string()).await
    }

    /// The next text, as JSON. Fails the test if the server has closed the socket.
    pub async fn answer(&mut self) -> Value {
        self.next().await.expect("an answer")
    }

    /// Begins an episode and returns the answer.
    pub async fn reset(&mut self, data: Value) -> Value {
        self.ask(json!({"type": "reset", "data": data})).await
    }

    pub async fn state(&mut self) -> Value {
        let answer = self.ask(json!({"type": "state"})).await;
        assert_eq!(answer["type"], "state", "{answer}");
        answer["data"].clone()
    }

    /// Takes a step that lists a company's tables.
    pub async fn list_tables(&mut self, company: impl Into<Value>) -> Value {
        let arguments = json!({"company_name": company.into()});
        self.step("get_descriptions", arguments).await
    }

    /// Closes the session, which the server confirms.
    pub async fn close(&mut self) {
        self.send(r#"{"type": "close"}"#).await;
        assert_eq!(self.close_code().await, Some(1000));
    }

    /// Takes one step and returns the `data` of the observation message.
    pub async fn step(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask(step_message(tool, arguments)).await;
        assert_eq!(answer["type"], "observation", "{answer}");
        answer["data"].clone()
    }

    /// The code of the close frame; texts before it are skipped.
    pub async fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }
}

/// The message that asks for a step.
pub fn step_message(tool: &str, arguments: Value) -> Value {
    let action = json!({"type": "call_tool", "tool_name": tool, "arguments": arguments});
    json!({"type": "step", "data": action})
}
