//! One WebSocket: `/ws` with OpenEnv's messages, `/mcp` with JSON-RPC. Replies
//! go out in the order of the messages, one each. While a reply is being made
//! the socket is still read, so that a client that goes away frees its slot at
//! once. An idle socket costs its buffers and one timer.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Error as SocketError;

use crate::server::options::MESSAGE_BYTES;
use crate::server::protocol::json_rpc::{self, RpcError};
use crate::server::protocol::messages::{self, MessageOutcome};
use crate::server::state::ServerState;
use crate::server::state::answer_memory::AnswerShare;
use crate::server::state::metrics::Rejection;
use crate::server::state::sessions::SessionHandle;
use crate::server::transport::connections::ConnectionPlace;
use crate::server::transport::log::SocketLog;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketProtocol {
    /// OpenEnv's messages.
    OpenEnv,
    JsonRpc,
}

/// The reason why the conversation ended.
enum SocketEnd {
    /// The peer is gone.
    Gone,
    /// Close politely, with a code and a reason.
    Close(u16, &'static str),
}

/// Codes with which a socket is closed (RFC 6455, section 7.4).
const NORMAL: u16 = 1000;
const AWAY: u16 = 1001;
const INVALID: u16 = 1007;
const SIZE: u16 = 1009;

/// Timeout of sending one message, and of the closing handshake.
const SEND_LIMIT: Duration = Duration::from_secs(60);
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// Answers a handshake; the socket runs on a separate task, which outlives the request.
/// `session_id` names a session to attach to.
pub(crate) fn accept(
    handshake: WebSocketUpgrade,
    app: Arc<ServerState>,
    place: ConnectionPlace,
    protocol: SocketProtocol,
    session_id: Option<String>,
) -> Response {
    let tracked = app.tracker.token();
    // The library's buffers are 128 KiB each by default, which ten thousand idle sockets
    // cannot afford; they grow when a message needs it.
    handshake
        .read_buffer_size(2 * 1024)
        .write_buffer_size(0)
        .max_message_size(MESSAGE_BYTES)
        .max_frame_size(MESSAGE_BYTES)
        .on_upgrade(move |socket| async move {
            run(socket, app, protocol, session_id).await;
            drop((place, tracked));
        })
}

/// Runs a socket to its end.
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
    let end = match handle {
        Ok(handle) => {
            let end = converse(&mut socket, &app, protocol, &handle).await;
            // The slot is free before the client can know that the socket is closing.
            drop(handle);
            end
        }
        Err(refused) => match send(&mut socket, refused).await {
            Ok(()) => SocketEnd::Close(NORMAL, ""),
            Err(end) => end,
        },
    };
    if let SocketEnd::Close(code, reason) = end {
        let _ = tokio::time::timeout(CLOSE_LIMIT, close(&mut socket, code, reason)).await;
    }
}

/// Sends a close frame and waits for the peer's, so that the last message is read and not lost
/// to a reset.
async fn close(socket: &mut WebSocket, code: u16, reason: &'static str) {
    let frame = CloseFrame {
        code,
        reason: reason.into(),
    };
    if socket.send(Message::Close(Some(frame))).await.is_err() {
        return;
    }
    loop {
        match socket.recv().await {
            Some(Ok(_)) => {}
            None => return,
            // The rest of a message that was refused is not read: the peer has until the time
            // limit to read what it was told.
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

async fn converse(
    socket: &mut WebSocket,
    app: &Arc<ServerState>,
    protocol: SocketProtocol,
    handle: &SessionHandle,
) -> SocketEnd {
    let mut waiting: Option<Message> = None;
    let mut unanswered = 0;
    let mut share = AnswerShare::default();
    let _log = SocketLog::open(&handle.session.id);
    loop {
        let message = match waiting.take() {
            Some(message) => message,
            None => match listen(socket, app, &mut unanswered).await {
                Ok(message) => message,
                Err(fault) => return fault.explain(socket, app, protocol).await,
            },
        };
        let outcome = match message {
            Message::Text(text) => {
                handle.session.touch();
                let work = answer(app, protocol, handle, text);
                match while_listening(socket, work, &mut waiting).await {
                    Ok(outcome) => outcome,
                    Err(fault) => return fault.explain(socket, app, protocol).await,
                }
            }
            Message::Binary(_) => {
                app.metrics.rejected(Rejection::Invalid);
                let message = "Binary messages are not read here; send JSON as text";
                MessageOutcome::Reply(refusal(protocol, message))
            }
            Message::Close(_) => return SocketEnd::Gone,
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        let MessageOutcome::Reply(mut text) = outcome else {
            return SocketEnd::Close(NORMAL, "");
        };
        // The library keeps a buffer of the longest answer, so the share is kept too.
        if !app.answers.reserve(&mut share, text.len()) {
            app.metrics.rejected(Rejection::Memory);
            text = refusal(protocol, CROWDED);
        }
        if let Err(end) = send(socket, text).await {
            return end;
        }
    }
}

/// Said of an answer for which there is no memory.
const CROWDED: &str = "The server holds too many large answers; ask for less, or try again";

/// The reason why nothing more is read.
enum ReadFault {
    Shutdown,
    Gone,
    /// A message is over the limit.
    TooLarge,
    /// A text that is not UTF-8.
    NotText,
}

impl ReadFault {
    fn of(error: axum::Error) -> Self {
        match error.into_inner().downcast_ref() {
            Some(SocketError::Capacity(_)) => Self::TooLarge,
            Some(SocketError::Utf8(_)) => Self::NotText,
            _ => Self::Gone,
        }
    }

    async fn explain(
        self,
        socket: &mut WebSocket,
        app: &ServerState,
        protocol: SocketProtocol,
    ) -> SocketEnd {
        match self {
            Self::Gone => SocketEnd::Gone,
            Self::Shutdown => SocketEnd::Close(AWAY, "the server is shutting down"),
            Self::NotText => {
                app.metrics.rejected(Rejection::Invalid);
                SocketEnd::Close(INVALID, "text frames must be UTF-8")
            }
            Self::TooLarge => {
                app.metrics.rejected(Rejection::TooLarge);
                let message = "Message over the server's size limit";
                let _ = send(socket, refusal(protocol, message)).await;
                SocketEnd::Close(SIZE, "message too big")
            }
        }
    }
}

async fn receive(socket: &mut WebSocket) -> Result<Message, ReadFault> {
    let message = socket.recv().await.ok_or(ReadFault::Gone)?;
    message.map_err(ReadFault::of)
}

/// Waits for the next message; pings a silent peer, and gives it up after `ping_timeout`.
async fn listen(
    socket: &mut WebSocket,
    app: &Arc<ServerState>,
    unanswered: &mut u32,
) -> Result<Message, ReadFault> {
    let pings = app.options.pings();
    let interval = app.options.ping_timeout / pings;
    loop {
        tokio::select! {
            biased;
            message = receive(socket) => {
                *unanswered = 0;
                return message;
            }
            () = app.shutdown.cancelled() => return Err(ReadFault::Shutdown),
            () = tokio::time::sleep(interval) => {
                // Pings are counted and not time: a server that was held up itself
                // must not take its peers for silent.
                *unanswered += 1;
                if *unanswered >= pings || socket.send(Message::Ping(Default::default())).await.is_err() {
                    return Err(ReadFault::Gone);
                }
            }
        }
    }
}

/// Awaits a reply and watches the socket meanwhile; one message that comes
/// early is kept for its turn.
async fn while_listening(
    socket: &mut WebSocket,
    mut work: BoxFuture<'_, MessageOutcome>,
    waiting: &mut Option<Message>,
) -> Result<MessageOutcome, ReadFault> {
    loop {
        tokio::select! {
            biased;
            outcome = &mut work => return Ok(outcome),
            message = receive(socket), if waiting.is_none() => match message? {
                Message::Ping(_) | Message::Pong(_) => {}
                Message::Close(_) => return Err(ReadFault::Gone),
                message => *waiting = Some(message),
            },
        }
    }
}

/// Boxed, so that a socket that waits does not hold memory for the work.
fn answer<'a>(
    app: &'a Arc<ServerState>,
    protocol: SocketProtocol,
    handle: &'a SessionHandle,
    text: Utf8Bytes,
) -> BoxFuture<'a, MessageOutcome> {
    Box::pin(async move {
        match protocol {
            SocketProtocol::OpenEnv => messages::answer(app, &handle.session, &text).await,
            SocketProtocol::JsonRpc => MessageOutcome::Reply(
                json_rpc::answer_text(app, &text, Some(&handle.session))
                    .await
                    .to_string(),
            ),
        }
    })
}

async fn send(socket: &mut WebSocket, text: String) -> Result<(), SocketEnd> {
    match tokio::time::timeout(SEND_LIMIT, socket.send(Message::text(text))).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(SocketEnd::Gone),
    }
}
