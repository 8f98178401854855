//! The server, spoken to over real sockets by hand-made messages. The root
//! package's tests let the public Python clients speak to it.

mod abuse;
mod http;
mod mcp;
mod memory;
mod metrics;
mod sessions;
mod slow_clients;
mod socket;
mod tasks;

use std::sync::Arc;

use finqa_env::episode::EpisodeRules;
use finqa_env::server::ServerOptions;
use finqa_env::tools::Tools;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::support::hub::client;
use crate::support::running::RunningServer;

/// Tools over the fixture.
fn tools() -> Arc<Tools> {
    Arc::new(crate::tools::tools())
}

/// Options for a test: a free port.
fn options() -> ServerOptions {
    ServerOptions {
        port: 0,
        ..ServerOptions::default()
    }
}

async fn start(options: ServerOptions) -> RunningServer {
    start_with(options, EpisodeRules::default()).await
}

/// A server with some of the [`options`] changed.
async fn start_changed<R>(change: impl FnOnce(&mut ServerOptions) -> R) -> RunningServer {
    let mut options = options();
    change(&mut options);
    start(options).await
}

async fn start_with(options: ServerOptions, rules: EpisodeRules) -> RunningServer {
    RunningServer::start(tools(), rules, options).await
}

/// A server, and a WebSocket to it.
async fn connect() -> (RunningServer, Socket) {
    let server = start(options()).await;
    let socket = Socket::open(&server, "/ws").await;
    (server, socket)
}

/// Ends a server whose clients are gone.
async fn stop<C>(server: RunningServer, clients: C) {
    drop(clients);
    server.stop().await;
}

/// A WebSocket to the server.
struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    async fn open(server: &RunningServer, path: &str) -> Self {
        let url = format!("ws://{}{path}", server.address());
        let (stream, _) = tokio_tungstenite::connect_async(url)
            .await
            .expect("a socket");
        Self(stream)
    }

    async fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.expect("sent");
    }

    /// The next text, as JSON; `None` once the server has closed.
    async fn next(&mut self) -> Option<Value> {
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

    /// Sends a text and gives the answer.
    async fn raw(&mut self, text: &str) -> Value {
        self.send(text).await;
        self.answer().await
    }

    /// Sends a message and gives the answer.
    async fn ask(&mut self, message: Value) -> Value {
        self.raw(&message.to_string()).await
    }

    /// The next text, as JSON.
    async fn answer(&mut self) -> Value {
        self.next().await.expect("an answer")
    }

    /// Begins an episode and gives the answer.
    async fn reset(&mut self, data: Value) -> Value {
        self.ask(json!({"type": "reset", "data": data})).await
    }

    /// The session's state.
    async fn state(&mut self) -> Value {
        let answer = self.ask(json!({"type": "state"})).await;
        assert_eq!(answer["type"], "state", "{answer}");
        answer["data"].clone()
    }

    /// A step that lists a company's tables.
    async fn list_tables(&mut self, company: impl Into<Value>) -> Value {
        let arguments = json!({"company_name": company.into()});
        self.step("get_descriptions", arguments).await
    }

    /// Closes it, which the server confirms.
    async fn close(&mut self) {
        self.send(r#"{"type": "close"}"#).await;
        assert_eq!(self.close_code().await, Some(1000));
    }

    /// One step; gives the observation message's `data`.
    async fn step(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask(step_message(tool, arguments)).await;
        assert_eq!(answer["type"], "observation", "{answer}");
        answer["data"].clone()
    }

    /// The close frame's code, after any texts before it.
    async fn close_code(&mut self) -> Option<u16> {
        loop {
            match self.0.next().await {
                Some(Ok(Message::Close(frame))) => return frame.map(|frame| frame.code.into()),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return None,
            }
        }
    }
}

/// A step, as a socket is sent it.
fn step_message(tool: &str, arguments: Value) -> Value {
    let action = json!({"type": "call_tool", "tool_name": tool, "arguments": arguments});
    json!({"type": "step", "data": action})
}

/// The arguments of a query of a table of the fixture.
fn asking(query: &str) -> Value {
    let table = "us_gaap_IncomeStatement";
    json!({"company_name": "acme", "table_name": table, "query": query})
}

/// An HTTP request by hand; gives status, headers and body.
async fn request(
    server: &RunningServer,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> (u16, reqwest::header::HeaderMap, String) {
    let client = client();
    let url = format!("{}{path}", server.url());
    let mut request = client.request(method.parse().expect("a method"), url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request
        .body(body.to_owned())
        .send()
        .await
        .expect("an answer");
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    (status, headers, answer.text().await.expect("a body"))
}

const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

/// POSTs JSON; gives status and JSON.
async fn post(server: &RunningServer, path: &str, body: &str) -> (u16, Value) {
    let (status, _, text) = request(server, "POST", path, JSON, body).await;
    (status, json_or_text(text))
}

/// GETs JSON; gives status and JSON.
async fn get(server: &RunningServer, path: &str) -> (u16, Value) {
    let (status, _, text) = request(server, "GET", path, &[], "").await;
    (status, json_or_text(text))
}

fn json_or_text(text: String) -> Value {
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

/// One JSON-RPC call over `POST /mcp`.
async fn rpc(server: &RunningServer, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let (status, answer) = post(server, "/mcp", &body.to_string()).await;
    assert_eq!(status, 200);
    answer
}

/// Opens a session over HTTP; gives its id.
async fn create_session(server: &RunningServer) -> String {
    let created = rpc(server, "openenv/session/create", json!({})).await;
    let id = created["result"]["session_id"].as_str();
    id.unwrap_or_else(|| panic!("{created}")).to_owned()
}
