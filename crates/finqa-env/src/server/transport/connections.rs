//! Serves HTTP, one task per connection, with separate timeouts for head and body and a
//! graceful shutdown. A client that sends a byte now and then does not keep a connection.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::state::ServerState;
use crate::server::state::clients::{Client, ConnectionActivity};
use crate::server::state::memory_budget::{
    MemoryBudget, MemoryReservation, SMALL_ANSWER, SMALL_REQUEST, STEP,
};
use crate::server::state::metrics::Rejection;
use crate::server::transport::listener::{BoundedListener, ClientConnection};
use crate::server::transport::reply;

/// Takes connections until `shutdown`, then lets the requests in progress end;
/// what has not ended after `drain` is dropped. A WebSocket no longer
/// counts as a connection here: its own task holds it.
pub(crate) async fn serve(
    mut listener: BoundedListener,
    router: Router,
    request_time: Duration,
    drain: Duration,
    shutdown: CancellationToken,
) {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => break,
            connection = listener.accept() => {
                open.spawn(one(connection, router.clone(), request_time, shutdown.clone()));
            }
            // Collected as they end, or the set would grow for ever.
            Some(_) = open.join_next() => {}
        }
    }
    drop(listener);
    let ended = async { while open.join_next().await.is_some() {} };
    if tokio::time::timeout(drain, ended).await.is_err() {
        tracing::warn!("requests still in progress after the drain time were dropped");
    }
}

async fn one(
    connection: ClientConnection,
    router: Router,
    request_time: Duration,
    shutdown: CancellationToken,
) {
    let client = Arc::clone(&connection.place.client);
    let connected = Arc::clone(&connection.place.connected);
    let router = TowerToHyperService::new(router);
    let service = service_fn(|mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Arc::clone(&client));
        request.extensions_mut().insert(Arc::clone(&connected));
        let answering = router.call(request);
        let connected = &connected;
        async move {
            let answer = answering.await;
            // A WebSocket is not idle, even if nothing is said on it.
            let upgraded = |answer: &Response| answer.status() == StatusCode::SWITCHING_PROTOCOLS;
            if !answer.as_ref().is_ok_and(upgraded) {
                connected.end();
            }
            answer
        }
    });
    let mut serving = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(request_time)
            // Of the head, and of what waits to be written: 400 KiB otherwise.
            .max_buf_size(64 * 1024)
            .serve_connection(TokioIo::new(connection), service)
            .with_upgrades()
    );
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = connected.evicted() => return,
        () = shutdown.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Reads the whole body before the route sees the request: within the limit,
/// within the time and with memory for it, or it is answered here. A large answer
/// holds its memory until it is taken.
pub(crate) async fn read_body(
    State(app): State<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    let extensions = request.extensions();
    let connected = extensions.get::<Arc<ConnectionActivity>>().map(Arc::clone);
    let client = extensions.get::<Arc<Client>>().map(Arc::clone);
    // Busy only from here on: one whose body does not come may have to make way.
    let begin = || connected.iter().for_each(|connected| connected.begin());
    let Some(client) = client.filter(|_| !request.body().is_end_stream()) else {
        begin();
        return next.run(request).await;
    };
    let (parts, body) = request.into_parts();
    let limit = app.options.message_limit;
    let reading = whole(body, limit, &client.requests);
    let (status, message) = match tokio::time::timeout(app.options.request_time, reading).await {
        Ok(Ok((bytes, _taken))) => {
            begin();
            let request = Request::from_parts(parts, Body::from(bytes));
            let answer = next.run(request).await;
            return reserve_for(answer, &client.answers).unwrap_or_else(|| {
                refuse_crowded(
                    &app,
                    "The server holds too many large answers; ask for less, or try again later",
                )
            });
        }
        Ok(Err(BodyError::Crowded)) => {
            return refuse_crowded(
                &app,
                "The server holds too many large requests; send a smaller one, or try again later",
            );
        }
        Ok(Err(BodyError::TooLarge)) => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "Request body over the server's size limit",
        ),
        Ok(Err(BodyError::Broken)) => (
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

/// The reason why a body was not read.
enum BodyError {
    TooLarge,
    Crowded,
    Broken,
}

/// A body, and the memory it takes. Memory is reserved for what has arrived, not for
/// what is announced.
async fn whole(
    mut body: Body,
    limit: usize,
    budget: &MemoryBudget,
) -> Result<(Vec<u8>, MemoryReservation), BodyError> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(BodyError::TooLarge);
    }
    let (mut bytes, mut taken) = (Vec::new(), MemoryReservation::default());
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Broken)?.into_data() else {
            continue;
        };
        let length = bytes.len() + data.len();
        if length > limit {
            return Err(BodyError::TooLarge);
        }
        let needed = length.saturating_sub(SMALL_REQUEST + taken.bytes());
        if needed > 0 && !taken.grow(budget, needed.next_multiple_of(STEP)) {
            return Err(BodyError::Crowded);
        }
        bytes.extend_from_slice(&data);
    }
    Ok((bytes, taken))
}

/// Reserves memory for a large answer until the client has taken it; `None` if it
/// does not fit.
fn reserve_for(answer: Response, budget: &MemoryBudget) -> Option<Response> {
    let bytes = answer.body().size_hint().exact().unwrap_or(0);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    if bytes <= SMALL_ANSWER {
        return Some(answer);
    }
    let taken = budget.take(bytes, SMALL_ANSWER)?;
    Some(answer.map(|body| {
        Body::new(BudgetedBody {
            body,
            _taken: taken,
        })
    }))
}

/// A body with the memory reserved for it.
struct BudgetedBody {
    body: Body,
    _taken: MemoryReservation,
}

impl HttpBody for BudgetedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The memory budget is used up; nothing is wrong with the request itself.
fn refuse_crowded(app: &ServerState, message: &str) -> Response {
    app.metrics.rejected(Rejection::Memory);
    let mut refused = closing(reply::detail(StatusCode::SERVICE_UNAVAILABLE, message));
    refused
        .headers_mut()
        .insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    refused
}

fn closing(mut refused: Response) -> Response {
    // What is left of the body is not waited for.
    refused
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    refused
}
