//! Tests the server over real sockets with hand-written messages. The tests of the root package use
//! the public Python clients instead.

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
use serde_json::{Value, json};

use crate::support::hub::client;
use crate::support::running::RunningServer;
use crate::support::socket::{Socket, step_message};

fn tools() -> Arc<Tools> {
    Arc::new(crate::tools::tools())
}

/// The default options with a free port.
fn options() -> ServerOptions {
    ServerOptions {
        port: 0,
        ..ServerOptions::default()
    }
}

async fn start(options: ServerOptions) -> RunningServer {
    start_with(options, EpisodeRules::default()).await
}

/// Starts a server with some of the [`options`] changed.
async fn start_changed<R>(change: impl FnOnce(&mut ServerOptions) -> R) -> RunningServer {
    let mut options = options();
    change(&mut options);
    start(options).await
}

async fn start_with(options: ServerOptions, rules: EpisodeRules) -> RunningServer {
    RunningServer::start(tools(), rules, options).await
}

/// Starts a server and opens a WebSocket to it.
async fn connect() -> (RunningServer, Socket) {
    let server = start(options()).await;
    let socket = Socket::open(&server, "/ws").await;
    (server, socket)
}

/// Closes the clients and stops the server.
async fn stop<C>(server: RunningServer, clients: C) {
    drop(clients);
    server.stop().await;
}

/// The arguments of `sql_query` for a table of the fixture.
fn asking(query: &str) -> Value {
    let table = "us_gaap_IncomeStatement";
    json!({"company_name": "acme", "table_name": table, "query": query})
}

/// Sends an HTTP request; returns status, headers and body.
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

/// Posts a JSON text; returns the status and the answer as JSON.
async fn post(server: &RunningServer, path: &str, body: &str) -> (u16, Value) {
    let (status, _, text) = request(server, "POST", path, JSON, body).await;
    (status, json_or_text(text))
}

/// Gets a path; returns the status and the answer as JSON.
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

/// Creates a session over HTTP and returns its id.
async fn create_session(server: &RunningServer) -> String {
    let created = rpc(server, "openenv/session/create", json!({})).await;
    let id = created["result"]["session_id"].as_str();
    id.unwrap_or_else(|| panic!("{created}")).to_owned()
}
