//! One WebSocket: `/ws` with OpenEnv's messages, `/mcp` with JSON-RPC. Replies
//! go out in the order of the messages, one each. While a reply is being made
//! the socket is still read, so that a client that goes away frees its slot at
//! once. An idle socket costs its buffers and one timer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::server::protocol::json_rpc::{self, RpcError};
use crate::server::protocol::messages::{self, MessageOutcome};
use crate::server::state::ServerState;
use crate::server::state::clients::Client;
use crate::server::state::memory_budget::SMALL_ANSWER;
use crate::server::state::metrics::{Metrics, Rejection};
use crate::server::state::sessions::SessionHandle;
use crate::server::transport::log::SocketLog;
use crate::server::transport::websocket::{SocketFault, SocketMessage, WebSocket};

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

/// Codes with which a socket is closed (RFC 6455, section 7.4, and its registry).
const NORMAL: u16 = 1000;
const AWAY: u16 = 1001;
const INVALID: u16 = 1007;
const SIZE: u16 = 1009;
const AGAIN: u16 = 1013;

/// Timeout of sending one message, and of the closing handshake.
const SEND_LIMIT: Duration = Duration::from_secs(60);
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// Runs a socket to its end. `session_id` names a session to attach to.
pub(crate) async fn run(
    mut socket: WebSocket,
    app: Arc<ServerState>,
    client: &Arc<Client>,
    protocol: SocketProtocol,
    session_id: Option<String>,
) {
    let handle = match session_id {
        Some(id) => app
            .sessions
            .attach(&id)
            .map_err(|e| refusal(protocol, &e.to_string())),
        None => app
            .sessions
            .open_for_socket(app.environment(), client)
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
        let _ = tokio::time::timeout(CLOSE_LIMIT, socket.close(code, reason)).await;
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
    let mut waiting: Option<SocketMessage> = None;
    let mut unanswered = 0;
    let mut log = SocketLog::open(&handle.session.id);
    loop {
        let message = match waiting.take() {
            Some(message) => message,
            None => match listen(socket, app, &mut unanswered).await {
                Ok(message) => message,
                Err(end) => return end.explain(socket, protocol, &app.metrics).await,
            },
        };
        let next = match message {
            SocketMessage::Text(text) => {
                handle.session.touch();
                let started = Instant::now();
                let work = answer(app, protocol, handle, text);
                let next = match while_listening(socket, work, &mut waiting).await {
                    Ok(next) => next,
                    Err(end) => return end.explain(socket, protocol, &app.metrics).await,
                };
                socket.done(waiting.as_ref());
                log.message(started);
                next
            }
            SocketMessage::Binary => {
                app.metrics.rejected(Rejection::Invalid);
                let message = "Binary messages are not read here; send JSON as text";
                MessageOutcome::Reply(refusal(protocol, message))
            }
            SocketMessage::Close => return SocketEnd::Gone,
            SocketMessage::Alive => continue,
        };
        match next {
            MessageOutcome::Reply(text) => {
                // Held until the peer has taken the answer.
                let reserved = handle
                    .session
                    .caller
                    .client
                    .answers
                    .take(text.len(), SMALL_ANSWER);
                let text = match &reserved {
                    Some(_) => text,
                    None => {
                        app.metrics.rejected(Rejection::Memory);
                        refusal(protocol, CROWDED)
                    }
                };
                if let Err(end) = send(socket, text).await {
                    return end;
                }
            }
            MessageOutcome::Close => return SocketEnd::Close(NORMAL, ""),
        }
    }
}

/// Said of an answer for which there is no memory.
const CROWDED: &str = "The server holds too many large answers; ask for less, or try again";

/// The reason why nothing more is read.
enum ReadFault {
    Shutdown,
    Transport(SocketFault),
}

impl From<SocketFault> for ReadFault {
    fn from(fault: SocketFault) -> Self {
        Self::Transport(fault)
    }
}

impl ReadFault {
    const GONE: Self = Self::Transport(SocketFault::Gone);

    async fn explain(
        self,
        socket: &mut WebSocket,
        protocol: SocketProtocol,
        metrics: &Metrics,
    ) -> SocketEnd {
        let (rejection, message, code, reason) = match self {
            Self::Shutdown => return SocketEnd::Close(AWAY, "the server is shutting down"),
            Self::Transport(SocketFault::Gone) => return SocketEnd::Gone,
            Self::Transport(SocketFault::NotText) => {
                metrics.rejected(Rejection::Invalid);
                return SocketEnd::Close(INVALID, "text frames must be UTF-8");
            }
            Self::Transport(SocketFault::TooLarge) => (
                Rejection::TooLarge,
                "Message over the server's size limit",
                SIZE,
                "message too big",
            ),
            Self::Transport(SocketFault::NoRoom) => (
                Rejection::Memory,
                "The server holds too many large messages; send a smaller one, or try again later",
                AGAIN,
                "no room for a large message",
            ),
        };
        metrics.rejected(rejection);
        let _ = send(socket, refusal(protocol, message)).await;
        SocketEnd::Close(code, reason)
    }
}

/// Waits for the next message; pings a silent peer, and gives it up after `ping_timeout`.
async fn listen(
    socket: &mut WebSocket,
    app: &Arc<ServerState>,
    unanswered: &mut u32,
) -> Result<SocketMessage, ReadFault> {
    let pings = app.options.pings();
    let interval = app.options.ping_timeout / pings;
    loop {
        tokio::select! {
            biased;
            message = socket.next() => {
                *unanswered = 0;
                return Ok(message?);
            }
            () = app.shutdown.cancelled() => return Err(ReadFault::Shutdown),
            () = tokio::time::sleep(interval) => {
                // Pings are counted and not time: a server that was held up itself
                // must not take its peers for silent.
                if *unanswered + 1 >= pings {
                    return Err(ReadFault::GONE);
                }
                *unanswered += 1;
                if !socket.ping().await {
                    return Err(ReadFault::GONE);
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
    waiting: &mut Option<SocketMessage>,
) -> Result<MessageOutcome, ReadFault> {
    loop {
        tokio::select! {
            biased;
            next = &mut work => return Ok(next),
            message = socket.next(), if waiting.is_none() => match message? {
                SocketMessage::Alive => {}
                SocketMessage::Close => return Err(ReadFault::GONE),
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
        handle.session.rate.wait().await;
        match protocol {
            SocketProtocol::OpenEnv => messages::answer(app, &handle.session, &text).await,
            SocketProtocol::JsonRpc => MessageOutcome::Reply(
                json_rpc::answer_text(
                    app,
                    &handle.session.caller.client,
                    &text,
                    Some(&handle.session),
                )
                .await
                .to_string(),
            ),
        }
    })
}

async fn send(socket: &mut WebSocket, text: String) -> Result<(), SocketEnd> {
    match tokio::time::timeout(SEND_LIMIT, socket.send(text)).await {
        Ok(true) => Ok(()),
        _ => Err(SocketEnd::Gone),
    }
}
