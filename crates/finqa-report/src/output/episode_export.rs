//! Writes episodes as JSON lines. Each line is complete in itself, so that a trainer can read the
//! file line by line.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use finqa_agents::llm::{ChatMessage, Cost, ToolSpec, Usage, messages_json, tools_json};
use finqa_agents::pair::{Call, EpisodeRecord};
use finqa_journal::run::{Journal, RunMeta};
use finqa_score::score::Row;

use super::OutputError;
use super::staged::StagedFile;

/// The version of a line's layout.
const FORMAT: u32 = 1;

/// Writes the episodes of a run, in the order of its plan.
pub fn write_episodes(
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

/// The model, environment and settings of a run. They are the same in every line of a file.
fn setup(meta: &RunMeta) -> Value {
    let episodes = meta.episodes.clone().unwrap_or_default();
    let setting = |name: &str| {
        let value = meta.settings.get(name)?;
        Some(format!("{name} {value}"))
    };
    // The first 16 characters of the hash, set by hand; left out without prompts.
    let prompt = meta.identity.prompts.get(..16);
    let prompt = prompt.map(|hash| format!("prompt {hash}"));
    let parts = [setting("temperature"), setting("max_tokens"), prompt];
    json!({
        "model": meta.identity.model,
        "environment": meta.identity.data,
        "seed": episodes.seed,
        "max_steps": episodes.max_steps,
        "settings": parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
    })
}

/// The line of one episode: its result, what it spent, its steps, and its whole conversation.
fn line(row: &Row, episode: &EpisodeRecord, run: &str, setup: &Value, tools: &[Value]) -> Value {
    let calls = &row.solution.calls;
    let usages: Vec<_> = calls.iter().map(Call::usage).collect();
    let mut tokens = Usage::default();
    usages.iter().for_each(|usage| tokens += usage.tokens);
    let ended = row.stamp.and_then(|stamp| {
        let time = jiff::Timestamp::from_millisecond(stamp.at).ok()?;
        Some(time.to_string())
    });
    let mut spent = json!({
        "calls": calls.len(),
        "requests": usages.iter().map(|usage| usage.requests).sum::<u64>(),
    });
    if let (Some(spent), Value::Object(tokens)) = (spent.as_object_mut(), json!(tokens)) {
        spent.extend(tokens);
        let without: u64 = usages.iter().map(|usage| usage.without_usage).sum();
        spent.insert("without_usage".to_owned(), without.into());
        let cost = calls.iter().map(|call| call.cost).sum::<Cost>().total();
        spent.insert("cost_usd".to_owned(), json!(cost));
    }
    json!({
        "format": FORMAT,
        "question_id": episode.question_id,
        "company": episode.company,
        "question": episode.question,
        "outcome": episode.end,
        "answer": episode.answer,
        "answer_from_text": episode.answer_from_text,
        "reward": episode.reward,
        "ground_truth": episode.ground_truth,
        "error": row.solution.error,
        "step_count": episode.steps.len(),
        "invalid_calls": episode.invalid_calls(),
        "text_replies": episode.text_replies,
        "calls_from_text": episode.calls_from_text,
        "calls": calls.iter().map(call_line).collect::<Vec<_>>(),
        "spent": spent,
        "seconds": row.latency,
        "ended": ended,
        "run": run,
        "player": setup,
        "steps": episode.steps,
        "messages": messages_json(&conversation(calls, episode)),
        "tools": tools,
    })
}

/// A call without its messages. Without a reply, its model is empty and its finish is `error`.
fn call_line(call: &Call) -> Value {
    let reply = call.reply.as_ref();
    let mut line = json!({
        "requests": call.attempts,
        "seconds": call.seconds,
        "usage": reply.and_then(|reply| reply.usage),
        "cost_usd": call.cost.total(),
        "model": reply.map_or("", |reply| &reply.model),
        "finish": reply.map_or("error", |reply| reply.finish.as_str()),
    });
    let left_out = reply.map_or(&[][..], |reply| &reply.left_out);
    if let Some(line) = line.as_object_mut().filter(|_| !left_out.is_empty()) {
        line.insert("left_out".to_owned(), json!(left_out));
    }
    line
}

/// The whole conversation. Each answered call has only the messages since the answered call before
/// it; the episode has the messages after the last one.
fn conversation(calls: &[Call], episode: &EpisodeRecord) -> Vec<ChatMessage> {
    let answered = calls.iter().filter(|call| call.is_answered());
    let recorded = answered.flat_map(|call| &call.messages);
    recorded.chain(&episode.messages).cloned().collect()
}
