//! One WebSocket: `/ws` with OpenEnv's messages, `/mcp` with JSON-RPC. Replies
//! go out in the order of the messages, one each. While a reply is being made
//! the socket is still read, so that a client that goes away frees its slot at
//! once. An idle socket costs its buffers and one timer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::app::App;
use super::log::SocketLog;
use super::message;
use super::rpc::{self, RpcError};
use super::sessions::Seat;

/// Which language a socket speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// OpenEnv's messages.
    OpenEnv,
    /// JSON-RPC.
    JsonRpc,
}

/// What a message leads to.
pub(super) enum Next {
    /// Send this and go on.
    Reply(String),
    /// The client is done.
    Close,
}

/// Why the conversation ended.
enum End {
    /// The peer is gone; there is nobody to tell.
    Gone,
    /// Close politely, with a code and a reason.
    Close(u16, &'static str),
}

/// How long a peer may take to accept one message or to finish the closing handshake.
const SEND_LIMIT: Duration = Duration::from_secs(60);
const CLOSE_LIMIT: Duration = Duration::from_secs(1);
/// Pings that a peer may leave without any sign of life.
const MOST_UNANSWERED: u32 = 2;

/// Runs a socket to its end. `session_id` names a session to attach to.
pub(super) async fn run(
    mut socket: WebSocket,
    app: Arc<App>,
    protocol: Protocol,
    session_id: Option<String>,
) {
    let seat = match session_id {
        Some(id) => app
            .sessions
            .attach(&id)
            .map_err(|e| refusal(protocol, &e.to_string())),
        None => app
            .sessions
            .take_seat(app.environment())
            .map_err(|full| match protocol {
                Protocol::OpenEnv => message::error(
                    "CAPACITY_REACHED",
                    &full.to_string(),
                    json!({"active_sessions": full.active, "max_sessions": full.max}),
                ),
                Protocol::JsonRpc => RpcError::full(full).answer(Value::Null).to_string(),
            }),
    };
    let end = match seat {
        Ok(seat) => {
            let end = converse(&mut socket, &app, protocol, &seat).await;
            // The slot is free before the client can know that the socket is closing.
            drop(seat);
            end
        }
        Err(refused) => match send(&mut socket, refused).await {
            Ok(()) => End::Close(close_code::NORMAL, ""),
            Err(end) => end,
        },
    };
    if let End::Close(code, reason) = end {
        close(&mut socket, code, reason).await;
    }
}

fn refusal(protocol: Protocol, text: &str) -> String {
    match protocol {
        Protocol::OpenEnv => message::error("SESSION_ERROR", text, json!({})),
        Protocol::JsonRpc => RpcError::server(text).answer(Value::Null).to_string(),
    }
}

async fn converse(socket: &mut WebSocket, app: &Arc<App>, protocol: Protocol, seat: &Seat) -> End {
    let mut waiting: Option<Message> = None;
    let mut unanswered = 0;
    let mut log = SocketLog::open(seat.session.id);
    loop {
        let message = match waiting.take() {
            Some(message) => message,
            None => match listen(socket, app, &mut unanswered).await {
                Ok(message) => message,
                Err(end) => return end.explain(socket, protocol).await,
            },
        };
        let next = match message {
            Message::Text(text) => {
                seat.session.touch();
                let started = Instant::now();
                let work = answer(app, protocol, seat, text.as_str().to_owned());
                match while_listening(socket, work, &mut waiting).await {
                    Ok(next) => {
                        log.message(started);
                        next
                    }
                    Err(end) => return end.explain(socket, protocol).await,
                }
            }
            Message::Binary(_) => Next::Reply(refusal(
                protocol,
                "Binary messages are not read here; send JSON as text",
            )),
            Message::Close(_) => return End::Gone,
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        match next {
            Next::Reply(text) => {
                if let Err(end) = send(socket, text).await {
                    return end;
                }
            }
            Next::Close => return End::Close(close_code::NORMAL, ""),
        }
    }
}

/// A fault of the transport, before anything is said about it.
enum Fault {
    Gone,
    TooLarge,
    NotText,
    Shutdown,
}

impl Fault {
    fn of(error: &axum::Error) -> Self {
        // axum hides tungstenite's error type; its text is all there is to go by.
        let text = error.to_string();
        if text.contains("too long") || text.contains("too large") {
            Self::TooLarge
        } else if text.contains("UTF-8") || text.contains("utf-8") {
            Self::NotText
        } else {
            Self::Gone
        }
    }

    async fn explain(self, socket: &mut WebSocket, protocol: Protocol) -> End {
        match self {
            Self::Gone => End::Gone,
            Self::Shutdown => End::Close(close_code::AWAY, "the server is shutting down"),
            Self::TooLarge => {
                let text = refusal(protocol, "Message over the server's size limit");
                let _ = send(socket, text).await;
                End::Close(close_code::SIZE, "message too big")
            }
            Self::NotText => End::Close(close_code::INVALID, "text frames must be UTF-8"),
        }
    }
}

/// Waits for the next message; pings a silent peer, and gives it up after two without an answer.
async fn listen(
    socket: &mut WebSocket,
    app: &Arc<App>,
    unanswered: &mut u32,
) -> Result<Message, Fault> {
    let interval = app.options.ping_interval;
    loop {
        tokio::select! {
            biased;
            message = socket.recv() => {
                *unanswered = 0;
                return match message {
                    Some(Ok(message)) => Ok(message),
                    Some(Err(error)) => Err(Fault::of(&error)),
                    None => Err(Fault::Gone),
                };
            }
            () = app.shutdown.cancelled() => return Err(Fault::Shutdown),
            () = tokio::time::sleep(interval) => {
                // Pings are counted and not time: a server that was held up itself
                // must not take its peers for silent.
                if *unanswered >= MOST_UNANSWERED {
                    return Err(Fault::Gone);
                }
                *unanswered += 1;
                if socket.send(Message::Ping(bytes::Bytes::new())).await.is_err() {
                    return Err(Fault::Gone);
                }
            }
        }
    }
}

/// Awaits a reply and watches the socket meanwhile; one message that comes
/// early is kept for its turn.
async fn while_listening(
    socket: &mut WebSocket,
    mut work: BoxFuture<'_, Next>,
    waiting: &mut Option<Message>,
) -> Result<Next, Fault> {
    loop {
        tokio::select! {
            biased;
            next = &mut work => return Ok(next),
            message = socket.recv(), if waiting.is_none() => match message {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) | None => return Err(Fault::Gone),
                Some(Ok(message)) => *waiting = Some(message),
                Some(Err(error)) => return Err(Fault::of(&error)),
            },
        }
    }
}

/// Boxed, so that a socket that waits does not hold room for the work.
fn answer<'a>(
    app: &'a Arc<App>,
    protocol: Protocol,
    seat: &'a Seat,
    text: String,
) -> BoxFuture<'a, Next> {
    Box::pin(async move {
        seat.session.rate.wait().await;
        match protocol {
            Protocol::OpenEnv => message::answer(app, &seat.session, &text).await,
            Protocol::JsonRpc => Next::Reply(
                rpc::answer_text(app, &text, Some(&seat.session))
                    .await
                    .to_string(),
            ),
        }
    })
}

async fn send(socket: &mut WebSocket, text: String) -> Result<(), End> {
    match tokio::time::timeout(SEND_LIMIT, socket.send(Message::Text(text.into()))).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(End::Gone),
    }
}

/// Says goodbye and waits a moment for the peer's, so that what was sent last
/// is read and not lost to a reset.
async fn close(socket: &mut WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    let goodbye = async {
        if socket.send(Message::Close(Some(frame))).await.is_ok() {
            while let Some(Ok(_)) = socket.recv().await {}
        }
    };
    let _ = tokio::time::timeout(CLOSE_LIMIT, goodbye).await;
}
