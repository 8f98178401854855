//! HTTP over the connections taken: one task each, so long for a request's
//! head and so long for its body, and an end in order. A client that sends a
//! byte now and then does not keep a connection.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::Listener as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::app::App;
use super::listener::{Bounded, Connection};
use super::reply;
use super::room::{self, SMALL_REQUEST};

/// Takes connections until `shutdown`, then lets the requests in progress end;
/// what has not ended after `drain` is dropped. A WebSocket is no connection
/// here any more: its own task holds it.
pub(super) async fn serve(
    mut listener: Bounded,
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
            (connection, _) = listener.accept() => {
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
    connection: Connection,
    router: Router,
    request_time: Duration,
    shutdown: CancellationToken,
) {
    let mut serving = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(request_time)
            // Of the head, and of what waits to be written: 400 KiB otherwise.
            .max_buf_size(64 * 1024)
            .serve_connection(TokioIo::new(connection), TowerToHyperService::new(router))
            .with_upgrades()
    );
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
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
/// within the time and with room for it, or it is answered here. A large answer
/// holds its room until it is taken.
pub(super) async fn read_body(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Response {
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let limit = app.options.message_limit;
    // A body in chunks does not say how long it will be.
    let announced = body
        .size_hint()
        .upper()
        .and_then(|n| usize::try_from(n).ok());
    let most = announced.map_or(limit, |bytes| bytes.min(limit));
    let Some(_taken) = app.requests.take(most, SMALL_REQUEST) else {
        return crowded(
            "The server holds as many large requests as it may; send a smaller one, or later",
        );
    };
    let whole = Limited::new(body, limit).collect();
    let (status, said) = match tokio::time::timeout(app.options.request_time, whole).await {
        Ok(Ok(body)) => {
            let request = Request::from_parts(parts, Body::from(body.to_bytes()));
            let answer = next.run(request).await;
            return room::held(answer, &app.answers).unwrap_or_else(|| {
                crowded("The server holds as many large answers as it may; ask for less, or later")
            });
        }
        Ok(Err(error)) if error.is::<LengthLimitError>() => (
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
    closing(reply::detail(status, said))
}

/// There is no room; nothing is wrong with the request itself.
fn crowded(said: &str) -> Response {
    let mut refused = closing(reply::detail(StatusCode::SERVICE_UNAVAILABLE, said));
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
