//! Shared by the benches: repeated records, a run with a model in this process, and the CPU time
//! and memory of a process.

#![allow(dead_code, reason = "each bench uses a part of this")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use finqa_agents::llm::{self, ChatModel, ChatReply, ChatRequest, ModelError, Stop};
use finqa_agents::pair::{Backend, PairOptions, TwoAgentSolver};
use finqa_journal::run::{Identity, Journal, Plan, RunMeta};
use finqa_run::engine::{RunModels, Scheduler};
use finqa_score::dataset::{Dataset, HistoryMode, Mode};

/// Writes `total` records to one file: those of `file`, or of the built-in sample, repeated with
/// new ids and distinct pages.
pub fn repeated(file: Option<&Path>, folder: &Path, total: usize) -> PathBuf {
    let text = match file {
        Some(file) => std::fs::read_to_string(file).unwrap(),
        None => include_str!("../../data/sample.json").to_owned(),
    };
    let records: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let many: Vec<serde_json::Value> = (0..total)
        .map(|index| {
            let mut record = records[index % records.len()].clone();
            let id = format!(
                "{}-copy{}",
                record["id"].as_str().unwrap(),
                index / records.len()
            );
            record["id"] = id.into();
            // Equal pages would be stored once, so that the run would seem to need less memory.
            let copy = format!("copy {} .", index / records.len());
            if let Some(text) = record["pre_text"].as_array_mut() {
                text.insert(0, copy.into());
            }
            record
        })
        .collect();
    let path = folder.join("many.json");
    std::fs::write(&path, serde_json::to_vec(&many).unwrap()).unwrap();
    path
}

/// Asks the questions of `data`, with the embedded analyst or with a model in this process. Returns
/// the path of the journal, which is in `folder`.
pub async fn run(
    data: Dataset,
    mode: Mode,
    model: Option<Arc<dyn ChatModel>>,
    folder: &Path,
) -> PathBuf {
    let plan = Plan::new(&data, mode, HistoryMode::Own, 1).unwrap();
    let source = data.source.clone();
    let hash = data.hash.clone();
    drop(data);
    let backend = match model {
        None => Backend::Embedded,
        Some(model) => Backend::Llm {
            analyst: Arc::clone(&model),
            critic: model,
        },
    };
    let pair = TwoAgentSolver::new(&PairOptions::new(backend)).unwrap();
    let meta = RunMeta {
        id: "bench".to_owned(),
        identity: Identity {
            data: hash,
            ..Identity::default()
        },
        data: source,
        total: plan.total(),
        ..RunMeta::default()
    };
    let path = folder.join("journal.sqlite");
    let journal = Journal::create(&path, &meta, None).unwrap();
    let scheduler = Scheduler {
        plan,
        solver: Arc::new(pair),
        concurrency: 8,
        models: RunModels::default(),
        stop: Stop::default(),
    };
    let (events, mut received) = tokio::sync::mpsc::channel(1024);
    let running = tokio::spawn(scheduler.run(journal, events));
    while received.recv().await.is_some() {}
    running.await.unwrap().unwrap();
    path
}

/// A model in this process that replies at once with the function's result, so that only our own
/// time is measured.
pub struct Scripted(pub fn(&ChatRequest) -> String);

#[async_trait]
impl ChatModel for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn chat(&self, request: &ChatRequest, _stop: &Stop) -> Result<ChatReply, ModelError> {
        let content = (self.0)(request);
        // Record the same spans as a provider's model.
        let span = llm::trace::chat(self.name(), request);
        let reply = reply(content);
        llm::trace::record_reply(&span, &reply);
        Ok(reply)
    }
}

/// A reply of the analyst.
pub const ANALYSIS: &str = r#"{"evidence": [{"id": "r1c1", "literal": "10"}], "program": "add(10, 2)", "steps": ["add"],
            "answer": "12", "unit": "number", "label": "sum", "confidence": 0.9}"#;

/// Replies as the analyst with always the same answer, and as a critic that accepts it.
pub fn at_once(request: &ChatRequest) -> String {
    if request.node == "critic" {
        "ALL_OK".to_owned()
    } else {
        ANALYSIS.to_owned()
    }
}

fn reply(content: String) -> ChatReply {
    ChatReply {
        content,
        model: "scripted".to_owned(),
        attempts: 1,
        ..ChatReply::default()
    }
}

/// User and system time of this process in seconds (Linux; 0 elsewhere).
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .collect();
    let ticks = |index: usize| {
        fields
            .get(index)
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    // utime and stime are fields 14 and 15 of the line, in hundredths of a second.
    (ticks(11) + ticks(12)) / 100.0
}

/// Average number of processes that wanted a core in the last minute.
pub fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("unknown").to_owned()
}

pub fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|kb| kb.parse::<f64>().ok())
        .unwrap_or(0.0)
        / 1024.0
}
