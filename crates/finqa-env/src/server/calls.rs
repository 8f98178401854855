//! Executes validated requests: resets, steps and tool calls. Queries wait in the queues of
//! `query_queue` and run on threads that may block, so that they never block the threads that serve
//! sockets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use finqa_core::text::cut;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::episode::{Environment, Observation, StepError, StepOutcome, StepStart, TaskError};
use crate::server::options::STEP_TIMEOUT;
use crate::server::protocol::tasks;
use crate::server::protocol::validate::{CallStep, ResetRequest};
use crate::server::state::ServerState;
use crate::server::state::metrics;
use crate::server::state::query_queue::QueryCostHistory;
use crate::tools::{FailureKind, ToolFailure, specs};

/// A step that failed without an observation. The message is sent to the client.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepFault {
    /// The client's request is invalid.
    #[error(transparent)]
    Client(#[from] StepError),
    /// The server failed.
    #[error("{0}")]
    Server(&'static str),
}

/// Maximum number of characters of a tool's name that an answer repeats. Set by hand.
const NAME: usize = 200;

/// Begins an episode with the requested task or the next question. Returns an outcome without an
/// observation; the question is in its metadata. An error if the task does not exist.
pub(crate) fn reset(
    environment: &Mutex<Environment>,
    request: ResetRequest,
) -> Result<StepOutcome, TaskError> {
    let split = request.split.as_deref().map(tasks::split).transpose()?;
    let id = request
        .episode_id
        .unwrap_or_else(|| Uuid::new_v4().to_string());
    let metadata = environment
        .lock()
        .reset(split, request.index, request.seed, id)?;
    Ok(StepOutcome {
        observation: Observation::Empty,
        // 0.0 and not null, as the wire contract has it (docs/finqa-wire.md).
        reward: Some(0.0),
        done: false,
        metadata,
    })
}

/// Takes one step and counts it in the metrics. The environment is locked at the beginning and at
/// the end of the step, but not while the tool runs.
pub(crate) async fn step(
    app: &ServerState,
    queries: &QueryCostHistory,
    environment: &Mutex<Environment>,
    call: CallStep,
    limit: Duration,
) -> Result<StepOutcome, StepFault> {
    let started = Instant::now();
    let (tool, arguments) = (cut(&call.tool_name, NAME, "..."), call.arguments);
    // No other step comes in between, because only the session's one socket steps, one message at
    // a time.
    let open = environment.lock().is_open();
    let take = async {
        let start = environment.lock().begin(&tool, &arguments)?;
        if let StepStart::Answered(outcome) = start {
            return Ok(outcome);
        }
        let work = run_tool(app, queries, tool.clone(), arguments);
        let result = match tokio::time::timeout(limit, work).await {
            Ok(result) => result.map_err(StepFault::Server)?,
            // A step that timed out counts like any other step, so it can be the last one.
            Err(_) => Err(timed_out(&tool, limit)),
        };
        Ok(environment.lock().finish(&tool, result))
    };
    let taken: Result<_, StepFault> = take.await;
    let error = match &taken {
        Ok(outcome) => match &outcome.observation {
            Observation::Failure { failure, .. } => Some(failure.kind.as_str()),
            _ => None,
        },
        Err(StepFault::Client(_)) => Some("invalid_args"),
        Err(StepFault::Server(_)) => Some("internal"),
    };
    app.metrics
        .tool_called(metrics::STEP, &tool, started.elapsed(), error);
    if let Ok(StepOutcome {
        done: true,
        reward,
        observation,
        ..
    }) = &taken
        // Steps after the end of an episode are also `done`, but they end nothing.
        && open
    {
        // An episode ends by a graded submission, which has no observation, or at the step limit,
        // which has one.
        let submitted = *observation == Observation::Empty;
        let reward = reward.unwrap_or_default();
        app.metrics.episode_ended(submitted, reward);
    }
    taken
}

fn timed_out(tool: &str, limit: Duration) -> ToolFailure {
    let seconds = limit.as_secs_f64();
    ToolFailure {
        kind: FailureKind::Timeout,
        message: format!("Tool '{tool}' timed out after {seconds:?} seconds"),
    }
}

/// Calls a tool outside of episodes. The error is a text for the client.
pub(crate) async fn call_tool(
    app: &ServerState,
    queries: &QueryCostHistory,
    name: String,
    arguments: Map<String, Value>,
) -> Result<String, String> {
    let limit = STEP_TIMEOUT;
    let name = cut(&name, NAME, "...");
    let started = Instant::now();
    let work = run_tool(app, queries, name.clone(), arguments);
    let result = tokio::time::timeout(limit, work).await;
    let (error, result) = match result.unwrap_or_else(|_| Ok(Err(timed_out(&name, limit)))) {
        Ok(Ok(text)) => (None, Ok(text)),
        Ok(Err(failure)) => (Some(failure.kind.as_str()), Err(failure.message)),
        Err(fault) => (Some("internal"), Err(fault.to_owned())),
    };
    app.metrics
        .tool_called(metrics::CALL, &name, started.elapsed(), error);
    result
}

/// Runs a tool. A query waits for its turn and then runs on a thread that may block. The other
/// tools only look something up, so they run on the calling task. The outer error is a bug of the
/// server.
async fn run_tool(
    app: &ServerState,
    queries: &QueryCostHistory,
    name: String,
    arguments: Map<String, Value>,
) -> Result<Result<String, ToolFailure>, &'static str> {
    if name != "sql_query" {
        return Ok(app.tools.call(&name, &arguments));
    }
    // Refuse wrong arguments before waiting. A call that waits then keeps only three texts in
    // memory, and not whatever else a client put into the arguments.
    if let Err(failure) = app.tools.check(&name, &arguments) {
        return Ok(Err(failure));
    }
    let call = Arc::new((name, arguments));
    if !queries.needs_long() {
        let (tools, call) = (Arc::clone(&app.tools), Arc::clone(&call));
        let work = move || tools.call_briefly(&call.0, &call.1);
        match app.brief.run(work).await.ok_or(BUG)? {
            Ok(Some(text)) => {
                queries.set_needs_long(false);
                return Ok(Ok(text));
            }
            Ok(None) => queries.set_needs_long(true),
            Err(failure) => return Ok(Err(failure)),
        }
    }
    let tools = Arc::clone(&app.tools);
    let work = move || {
        let began = Instant::now();
        (tools.call_fully(&call.0, &call.1), began.elapsed())
    };
    let (result, took) = app.long.run(work).await.ok_or(BUG)?;
    if took < BRIEF {
        queries.set_needs_long(false);
    }
    Ok(result)
}

/// If a query takes less than this with the full budget, the session's next query is tried with the
/// brief budget again, which allows ten times as long. Set by hand.
const BRIEF: Duration = Duration::from_millis(5);
const BUG: &str = "internal error in the tool call";

/// The tools as `tools/list` returns them, with every field that fastmcp 3.2 sends.
pub(crate) fn tool_list() -> Value {
    specs()
        .iter()
        .map(|spec| {
            json!({
                "name": spec.name,
                "title": null,
                "description": spec.description,
                "inputSchema": spec.input_schema(),
                "outputSchema": {
                    "properties": {"result": {"type": "string"}},
                    "required": ["result"],
                    "type": "object",
                    "x-fastmcp-wrap-result": true,
                },
                "icons": null,
                "annotations": null,
                "meta": {"fastmcp": {"tags": []}},
                "execution": null,
            })
        })
        .collect()
}

/// The tools as an observation, for clients that list the tools by a step.
pub(crate) fn step_tool_list() -> Value {
    specs()
        .iter()
        .map(|spec| {
            json!({
                "name": spec.name,
                "description": spec.description,
                "input_schema": spec.input_schema(),
            })
        })
        .collect()
}
