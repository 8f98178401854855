//! Names of span attributes. Those of OpenTelemetry's GenAI conventions are
//! constants of our own, because the conventions are still moving (as of
//! semantic conventions 1.41, all of `gen_ai.*` is in development); a renamed
//! one is changed here and nowhere else.

/// `chat`, `execute_tool`, `invoke_agent`, `invoke_workflow`.
pub const OPERATION: &str = "gen_ai.operation.name";
/// Whose API is spoken: `openai`, `azure.ai.openai`.
pub const PROVIDER: &str = "gen_ai.provider.name";
/// The model as asked for; on Azure the deployment.
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
/// Sampling temperature asked for.
pub const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
/// Limit on output tokens asked for.
pub const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
/// Seed asked for.
pub const REQUEST_SEED: &str = "gen_ai.request.seed";
/// `text` or `json`.
pub const OUTPUT_TYPE: &str = "gen_ai.output.type";
/// The model that answered.
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// The completion's id.
pub const RESPONSE_ID: &str = "gen_ai.response.id";
/// Why the model stopped; a list, one for each choice.
pub const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Tokens read, cached ones included.
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Tokens written, reasoning included.
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// Of the tokens read, those from the provider's cache.
pub const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// Of the tokens written, those of hidden reasoning.
pub const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
/// `analyst`, `critic` or `player`.
pub const AGENT: &str = "gen_ai.agent.name";
/// The tool that is called.
pub const TOOL: &str = "gen_ai.tool.name";
/// What it is called with, as JSON. Content.
pub const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// What it said. Content.
pub const TOOL_RESULT: &str = "gen_ai.tool.call.result";
/// What the agents are wired to.
pub const WORKFLOW: &str = "gen_ai.workflow.name";
/// What the turns of one conversation share.
pub const CONVERSATION: &str = "gen_ai.conversation.id";
/// What was said to a model or an agent, as JSON. Content.
pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// What it replied, as JSON. Content.
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";

/// A short, stable word for what went wrong.
pub const ERROR_TYPE: &str = "error.type";
/// The host that is asked.
pub const SERVER_ADDRESS: &str = "server.address";
/// Its port.
pub const SERVER_PORT: &str = "server.port";

/// The run.
pub const RUN_ID: &str = "convfinqa.run.id";
/// Questions in a run's plan.
pub const RUN_QUESTIONS: &str = "convfinqa.run.questions";
/// Who answers in a run: `offline`, or provider, address and model.
pub const RUN_MODEL: &str = "convfinqa.run.model";
/// How a run ended: `complete`, `partial`, `interrupted`, `fatal`, `bug`.
pub const RUN_FINISH: &str = "convfinqa.run.finish";
/// The record's id.
pub const QUESTION_ID: &str = "convfinqa.question.id";
/// `qa`, `qa_0`, `qa_1`, or the turn's number.
pub const QUESTION_PART: &str = "convfinqa.question.part";
/// Which pass over the questions, from 0.
pub const EPOCH: &str = "convfinqa.epoch";
/// How asking a question ended.
pub const OUTCOME: &str = "convfinqa.outcome";
/// Why the loop of the two agents ended.
pub const STOP: &str = "convfinqa.stop";
/// Rounds that a question took.
pub const ROUNDS: &str = "convfinqa.rounds";
/// Tool calls that an episode took.
pub const STEPS: &str = "convfinqa.steps";
/// Model calls that a question took.
pub const CALLS: &str = "convfinqa.calls";
/// US dollars, where the price is known.
pub const COST: &str = "convfinqa.cost_usd";
/// Sampling settings of a request that the model does not take.
pub const LEFT_OUT: &str = "convfinqa.left_out";
/// A round's number, from 1.
pub const ROUND: &str = "convfinqa.round";
/// What the critic said of a round.
pub const VERDICT: &str = "convfinqa.verdict";
/// What the deterministic checks found in a round, their kinds.
pub const FINDINGS: &str = "convfinqa.findings";
/// The route a node took.
pub const ROUTE: &str = "convfinqa.route";
/// Who within a node asked: `analyst`, `analyst_reask`, `critic`.
pub const NODE: &str = "convfinqa.node";
/// HTTP requests that a call took, retries included.
pub const ATTEMPTS: &str = "convfinqa.attempts";
/// A reply that an interrupted run had already paid for.
pub const RECALLED: &str = "convfinqa.recalled";

/// What MLflow draws a span as, a JSON string; it knows `chat` and
/// `invoke_agent` by themselves.
pub const MLFLOW_SPAN_TYPE: &str = "mlflow.spanType";
/// The request column of MLflow's list of traces, as JSON. Content.
pub const MLFLOW_INPUTS: &str = "mlflow.spanInputs";
/// The response column of MLflow's list of traces, as JSON. Content.
pub const MLFLOW_OUTPUTS: &str = "mlflow.spanOutputs";
/// What MLflow calls a trace in its list.
pub const MLFLOW_TRACE_NAME: &str = "mlflow.traceTag.mlflow.traceName";
/// The outcome as a tag that MLflow filters by.
pub const MLFLOW_OUTCOME: &str = "mlflow.traceTag.outcome";
