//! The model calls about one question. A call is recorded before its reply is used. When an
//! interrupted run is resumed, recorded replies are recalled instead of requested again.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde::{Deserialize, Serialize};

use crate::llm::{
    ChatMessage, ChatModel, ChatReply, ChatRequest, Cost, ErrorKind, ModelError, NodeUsage,
    RequestOrigin, Stop, usable_reply,
};
use crate::telemetry::set;
use finqa_core::question::Question;

/// The node of the analyst. A repeated request has the node name `analyst_reask`, and the second
/// sample has `analyst#2`.
pub const ANALYST: &str = "analyst";
pub const CRITIC: &str = "critic";

/// A call of a model, as the journal stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The node that made the call, such as `analyst`, `analyst#2`, `analyst_reask` or `critic`.
    pub node: String,
    /// The round, from 1.
    pub round: u32,
    /// blake3 of the request's JSON. A resumed run finds the call of a request by this hash.
    pub request_hash: String,
    pub messages: Vec<ChatMessage>,
    pub reply: Option<ChatReply>,
    /// The error in one line, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The kind of the failure. Absent if there is a reply, because the reply itself shows that the
    /// provider failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ErrorKind>,
    /// Number of HTTP requests, including retries.
    pub attempts: u32,
    /// Time from the first request to the reply, including retries but not the wait for a slot.
    pub seconds: f64,
    /// The cost of the call. A part of it is unknown if the model has no listed price, or if
    /// requests were lost that may have been billed.
    pub cost: Cost,
}

impl Call {
    /// The requests, tokens and cost of the call, and whether it failed.
    pub fn usage(&self) -> NodeUsage {
        match &self.reply {
            Some(reply) => NodeUsage {
                failed: u64::from(self.failure.is_some()),
                ..NodeUsage::of_reply(reply, self.cost)
            },
            None => NodeUsage::of_failure(self.attempts, self.cost),
        }
    }

    /// True if there is a reply that does not report a failure of the provider.
    pub fn is_answered(&self) -> bool {
        self.reply.is_some() && self.failure.is_none()
    }

    /// True if the call is not repeated for the same question. It has an answer, or it was refused
    /// and the question continued or ended with the refusal.
    pub fn is_settled(&self) -> bool {
        self.is_answered()
            || match self.failure {
                Some(ErrorKind::ContentFilter) => true,
                Some(ErrorKind::ContextTooLong | ErrorKind::BadRequest { .. }) => {
                    // An analyst's request is sent again, because the server may have refused all
                    // requests at that time.
                    self.node.starts_with(CRITIC)
                }
                _ => false,
            }
    }

    /// The reply or the error that the call originally returned.
    fn outcome(&self) -> Result<ChatReply, Box<ModelError>> {
        match (&self.reply, &self.failure) {
            (Some(reply), None) => Ok(reply.clone()),
            (_, kind) => {
                // A call has a reply or a failure, so the default is never used.
                let kind = kind.clone().unwrap_or(ErrorKind::Cancelled);
                let words = self.error.as_deref().unwrap_or_default();
                // The stored error begins with its kind, which the new error writes again.
                let words = words.strip_prefix(&kind.to_string()).unwrap_or(words);
                let error = ModelError::new(kind, words.trim_start_matches(": "));
                Err(Box::new(error))
            }
        }
    }

    /// The number of the first draft's sample to which the call belongs, from 1; `None` for other
    /// calls.
    fn sample(&self) -> Option<u32> {
        let (node, number) = self.node.split_once('#').unwrap_or((&self.node, "1"));
        let is_draft = self.round == 1 && ["analyst", "analyst_reask"].contains(&node);
        number.parse().ok().filter(|_| is_draft)
    }
}

/// Stores a call. It is called before the reply is used.
pub(crate) type CallRecorder = Box<dyn Fn(&Call) + Send + Sync>;

/// The calls that an interrupted run has already paid for, and a function that records new calls.
#[derive(Default)]
pub struct CallMemory {
    /// Settled calls in their order. Each is used only once, because a question may send the same
    /// request twice (when a critic is asked again about the same answer).
    pub settled: Vec<Call>,
    /// Calls of earlier attempts at the question that are not settled. Their cost still counts.
    pub failed: Vec<Call>,
    pub record: Option<CallRecorder>,
}

/// The calls for one question so far. Makes new calls, and reuses those that an interrupted run has
/// paid for.
pub struct RecordedCalls {
    /// All calls so far, including failed ones.
    pub(crate) calls: Vec<Call>,
    memory: CallMemory,
    stop: Stop,
    /// The question and the epoch to which the calls belong.
    origin: RequestOrigin,
}

impl RecordedCalls {
    /// Starts with the failed calls of earlier attempts, whose cost still counts.
    pub(crate) fn new(mut memory: CallMemory, stop: Stop, question: &Question, epoch: u32) -> Self {
        Self {
            origin: RequestOrigin {
                question: question.key.to_string(),
                epoch,
                ..RequestOrigin::default()
            },
            calls: std::mem::take(&mut memory.failed),
            memory,
            stop,
        }
    }

    /// Asks a model, or recalls the reply that an interrupted run already received. The record of
    /// the call omits the first `known` messages, because earlier records contain them.
    pub(crate) async fn call(
        &mut self,
        model: &dyn ChatModel,
        round: u32,
        request: ChatRequest,
        known: usize,
    ) -> Result<ChatReply, ModelError> {
        let prepared = self.prepare(model, request);
        let (call, result) = self.ask(model, round, prepared, known).await;
        self.calls.extend(call);
        result
    }

    /// Sends several requests in parallel; the replies are in the same order.
    pub(crate) async fn call_all(
        &mut self,
        model: &dyn ChatModel,
        round: u32,
        requests: Vec<ChatRequest>,
    ) -> Vec<Result<ChatReply, ModelError>> {
        let prepared: Vec<_> = requests
            .into_iter()
            .map(|request| self.prepare(model, request))
            .collect();
        let asked = prepared
            .into_iter()
            .map(|one| self.ask(model, round, one, 0));
        let (calls, results): (Vec<_>, Vec<_>) = join_all(asked).await.into_iter().unzip();
        self.calls.extend(calls.into_iter().flatten());
        results
    }

    /// Looks for the recorded call of an interrupted run with the same request. A new request gets
    /// its origin, which distinguishes it from equal requests.
    fn prepare(&mut self, model: &dyn ChatModel, mut request: ChatRequest) -> PreparedCall {
        let hash = request_hash(&request);
        let mut recorded = self.memory.settled.iter();
        let known_at = recorded.position(|call| call.request_hash == hash);
        let recalled = known_at.map(|at| self.memory.settled.remove(at));
        if let Some(call) = &recalled {
            record_recalled(model, &request, call);
        } else {
            let equal = |call: &&Call| call.request_hash == hash && call.reply.is_some();
            let repeat = self.calls.iter().filter(equal).count();
            request.origin = RequestOrigin {
                repeat: u32::try_from(repeat).unwrap_or(u32::MAX),
                ..self.origin.clone()
            };
        }
        PreparedCall {
            request,
            hash,
            recalled,
        }
    }

    /// Sends the request, unless its call was recalled, and records the call. Returns the call,
    /// which is `None` if nothing was sent, and its outcome. An unusable reply is an error.
    async fn ask(
        &self,
        model: &dyn ChatModel,
        round: u32,
        prepared: PreparedCall,
        known: usize,
    ) -> (Option<Call>, Result<ChatReply, ModelError>) {
        let PreparedCall {
            request,
            hash,
            recalled,
        } = prepared;
        if let Some(call) = recalled {
            let outcome = call.outcome().map_err(|error| *error);
            return (Some(call), outcome);
        }
        // After a stop, requests in flight finish, but no new request begins.
        if self.stop.drain.is_cancelled() {
            return (None, Err(ModelError::new(ErrorKind::Cancelled, "stopped")));
        }
        let replied = model.chat(&request, &self.stop).await;
        // The stop came before anything was sent, so no call is recorded.
        let is_unsent =
            |error: &ModelError| error.kind == ErrorKind::Cancelled && error.attempts == 0;
        // Other errors are recorded, because they may have cost money.
        if replied.as_ref().is_err_and(is_unsent) {
            return (None, replied);
        }
        let (attempts, latency, cost) = match &replied {
            Ok(reply) => {
                let cost = Cost::of_reply(reply, model.cost(reply));
                (reply.attempts, reply.latency, cost)
            }
            Err(error) => {
                let cost = Cost::unknown(u64::from(error.lost));
                (error.attempts, error.latency, cost)
            }
        };
        let reply = replied.as_ref().ok().cloned();
        let answered = match replied {
            Ok(reply) => usable_reply(&request, reply).map_err(|error| *error),
            failed => failed,
        };
        let call = Call {
            node: request.node,
            round,
            request_hash: hash,
            messages: request.messages.into_iter().skip(known).collect(),
            reply,
            error: answered.as_ref().err().map(ToString::to_string),
            failure: answered.as_ref().err().map(|error| error.kind.clone()),
            attempts,
            seconds: latency.as_secs_f64(),
            cost,
        };
        // Record the call before its reply is used, so that a paid reply is not lost if the process
        // ends.
        if let Some(record) = &self.memory.record {
            record(&call);
        }
        (Some(call), answered)
    }
}

/// A call before it is sent.
struct PreparedCall {
    request: ChatRequest,
    hash: String,
    /// The call that an interrupted run recorded for this request.
    recalled: Option<Call>,
}

/// Adds a recalled reply to the trace as a call that took no time.
fn record_recalled(model: &dyn ChatModel, request: &ChatRequest, call: &Call) {
    if let Some(reply) = &call.reply {
        let span = crate::llm::trace::chat(model.name(), request);
        set(&span, "convfinqa.recalled", true);
        crate::llm::trace::record_reply(&span, reply);
    }
}

/// Sorts the samples of the first draft, which come first in `calls`, by their number. Samples are
/// requested in parallel, and a journal stores them in the order of the replies.
pub fn order_samples(calls: &mut [Call]) {
    let others = calls.iter().position(|call| call.sample().is_none());
    if let Some(samples) = calls.get_mut(..others.unwrap_or(calls.len())) {
        samples.sort_by_key(Call::sample);
    }
}

/// The time that the calls took. Samples that were requested in parallel count as the longest of
/// them; all other calls add up.
pub fn total_seconds(calls: &[Call]) -> f64 {
    let mut alone = 0.0;
    let mut together: BTreeMap<_, BTreeMap<u32, f64>> = BTreeMap::new();
    for call in calls {
        match call.sample() {
            // The first sample is requested before the others.
            Some(number) if number > 1 => {
                let samples = together.entry(call.node.split('#').next()).or_default();
                *samples.entry(number).or_default() += call.seconds;
            }
            _ => alone += call.seconds,
        }
    }
    let longest = |samples: &BTreeMap<u32, f64>| samples.values().copied().fold(0.0, f64::max);
    alone + together.values().map(longest).sum::<f64>()
}

fn request_hash(request: &ChatRequest) -> String {
    // A request can always be serialised.
    let json = serde_json::to_vec(request).unwrap_or_default();
    blake3::hash(&json).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(node: &str, round: u32, seconds: f64) -> Call {
        Call {
            node: node.to_owned(),
            round,
            request_hash: String::new(),
            messages: Vec::new(),
            reply: None,
            error: None,
            failure: None,
            attempts: 1,
            seconds,
            cost: Cost::default(),
        }
    }

    #[test]
    fn a_refusal_settles_each_call_of_a_critic() {
        let is_settled = |node: &str, failure| {
            let call = Call {
                failure: Some(failure),
                ..call(node, 1, 1.0)
            };
            call.is_settled()
        };
        let refused = || ErrorKind::BadRequest { parameter: None };
        for (node, settled) in [
            ("critic", true),
            ("critic_reask", true),
            ("analyst", false),
            ("analyst_reask", false),
        ] {
            assert_eq!(is_settled(node, refused()), settled, "{node}");
            assert_eq!(
                is_settled(node, ErrorKind::ContextTooLong),
                settled,
                "{node}"
            );
            assert!(!is_settled(node, ErrorKind::ServerError), "{node}");
        }
    }

    #[test]
    fn of_samples_that_were_asked_together_the_longest_counts() {
        let calls = [
            call("analyst", 1, 1.0),
            call("analyst#2", 1, 2.0),
            // An earlier attempt that failed.
            call("analyst#2", 1, 4.0),
            call("analyst#3", 1, 5.0),
            call("analyst_reask#2", 1, 8.0),
            call("analyst_reask#3", 1, 7.0),
            call("critic", 1, 16.0),
            call("analyst", 2, 32.0),
        ];
        assert_eq!(total_seconds(&calls), 1.0 + 6.0 + 8.0 + 16.0 + 32.0);
    }
}
