//! Tests models with a real server that fails on purpose. They check which requests are sent, which
//! replies come back, and that replies count the same requests as the server.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use finqa_agents::llm::{
    Budget, BudgetLimits, CallEvent, ChatMessage, ChatModel, ChatReply, ChatRequest, ErrorKind,
    FinishReason, HttpModel, ModelConnection, ModelError, ModelSettings, OpenAiApi, PriceList,
    Provider, ReplyFormat, RetryOptions, Scope, Stop, ToolSpec, Usage,
};
use serde_json::json;

use crate::support::fault_server::{FaultServer, Reply, completion};

mod batches;
mod corrections;
mod faults;
mod limits;
mod protocols;
mod replies;
mod shapes;
mod wire;

/// Waits that are short enough for tests. The number of attempts is the default.
const QUICK: RetryOptions = RetryOptions {
    max_attempts: 6,
    connect_attempts: 3,
    max_timeouts: 2,
    give_up_after: Duration::from_secs(30),
    first_delay: Duration::from_millis(2),
    max_delay: Duration::from_millis(10),
};

fn settings(vars: &[(&str, &str)], model: &str) -> ModelConnection {
    let find = |name: &str| {
        vars.iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| (*value).to_owned())
    };
    let flags = ModelSettings {
        name: model.into(),
        ..ModelSettings::default()
    };
    ModelConnection {
        retry: QUICK,
        ..ModelConnection::resolve(&find, &flags).unwrap()
    }
}

pub(crate) fn openai(server: &FaultServer) -> ModelConnection {
    settings(
        &[
            ("OPENAI_BASE_URL", &server.base_url()),
            ("OPENAI_API_KEY", "sk-test-key"),
        ],
        "gpt-4o",
    )
}

fn azure(server: &FaultServer) -> ModelConnection {
    settings(
        &[
            ("AZURE_OPENAI_ENDPOINT", &server.azure_endpoint()),
            ("AZURE_OPENAI_API_KEY", "azure-test-key"),
            ("OPENAI_API_VERSION", "2024-10-21"),
        ],
        "my-deployment",
    )
}

fn anthropic(server: &FaultServer) -> ModelConnection {
    settings(
        &[
            ("ANTHROPIC_BASE_URL", &server.azure_endpoint()),
            ("ANTHROPIC_API_KEY", "sk-ant-test-key"),
        ],
        "claude-sonnet-4-5",
    )
}

fn responses(server: &FaultServer) -> ModelConnection {
    ModelConnection {
        api: OpenAiApi::Responses,
        ..openai(server)
    }
}

fn ask(text: &str) -> ChatRequest {
    ChatRequest::new("analyst", vec![ChatMessage::user(text)])
}

async fn chat(model: &HttpModel, request: &ChatRequest) -> Result<ChatReply, ModelError> {
    model.chat(request, &Stop::default()).await
}

/// Makes one call to a server that always sends this reply.
async fn one(reply: Reply) -> (Result<ChatReply, ModelError>, FaultServer) {
    let server = FaultServer::start(move |_| reply.clone());
    let model = HttpModel::new(openai(&server)).unwrap();
    let outcome = chat(&model, &ask("How much?")).await;
    (outcome, server)
}

/// Makes one call to a server that first fails in this way, and then answers.
async fn once(reply: Reply) -> (Result<ChatReply, ModelError>, FaultServer) {
    let server = FaultServer::start(move |request| match request.repeat {
        0 => reply.clone(),
        _ => Reply::chat("recovered"),
    });
    let model = HttpModel::new(openai(&server)).unwrap();
    let outcome = chat(&model, &ask("How much?")).await;
    (outcome, server)
}
