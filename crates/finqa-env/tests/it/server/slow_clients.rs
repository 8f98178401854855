//! Clients that send a byte now and then, or read none: the server closes their connections, and no
//! other client waits for them.

use std::time::Duration;

use futures::future::join_all;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{get, options, start, start_changed};
use crate::support::running::RunningServer;
use finqa_env::server::ServerOptions;

/// A server that waits for a request only as long as a slow test machine needs to send one.
async fn with_short_timeout() -> RunningServer {
    start(ServerOptions {
        request_time: Duration::from_millis(300),
        ..options()
    })
    .await
}

/// Sends `head` and then `rest` over and over, until the server closes the connection. Returns the
/// server's answer.
async fn trickle(server: &RunningServer, head: &str, rest: &'static [u8]) -> String {
    let stream = TcpStream::connect(server.address())
        .await
        .expect("connected");
    let (mut from, mut to) = stream.into_split();
    to.write_all(head.as_bytes()).await.expect("sent");
    let sending = tokio::spawn(async move {
        while to.write_all(rest).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let mut said = Vec::new();
    // The connection may end with a reset, because the server does not read the rest.
    let _ = from.read_to_end(&mut said).await;
    sending.abort();
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn a_body_that_trickles_in_is_answered_with_408() {
    let server = with_short_timeout().await;
    let to = &server;
    let trickled = ["/reset", "/step", "/mcp", "/mcp/stream"].map(|path| async move {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\ncontent-length: 100000\r\n\r\n{{"
        );
        let said = trickle(to, &head, b" ").await;
        assert!(said.starts_with("HTTP/1.1 408"), "{path}: {said}");
        assert!(said.ends_with(r#"{"detail":"The request's body did not come in time"}"#));
    });
    join_all(trickled).await;
    server.stop().await;
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let server = with_short_timeout().await;
    let mut silent = TcpStream::connect(server.address())
        .await
        .expect("connected");
    let mut said = Vec::new();
    silent
        .read_to_end(&mut said)
        .await
        .expect("closed in order");
    assert!(said.is_empty());
    // A connection with one request that then stays open is closed, too.
    let mut once = TcpStream::connect(server.address())
        .await
        .expect("connected");
    once.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .expect("sent");
    once.read_to_end(&mut said).await.expect("closed in order");
    assert!(said.ends_with(br#"{"status":"healthy"}"#));
    server.stop().await;
}

/// Slow connections can use up the limit of connections, but not forever.
#[tokio::test]
async fn a_thousand_slow_clients_are_outlasted() {
    let server = start_changed(|it| {
        it.request_time = Duration::from_millis(300);
        it.max_sessions = 1;
    })
    .await;
    let mut slow = Vec::new();
    for _ in 0..600 {
        let mut stream = TcpStream::connect(server.address())
            .await
            .expect("connected");
        stream.write_all(b"GET /hea").await.expect("sent");
        slow.push(stream);
    }
    assert_eq!(get(&server, "/health").await.0, 200);
    server.stop().await;
}

/// A client that requests answers and never reads one is disconnected.
#[tokio::test]
async fn a_client_that_reads_nothing_is_disconnected() {
    let server = start_changed(|it| {
        it.request_time = Duration::from_millis(300);
        it.ping_timeout = Duration::from_millis(30);
    })
    .await;
    let deaf = TcpStream::connect(server.address())
        .await
        .expect("connected");
    let request = b"GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
    // Write until the buffers of both sides are full, and then until the server disconnects.
    loop {
        match deaf.try_write(request) {
            Ok(_) => tokio::task::yield_now().await,
            Err(full) if full.kind() == std::io::ErrorKind::WouldBlock => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Err(_) => break,
        }
    }
    assert_eq!(get(&server, "/health").await.0, 200);
    server.stop().await;
}
