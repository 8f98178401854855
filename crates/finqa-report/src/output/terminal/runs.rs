//! The list of runs (`runs`). Each run has two lines, so that everything by which a user chooses a
//! run fits 80 columns, unless the run is in progress.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use crate::output::names::shown_model;
use finqa_agents::pair::AgentSettings;
use finqa_core::text::{counted, to_minute};
use finqa_journal::run::{BriefResults, RunKind, RunMeta, RunStage, RunState, short_id};

use super::style::{TerminalStyle, broken, harmless, spaced};

/// Number of columns by which the second line of a run is indented.
const INDENT: usize = 4;

/// The runs as text. The first line of a run has its short id, start and state, and is not wrapped.
/// The second has model, critic, mode, data, progress, score and cost.
pub fn runs_list(runs: &[(String, Result<RunState, String>)], style: TerminalStyle) -> String {
    let ids = runs.iter().map(|(id, _)| short_id(id).chars().count());
    let width = ids.max().unwrap_or(0);
    let states = runs.iter().filter_map(|(_, state)| state.as_ref().ok());
    let files: BTreeSet<_> = states.filter_map(|state| data_file(&state.meta)).collect();
    let lines = runs.iter().map(|(id, state)| {
        let id = short_id(id);
        let lines = match state {
            Ok(state) => {
                let meta = &state.meta;
                // The start is shown to the minute to keep the line short: it is not wrapped.
                let started = to_minute(&meta.started);
                let status = status(&state.stage, meta);
                let about = broken(&about(state, &files), INDENT, INDENT, style.width.into());
                format!("{id:width$}  {started}  {status}\n{:INDENT$}{about}", "")
            }
            Err(error) => format!("{id:width$}  unreadable: {error}"),
        };
        spaced(&harmless(&lines))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The second line: model, critic, mode, data, progress, score and cost. `files` are the data files
/// of all runs shown.
fn about(state: &RunState, files: &BTreeSet<(&OsStr, &Path)>) -> String {
    let meta = &state.meta;
    let progress = match meta.kind() {
        RunKind::Questions => format!("{} questions", meta.progress(state.answered)),
        RunKind::Episodes => format!("{} episodes", meta.progress(state.answered)),
    };
    let model = shown_model(meta.model()).to_owned();
    let first = [model].into_iter().chain(agents(meta));
    let then = [mode(meta), data(meta, files), progress];
    let results = state.results.iter().flat_map(score_and_cost);
    let parts = first.chain(then).chain(results);
    parts
        .collect::<Vec<_>>()
        .join(" · ")
        .replace(" %", "\u{a0}%")
}

/// The critic, with its model if that is not the analyst's, and the use of the second opinion if it
/// is not the default. Runs that are compared often differ in nothing else.
fn agents(meta: &RunMeta) -> impl Iterator<Item = String> + use<> {
    let model = meta.chat_setting("critic_model");
    let critic = meta.critic().map(|critic| match (critic, model) {
        ("llm" | "auto", Some(model)) => format!("critic {critic} ({model})"),
        _ => format!("critic {critic}"),
    });
    let default = toml::Value::try_from(AgentSettings::default().second_opinion);
    let is_default = |it: &&str| {
        default
            .as_ref()
            .is_ok_and(|usual| usual.as_str() == Some(*it))
    };
    let opinion = meta.chat_setting("second_opinion");
    let opinion = opinion.filter(|it| !is_default(it));
    let opinion = opinion.map(|opinion| format!("second opinion {opinion}"));
    critic.into_iter().chain(opinion)
}

/// The name and the full path of the data file; `None` if the data are not a file.
fn data_file(meta: &RunMeta) -> Option<(&OsStr, &Path)> {
    // The full path is that of a link's target, which may have another name.
    let name = Path::new(&meta.data).file_name()?;
    Some((name, meta.data_file.as_deref()?))
}

/// The name of the run's data file, or its full path if `files` has another file of this name. Data
/// that are not a file are named as the run names them.
fn data(meta: &RunMeta, files: &BTreeSet<(&OsStr, &Path)>) -> String {
    let Some((name, path)) = data_file(meta) else {
        return meta.data.clone();
    };
    let same_name = files.iter().filter(|(other, _)| *other == name);
    if same_name.count() > 1 {
        path.display().to_string()
    } else {
        name.to_string_lossy().into_owned()
    }
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
