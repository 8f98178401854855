//! A WebSocket as the server holds it: the handshake, and messages in and out
//! within bounds of memory. The bytes of a message are counted as they come, so
//! that fragments take [`MemoryBudget`] before the message is whole, and a long answer
//! leaves in pieces, so that a socket does not keep a buffer of its size.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::{SinkExt as _, StreamExt as _};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::handshake::server::create_response;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use crate::server::state::memory_budget::{MemoryBudget, MemoryReservation, SMALL_REQUEST, STEP};
use crate::server::transport::reply;

/// Longest frame that is sent: the library keeps a buffer of its size.
const PIECE: usize = 16 * 1024;
/// Bytes of a control frame besides its payload: two and the mask.
const CONTROL_HEAD: usize = 6;

/// A request that wants to become a WebSocket.
pub(crate) struct WebSocketHandshake {
    answer: Response,
    upgrade: OnUpgrade,
}

/// Any other request to such a route: 404, as OpenEnv's `finqa_env` answers.
pub(crate) struct NoWebSocketHandshake;

impl IntoResponse for NoWebSocketHandshake {
    fn into_response(self) -> Response {
        reply::detail(StatusCode::NOT_FOUND, "Not Found")
    }
}

impl<S: Sync> FromRequestParts<S> for WebSocketHandshake {
    type Rejection = NoWebSocketHandshake;

    async fn from_request_parts(
        parts: &mut Parts,
        _state: &S,
    ) -> Result<Self, NoWebSocketHandshake> {
        let mut request = Request::new(());
        request.method_mut().clone_from(&parts.method);
        *request.version_mut() = parts.version;
        request.headers_mut().clone_from(&parts.headers);
        match (create_response(&request), parts.extensions.remove()) {
            (Ok(answer), Some(upgrade)) => Ok(Self {
                answer: answer.map(|()| Body::empty()),
                upgrade,
            }),
            _ => Err(NoWebSocketHandshake),
        }
    }
}

impl WebSocketHandshake {
    /// The answer to the request, and the socket once the answer is sent;
    /// `limit` is that of its messages, `budget` what they share.
    pub(crate) fn accept(
        self,
        limit: usize,
        budget: MemoryBudget,
    ) -> (Response, impl Future<Output = Option<WebSocket>> + Send) {
        let socket = async move {
            let upgraded = self.upgrade.await.ok()?;
            let metered = MeteredStream::new(TokioIo::new(upgraded), budget, limit);
            // The library's buffers are 128 KiB each by default, which ten thousand
            // idle sockets cannot afford; they grow when a message needs it.
            let config = WebSocketConfig::default()
                .read_buffer_size(2 * 1024)
                .write_buffer_size(0)
                .max_message_size(Some(limit))
                .max_frame_size(Some(limit));
            let stream =
                WebSocketStream::from_raw_socket(metered, Role::Server, Some(config)).await;
            Some(WebSocket {
                stream,
                failed: false,
            })
        };
        (self.answer, socket)
    }
}

/// An open WebSocket.
pub(crate) struct WebSocket {
    stream: WebSocketStream<MeteredStream<TokioIo<Upgraded>>>,
    /// Nothing more is read as messages, though more may come.
    failed: bool,
}

/// A message of a peer.
pub(crate) enum SocketMessage {
    /// A whole text.
    Text(Utf8Bytes),
    /// A whole message that is not text.
    Binary,
    /// A sign of life.
    Alive,
    /// The peer closed the connection.
    Close,
}

/// A fault of the transport, before it is answered.
pub(crate) enum SocketFault {
    /// The peer is gone.
    Gone,
    /// A message is over the limit.
    TooLarge,
    /// The memory budget has too little left for the message.
    NoRoom,
    /// A text that is not UTF-8.
    NotText,
}

impl SocketFault {
    fn of(error: &Error) -> Self {
        match error {
            Error::Capacity(CapacityError::MessageTooLong { .. }) => Self::TooLarge,
            Error::Utf8(_) => Self::NotText,
            Error::Io(error) if error.kind() == io::ErrorKind::OutOfMemory => Self::NoRoom,
            _ => Self::Gone,
        }
    }
}

impl WebSocket {
    /// The next message. A text counts as held until [`Self::done`].
    pub(crate) async fn next(&mut self) -> Result<SocketMessage, SocketFault> {
        let message = match self.stream.next().await {
            Some(Ok(message)) => message,
            Some(Err(error)) => {
                self.failed = true;
                return Err(SocketFault::of(&error));
            }
            None => return Err(SocketFault::Gone),
        };
        let meter = &mut self.stream.get_mut().meter;
        Ok(match message {
            Message::Text(text) => {
                meter.whole();
                SocketMessage::Text(text)
            }
            Message::Binary(_) => {
                meter.coming = 0;
                SocketMessage::Binary
            }
            Message::Ping(payload) | Message::Pong(payload) => {
                meter.control(payload.len());
                SocketMessage::Alive
            }
            Message::Close(_) => SocketMessage::Close,
            Message::Frame(_) => SocketMessage::Alive,
        })
    }

    /// A text was answered and is held no more; `waiting` is one read meanwhile.
    pub(crate) fn done(&mut self, waiting: Option<&SocketMessage>) {
        let waits = match waiting {
            Some(SocketMessage::Text(text)) => text.len(),
            _ => 0,
        };
        self.stream.get_mut().meter.busy = waits;
    }

    /// Sends a text, a long one in pieces; false if the peer is gone.
    pub(crate) async fn send(&mut self, text: String) -> bool {
        if text.len() <= PIECE {
            return self.stream.send(Message::text(text)).await.is_ok();
        }
        let mut rest = Bytes::from(text);
        let mut kind = Data::Text;
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(PIECE));
            let frame = Frame::message(piece, OpCode::Data(kind), rest.is_empty());
            if self.stream.send(Message::Frame(frame)).await.is_err() {
                return false;
            }
            kind = Data::Continue;
        }
        true
    }

    /// Asks the peer for a sign of life; false if it is gone.
    pub(crate) async fn ping(&mut self) -> bool {
        self.stream.send(Message::Ping(Bytes::new())).await.is_ok()
    }

    /// Sends a close frame and waits for the peer's, so that the last message is read and
    /// not lost to a reset.
    pub(crate) async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame {
            code: CloseCode::from(code),
            reason: reason.into(),
        };
        if self.stream.send(Message::Close(Some(frame))).await.is_ok() {
            while let Some(Ok(_)) = self.stream.next().await {}
            // What is left of a message that was refused.
            let mut left = [0; 2048];
            let stream = &mut self.stream.get_mut().stream;
            while self.failed && stream.read(&mut left).await.is_ok_and(|n| n > 0) {}
        }
    }
}

/// A stream that counts what is read from it, and takes memory for it.
struct MeteredStream<S> {
    stream: S,
    meter: MessageMeter,
}

/// The memory of a socket. The largest message's memory stays reserved, because the library
/// keeps a buffer of that size; it is released with the socket.
struct MessageMeter {
    budget: MemoryBudget,
    taken: MemoryReservation,
    /// Bytes that a message may come in, the heads of its frames included.
    most: usize,
    /// Bytes of the message that is being read.
    coming: usize,
    /// Bytes of messages that are read and not answered.
    busy: usize,
}

impl<S> MeteredStream<S> {
    fn new(stream: S, budget: MemoryBudget, limit: usize) -> Self {
        let meter = MessageMeter {
            budget,
            taken: MemoryReservation::default(),
            most: limit.saturating_mul(2),
            coming: 0,
            busy: 0,
        };
        Self { stream, meter }
    }
}

impl MessageMeter {
    /// Counts bytes read; false where they find no memory, or are mostly heads of
    /// frames, of which a message may have any number.
    fn read(&mut self, bytes: usize) -> bool {
        self.coming += bytes;
        if self.coming > self.most {
            return false;
        }
        let needed = (self.coming + self.busy).saturating_sub(SMALL_REQUEST);
        needed <= self.taken.bytes() || self.taken.grow(&self.budget, STEP)
    }

    /// Marks the incoming message as complete.
    fn whole(&mut self) {
        self.busy += std::mem::take(&mut self.coming);
    }

    /// A control frame is not part of a message, and none of it is kept.
    fn control(&mut self, payload: usize) {
        self.coming = self.coming.saturating_sub(payload + CONTROL_HEAD);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MeteredStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let bytes = buffer.filled().len().saturating_sub(before);
        Poll::Ready(if self.meter.read(bytes) {
            Ok(())
        } else {
            Err(io::ErrorKind::OutOfMemory.into())
        })
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for MeteredStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(budget: usize) -> MessageMeter {
        MeteredStream::new((), MemoryBudget::new(budget), 1 << 20).meter
    }

    #[test]
    fn fragments_take_memory_before_the_message_is_whole() {
        let mut meter = meter(3 * STEP);
        for _ in 0..32 {
            assert!(meter.read(2048), "room for 64 KiB");
        }
        assert_eq!(meter.taken.bytes(), 3 * STEP);
        assert!(!meter.read(2048));
    }

    /// 11 million of them used up the budget and held nothing.
    #[test]
    fn empty_fragments_take_no_more_than_twice_a_message() {
        let budget = MemoryBudget::new(1 << 30);
        let mut meter = MeteredStream::new((), budget, 4 * STEP).meter;
        let read = (0..1_000_000)
            .take_while(|_| meter.read(CONTROL_HEAD))
            .count();
        assert_eq!(read, 8 * STEP / CONTROL_HEAD);
        assert!(meter.taken.bytes() <= 8 * STEP);
    }

    #[test]
    fn pings_between_fragments_neither_take_nor_release_memory() {
        let mut meter = meter(0);
        for _ in 0..10_000 {
            assert!(meter.read(6 + 125));
            meter.control(125);
        }
        assert!(meter.read(SMALL_REQUEST - CONTROL_HEAD));
        for _ in 0..3 {
            assert!(meter.read(CONTROL_HEAD));
            meter.control(0);
        }
        assert!(!meter.read(CONTROL_HEAD + 1));
    }

    #[test]
    fn a_waiting_message_counts_in_addition_to_the_current_one() {
        let mut meter = meter(0);
        assert!(meter.read(SMALL_REQUEST / 2));
        meter.whole();
        assert!(meter.read(SMALL_REQUEST / 2));
        assert!(!meter.read(1));
        meter.busy = 0;
        assert!(meter.read(1));
    }

    #[test]
    fn small_messages_for_ever_take_nothing() {
        let mut meter = meter(0);
        for _ in 0..100_000 {
            assert!(meter.read(1000));
            meter.whole();
            meter.busy = 0;
        }
    }
}
