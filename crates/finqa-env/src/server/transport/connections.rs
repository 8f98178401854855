//! Serves HTTP with one task per connection, separate timeouts for head and body, and a graceful
//! shutdown. A client cannot occupy a connection by sending a byte now and then, or by not reading
//! its answer.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{DefaultBodyLimit, FromRequest as _, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;

use crate::server::options::{DRAIN, MESSAGE_BYTES};
use crate::server::state::ServerState;
use crate::server::state::answer_memory::AnswerShare;
use crate::server::state::metrics::RefusalReason;
use crate::server::transport::reply;

/// The number of connections that are allowed in addition to one per session. They serve plain
/// requests, and sockets that are refused or closing. Set by hand.
const SPARE_CONNECTIONS: usize = 512;
/// Maximum size in bytes of a request's head, and of the output that waits to be written. hyper's
/// default is 400 KiB; this is set by hand, so that many connections take less memory.
const BUFFER_BYTES: usize = 64 * 1024;

/// A place among the connections that the server accepts at a time. It is free again when the
/// connection has ended, including a WebSocket that the connection became.
pub(crate) type ConnectionPlace = Arc<OwnedSemaphorePermit>;

/// Accepts connections until the shutdown, then waits for the requests in progress, but at most for
/// the drain time. It does not wait for WebSockets, because these run on separate tasks.
pub(crate) async fn serve(listener: TcpListener, router: Router, app: &ServerState) {
    let options = &app.options;
    // Longer than the limits for unanswered pings and for a request, so that the system does not
    // end a connection that is within these limits.
    let silence = options.ping_timeout * 2 + options.request_time;
    let places = options.max_sessions.saturating_add(SPARE_CONNECTIONS);
    let places = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(options.request_time)
        .max_buf_size(BUFFER_BYTES);
    let open = TaskTracker::new();
    loop {
        let (stream, place) = tokio::select! {
            // Biased, so that no connection is accepted after the shutdown.
            biased;
            () = app.shutdown.cancelled() => break,
            accepted = accept(&listener, &places) => accepted,
        };
        if let Err(error) = prepare(&stream, silence) {
            tracing::debug!(%error, "cannot set an option of a connection");
        }
        let router = TowerToHyperService::new(router.clone());
        let place: ConnectionPlace = Arc::new(place);
        let service = service_fn(move |mut request: hyper::Request<Incoming>| {
            request.extensions_mut().insert(Arc::clone(&place));
            router.call(request)
        });
        let serving = builder.serve_connection(TokioIo::new(stream), service);
        let (mut serving, shutdown) = (serving.with_upgrades(), app.shutdown.clone());
        open.spawn(async move {
            let ended = tokio::select! {
                ended = &mut serving => ended,
                () = shutdown.cancelled() => {
                    std::pin::Pin::new(&mut serving).graceful_shutdown();
                    serving.await
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
    // The system refuses further connections while the open ones end.
    drop(listener);
    // `wait` ends only on a closed tracker.
    open.close();
    let ended = tokio::time::timeout(DRAIN, open.wait());
    if ended.await.is_err() {
        tracing::warn!("requests still in progress after the drain time were dropped");
    }
}

/// Accepts the next connection when a place is free. Until then, the connection waits in the
/// system's queue.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        let Ok(place) = Arc::clone(places).acquire_owned().await else {
            // Never reached, because the semaphore is never closed.
            return std::future::pending().await;
        };
        match listener.accept().await {
            Ok((stream, _)) => return (stream, place),
            Err(error) => {
                // The peer has disconnected, or the process has no file descriptor left. In the
                // second case, wait until another connection is closed. The pause is set by hand.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
    }
}

/// Sets the options of a socket: it sends at once, and on Linux it ends if the peer confirms
/// nothing for `silence`.
fn prepare(stream: &TcpStream, silence: Duration) -> io::Result<()> {
    // A reply is one small packet. Without this option, the system waits 40 ms for more data to
    // send with it.
    stream.set_nodelay(true)?;
    // The system ends a connection whose peer has confirmed nothing for this long.
    #[cfg(target_os = "linux")]
    rustix::net::sockopt::set_tcp_user_timeout(
        stream,
        u32::try_from(silence.as_millis()).unwrap_or(u32::MAX),
    )?;
    #[cfg(not(target_os = "linux"))]
    let _ = silence;
    Ok(())
}

/// Reads the whole body before the route gets the request. A body that is too long or too slow is
/// refused.
pub(crate) async fn read_body(
    State(app): State<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, body) = request.into_parts();
    let mut limited = Request::new(body);
    DefaultBodyLimit::max(MESSAGE_BYTES).apply(&mut limited);
    let reading = Bytes::from_request(limited, &());
    let (status, message) = match tokio::time::timeout(app.options.request_time, reading).await {
        Ok(Ok(bytes)) => {
            let request = Request::from_parts(parts, Body::from(bytes));
            return bounded(&app, next.run(request).await).await;
        }
        Ok(Err(BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)))) => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "Request body over the server's size limit",
        ),
        Ok(Err(_)) => (
            StatusCode::BAD_REQUEST,
            "There was an error reading the body",
        ),
        Err(_) => (
            StatusCode::REQUEST_TIMEOUT,
            "The request's body did not come in time",
        ),
    };
    closing(reply::detail(status, message))
}

/// Reserves memory for a large answer until it is sent. If too little memory is left, returns a 503
/// instead.
async fn bounded(app: &ServerState, answer: Response) -> Response {
    // An answer of unknown length does not count.
    let bytes = answer.body().size_hint().exact().unwrap_or(0);
    let mut share = AnswerShare::default();
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if !app.answers.reserve(&mut share, bytes) {
        app.metrics.count_refusal(RefusalReason::Memory);
        let message = "The server holds too many large answers; ask for less, or try again later";
        let refused = closing(reply::detail(StatusCode::SERVICE_UNAVAILABLE, message));
        // One second, set by hand.
        return ([(header::RETRY_AFTER, "1")], refused).into_response();
    }
    if share.is_empty() {
        return answer;
    }
    let (parts, body) = answer.into_parts();
    // Without a limit, because memory for the whole answer is reserved.
    match to_bytes(body, usize::MAX).await {
        Ok(bytes) => {
            let held = Bytes::from_owner(HeldAnswer {
                bytes,
                _share: share,
            });
            Response::from_parts(parts, Body::from(held))
        }
        Err(error) => reply::detail(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

/// An answer with its share of the memory. The share is freed when the last byte has been sent.
struct HeldAnswer {
    bytes: Bytes,
    _share: AnswerShare,
}

impl AsRef<[u8]> for HeldAnswer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Closes the connection after the answer, because the rest of the request's body is never read.
fn closing(refused: Response) -> Response {
    ([(header::CONNECTION, "close")], refused).into_response()
}
