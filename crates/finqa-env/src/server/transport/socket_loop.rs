//! Serves one WebSocket: `/ws` with OpenEnv's messages, `/mcp` with JSON-RPC. Each message gets one
//! reply, in order. The server continues to read the socket while it prepares a reply, so that the
//! slot of a client that disconnects is freed at once. An idle socket costs its buffers and one
//! timer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use finqa_core::text::head;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Error as SocketError;
use tracing::info;

use crate::server::options::MESSAGE_BYTES;
use crate::server::protocol::json_rpc::{self, RpcError};
use crate::server::protocol::messages;
use crate::server::state::ServerState;
use crate::server::state::answer_memory::AnswerShare;
use crate::server::state::metrics::RefusalReason;
use crate::server::state::sessions::SessionHandle;
use crate::server::transport::connections::ConnectionPlace;

/// The protocol of a socket's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketProtocol {
    /// OpenEnv's messages.
    OpenEnv,
    JsonRpc,
}

/// The reason why a socket ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SocketEnd {
    /// The peer is gone.
    Gone,
    /// The client closed the session, or its session was refused.
    Done,
    Shutdown,
    /// A text is not UTF-8.
    NotText,
    /// A message is over the limit.
    TooLarge,
}

impl SocketEnd {
    fn of(error: axum::Error) -> Self {
        match error.into_inner().downcast_ref() {
            Some(SocketError::Capacity(_)) => Self::TooLarge,
            Some(SocketError::Utf8(_)) => Self::NotText,
            _ => Self::Gone,
        }
    }

    /// The code (RFC 6455, section 7.4) and the reason with which the socket is closed; `None` if
    /// it is closed already.
    fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Gone => return None,
            Self::Done => (1000, ""),
            Self::Shutdown => (1001, "the server is shutting down"),
            Self::NotText => (1007, "text frames must be UTF-8"),
            Self::TooLarge => (1009, "message too big"),
        };
        let reason = reason.into();
        Some(CloseFrame { code, reason })
    }
}

/// Time limit for sending one message. A client that does not read it by then is disconnected. Set
/// by hand.
const SEND_LIMIT: Duration = Duration::from_secs(60);
/// Time limit for the closing handshake, in which the peer reads the last message. Set by hand: the
/// slot of the session is already free.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// Answers a handshake. The socket runs on a separate task, which outlives the request.
/// `session_id` names the session to attach to; if it is missing, the socket opens a session.
pub(crate) fn accept(
    handshake: WebSocketUpgrade,
    app: Arc<ServerState>,
    place: ConnectionPlace,
    protocol: SocketProtocol,
    session_id: Option<String>,
) -> Response {
    let tracked = app.tracker.token();
    // The library's buffers have 128 KiB each by default, which is too much for ten thousand idle
    // sockets. They grow when a message needs more, so their size is set by hand.
    handshake
        .read_buffer_size(2 * 1024)
        .write_buffer_size(0)
        .max_message_size(MESSAGE_BYTES)
        .max_frame_size(MESSAGE_BYTES)
        .on_upgrade(move |socket| async move {
            run(socket, app, protocol, session_id).await;
            // Both are kept until here, so that an open socket counts as a connection and the
            // shutdown waits for it.
            drop((place, tracked));
        })
}

/// Opens the socket's session or attaches to one, answers messages, and closes the socket.
async fn run(
    mut socket: WebSocket,
    app: Arc<ServerState>,
    protocol: SocketProtocol,
    session_id: Option<String>,
) {
    let handle = match session_id {
        Some(id) => app
            .sessions
            .attach(&id)
            .map_err(|text| refusal(protocol, &text)),
        None => app
            .sessions
            .open_for_socket(app.environment())
            .map_err(|full| match protocol {
                SocketProtocol::OpenEnv => messages::error(
                    "CAPACITY_REACHED",
                    &full.to_string(),
                    json!({"active_sessions": full.active, "max_sessions": full.max}),
                ),
                SocketProtocol::JsonRpc => RpcError::full(full).answer(Value::Null).to_string(),
            }),
    };
    let ended = match handle {
        Ok(handle) => {
            // Log only the beginning of the id, because whoever knows the whole id may use the
            // session.
            let random = handle.session.id.rsplit('.').next().unwrap_or_default();
            let (session, opened) = (head(random, 8), Instant::now());
            info!(session, "socket opened");
            let ended = converse(&mut socket, &app, protocol, &handle).await;
            info!(
                session,
                seconds = opened.elapsed().as_secs_f64(),
                "socket closed"
            );
            // Drop the handle before the close frame is sent, so that the slot is free when the
            // client learns that the socket is closing.
            ended
        }
        Err(refused) => send(&mut socket, refused).await,
    };
    let end = ended.err().unwrap_or(SocketEnd::Done);
    match end {
        SocketEnd::NotText => app.metrics.count_refusal(RefusalReason::Invalid),
        SocketEnd::TooLarge => {
            app.metrics.count_refusal(RefusalReason::TooLarge);
            let message = "Message over the server's size limit";
            // If the client does not read it, the socket is closed all the same.
            let _ = send(&mut socket, refusal(protocol, message)).await;
        }
        _ => {}
    }
    if let Some(frame) = end.frame() {
        let _ = tokio::time::timeout(CLOSE_LIMIT, close(&mut socket, frame)).await;
    }
}

/// Sends a close frame and waits for the peer's close frame. If the server ended the connection at
/// once, a reset could destroy the last message.
async fn close(socket: &mut WebSocket, frame: CloseFrame) {
    if socket.send(Message::Close(Some(frame))).await.is_err() {
        return;
    }
    loop {
        match socket.recv().await {
            Some(Ok(_)) => {}
            None => return,
            // The rest of a refused message is never read. Wait until the time limit, so that the
            // peer can read the refusal.
            Some(Err(_)) => std::future::pending().await,
        }
    }
}

fn refusal(protocol: SocketProtocol, text: &str) -> String {
    match protocol {
        SocketProtocol::OpenEnv => messages::error("SESSION_ERROR", text, json!({})),
        SocketProtocol::JsonRpc => RpcError::server(text).answer(Value::Null).to_string(),
    }
}

/// Answers messages until the client closes the session or the socket ends.
async fn converse(
    socket: &mut WebSocket,
    app: &Arc<ServerState>,
    protocol: SocketProtocol,
    handle: &SessionHandle,
) -> Result<(), SocketEnd> {
    let mut waiting: Option<Message> = None;
    let mut unanswered = 0;
    let mut share = AnswerShare::default();
    loop {
        let message = match waiting.take() {
            Some(message) => message,
            None => listen(socket, app, &mut unanswered).await?,
        };
        let outcome = match message {
            Message::Text(text) => {
                handle.session.touch();
                let work = answer(app, protocol, handle, text);
                while_listening(socket, work, &mut waiting).await?
            }
            Message::Binary(_) => {
                app.metrics.count_refusal(RefusalReason::Invalid);
                let message = "Binary messages are not read here; send JSON as text";
                SocketReply::Text(refusal(protocol, message))
            }
            Message::Close(_) => return Err(SocketEnd::Gone),
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        let mut text = match outcome {
            SocketReply::Text(text) => text,
            SocketReply::None => continue,
            SocketReply::Close => return Ok(()),
        };
        // The library keeps a buffer as large as the longest answer, so keep the share too.
        if !app.answers.reserve(&mut share, text.len()) {
            app.metrics.count_refusal(RefusalReason::Memory);
            text = refusal(protocol, CROWDED);
        }
        send(socket, text).await?;
    }
}

/// The message that is sent instead of an answer for which too little memory is left.
const CROWDED: &str = "The server holds too many large answers; ask for less, or try again";

async fn receive(socket: &mut WebSocket) -> Result<Message, SocketEnd> {
    let message = socket.recv().await.ok_or(SocketEnd::Gone)?;
    message.map_err(SocketEnd::of)
}

/// Waits for the next message. Sends pings to a silent peer, and ends the socket after
/// `ping_timeout`.
async fn listen(
    socket: &mut WebSocket,
    app: &Arc<ServerState>,
    unanswered: &mut u32,
) -> Result<Message, SocketEnd> {
    let pings = app.options.pings();
    let interval = app.options.ping_timeout / pings;
    loop {
        tokio::select! {
            // Biased, so that a message that has arrived is answered before the shutdown is
            // noticed.
            biased;
            message = receive(socket) => {
                *unanswered = 0;
                return message;
            }
            () = app.shutdown.cancelled() => return Err(SocketEnd::Shutdown),
            () = tokio::time::sleep(interval) => {
                // Count pings instead of measuring time, because a stall of the server would look
                // like silence of its peers.
                *unanswered += 1;
                if *unanswered >= pings || socket.send(Message::Ping(Default::default())).await.is_err() {
                    return Err(SocketEnd::Gone);
                }
            }
        }
    }
}

/// Waits for a reply and watches the socket meanwhile. If a message arrives early, it is kept for
/// its turn, and nothing more is read until then.
async fn while_listening(
    socket: &mut WebSocket,
    mut work: BoxFuture<'_, SocketReply>,
    waiting: &mut Option<Message>,
) -> Result<SocketReply, SocketEnd> {
    loop {
        tokio::select! {
            // Biased, so that a finished reply is sent even if a message arrives at the same time.
            biased;
            outcome = &mut work => return Ok(outcome),
            message = receive(socket), if waiting.is_none() => match message? {
                Message::Ping(_) | Message::Pong(_) => {}
                Message::Close(_) => return Err(SocketEnd::Gone),
                message => *waiting = Some(message),
            },
        }
    }
}

/// The result of a message.
enum SocketReply {
    Text(String),
    /// The message was a notification.
    None,
    /// The message closed the session.
    Close,
}

/// Answers one message. The future is boxed, so that an idle socket takes no memory for it.
fn answer<'a>(
    app: &'a Arc<ServerState>,
    protocol: SocketProtocol,
    handle: &'a SessionHandle,
    text: Utf8Bytes,
) -> BoxFuture<'a, SocketReply> {
    Box::pin(async move {
        match protocol {
            SocketProtocol::OpenEnv => {
                let answer = messages::answer(app, &handle.session, &text).await;
                answer.map_or(SocketReply::Close, SocketReply::Text)
            }
            SocketProtocol::JsonRpc => {
                let answer = json_rpc::answer_text(app, &text, Some(&handle.session)).await;
                answer.map_or(SocketReply::None, |answer| {
                    SocketReply::Text(answer.to_string())
                })
            }
        }
    })
}

async fn send(socket: &mut WebSocket, text: String) -> Result<(), SocketEnd> {
    match tokio::time::timeout(SEND_LIMIT, socket.send(Message::text(text))).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(SocketEnd::Gone),
    }
}
