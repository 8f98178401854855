//! Shows two runs next to each other, as tables (`compare`).

use crate::output::names::shown_model;
use crate::output::numbers::{p_value, signed};
use crate::output::verdict::verdict_of_two;
use finqa_core::text::counted;
use finqa_score::analysis::{
    Amounts, Comparison, ENOUGH_PAGES, InputDifference, RunLetter, RunSide,
};

use super::analysis::{question_lines, title};
use super::scores::align;
use super::style::{TerminalStyle, borderless};
use super::summary::epoch_lines;

/// Maximum number of flips that are shown for each side, so that the comparison fits on a screen;
/// `--html` and `--json` have all of them. A flip is a question that only one side answers right.
/// Set by hand.
const FLIPS: usize = 3;

/// The comparison in about 40 lines, for a terminal of at least 80 columns.
pub fn comparison_tables(comparison: &Comparison<'_>, style: TerminalStyle) -> String {
    let side = |name: &str, side: &RunSide| {
        let left_out = match side.left_out {
            0 => String::new(),
            n => format!(", {n} left out, which the other lacks"),
        };
        let model = side.model.as_deref().map(shown_model);
        let model = model.map_or_else(String::new, |model| format!("{model}; "));
        style.wrap(&format!(
            "{name}: {model}{} ({}{left_out})",
            side.path.display(),
            counted(side.questions, "answer")
        ))
    };
    let mut parts = vec![side("A", &comparison.a), side("B", &comparison.b)];
    let answers = match comparison.answers {
        n if n == comparison.questions => String::new(),
        n => format!(" ({} on each side)", counted(n, "answer")),
    };
    parts.push(format!(
        "{} on {}{answers}, paired by id, part and epoch",
        counted(comparison.questions, "question"),
        counted(comparison.pages, "page")
    ));
    let missing = comparison.missing.iter();
    parts.extend(missing.map(|line| style.wrap(&format!("Not complete: {line}"))));
    let differences = comparison.settings.iter().flatten();
    parts.extend(differences.map(|InputDifference { name, a, b }| {
        style.wrap(&format!("Differs: {name}: {a} in A, {b} in B"))
    }));
    parts.push(rules(comparison));
    let unreliable = comparison.rules.iter();
    let mut unreliable = unreliable.filter(|rule| !rule.interval_is_reliable);
    parts.extend(unreliable.next().map(|rule| {
        let pages = counted(rule.pages, "page");
        style.wrap(&format!(
            "Do not trust the intervals of B - A: they are from {pages}, too few for a bootstrap \
             over pages, which takes at least {ENOUGH_PAGES}. McNemar's p holds for any number."
        ))
    }));
    for (name, side) in [("A", &comparison.a), ("B", &comparison.b)] {
        let lines = side.epochs.iter().flat_map(epoch_lines);
        parts.extend(lines.map(|line| style.wrap(&format!("{name}: {line}"))));
    }
    parts.extend(rounds(comparison));
    parts.push(flips(comparison, RunLetter::A));
    parts.push(flips(comparison, RunLetter::B));
    parts.push(verdict(comparison, style));
    parts.join("\n")
}

/// The rates and their differences. The interval of each rate would make the table wider than 80
/// columns; `--html` and `--json` have it.
fn rules(comparison: &Comparison<'_>) -> String {
    let header = ["rule", "n", "A %", "B %", "B - A [95 % CI]", "McNemar p"];
    let mut table = borderless(&header, 2);
    let points = |x: f64| signed(100.0 * x, 1);
    for rule in &comparison.rules {
        let (low, high) = (points(rule.interval.low), points(rule.interval.high));
        table.add_row([
            rule.rule.title().to_owned(),
            rule.n.to_string(),
            percent(rule.rate_a),
            percent(rule.rate_b),
            format!("{} [{low}, {high}]", points(rule.difference)),
            p_value(rule.p),
        ]);
    }
    align(&mut table, &[1, 2, 3, 4, 5]);
    let floors = comparison.rules.iter().filter_map(|rule| {
        let floor = percent(rule.floor?.rate);
        Some(format!("\nFloor of {}: {floor} %", rule.rule.title()))
    });
    let floors: String = floors.collect();
    format!("{}{floors}", table.trim_fmt())
}

fn percent(x: f64) -> String {
    format!("{:.1}", 100.0 * x)
}

/// The mean number of rounds; `None` unless both sides have it. `--json` has more amounts.
fn rounds(comparison: &Comparison<'_>) -> Option<String> {
    let rounds = comparison.spending.rounds?;
    Some(format!(
        "Rounds per question: A {:.2}, B {:.2}, B - A {} (n {})",
        rounds.mean_a,
        rounds.mean_b,
        signed(rounds.difference, 2),
        rounds.n
    ))
}

/// The verdict, with the times and costs to weigh against it. It is printed last, where it is seen
/// without scrolling.
fn verdict(comparison: &Comparison<'_>, style: TerminalStyle) -> String {
    let said = verdict_of_two(comparison)
        .unwrap_or_else(|| format!("no question can be judged by {}", comparison.rule.title()));
    let spending = &comparison.spending;
    let latency = spending.latencies.map(|[a, b]| {
        format!(
            "Latency: median A {:.2} s, B {:.2} s; P95 A {:.2} s, B {:.2} s (n {}).",
            a.p50, b.p50, a.p95, b.p95, a.n
        )
    });
    // If neither side cost anything, there is no cost to weigh.
    let is_paid = |cost: &Amounts| cost.total_a + cost.total_b > 0.0;
    let cost = spending.cost_usd.filter(is_paid).map(|cost| {
        format!(
            "Cost a question: A ${:.5}, B ${:.5}; in all: A ${:.4}, B ${:.4} (n {}).",
            cost.mean_a, cost.mean_b, cost.total_a, cost.total_b, cost.n
        )
    });
    let lines = [Some(format!("Verdict: {said}.")), latency, cost];
    let lines = lines.into_iter().flatten().map(|line| style.wrap(&line));
    lines.collect::<Vec<_>>().join("\n")
}

/// The list of questions that only run A or only run B answers right; `right` is the letter of that
/// run.
fn flips(comparison: &Comparison<'_>, right: RunLetter) -> String {
    let flips = comparison.flips.iter().filter(|flip| flip.right == right);
    let count = flips.clone().count();
    let heading = format!(
        "Right only in {right:?}, by {}: {count}",
        comparison.rule.title()
    );
    if count == 0 {
        return heading;
    }
    let mut lines = vec![heading];
    for flip in flips.take(FLIPS) {
        let values = [("gold", &flip.gold), ("A", &flip.a), ("B", &flip.b)];
        lines.push(question_lines(
            &flip.key.to_string(),
            &values,
            &title(flip.cause),
        ));
    }
    if count > FLIPS {
        lines.push(format!(
            "… and {} more: --html FILE and --json list them all",
            count - FLIPS
        ));
    }
    lines.join("\n")
}
