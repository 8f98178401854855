//! What clients together can make the server hold: half messages, large
//! bodies, answers that nobody takes.

use std::time::Duration;

use finqa_env::server::{RunningServer, ServerOptions};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::{JSON, Socket, options, post, request, start, start_changed, stop};

/// A session that has sent 128 KiB of a message in pieces, and never the rest;
/// or the server's answer, with the code with which it closed the socket.
async fn half_message(server: &RunningServer) -> Result<Socket, (String, u16)> {
    let mut socket = Socket::open(server, "/ws").await;
    let mut kind = Data::Text;
    for _ in 0..32 {
        let frame = Frame::message(vec![b' '; 4096], OpCode::Data(kind), false);
        if socket.0.send(Message::Frame(frame)).await.is_err() {
            break;
        }
        kind = Data::Continue;
    }
    // Answered once the pieces are read.
    let _ = socket.0.send(Message::Ping(Vec::new().into())).await;
    let mut said = String::new();
    loop {
        match socket.0.next().await {
            Some(Ok(Message::Pong(_))) => return Ok(socket),
            Some(Ok(Message::Text(text))) => said = text.as_str().to_owned(),
            Some(Ok(Message::Close(Some(frame)))) => return Err((said, frame.code.into())),
            other => panic!("{said} {other:?}"),
        }
    }
}

/// A thousand sessions, each within its limit of 4 MiB, could hold 4 GB.
#[tokio::test]
async fn half_messages_of_many_sessions_share_one_bound() {
    let server = start(ServerOptions {
        message_limit: 1 << 20,
        // Of which one client may hold a quarter.
        request_bytes: 4 << 20,
        ..options()
    })
    .await;
    let (mut held, mut refused) = (Vec::new(), 0);
    for _ in 0..15 {
        match half_message(&server).await {
            Ok(socket) => held.push(socket),
            Err((said, code)) => {
                assert!(said.contains("too many large messages"), "{said}");
                assert_eq!(code, 1013, "try again later");
                refused += 1;
            }
        }
    }
    // 128 KiB and the heads of frames, less the 16 KiB that are not counted, in steps of 16.
    assert_eq!((held.len(), refused), (8, 7));
    // Nobody else notices: small messages always pass.
    let mut honest = Socket::open(&server, "/ws").await;
    let answer = honest.raw(&" ".repeat(12_000)).await;
    assert_eq!(answer["data"]["code"], "INVALID_JSON");
    assert_eq!(post(&server, "/reset", "{}").await.0, 200);
    // Large bodies over HTTP are asked to retry later.
    let large = format!("{{\"episode_id\": \"{}\"}}", "x".repeat(40_000));
    let (status, headers, said) = request(&server, "POST", "/reset", JSON, &large).await;
    assert_eq!(status, 503, "{said}");
    assert_eq!(headers["retry-after"], "1");
    // The memory is free again when they are gone.
    drop(held);
    let mut status = 503;
    for _ in 0..200 {
        status = post(&server, "/reset", &large).await.0;
        if status != 503 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(status, 422, "refused for its length, not for want of room");
    stop(server, honest).await;
}

/// A step whose result is about so many bytes, three times in its answer.
fn large_result(bytes: usize) -> Value {
    let catalog = crate::tools::fixture();
    let (company, found) = catalog.companies().first_key_value().expect("a company");
    let table = found.tables.keys().next().expect("a table");
    let part = format!("replace(hex(zeroblob({})), '0', 'é')", bytes / 24);
    let query = format!("SELECT {part} AS a, {part} AS b WHERE 1");
    json!({"company_name": company, "table_name": table, "query": query})
}

#[tokio::test]
async fn a_long_answer_arrives_whole_in_its_pieces() {
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
            json!({"type": "step", "data": {"tool_name": "sql_query", "arguments": asked}})
        } else {
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": "sql_query", "arguments": asked}})
        };
        let answer = socket.ask(message).await.to_string();
        assert!(answer.contains("too many large answers"), "{answer:.300}");
        let answer = socket.raw("nope").await.to_string();
        assert!(answer.contains("line 1 column 1"), "{answer:.300}");
    }
    let body = json!({"action": {"tool_name": "sql_query", "arguments": asked}});
    let (status, headers, said) = request(&server, "POST", "/step", JSON, &body.to_string()).await;
    assert_eq!(status, 503, "{said:.300}");
    assert_eq!(headers["retry-after"], "1");
    assert!(said.contains("too many large answers"), "{said:.300}");
    let (status, _) = post(&server, "/reset", "{}").await;
    assert_eq!(status, 200);
    server.stop().await.expect("a clean end");
}

/// The longest query that is run, with every byte of it escaped, is far within
/// the limit; the memory is free again after each, however many there are.
#[tokio::test]
async fn the_longest_honest_messages_pass_one_after_the_other() {
    let server = start_changed(|it| it.request_bytes = 400_000).await;
    let mut socket = Socket::open(&server, "/ws").await;
    let mut asked = large_result(1200);
    let query = asked["query"].as_str().expect("a query").to_owned();
    let filled = format!("{query} -- {}", "\u{1}".repeat(9_990 - query.len()));
    asked["query"] = filled.into();
    let message =
        json!({"type": "step", "data": {"tool_name": "sql_query", "arguments": asked}}).to_string();
    assert!(message.len() > 50_000, "{}", message.len());
    for _ in 0..20 {
        let answer = socket.raw(&message).await;
        let text = answer["data"]["observation"]["result"]["data"].to_string();
        assert!(text.contains("u00e9"), "{answer:.300}");
    }
    stop(server, socket).await;
}

/// Announced bodies took memory for as long as a body may take to arrive.
#[tokio::test]
async fn bodies_that_are_announced_but_not_sent_take_no_memory() {
    use tokio::io::AsyncWriteExt as _;
    let server = start_changed(|it| it.request_bytes = 1 << 20).await;
    let mut silent = Vec::new();
    for _ in 0..8 {
        let stream = tokio::net::TcpStream::connect(server.address()).await;
        let mut stream = stream.expect("connected");
        let head = "POST /reset HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                    content-length: 262144\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.expect("sent");
        silent.push(stream);
    }
    let large = format!("{{\"episode_id\": \"{}\"}}", "x".repeat(40_000));
    for _ in 0..20 {
        // Refused because of its length, not for lack of memory.
        assert_eq!(post(&server, "/reset", &large).await.0, 422);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stop(server, silent).await;
}

/// One client's half messages took all the memory.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn one_client_cannot_take_all_memory() {
    let server = start_changed(|it| {
        it.message_limit = 1 << 20;
        it.request_bytes = 1 << 20;
    })
    .await;
    let (mut held, mut refused) = (Vec::new(), 0);
    for _ in 0..6 {
        match half_message(&server).await {
            Ok(socket) => held.push(socket),
            Err(_) => refused += 1,
        }
    }
    assert_eq!((held.len(), refused), (2, 4));
    let mut other = Socket::open_from(&server, [127, 0, 0, 2]).await;
    let answer = other.raw(&" ".repeat(100_000)).await;
    assert_eq!(answer["data"]["code"], "INVALID_JSON");
    stop(server, (held, other)).await;
}
