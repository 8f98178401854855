//! `convfinqa env play`: an agent plays episodes, here, on our own server, on
//! servers that break, and by models that break.

mod agent;
mod compare;
mod environment;
mod hostile;
mod needs_python;
mod offline;
mod resume;
mod telemetry;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use finqa_env::data::Catalog;
use finqa_env::episode::EpisodeRules;
use finqa_env::server::ServerOptions;
use finqa_env::tools::{ToolLimits, Tools};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::cli::{Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply, Request};
use crate::support::running::RunningServer;

/// The synthetic data directory in the layout of OpenEnv's finqa_env: 12 questions.
const FIXTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/crates/finqa-env/tests/fixtures/finqa-env/data"
);

/// Our own server on a thread of its own; it ends when dropped.
struct Serving {
    url: String,
    stop: CancellationToken,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Serving {
    fn start(catalog: Catalog, options: ServerOptions) -> Self {
        let stop = CancellationToken::new();
        let (sender, receiver) = std::sync::mpsc::channel();
        let wait = stop.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let tools = Arc::new(Tools::new(Arc::new(catalog), ToolLimits::default()));
                let options = ServerOptions { port: 0, ..options };
                let server = RunningServer::start(tools, EpisodeRules::default(), options).await;
                sender.send(server.url()).unwrap();
                wait.cancelled().await;
                server.stop().await;
            });
        });
        Self {
            url: receiver.recv().unwrap(),
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn fixture() -> Catalog {
    Catalog::load(Path::new(FIXTURE)).unwrap()
}

/// Answers by question, as the environment knows them.
fn truths(catalog: &Catalog) -> HashMap<String, String> {
    let questions = catalog.questions().iter();
    questions
        .map(|q| (q.question.clone(), q.answer.clone()))
        .collect()
}

/// `env play --json` with these arguments: how it ran, and of its summary what
/// concerns episodes, with the run, whether it is complete, and what was spent.
fn play(place: &Workplace, arguments: &str) -> (Ran, Value) {
    let ran = place.run(&format!("env play --json {arguments}"));
    let summary: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    let mut figures = summary["episodes"].clone();
    for key in ["run", "complete", "spent"] {
        figures[key] = summary[key].clone();
    }
    (ran, figures)
}

/// The same of a play that succeeds.
#[track_caller]
fn played(place: &Workplace, arguments: &str) -> Value {
    let (ran, figures) = play(place, arguments);
    ran.succeeds();
    figures
}

/// The lines of an episodes' file.
fn episodes(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "whole lines");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Question and company of a request, as the agent asked.
fn asked(request: &Request) -> (String, String) {
    let messages = request.body["messages"].as_array().unwrap();
    let user = messages.iter().find(|m| m["role"] == "user").unwrap();
    let text = user["content"].as_str().unwrap();
    let (question, company) = text.rsplit_once("\n\nCompany: ").unwrap();
    (question.to_owned(), company.to_owned())
}

/// The texts of the tool results in a request, in order.
fn results(request: &Request) -> Vec<String> {
    let messages = request.body["messages"].as_array().unwrap();
    let tools = messages.iter().filter(|m| m["role"] == "tool");
    tools
        .map(|m| m["content"].as_str().unwrap().to_owned())
        .collect()
}

fn call(name: &'static str, arguments: Value) -> (&'static str, String) {
    (name, arguments.to_string())
}

/// A call that lists a company's tables.
fn list_tables(company: &str) -> (&'static str, String) {
    call("get_descriptions", json!({ "company_name": company }))
}

fn submit(answer: &str) -> Reply {
    Reply::tool_calls(&[call("submit_answer", json!({ "answer": answer }))])
}

/// A model that lists the tables and then knows the answer.
fn knowing(truths: HashMap<String, String>) -> FaultServer {
    FaultServer::start(move |request| knows(&truths, request))
}

fn knows(truths: &HashMap<String, String>, request: &Request) -> Reply {
    let (question, company) = asked(request);
    if results(request).is_empty() {
        return Reply::tool_calls(&[list_tables(&company)]);
    }
    submit(&truths[&question])
}
