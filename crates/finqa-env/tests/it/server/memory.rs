//! The server's memory stays limited when many clients send only half of a message or do not read
//! their answers.

use crate::support::running::RunningServer;
use futures::SinkExt;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::{
    JSON, Socket, asking, options, post, request, start, start_changed, step_message, stop,
};

/// A session that has sent 124 KiB of a message in pieces, but not the end of it.
async fn half_message(server: &RunningServer) -> Socket {
    let mut socket = Socket::open(server, "/ws").await;
    let mut kind = Data::Text;
    for _ in 0..31 {
        let frame = Frame::message(vec![b' '; 4096], OpCode::Data(kind), false);
        socket.0.send(Message::Frame(frame)).await.expect("sent");
        kind = Data::Continue;
    }
    socket
}

/// The server answers other sessions while forty sessions have sent only half of their messages.
#[tokio::test]
async fn half_messages_of_many_sessions_disturb_nobody() {
    let server = start(options()).await;
    let mut held = Vec::new();
    for _ in 0..40 {
        held.push(half_message(&server).await);
    }
    let mut honest = Socket::open(&server, "/ws").await;
    let answer = honest.raw(&" ".repeat(100_000)).await;
    assert_eq!(answer["data"]["code"], "INVALID_JSON");
    // The missing part completes one message and makes another too long.
    let mut one = held.pop().expect("a socket");
    let last = Frame::message(vec![b' '; 4096], OpCode::Data(Data::Continue), true);
    one.0.send(Message::Frame(last)).await.expect("sent");
    assert_eq!(one.answer().await["data"]["code"], "INVALID_JSON");
    let mut other = held.pop().expect("a socket");
    let more = Frame::message(vec![b' '; 8192], OpCode::Data(Data::Continue), true);
    other.0.send(Message::Frame(more)).await.expect("sent");
    assert_eq!(other.close_code().await, Some(1009));
    stop(server, (held, honest)).await;
}

/// Arguments of a query whose result is about this long. The answer contains the result three
/// times.
fn large_result(bytes: usize) -> Value {
    let part = format!("replace(hex(zeroblob({})), '0', 'é')", bytes / 24);
    asking(&format!("SELECT {part} AS a, {part} AS b WHERE 1"))
}

#[tokio::test]
async fn a_long_answer_arrives_whole() {
    let server = start(options()).await;
    let asked = large_result(100_000);
    let mut socket = Socket::open(&server, "/ws").await;
    let data = socket.step("sql_query", asked.clone()).await;
    let text = data["observation"]["result"]["data"]
        .as_str()
        .expect("a text");
    assert!(
        text.len() > 90_000 && text.contains("\\u00e9"),
        "{text:.200}"
    );
    let body = json!({"action": {"tool_name": "sql_query", "arguments": asked}});
    let (_, over_http) = post(&server, "/step", &body.to_string()).await;
    assert_eq!(
        over_http["observation"]["result"],
        data["observation"]["result"]
    );
    stop(server, socket).await;
}

#[tokio::test]
async fn an_answer_without_memory_is_one_error_and_the_session_continues() {
    let server = start_changed(|it| it.answer_bytes = 100_000).await;
    let asked = large_result(100_000);
    for path in ["/ws", "/mcp"] {
        let mut socket = Socket::open(&server, path).await;
        let message = if path == "/ws" {
            step_message("sql_query", asked.clone())
        } else {
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": "sql_query", "arguments": asked}})
        };
        let answer = socket.ask(message).await.to_string();
        assert!(answer.contains("too many large answers"), "{answer:.300}");
        let answer = socket.raw("nope").await.to_string();
        assert!(answer.contains("line 1 column 2"), "{answer:.300}");
    }
    let body = json!({"action": {"tool_name": "sql_query", "arguments": asked}});
    let (status, headers, said) = request(&server, "POST", "/step", JSON, &body.to_string()).await;
    assert_eq!(status, 503, "{said:.300}");
    assert_eq!(headers["retry-after"], "1");
    assert!(said.contains("too many large answers"), "{said:.300}");
    let (status, _) = post(&server, "/reset", "{}").await;
    assert_eq!(status, 200);
    server.stop().await;
}

/// The longest query that the server runs fits into a message, even if JSON escapes nearly every
/// byte of it.
#[tokio::test]
async fn the_longest_honest_messages_pass_one_after_the_other() {
    let server = start(options()).await;
    let mut socket = Socket::open(&server, "/ws").await;
    let mut asked = large_result(1200);
    let query = asked["query"].as_str().expect("a query").to_owned();
    let filled = format!("{query} -- {}", "\u{1}".repeat(9_990 - query.len()));
    asked["query"] = filled.into();
    let message = step_message("sql_query", asked).to_string();
    assert!(message.len() > 50_000, "{}", message.len());
    for _ in 0..20 {
        let answer = socket.raw(&message).await;
        let text = answer["data"]["observation"]["result"]["data"].to_string();
        assert!(text.contains("u00e9"), "{answer:.300}");
    }
    stop(server, socket).await;
}
