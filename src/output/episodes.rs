//! Episodes as JSON lines, each complete in itself, so that a trainer can read
//! the file line by line.

use std::io::Write;
use std::path::Path;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::run::{Journal, Row, RunMeta};
use finqa_agents::llm::{ChatMessage, Cost, ToolSpec, Usage, messages_json, tools_json};
use finqa_agents::pair::{Call, EpisodeEnd, EpisodeRecord, ToolStep};

use super::OutputError;
use super::staged::StagedFile;

/// The version of a line's layout.
const FORMAT: u32 = 1;

/// Who played, where: the same in every line of a file.
#[derive(Serialize)]
struct EpisodeSetup {
    model: String,
    environment: String,
    seed: Option<u64>,
    max_steps: u32,
    settings: String,
}

/// One model call.
#[derive(Serialize)]
struct CallLine<'r> {
    requests: u32,
    seconds: f64,
    usage: Option<Usage>,
    cost_usd: Option<Decimal>,
    model: &'r str,
    finish: &'r str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    left_out: &'r [String],
}

#[derive(Serialize)]
struct UsageLine {
    calls: usize,
    requests: u64,
    #[serde(flatten)]
    tokens: Usage,
    without_usage: u64,
    cost_usd: Option<Decimal>,
}

#[derive(Serialize)]
struct EpisodeLine<'r> {
    format: u32,
    question_id: &'r str,
    company: &'r str,
    question: &'r str,
    outcome: EpisodeEnd,
    answer: Option<&'r str>,
    answer_from_text: bool,
    reward: Option<f64>,
    ground_truth: Option<&'r str>,
    error: Option<&'r str>,
    step_count: usize,
    invalid_calls: usize,
    text_replies: u32,
    calls_from_text: u32,
    calls: Vec<CallLine<'r>>,
    spent: UsageLine,
    seconds: Option<f64>,
    ended: Option<String>,
    /// The run that played it.
    run: &'r str,
    #[serde(rename = "player")]
    setup: &'r EpisodeSetup,
    steps: &'r [ToolStep],
    messages: Vec<Value>,
    tools: &'r [Value],
}

/// True if a file holds episodes of this run only, or none.
pub(crate) fn is_export_of(path: &Path, run: &str) -> bool {
    #[derive(Deserialize)]
    struct Line {
        run: String,
    }
    let text = std::fs::read_to_string(path);
    text.is_ok_and(|text| {
        let mut lines = text.lines();
        lines.all(|line| serde_json::from_str::<Line>(line).is_ok_and(|line| line.run == run))
    })
}

/// Writes the episodes of a run, in the order of its plan.
pub(crate) fn write_episodes(
    path: &Path,
    journal: &Journal,
    tools: &[ToolSpec],
) -> Result<(), OutputError> {
    let mut file = StagedFile::create(path)?;
    let meta = journal.meta()?;
    let setup = setup(&meta);
    let tools = tools_json(tools);
    journal.try_for_each_row(|row| {
        let Some(episode) = &row.solution.episode else {
            return Ok(());
        };
        let line = line(&row, episode, &meta.id, &setup, &tools);
        file.put(|file| {
            serde_json::to_writer(&mut *file, &line)?;
            file.write_all(b"\n")
        })
    })?;
    file.persist()
}

fn setup(meta: &RunMeta) -> EpisodeSetup {
    let episodes = meta.episodes.clone().unwrap_or_default();
    let setting = |name: &str| {
        let value = meta.settings.get(name)?;
        Some(format!("{name} {value}"))
    };
    let prompt = meta.identity.prompts.get(..16);
    let prompt = prompt.map(|hash| format!("prompt {hash}"));
    let parts = [setting("temperature"), setting("max_tokens"), prompt];
    EpisodeSetup {
        model: meta.identity.model.clone(),
        environment: meta.identity.data.clone(),
        seed: episodes.seed,
        max_steps: episodes.max_steps,
        settings: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
    }
}

fn line<'r>(
    row: &'r Row,
    episode: &'r EpisodeRecord,
    run: &'r str,
    setup: &'r EpisodeSetup,
    tools: &'r [Value],
) -> EpisodeLine<'r> {
    let calls = &row.solution.calls;
    let usages: Vec<_> = calls.iter().map(Call::usage).collect();
    let mut tokens = Usage::default();
    usages.iter().for_each(|usage| tokens += usage.tokens);
    let ended = row.stamp.and_then(|stamp| {
        let time = jiff::Timestamp::from_millisecond(stamp.at).ok()?;
        Some(time.to_string())
    });
    EpisodeLine {
        format: FORMAT,
        question_id: &episode.question_id,
        company: &episode.company,
        question: &episode.question,
        outcome: episode.end,
        answer: episode.answer.as_deref(),
        answer_from_text: episode.answer_from_text,
        reward: episode.reward,
        ground_truth: episode.ground_truth.as_deref(),
        error: row.solution.error.as_deref(),
        step_count: episode.steps.len(),
        invalid_calls: episode.invalid_calls(),
        text_replies: episode.text_replies,
        calls_from_text: episode.calls_from_text,
        calls: calls.iter().map(call_line).collect(),
        spent: UsageLine {
            calls: calls.len(),
            requests: usages.iter().map(|usage| usage.requests).sum(),
            tokens,
            without_usage: usages.iter().map(|usage| usage.without_usage).sum(),
            cost_usd: calls.iter().map(|call| call.cost).sum::<Cost>().total(),
        },
        seconds: row.latency,
        ended,
        run,
        setup,
        steps: &episode.steps,
        messages: messages_json(&conversation(calls, episode)),
        tools,
    }
}

fn call_line(call: &Call) -> CallLine<'_> {
    let reply = call.reply.as_ref();
    CallLine {
        requests: call.attempts,
        seconds: call.seconds,
        usage: reply.and_then(|reply| reply.usage),
        cost_usd: call.cost.total(),
        model: reply.map_or("", |reply| &reply.model),
        finish: reply.map_or("error", |reply| reply.finish.as_str()),
        left_out: reply.map_or(&[], |reply| &reply.left_out),
    }
}

/// The whole conversation: each answered call holds what came since the one
/// before it.
fn conversation(calls: &[Call], episode: &EpisodeRecord) -> Vec<ChatMessage> {
    let answered = calls.iter().filter(|call| call.reply.is_some());
    let recorded = answered.flat_map(|call| &call.messages);
    recorded.chain(&episode.messages).cloned().collect()
}
