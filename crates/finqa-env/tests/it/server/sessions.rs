//! Sessions: how many there can be, who can use them, and how they end.

use std::time::Duration;

use serde_json::json;

use super::{Socket, create_session, get, options, rpc, start, start_changed, stop};

#[tokio::test]
async fn a_full_server_says_so_and_a_freed_slot_is_free_at_once() {
    let server = start_changed(|it| it.max_sessions = 1).await;
    for _ in 0..3 {
        let mut first = Socket::open(&server, "/ws").await;
        first.state().await;
        let mut second = Socket::open(&server, "/ws").await;
        assert_eq!(
            second.next().await,
            Some(json!({"type": "error", "data": {
                "message": "Server at capacity: 1/1 sessions active. Cannot accept new connections.",
                "code": "CAPACITY_REACHED", "active_sessions": 1, "max_sessions": 1}}))
        );
        assert_eq!(second.close_code().await, Some(1000));
        let refused = rpc(&server, "openenv/session/create", json!({})).await;
        assert_eq!(refused["error"]["code"], -32000);
        assert_eq!(
            refused["error"]["data"],
            json!({"active_sessions": 1, "max_sessions": 1})
        );
        let mut third = Socket::open(&server, "/mcp").await;
        assert_eq!(third.answer().await["error"]["code"], -32000);
        first.close().await;
    }
    server.stop().await;
}

#[tokio::test]
async fn a_socket_attaches_to_a_session_made_over_http() {
    let server = start(options()).await;
    let id = create_session(&server).await;
    let path = format!("/ws?session_id={id}");

    let mut socket = Socket::open(&server, &path).await;
    socket.reset(json!({"episode_id": "shared"})).await;
    let mut second = Socket::open(&server, &path).await;
    let refused = second.answer().await;
    assert_eq!(refused["data"]["code"], "SESSION_ERROR");
    assert_eq!(
        refused["data"]["message"],
        format!("Session {id} already has an attached WebSocket")
    );

    let listed = rpc(&server, "tools/list", json!({"session_id": id})).await;
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(4));

    socket.close().await;
    let mut again = Socket::open(&server, &path).await;
    let state = again.state().await;
    assert_eq!(
        state["episode_id"], "shared",
        "the episode outlives its socket"
    );

    let closing = rpc(&server, "openenv/session/close", json!({"session_id": id})).await;
    assert_eq!(
        closing["result"],
        json!({"session_id": id, "closed": false, "closing": true})
    );
    again.close().await;
    let gone = rpc(&server, "tools/list", json!({"session_id": id})).await;
    assert_eq!(gone["error"]["code"], -32602);
    let unknown = format!("Unknown session_id: {id}");
    assert_eq!(gone["error"]["message"], unknown);
    let missing = "Invalid params - 'session_id' is required";
    for (params, said) in [(json!({"session_id": id}), &*unknown), (json!({}), missing)] {
        let closed = rpc(&server, "openenv/session/close", params).await;
        assert_eq!(closed["error"]["message"], said);
    }
    stop(server, (socket, second, again)).await;
}

#[tokio::test]
async fn a_session_nobody_uses_is_dropped() {
    let server = start_changed(|it| it.idle_timeout = Duration::from_millis(20)).await;
    let id = create_session(&server).await;
    let mut dropped = false;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(60)).await;
        let listed = rpc(&server, "tools/list", json!({"session_id": id})).await;
        dropped = listed["error"]["code"] == -32602;
        if dropped {
            break;
        }
    }
    assert!(dropped, "the session was kept");
    server.stop().await;
}

#[tokio::test]
async fn a_shutdown_closes_the_sockets_and_ends() {
    let server = start(options()).await;
    let mut sockets = Vec::new();
    for _ in 0..20 {
        let mut socket = Socket::open(&server, "/ws").await;
        socket.ask(json!({"type": "reset"})).await;
        sockets.push(socket);
    }
    assert_eq!(get(&server, "/health").await.0, 200);
    let stopping = tokio::spawn(server.stop());
    for mut socket in sockets {
        assert_eq!(socket.close_code().await, Some(1001));
    }
    stopping.await.expect("joined");
}

#[tokio::test]
async fn hundreds_of_sessions_play_concurrently() {
    let server = start(options()).await;
    let mut playing = Vec::new();
    for n in 0..300 {
        let mut socket = Socket::open(&server, "/ws").await;
        playing.push(tokio::spawn(async move {
            socket.reset(json!({"episode_id": format!("e{n}")})).await;
            for _ in 0..3 {
                socket.list_tables("x").await;
            }
            let state = socket.state().await;
            assert_eq!(state["episode_id"], format!("e{n}"));
            assert_eq!(state["step_count"], 3);
        }));
    }
    for one in playing {
        one.await.expect("played");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_silent_peer_is_disconnected() {
    use tokio::io::AsyncReadExt;
    let server = start_changed(|it| it.ping_timeout = Duration::from_millis(30)).await;
    // A WebSocket whose peer never reads, and so never answers a ping.
    let mut silent = tokio::net::TcpStream::connect(server.address())
        .await
        .expect("connected");
    let handshake = "GET /ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                     sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    tokio::io::AsyncWriteExt::write_all(&mut silent, handshake.as_bytes())
        .await
        .expect("sent");
    let mut heard = Vec::new();
    silent
        .read_to_end(&mut heard)
        .await
        .expect("the server closes it");
    assert!(
        heard.windows(2).any(|bytes| bytes == [0x89, 0x00]),
        "it was pinged first"
    );
    server.stop().await;
}

/// A proxy in front of several servers routes requests by this id.
#[tokio::test]
async fn session_ids_begin_with_the_servers_id() {
    let server = start_changed(|it| it.server_id = Some("b".to_owned())).await;
    let id = create_session(&server).await;
    let random = id.strip_prefix("b.").expect("the server's id");
    assert_eq!(random.len(), 36, "{id}");
    let mut socket = Socket::open(&server, &format!("/ws?session_id={id}")).await;
    socket.state().await;
    let mut without = Socket::open(&server, &format!("/ws?session_id={random}")).await;
    let refused = without.answer().await;
    let unknown = format!("Unknown session_id: {random}");
    let wanted = json!({"message": unknown, "code": "SESSION_ERROR"});
    assert_eq!(refused["data"], wanted);
    stop(server, (socket, without)).await;
}
