//! HTTP answers in FastAPI's form.

use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};

use crate::episode::TaskError;
use crate::server::protocol::validate::RequestIssue;

/// An answer that refuses a request. It is boxed, because refusals are rare and would make every
/// `Result` large.
#[derive(Debug)]
pub(crate) struct RefusedRequest(Box<Response>);

impl From<Response> for RefusedRequest {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

/// A 422 that says what is wrong with the request.
impl From<RequestIssue> for RefusedRequest {
    fn from(issue: RequestIssue) -> Self {
        let body = Json(json!({"detail": [issue]}));
        (StatusCode::UNPROCESSABLE_ENTITY, body)
            .into_response()
            .into()
    }
}

impl From<TaskError> for RefusedRequest {
    fn from(error: TaskError) -> Self {
        detail(StatusCode::BAD_REQUEST, error.to_string()).into()
    }
}

impl IntoResponse for RefusedRequest {
    fn into_response(self) -> Response {
        *self.0
    }
}

/// An answer with this status and the body `{"detail": text}`.
pub(crate) fn detail(status: StatusCode, text: impl Into<String>) -> Response {
    (status, Json(json!({"detail": text.into()}))).into_response()
}

/// Reads a JSON object from a body. Like FastAPI, it requires a JSON content type. `None` if the
/// body is absent or `null`.
pub(crate) fn object(
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Option<Map<String, Value>>, RefusedRequest> {
    if body.is_empty() {
        return Ok(None);
    }
    let Ok(text) = std::str::from_utf8(body) else {
        let message = "There was an error parsing the body";
        return Err(detail(StatusCode::BAD_REQUEST, message).into());
    };
    if !is_json(headers) {
        return Err(RequestIssue::new("dict_type", "body").into());
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(Some(map)),
        Ok(Value::Null) => Ok(None),
        Ok(_) => Err(RequestIssue::new("dict_type", "body").into()),
        Err(error) => Err(RequestIssue::not_json(&error).into()),
    }
}

/// True if the content type is `application/json` or `application/*+json`, with or without
/// parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let named = headers.get(header::CONTENT_TYPE);
    let named = named.and_then(|value| value.to_str().ok()).unwrap_or("");
    let essence = named.split(';').next().unwrap_or("").trim();
    let essence = essence.to_ascii_lowercase();
    let subtype = essence.strip_prefix("application/");
    subtype.is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}
