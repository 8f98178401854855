//! Decides who may use the server, by the host and the origin that a browser names and by the
//! bearer token. This protects a server that listens on loopback from web pages of other sites (DNS
//! rebinding, cross-site WebSockets). The decision does not depend on the content of the request.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use finqa_core::net::names_loopback;
use percent_encoding::percent_decode_str;
use secrecy::ExposeSecret;

use crate::server::options::ServerOptions;
use crate::server::state::ServerState;
use crate::server::state::metrics::RefusalReason;
use crate::server::transport::reply;

/// Accepts or refuses a request, and counts refusals by their status, including the refusals of the
/// routes behind it. A 503 has several possible reasons, so it is counted where it is created.
pub(crate) async fn check(
    State(app): State<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    let answer = match authorise(&app.options, &request) {
        Ok(()) => next.run(request).await,
        Err((StatusCode::UNAUTHORIZED, detail)) => {
            let refused = reply::detail(StatusCode::UNAUTHORIZED, detail);
            ([(header::WWW_AUTHENTICATE, "Bearer")], refused).into_response()
        }
        Err((status, detail)) => reply::detail(status, detail),
    };
    let reason = match answer.status() {
        StatusCode::UNAUTHORIZED => RefusalReason::Token,
        StatusCode::FORBIDDEN => RefusalReason::Host,
        StatusCode::REQUEST_TIMEOUT => RefusalReason::SlowBody,
        StatusCode::PAYLOAD_TOO_LARGE => RefusalReason::TooLarge,
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => RefusalReason::Invalid,
        _ => return answer,
    };
    app.metrics.count_refusal(reason);
    answer
}

/// Decides whether a request may be served.
///
/// # Errors
/// 403 for a host or an origin that is not allowed, 401 without the token, 400 for a header that
/// [`single`] refuses.
fn authorise(options: &ServerOptions, request: &Request) -> Result<(), (StatusCode, &'static str)> {
    let headers = request.headers();
    let host =
        single(headers, &header::HOST)?.or_else(|| request.uri().authority().map(|a| a.as_str()));
    if let Some(host) = host
        && !host_allowed(options, host)
    {
        return Err((
            StatusCode::FORBIDDEN,
            "Host not allowed; name it in the server's allowed hosts",
        ));
    }
    if let Some(origin) = single(headers, &header::ORIGIN)?
        && !origin_allowed(options, origin, host)
    {
        return Err((
            StatusCode::FORBIDDEN,
            "Origin not allowed; name its host in the server's allowed hosts",
        ));
    }
    if let Some(token) = options.token()
        && !needs_no_token(request.uri().path())
        && !token_of(request).is_some_and(|given| same(&given, token.expose_secret()))
    {
        return Err((
            StatusCode::UNAUTHORIZED,
            "This server requires a bearer token in the Authorization header",
        ));
    }
    Ok(())
}

/// True for paths that need no token: the liveness probe, the pages, and the API description that a
/// page shows. None of them contains data.
fn needs_no_token(path: &str) -> bool {
    matches!(
        path,
        "/health" | "/" | "/web" | "/docs" | "/redoc" | "/openapi.json"
    )
}

/// The value of a header that may be sent only once; `Ok(None)` if it is not sent. A repeated or
/// unreadable header is refused, because it cannot be checked and other software may read it
/// differently.
fn single<'a>(
    headers: &'a HeaderMap,
    name: &header::HeaderName,
) -> Result<Option<&'a str>, (StatusCode, &'static str)> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    match (first.map(|value| value.to_str()).transpose(), second) {
        (Ok(value), None) => Ok(value),
        _ => Err((
            StatusCode::BAD_REQUEST,
            "The Host and Origin headers may come once each, in plain ASCII",
        )),
    }
}

/// The host of `host:port`, without the brackets of an IPv6 address.
fn bare_host(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or(rest);
    }
    authority.split(':').next().unwrap_or(authority)
}

fn is_listed(options: &ServerOptions, host: &str) -> bool {
    options
        .allowed_hosts
        .iter()
        .any(|allowed| bare_host(allowed).eq_ignore_ascii_case(host))
}

/// A server on loopback accepts only loopback names and names that the operator listed. A server on
/// another address accepts any name, unless the operator listed names.
fn host_allowed(options: &ServerOptions, authority: &str) -> bool {
    let host = bare_host(authority);
    if names_loopback(host) || is_listed(options, host) || host == options.host.to_string() {
        return true;
    }
    !options.host.is_loopback() && options.allowed_hosts.is_empty()
}

/// A page may use the server that it came from. A page on a host that the operator listed may use
/// this server under any name that [`host_allowed`] accepts, and a page on loopback under any
/// loopback name.
fn origin_allowed(options: &ServerOptions, origin: &str, host: Option<&str>) -> bool {
    let Some((_, authority)) = origin.split_once("://") else {
        return false;
    };
    if host.is_some_and(|host| host.eq_ignore_ascii_case(authority)) {
        return true;
    }
    let page = bare_host(authority);
    is_listed(options, page)
        || (names_loopback(page) && host.is_some_and(|host| names_loopback(bare_host(host))))
}

/// The token of the header. On `/ws` it may also be in the query, because a page cannot set headers
/// on a WebSocket. `None` if the request has no token. If there is a header of another scheme, the
/// query is not read.
fn token_of(request: &Request) -> Option<String> {
    if let Some(value) = request.headers().get(header::AUTHORIZATION) {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        return scheme
            .eq_ignore_ascii_case("bearer")
            .then(|| token.trim().to_owned());
    }
    if request.uri().path() != "/ws" {
        return None;
    }
    request
        .uri()
        .query()?
        .split('&')
        .find_map(|pair| pair.strip_prefix("access_token="))
        // Browsers may write a space as a plus sign, and escape special characters.
        .map(|token| token.replace('+', " "))
        .and_then(|token| Some(percent_decode_str(&token).decode_utf8().ok()?.into_owned()))
}

/// True if the tokens are equal. It compares hashes, so that the time does not reveal how many
/// characters of a guess are right.
fn same(given: &str, wanted: &str) -> bool {
    blake3::hash(given.as_bytes()) == blake3::hash(wanted.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use rstest::rstest;

    fn status_of(options: &ServerOptions, headers: &[(&str, &str)], uri: &str) -> u16 {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        authorise(options, &request)
            .err()
            .map_or(200, |(status, _)| status.as_u16())
    }

    #[rstest]
    #[case(&[("host", "localhost:8000")], 200)]
    #[case(&[("host", "127.0.0.1:8000")], 200)]
    #[case(&[("host", "[::1]:8000")], 200)]
    #[case(&[("host", "evil.example:8000")], 403)]
    #[case(&[("host", "127.0.0.1.evil.example")], 403)]
    #[case(&[("host", "localhost:8000"), ("origin", "http://localhost:8000")], 200)]
    #[case(&[("host", "localhost:8000"), ("origin", "http://127.0.0.1:3000")], 200)]
    #[case(&[("host", "localhost:8000"), ("origin", "https://evil.example")], 403)]
    #[case(&[("host", "localhost:8000"), ("origin", "null")], 403)]
    // Headers that cannot be checked.
    #[case(&[("host", "evil.exämple")], 400)]
    #[case(&[("host", "localhost"), ("host", "evil.example")], 400)]
    #[case(&[("host", "localhost"), ("origin", "https://evil.exämple")], 400)]
    #[case(&[("host", "localhost"), ("origin", "http://localhost"), ("origin", "https://evil.example")], 400)]
    fn a_loopback_server_answers_loopback_only(
        #[case] headers: &[(&str, &str)],
        #[case] status: u16,
    ) {
        assert_eq!(status_of(&ServerOptions::default(), headers, "/ws"), status);
    }

    #[test]
    fn an_opened_server_answers_any_host_but_only_its_own_pages() {
        let options = ServerOptions {
            host: [0, 0, 0, 0].into(),
            ..ServerOptions::default()
        };
        for (origin, status) in [("https://env.example", 200), ("https://evil.example", 403)] {
            let headers = [("host", "env.example"), ("origin", origin)];
            assert_eq!(status_of(&options, &headers, "/ws"), status);
        }
    }

    fn with_token(token: &str) -> ServerOptions {
        ServerOptions {
            bearer_token: Some(token.to_owned().into()),
            ..ServerOptions::default()
        }
    }

    #[rstest]
    #[case("a b&c=d+e%f/é", "a+b%26c%3Dd%2Be%25f%2F%C3%A9")]
    #[case("a b", "a%20b")]
    #[case("plain-token_1.~", "plain-token_1.~")]
    fn a_token_in_the_query_is_read_as_browsers_write_it(#[case] token: &str, #[case] sent: &str) {
        let options = with_token(token);
        let uri = format!("/ws?session_id=&access_token={sent}");
        assert_eq!(status_of(&options, &[], &uri), 200);
        assert_eq!(status_of(&options, &[], &format!("{uri}x")), 401);
        assert_eq!(status_of(&options, &[], "/ws?access_token=%FF"), 401);
    }

    /// `/docs` shows nothing without `/openapi.json`, so neither needs a token.
    #[rstest]
    #[case("/health", "", 200)]
    #[case("/docs", "", 200)]
    #[case("/openapi.json", "", 200)]
    #[case("/schema", "", 401)]
    #[case("/reset", "", 401)]
    #[case("/reset", "Bearer s3cret", 200)]
    #[case("/reset", "Bearer s3cre", 401)]
    #[case("/reset", "Basic s3cret", 401)]
    #[case("/reset?access_token=s3cret", "", 401)]
    fn a_token_is_required_everywhere_but_on_health_and_the_pages(
        #[case] uri: &str,
        #[case] sent: &str,
        #[case] status: u16,
    ) {
        let headers = [("authorization", sent)];
        let headers = if sent.is_empty() { &[][..] } else { &headers };
        assert_eq!(status_of(&with_token("s3cret"), headers, uri), status);
    }
}
