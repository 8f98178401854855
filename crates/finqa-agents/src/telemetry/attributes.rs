//! Names of span attributes. Those of OpenTelemetry's GenAI conventions are our own
//! constants, because the conventions are still changing (as of semantic conventions 1.41,
//! all of `gen_ai.*` is in development); a renamed one is changed here and nowhere else.

/// `chat`, `execute_tool`, `invoke_agent`, `invoke_workflow`.
pub(crate) const OPERATION: &str = "gen_ai.operation.name";
/// The API: `openai`, `azure.ai.openai`.
pub(crate) const PROVIDER: &str = "gen_ai.provider.name";
/// The requested model; on Azure the deployment.
pub(crate) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(crate) const REQUEST_TEMPERATURE: &str = "gen_ai.request.temperature";
pub(crate) const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub(crate) const REQUEST_SEED: &str = "gen_ai.request.seed";
/// `text` or `json`.
pub(crate) const OUTPUT_TYPE: &str = "gen_ai.output.type";
pub(crate) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(crate) const RESPONSE_ID: &str = "gen_ai.response.id";
/// A list, one for each choice.
pub(crate) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
/// Cached ones included.
pub(crate) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Reasoning included.
pub(crate) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(crate) const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(crate) const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(crate) const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
/// `analyst`, `critic` or `player`.
pub const AGENT: &str = "gen_ai.agent.name";
pub const TOOL: &str = "gen_ai.tool.name";
/// JSON. Content.
pub(crate) const TOOL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
/// Content.
pub(crate) const TOOL_RESULT: &str = "gen_ai.tool.call.result";
/// The name of the agents' graph.
pub(crate) const WORKFLOW: &str = "gen_ai.workflow.name";
/// The key shared by all turns of a conversation.
pub const CONVERSATION: &str = "gen_ai.conversation.id";
/// The messages sent to a model or an agent, as JSON. Content.
pub(crate) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// JSON. Content.
pub(crate) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";

/// A short, stable word for the error.
pub(crate) const ERROR_TYPE: &str = "error.type";
pub(crate) const SERVER_ADDRESS: &str = "server.address";
pub(crate) const SERVER_PORT: &str = "server.port";

pub const RUN_ID: &str = "convfinqa.run.id";
pub const RUN_QUESTIONS: &str = "convfinqa.run.questions";
/// Who answers in a run: `offline`, or provider, address and model.
pub const RUN_MODEL: &str = "convfinqa.run.model";
/// The end of a run: `complete`, `partial`, `interrupted`, `fatal`, `bug`.
pub const RUN_FINISH: &str = "convfinqa.run.finish";
pub const QUESTION_ID: &str = "convfinqa.question.id";
/// `qa`, `qa_0`, `qa_1`, or the turn's number.
pub const QUESTION_PART: &str = "convfinqa.question.part";
/// From 0.
pub const EPOCH: &str = "convfinqa.epoch";
pub(crate) const OUTCOME: &str = "convfinqa.outcome";
pub(crate) const STOP: &str = "convfinqa.stop";
pub(crate) const ROUNDS: &str = "convfinqa.rounds";
pub(crate) const STEPS: &str = "convfinqa.steps";
pub(crate) const CALLS: &str = "convfinqa.calls";
/// US dollars, where the price is known.
pub const COST: &str = "convfinqa.cost_usd";
/// Sampling settings of a request that the model does not accept.
pub(crate) const LEFT_OUT: &str = "convfinqa.left_out";
/// From 1.
pub const ROUND: &str = "convfinqa.round";
pub(crate) const VERDICT: &str = "convfinqa.verdict";
/// The kinds of the deterministic checks' findings in a round.
pub const FINDINGS: &str = "convfinqa.findings";
pub(crate) const ROUTE: &str = "convfinqa.route";
/// The node's part that asked: `analyst`, `analyst_reask`, `critic`.
pub(crate) const NODE: &str = "convfinqa.node";
/// Retries included.
pub(crate) const ATTEMPTS: &str = "convfinqa.attempts";
/// A reply that an interrupted run had already paid for.
pub(crate) const RECALLED: &str = "convfinqa.recalled";

/// The span's type in MLflow, as a JSON string; MLflow infers `chat` and `invoke_agent`
/// itself.
pub(crate) const MLFLOW_SPAN_TYPE: &str = "mlflow.spanType";
/// The request column of MLflow's list of traces, as JSON. Content.
pub(crate) const MLFLOW_INPUTS: &str = "mlflow.spanInputs";
/// The response column of MLflow's list of traces, as JSON. Content.
pub(crate) const MLFLOW_OUTPUTS: &str = "mlflow.spanOutputs";
/// The trace's name in MLflow's list.
pub(crate) const MLFLOW_TRACE_NAME: &str = "mlflow.traceTag.mlflow.traceName";
/// The outcome as a tag that MLflow filters by.
pub(crate) const MLFLOW_OUTCOME: &str = "mlflow.traceTag.outcome";
