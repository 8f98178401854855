//! Connections as the server accepts them: a maximum number per client and in total,
//! no delay for small packets, and closed when nothing has moved for too long. A WebSocket's
//! peer answers pings and so is never silent; a client that stalls in the middle
//! of a request, takes no bytes of an answer, or keeps an unused connection, is.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

use crate::server::state::ServerState;
use crate::server::state::clients::ConnectionSlot;
use crate::server::state::metrics::Rejection;

/// The reply to a connection beyond the limit.
const CROWDED: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
    content-length: 54\r\nretry-after: 1\r\nconnection: close\r\n\r\n\
    {\"detail\":\"This client has too many open connections\"}";

/// A listener that keeps to a number of connections.
pub(crate) struct BoundedListener {
    listener: TcpListener,
    app: Arc<ServerState>,
    silence: Duration,
}

impl BoundedListener {
    /// Takes as many connections as the clients may have, each silent for `silence` at most.
    pub(crate) fn new(listener: TcpListener, app: &Arc<ServerState>, silence: Duration) -> Self {
        Self {
            listener,
            app: Arc::clone(app),
            silence,
        }
    }

    /// The next connection.
    pub(crate) async fn accept(&mut self) -> ClientConnection {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    let Some(place) = self.app.clients.admit(address.ip()) else {
                        self.app.metrics.rejected(Rejection::Connections);
                        // As far as it fits into the system's buffer, which it does.
                        let _ = stream.try_write(CROWDED.as_bytes());
                        continue;
                    };
                    // A reply is one small packet: waiting to fill a larger one costs 40 ms.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "cannot set TCP_NODELAY");
                    }
                    return ClientConnection {
                        stream,
                        silence: self.silence,
                        deadline: Box::pin(tokio::time::sleep(self.silence)),
                        place,
                    };
                }
                Err(error) if peer_gone(&error) => {}
                Err(error) => {
                    // No descriptors left, most often: wait for some to be closed.
                    tracing::warn!(%error, "cannot accept a connection");
                    self.app.clients.evict_idle();
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

fn peer_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

/// One connection; its place is free again when it is dropped.
pub(crate) struct ClientConnection {
    stream: TcpStream,
    silence: Duration,
    deadline: Pin<Box<Sleep>>,
    /// The connection's slot, and its client.
    pub place: ConnectionSlot,
}

impl ClientConnection {
    /// Passes the progress of a read or write on, or ends a connection that was silent for
    /// too long.
    fn check_silence<T>(
        &mut self,
        moved: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if moved.is_ready() {
            self.deadline.as_mut().reset(Instant::now() + self.silence);
            return moved;
        }
        match self.deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for ClientConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let moved = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.check_silence(moved, context)
    }
}

impl AsyncWrite for ClientConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let moved = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check_silence(moved, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let moved = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.check_silence(moved, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
