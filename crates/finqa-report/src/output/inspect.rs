//! Writes a run as an Inspect log, which `inspect view` shows and `read_eval_log` in the Python
//! package `inspect_ai` reads. <https://inspect.aisi.org.uk/eval-logs.html> describes the format.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde_json::{Map, Value, json};
use strum::VariantArray;

use finqa_agents::llm::{ChatMessage, ChatReply, Role, ToolCall, Usage};
use finqa_agents::pair::{Answer, Call};
use finqa_journal::run::{Journal, Summary, agent, summarise};
use finqa_score::dataset::Outcome;
use finqa_score::score::{Row, Rule};

use super::OutputError;
use super::staged::StagedFile;

/// The version of Inspect's log format.
const VERSION: u32 = 2;

/// Writes a run as an Inspect log. Reads the journal several times: the header comes first and has
/// totals of all samples, and only one sample is in memory at a time.
pub fn write_inspect(path: &Path, journal: &Journal) -> Result<(), OutputError> {
    let summary = summarise(journal)?;
    let mut file = StagedFile::create(path)?;
    let (mut times, mut usage, mut ids) = (Vec::new(), BTreeMap::new(), Vec::new());
    journal.for_each_row(|row| {
        times.extend(row.stamp.map(|stamp| stamp.at));
        add_usage(&mut usage, &row.solution.calls);
        if row.epoch == 0 {
            ids.push(sample_id(&row));
        }
    })?;
    let header = header(&summary, &ids, times.iter().max().copied(), &usage);
    file.put(|file| open_samples(file, &header))?;
    let mut is_first = true;
    journal.try_for_each_row(|row| {
        let sample = sample(&row, summary.run.model());
        file.put(|file| {
            file.write_all(if is_first { b"\n" } else { b",\n" })?;
            is_first = false;
            Ok(serde_json::to_writer(&mut *file, &sample)?)
        })
    })?;
    file.put(|file| file.write_all(b"\n]}\n"))?;
    file.persist()
}

/// Writes the header as the beginning of an object whose last field is the list of samples.
fn open_samples(file: &mut StagedFile, header: &Value) -> std::io::Result<()> {
    let text = header.to_string();
    let fields = text.strip_suffix('}').unwrap_or(&text);
    write!(file, "{fields},\"samples\":[")
}

/// The part of the log before the samples.
fn header(
    summary: &Summary,
    ids: &[String],
    ended: Option<i64>,
    usage: &BTreeMap<String, Usage>,
) -> Value {
    let run = &summary.run;
    let setting = |key: &str| run.settings.get(key);
    let ended = ended.and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    let ended = ended.map_or_else(String::new, |at| at.to_string());
    let status = if summary.complete {
        "success"
    } else {
        "cancelled"
    };
    let task = match &run.episodes {
        Some(_) => "env play",
        None => setting("mode")
            .and_then(toml::Value::as_str)
            // The default of `--mode`.
            .unwrap_or("questions"),
    };
    let model = model_name(run.model());
    json!({
        "version": VERSION,
        "status": status,
        "eval": {
            "eval_id": run.id,
            "run_id": run.id,
            "created": run.started,
            "task": format!("convfinqa {task}"),
            "task_id": run.id,
            "dataset": {
                "name": run.data,
                "location": run.data_file,
                "samples": ids.len(),
                "sample_ids": ids,
                "shuffled": setting("shuffle").and_then(toml::Value::as_bool),
            },
            "model": model,
            "config": {"epochs": setting("epochs").and_then(toml::Value::as_integer)},
            "packages": {"convfinqa": run.version},
            "metadata": {"settings": run.settings, "critic": run.identity.critic},
        },
        "plan": {"name": "convfinqa", "steps": [{"solver": "analyst"}, {"solver": "critic"}]},
        "results": {
            "total_samples": run.total,
            "completed_samples": summary.scores.questions,
            "scores": scores(summary),
        },
        "stats": {
            "started_at": run.started,
            "completed_at": ended,
            "model_usage": usage_json(usage),
        },
    })
}

/// Adds a provider to a name without one, because Inspect shows a model as `provider/name`.
fn model_name(model: &str) -> String {
    if model.contains('/') {
        model.to_owned()
    } else {
        format!("convfinqa/{model}")
    }
}

/// The scores of the run: the mean reward of episodes, and every rule that has a rate. Financial
/// equivalence (FE) comes before the other rules, because a viewer shows the first one.
fn scores(summary: &Summary) -> Vec<Value> {
    let reward = summary
        .episodes
        .as_ref()
        .and_then(|episodes| episodes.reward);
    let reward = reward.map(|reward| {
        let ends = [("ci95_low", reward.low), ("ci95_high", reward.high)];
        score("reward", reward.n, "mean", reward.mean, ends)
    });
    let mut rates: Vec<_> = summary.scores.rates.iter().collect();
    rates.sort_by_key(|(rule, _)| *rule != Rule::FinancialEquivalence);
    let rates = rates.into_iter().map(|(rule, rate)| {
        let ends = [("ci95_low", Some(rate.low)), ("ci95_high", Some(rate.high))];
        score(rule.name(), rate.n, "accuracy", rate.rate, ends)
    });
    reward.into_iter().chain(rates).collect()
}

/// A score in Inspect's form. Its metrics are `metric` and those `ends` of its interval that exist.
fn score(name: &str, n: usize, metric: &str, value: f64, ends: [(&str, Option<f64>); 2]) -> Value {
    let ends = ends
        .into_iter()
        .filter_map(|(name, end)| Some((name, end?)));
    let metrics = [(metric, value)].into_iter().chain(ends);
    let metrics =
        metrics.map(|(name, value)| (name.to_owned(), json!({"name": name, "value": value})));
    json!({
        "name": name,
        "scorer": name,
        "scored_samples": n,
        "metrics": metrics.collect::<Map<_, _>>(),
    })
}

/// The id of a question, which is the same in every epoch.
fn sample_id(row: &Row) -> String {
    format!("{}#{}", row.key.id, row.key.part)
}

/// An answered question in Inspect's form. Only a failure of the provider or a reached limit is an
/// error.
fn sample(row: &Row, model: &str) -> Value {
    let solution = &row.solution;
    let answer = solution.answer.as_ref();
    let printed = row.prediction();
    let mut usage = BTreeMap::new();
    add_usage(&mut usage, &solution.calls);
    let completed = row
        .stamp
        .and_then(|stamp| jiff::Timestamp::from_millisecond(stamp.at).ok());
    let target = solution
        .episode
        .as_ref()
        .and_then(|episode| episode.ground_truth.clone());
    let target = target.or_else(|| row.ground_truth().map(Into::into));
    let failed = matches!(
        solution.outcome,
        Outcome::ProviderError | Outcome::BudgetStop
    );
    let message = solution.error.clone().unwrap_or_default();
    let error = failed.then(|| json!({"message": message, "traceback": "", "traceback_ansi": ""}));
    json!({
        "id": sample_id(row),
        // Inspect counts epochs from 1.
        "epoch": row.epoch + 1,
        "input": row.question,
        "target": target.unwrap_or_default(),
        "messages": messages(row),
        "output": {
            "model": model_name(model),
            "choices": [{
                "message": {"role": "assistant", "content": printed, "source": "generate"},
                "stop_reason": "stop",
            }],
            "completion": printed,
        },
        "scores": sample_scores(row, &printed),
        "metadata": {
            "outcome": solution.outcome.name(),
            "reason": solution.error,
            "page": row.filename,
            "program": answer.and_then(|answer| answer.program.as_ref()),
            "value": answer.and_then(|answer| answer.value.as_ref()).map(ToString::to_string),
            "gold_program": row.gold.program,
            "exe_ans": row.gold.exe_ans,
            "rounds": solution.rounds.len(),
            "first_draft": solution.rounds.first().map(|round| &round.answer.printed),
            "probability": solution.probability,
        },
        "model_usage": usage_json(&usage),
        "completed_at": completed.map(|at| at.to_string()),
        "total_time": row.latency,
        "error": error,
    })
}

/// The mark of every rule that has a gold, and the reward of an episode.
fn sample_scores(row: &Row, printed: &str) -> Map<String, Value> {
    let mut scores = Map::new();
    let episode = row.solution.episode.as_ref();
    if let Some(reward) = episode.and_then(|episode| episode.reward) {
        let answer = episode.and_then(|episode| episode.answer.as_ref());
        let score = json!({"value": reward, "answer": answer});
        scores.insert("reward".to_owned(), score);
    }
    // FE comes first, as in the results.
    let mut rules = Rule::VARIANTS.to_vec();
    rules.sort_by_key(|rule| *rule != Rule::FinancialEquivalence);
    for rule in rules {
        let Some(is_right) = rule.mark(row) else {
            continue;
        };
        let value = if is_right { "C" } else { "I" };
        let explanation = explanation(rule, row);
        let score = json!({"value": value, "answer": printed, "explanation": explanation});
        scores.insert(rule.name().to_owned(), score);
    }
    scores
}

/// The reason for a rule's mark.
fn explanation(rule: Rule, row: &Row) -> String {
    let gold = row.ground_truth().unwrap_or_default().into_owned();
    if row.outcome() != Outcome::Answered {
        return format!("no answer: {}", row.outcome().name().replace('_', " "));
    }
    let verdict = row.scores.financial_equivalence.as_ref();
    let verdict = verdict.filter(|_| rule == Rule::FinancialEquivalence);
    let reason = verdict
        .and_then(|verdict| verdict.reason)
        .map(|reason| reason.name());
    let slips = verdict.map_or(&[][..], |verdict| &verdict.diagnostics);
    let slips: Vec<&str> = slips.iter().map(|slip| slip.name()).collect();
    match (reason, slips.is_empty()) {
        (Some(reason), _) => format!("accepted ({reason}); gold {gold}"),
        (None, false) => format!("differs from gold {gold} by {}", slips.join(", ")),
        (None, true) => format!("by {}; gold {gold}", rule.title()),
    }
}

/// The messages of a question in the order of the calls: what each agent is told for the first
/// time, and its replies. For a solver that records no calls, the question and the answer.
fn messages(row: &Row) -> Vec<Value> {
    let solution = &row.solution;
    // In an episode, a reply is repeated among the messages of the next call.
    let shows_replies = solution.episode.is_none();
    let mut messages = Vec::new();
    for (at, call) in solution.calls.iter().enumerate() {
        let node = call.node.as_str();
        let earlier = solution.calls.get(..at).unwrap_or_default();
        let quoted = earlier.iter().filter_map(|call| call.reply.as_ref());
        let is_shown = |message: &ChatMessage| {
            shows_replies
                && message.role == Role::Assistant
                && quoted.clone().any(|reply| reply.content == message.content)
        };
        let new = call.messages.get(told(call, earlier)..);
        let new = new.unwrap_or_default().iter();
        let new = new.filter(|message| !is_shown(message));
        messages.extend(new.map(|message| message_json(message, node)));
        let reply = call.reply.as_ref().filter(|_| shows_replies);
        messages.extend(reply.map(|reply| reply_json(reply, node)));
    }
    let last = solution
        .episode
        .iter()
        .flat_map(|episode| &episode.messages);
    messages.extend(last.map(|message| message_json(message, "analyst")));
    if messages.is_empty() {
        messages.push(json!({"role": "user", "content": row.question, "source": "input"}));
        let steps = solution.episode.iter().flat_map(|episode| &episode.steps);
        messages.extend(
            steps.map(|step| json!({"role": "assistant", "content": json!(step).to_string()})),
        );
        messages.extend(solution.answer.as_ref().map(answer_json));
    }
    messages
}

/// The number of messages at the start of a request that its agent was told before, because an
/// earlier request began with them too.
fn told(call: &Call, earlier: &[Call]) -> usize {
    let is_same = |one: &&Call| agent(&one.node) == agent(&call.node);
    let earlier = earlier.iter().filter(is_same);
    let common = earlier.map(|one| {
        let pairs = one.messages.iter().zip(&call.messages);
        pairs.take_while(|(one, other)| one == other).count()
    });
    common.max().unwrap_or_default()
}

fn message_json(message: &ChatMessage, agent: &str) -> Value {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("role", json!(message.role));
    put("content", json!(message.content));
    put("metadata", json!({"agent": agent}));
    if message.role == Role::Assistant && !message.tool_calls.is_empty() {
        put(
            "tool_calls",
            message.tool_calls.iter().map(tool_call_json).collect(),
        );
    }
    if message.role == Role::Tool {
        put("tool_call_id", json!(message.tool_call_id));
    }
    Value::Object(fields)
}

fn reply_json(reply: &ChatReply, agent: &str) -> Value {
    json!({
        "role": "assistant",
        "content": reply.content,
        "source": "generate",
        "model": reply.model,
        "metadata": {"agent": agent},
        "tool_calls": reply.tool_calls.iter().map(tool_call_json).collect::<Vec<_>>(),
    })
}

/// A tool call. Arguments that are not an object become an object with one text.
fn tool_call_json(call: &ToolCall) -> Value {
    let arguments = serde_json::from_str::<Map<String, Value>>(&call.arguments);
    let arguments = arguments.map_or_else(|_| json!({"text": call.arguments}), Value::Object);
    json!({
        "id": call.id,
        "function": call.name,
        "arguments": arguments,
        "type": "function",
    })
}

/// The answer of a solver that records no calls.
fn answer_json(answer: &Answer) -> Value {
    let program = answer.program.as_deref().unwrap_or_default();
    let steps = answer.steps.iter().map(|step| format!("{step}\n"));
    json!({
        "role": "assistant",
        "content": format!("{}{program}\n{}", steps.collect::<String>(), answer.printed),
        "source": "generate",
        "metadata": {"agent": "analyst"},
    })
}

/// Adds the tokens of these calls to the sums of the models that answered them.
fn add_usage(sum: &mut BTreeMap<String, Usage>, calls: &[Call]) {
    for reply in calls.iter().filter_map(|call| call.reply.as_ref()) {
        let entry = sum.entry(model_name(&reply.model)).or_default();
        *entry += reply.usage.unwrap_or_default();
    }
}

fn usage_json(usage: &BTreeMap<String, Usage>) -> Value {
    let models = usage.iter().map(|(model, usage)| {
        let json = json!({
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens + usage.output_tokens,
            "input_tokens_cache_read": usage.cached_input_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
        });
        (model.clone(), json)
    });
    Value::Object(models.collect())
}
