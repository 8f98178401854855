//! One model call on its way through a cassette.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use finqa_core::error::innermost;

use super::super::difference::in_words;
use super::super::protocol::ApiDialect;
use super::super::transport::{Attempt, HttpReply};
use super::super::types::{ChatRequest, RequestOrigin};
use super::format::{
    RecordedAttempt, RecordedBody, RecordedCall, RecordedRequest, header_map, kept_headers,
};
use super::replay::{AskedRequest, request_differences};
use super::{Cassette, CassetteReplay};

/// A call that is recorded or replayed.
#[derive(Debug)]
pub(in super::super) struct CassetteCall {
    cassette: Cassette,
    node: String,
    origin: RequestOrigin,
    path: &'static str,
    /// The one that the call begins with.
    dialect: ApiDialect,
    /// The requests sent so far, or the whole call that is replayed.
    call: Option<RecordedCall>,
    /// The request and the attempt that are replayed next.
    next: (usize, usize),
}

impl CassetteCall {
    /// A call to `path` in the dialect `now`, or in the recorded one if it is replayed.
    pub(crate) fn new(
        cassette: Cassette,
        request: &ChatRequest,
        path: &'static str,
        now: ApiDialect,
    ) -> Self {
        let recorded = cassette
            .replay()
            .and_then(|replay| replay.dialect(&request.node, &request.origin));
        Self {
            dialect: recorded.unwrap_or(now),
            cassette,
            node: request.node.clone(),
            origin: request.origin.clone(),
            path,
            call: None,
            next: (0, 0),
        }
    }

    pub(crate) fn is_replayed(&self) -> bool {
        self.cassette.replay().is_some()
    }

    pub(crate) fn dialect(&self) -> ApiDialect {
        self.dialect
    }

    /// The recorded result of this request's attempt, or the reason why there is none;
    /// `None` if nothing is replayed.
    pub(crate) fn replay(
        &mut self,
        request: &reqwest::Request,
    ) -> Option<Result<RecordedAttempt, String>> {
        let Cassette::Replay(replay) = &self.cassette else {
            return None;
        };
        let replay = Arc::clone(replay);
        let body = body_of(request);
        Some(self.recorded(&replay, request.method().as_str(), &body))
    }

    fn recorded(
        &mut self,
        replay: &CassetteReplay,
        method: &str,
        body: &Value,
    ) -> Result<RecordedAttempt, String> {
        let asked = AskedRequest {
            node: &self.node,
            origin: &self.origin,
            method,
            path: self.path,
            body,
        };
        let call = match &mut self.call {
            Some(call) => call,
            none => none.insert(replay.call(asked)?),
        };
        // A refused parameter makes another request of the same call.
        let (mut at, mut attempt) = self.next;
        let is_next = |sent: Option<&RecordedRequest>| {
            sent.is_some_and(|sent| request_differences(sent, asked).is_empty())
        };
        if attempt > 0 && !is_next(call.requests.get(at)) {
            (at, attempt) = (at + 1, 0);
        }
        let sent = call.requests.get(at);
        let found = sent.and_then(|sent| sent.attempts.get(attempt));
        match (found, sent) {
            (Some(found), Some(sent)) => {
                let found_differences = request_differences(sent, asked);
                if !found_differences.is_empty() {
                    return Err(format!(
                        "{} holds another request at this place of the call, which differs in {}",
                        replay.path().display(),
                        in_words(&found_differences)
                    ));
                }
                self.next = (at, attempt + 1);
                Ok(found.clone())
            }
            _ => Err(format!(
                "{} holds fewer requests of this call than are sent",
                replay.path().display()
            )),
        }
    }

    /// True if another attempt of the last request is recorded; `None` if nothing is
    /// replayed.
    pub(crate) fn has_another_attempt(&self) -> Option<bool> {
        if !self.is_replayed() {
            return None;
        }
        let (at, attempt) = self.next;
        let sent = self.call.as_ref().and_then(|call| call.requests.get(at));
        Some(sent.is_some_and(|sent| attempt < sent.attempts.len()))
    }

    /// Notes how an attempt ended.
    pub(crate) fn record(
        &mut self,
        method: &str,
        body: Value,
        ended: &Attempt,
        [wait, took]: [Duration; 2],
    ) {
        let call = self.call.get_or_insert_with(|| RecordedCall {
            node: self.node.clone(),
            origin: self.origin.clone(),
            dialect: self.dialect,
            requests: Vec::new(),
        });
        let attempt = RecordedAttempt {
            wait: wait.as_secs_f64(),
            seconds: took.as_secs_f64(),
            status: ended.exchange.status,
            headers: kept_headers(&ended.exchange.headers),
            body: RecordedBody::of(ended.exchange.status, &ended.exchange.body),
            failure: ended.broken.as_ref().map(|(failure, _)| *failure),
            error: ended.broken.as_ref().and_then(|(_, source)| {
                let source = source.as_ref()?;
                Some(innermost(source.as_ref()).to_string())
            }),
        };
        match call.requests.last_mut() {
            Some(last) if last.body == body => last.attempts.push(attempt),
            _ => call.requests.push(RecordedRequest {
                method: method.to_owned(),
                path: self.path.to_owned(),
                body,
                attempts: vec![attempt],
            }),
        }
    }

    /// Writes the call, without the `secrets` of its connection.
    pub(crate) fn finish(&mut self, secrets: &[&str]) {
        if let Some(recorder) = self.cassette.recorder()
            && let Some(call) = self.call.take()
        {
            recorder.call(call, secrets);
        }
    }
}

pub(in super::super) fn body_of(request: &reqwest::Request) -> Value {
    let bytes = request.body().and_then(reqwest::Body::as_bytes);
    serde_json::from_slice(bytes.unwrap_or_default()).unwrap_or_default()
}

impl RecordedAttempt {
    /// The recorded part of the answer, and the reason why it is incomplete.
    pub(crate) fn into_attempt(self) -> Attempt {
        let source = self.error.map(failure_of);
        Attempt {
            exchange: HttpReply {
                status: self.status,
                headers: header_map(&self.headers),
                body: self
                    .body
                    .map(|body| body.into_bytes().into())
                    .unwrap_or_default(),
                ..HttpReply::default()
            },
            broken: self.failure.map(|failure| (failure, source)),
        }
    }
}

/// A failure in the words that were recorded, or say that it is not.
pub(in super::super) fn failure_of(words: String) -> Arc<dyn Error + Send + Sync> {
    Arc::from(Box::<dyn Error + Send + Sync>::from(words))
}
