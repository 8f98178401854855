//! The list of runs (`runs`). Each run has two lines, so that everything by which a user chooses a
//! run fits 80 columns, unless the run is in progress.

use finqa_agents::llm::settings::OFFLINE;
use finqa_core::text::counted;
use finqa_journal::run::{BriefResults, RunKind, RunMeta, RunStage, RunState, short_id};

use super::style::{TerminalStyle, broken, harmless, spaced};

/// Number of columns by which the second line of a run is indented.
const INDENT: usize = 4;

/// The runs as text. The first line of a run has its short id, start and state, and is not wrapped.
/// The second has model, mode, data, progress, score and cost.
pub fn runs_list(runs: &[(String, Result<RunState, String>)], style: TerminalStyle) -> String {
    let ids = runs.iter().map(|(id, _)| short_id(id).chars().count());
    let width = ids.max().unwrap_or(0);
    let lines = runs.iter().map(|(id, state)| {
        let id = short_id(id);
        let lines = match state {
            Ok(state) => {
                let meta = &state.meta;
                // The start is shown to the minute to keep the line short: it is not wrapped.
                let started = meta.started.get(..16).unwrap_or(&meta.started);
                let started = started.replace('T', " ");
                let status = status(&state.stage, meta);
                let about = broken(&about(state), INDENT, INDENT, style.width.into());
                format!("{id:width$}  {started}Z  {status}\n{:INDENT$}{about}", "")
            }
            Err(error) => format!("{id:width$}  unreadable: {error}"),
        };
        spaced(&harmless(&lines))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The second line: model, mode, data, progress, score and cost.
fn about(state: &RunState) -> String {
    let meta = &state.meta;
    let model = match meta.model() {
        OFFLINE => "embedded analyst",
        model => model,
    };
    let progress = match meta.kind() {
        RunKind::Questions => format!("{} questions", meta.progress(state.answered)),
        RunKind::Episodes => format!("{} episodes", meta.progress(state.answered)),
    };
    let parts = [model.to_owned(), mode(meta), meta.data.clone(), progress];
    let results = state.results.iter().flat_map(score_and_cost);
    let parts = parts.into_iter().chain(results);
    parts
        .collect::<Vec<_>>()
        .join(" · ")
        .replace(" %", "\u{a0}%")
}

/// The way in which the questions are asked, in words.
fn mode(meta: &RunMeta) -> String {
    let setting = |key: &str| meta.settings.get(key).and_then(toml::Value::as_str);
    let mode = match (meta.kind(), setting("mode"), setting("history")) {
        (RunKind::Episodes, ..) => "env play",
        (_, Some("conversations"), Some("gold")) => "conversations with gold history",
        (_, Some("conversations"), _) => "conversations",
        _ => "stand-alone questions",
    };
    mode.to_owned()
}

/// The mean reward of episodes, the score by financial equivalence, and the cost if models were
/// called.
fn score_and_cost(results: &BriefResults) -> impl Iterator<Item = String> + use<> {
    let reward = results.episodes.and_then(|episodes| episodes.reward);
    let reward = reward.map(|reward| format!("reward {:.3}", reward.mean));
    let rate = results.financial_equivalence;
    let ends = results
        .financial_equivalence_low
        .zip(results.financial_equivalence_high);
    let score = rate.zip(ends).map(|(rate, (low, high))| {
        let [rate, low, high] = [rate, low, high].map(|share| 100.0 * share);
        let n = results.financial_equivalence_n;
        format!("FE\u{a0}{rate:.1} % [{low:.1},\u{a0}{high:.1}] (n\u{a0}{n})")
    });
    let spent = &results.spent;
    let cost = (spent.calls > 0).then(|| {
        let cost = spent.cost.brief().unwrap_or_else(|| "$0".to_owned());
        format!("{}, {cost}", counted(spent.calls, "call"))
    });
    [reward, score, cost].into_iter().flatten()
}

fn status(stage: &RunStage, meta: &RunMeta) -> String {
    match stage {
        RunStage::Unfinished if meta.merged.is_some() => "merged, questions missing".to_owned(),
        RunStage::Unfinished if let Some(limit) = meta.paused => {
            format!("paused at {}", limit.option())
        }
        RunStage::Running(holder) => format!("running ({holder})"),
        RunStage::Unfinished => "unfinished".to_owned(),
        RunStage::Unwritten => "answered, files missing".to_owned(),
        RunStage::Finished => "finished".to_owned(),
    }
}
