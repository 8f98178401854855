//! Shows several runs in one table (`compare A B C`).

use crate::output::names::shown_model;
use crate::output::numbers::{p_value, signed};
use crate::output::verdict::verdict_sentence;
use finqa_core::text::counted;
use finqa_score::analysis::{ComparedRun, InputValues, SeveralRuns, Shown};

use super::scores::align;
use super::style::{TerminalStyle, borderless, harmless, spaced};

/// The runs as a table for a terminal of at least 80 columns, with a line for each setting in which
/// they differ.
pub fn several_table(several: &SeveralRuns, style: TerminalStyle) -> String {
    let mut parts: Vec<String> = several.runs.iter().map(|run| named(run, style)).collect();
    parts.push(style.wrap(&format!(
        "{} on {}, paired by id, part and epoch; differences and p are against A",
        counted(several.questions, "question"),
        counted(several.pages, "page")
    )));
    let missing = several.missing.iter();
    parts.extend(missing.map(|line| style.wrap(&format!("Not complete: {line}"))));
    let settings = several.settings.iter();
    parts.extend(settings.map(|input| style.wrap(&difference(input, several))));
    parts.push(table(several));
    let verdicts = several.runs.iter().filter_map(|run| {
        let mut said = verdict_sentence(run.verdict.as_ref()?, "A", &run.letter);
        if let Some(first) = said.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        Some(style.wrap(&format!("{said}.")))
    });
    parts.extend(verdicts);
    let line = "Each p is of one comparison alone: of twenty equal runs, one has p < 0.05 by \
                chance. Name two runs to compare them with each other.";
    parts.push(style.wrap(line));
    harmless(&parts.join("\n")).into_owned()
}

/// A run's letter, the requested model, and the models that answered.
fn named(run: &ComparedRun, style: TerminalStyle) -> String {
    let model = run.model.as_deref().map_or("unknown model", shown_model);
    let served = match &*run.served {
        [] => String::new(),
        [served] if served == model => String::new(),
        served => format!(", answered by {}", served.join(", ")),
    };
    let left_out = match run.left_out {
        0 => String::new(),
        n => format!(", {n} left out because another run lacks them"),
    };
    style.wrap(&format!(
        "{}: {model}{served}; {} ({}{left_out})",
        run.letter,
        run.path.display(),
        counted(run.answers, "answer")
    ))
}

/// The values of a setting, each with the runs that have it.
fn difference(input: &InputValues, several: &SeveralRuns) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (value, run) in input.values.iter().zip(&several.runs) {
        let value = value.as_deref().unwrap_or("unknown");
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, letters)) => letters.push(&run.letter),
            None => groups.push((value, vec![&run.letter])),
        }
    }
    let groups = groups
        .iter()
        .map(|(value, letters)| format!("{value} in {}", letters.join("\u{a0}")));
    format!(
        "Differs: {}: {}",
        input.name,
        groups.collect::<Vec<_>>().join(", ")
    )
}

/// One row for each run: its score, its difference from A, its cost and its times.
fn table(several: &SeveralRuns) -> String {
    let rule = several.rule.short().to_uppercase();
    let rate = format!("{rule} % [95 % CI]");
    let header = [
        "", "n", &*rate, "minus A [95 % CI]", "p", "$/question", "P50 s", "P95 s",
    ];
    let mut table = borderless(&header, 1);
    let percent = |x: f64| format!("{:.1}", 100.0 * x);
    let points = |x: f64| signed(100.0 * x, 1);
    let dash = || "–".to_owned();
    for run in &several.runs {
        let (low, high) = (percent(run.interval.low), percent(run.interval.high));
        let verdict = run.verdict.as_ref();
        let difference = verdict.map_or_else(dash, |it| {
            let interval = it.interval.map_or_else(String::new, |interval| {
                format!(
                    "\u{a0}[{},\u{a0}{}]",
                    points(interval.low),
                    points(interval.high)
                )
            });
            format!("{}{interval}", points(it.difference))
        });
        let p = verdict.map_or_else(dash, |it| {
            let mark = if it.shown == Shown::Nothing { "" } else { "*" };
            format!("{}{mark}", p_value(it.p))
        });
        let seconds = |x: Option<f64>| x.map_or_else(dash, |x| format!("{x:.2}"));
        table.add_row([
            run.letter.clone(),
            run.n.to_string(),
            format!("{}\u{a0}[{low},\u{a0}{high}]", percent(run.rate)),
            difference,
            p,
            run.cost_usd.map_or_else(dash, |cost| format!("{cost:.5}")),
            seconds(run.latency.map(|it| it.p50)),
            seconds(run.latency.map(|it| it.p95)),
        ]);
    }
    align(&mut table, &[1, 2, 3, 4, 5, 6, 7]);
    let mut shown = several.runs.iter().filter_map(|run| run.verdict.as_ref());
    let note = if shown.any(|it| it.shown != Shown::Nothing) {
        "\n* a difference is shown: p < 0.05, and the interval excludes 0"
    } else {
        ""
    };
    spaced(&format!("{}{note}", table.trim_fmt()))
}
