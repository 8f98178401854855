//! Two runs side by side, as tables.

use crate::analysis::{Amounts, Comparison, Flip, Paired, RuleComparison, Side};
use crate::score::statistics::Interval;

use super::analysis::title;
use super::table::{align, rule_title, table};

/// Flips shown of each way; the rest are in `--json`.
const FLIPS: usize = 20;

/// The comparison as tables for a terminal of 80 columns and more.
#[must_use]
pub fn comparison_tables(comparison: &Comparison) -> String {
    let side = |name: &str, side: &Side| {
        let left_out = match side.left_out {
            0 => String::new(),
            n => format!(", {n} left out: the other does not have them"),
        };
        format!(
            "{name}: {} ({} questions{left_out})",
            side.path.display(),
            side.questions
        )
    };
    let mut parts = vec![side("A", &comparison.a), side("B", &comparison.b)];
    if comparison.same {
        parts.push("A and B are the same file or run: there is nothing to differ.".to_owned());
    }
    parts.push(format!(
        "{} questions on {} pages, paired by id, part and epoch",
        comparison.questions, comparison.pages
    ));
    parts.push(rules(comparison));
    parts.extend(causes(comparison));
    parts.extend(spending(comparison));
    parts.push(flips(comparison, Paired::A));
    parts.push(flips(comparison, Paired::B));
    parts.join("\n")
}

/// Two tables, because one of all columns is wider than 80.
fn rules(comparison: &Comparison) -> String {
    let mut counts = table(&["rule", "n", "both", "A only", "B only", "neither"]);
    let mut rates = table(&["rule", "A %", "B %", "B - A", "95 % interval", "McNemar p"]);
    for rule in &comparison.rules {
        counts.add_row([
            rule_title(rule.rule).to_owned(),
            rule.n.to_string(),
            rule.both.to_string(),
            rule.only_a.to_string(),
            rule.only_b.to_string(),
            rule.neither.to_string(),
        ]);
        rates.add_row(rate_row(rule));
    }
    align(&mut counts, &[1, 2, 3, 4, 5]);
    align(&mut rates, &[1, 2, 3, 4, 5]);
    format!("{counts}\n{rates}")
}

fn rate_row(rule: &RuleComparison) -> Vec<String> {
    let percent = |x: f64| format!("{:.1}", 100.0 * x);
    let signed = |x: f64| format!("{:+.1}", 100.0 * x + 0.0);
    let Interval { low, high } = rule.interval;
    vec![
        rule_title(rule.rule).to_owned(),
        percent(rule.rate_a),
        percent(rule.rate_b),
        signed(rule.difference),
        format!("{} – {}", signed(low), signed(high)),
        p_value(rule.p),
    ]
}

fn p_value(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

fn causes(comparison: &Comparison) -> Option<String> {
    if comparison.causes.is_empty() {
        return None;
    }
    let mut table = table(&["cause of miss", "A", "B", "went", "came"]);
    for change in &comparison.causes {
        table.add_row([
            title(change.cause),
            change.a.to_string(),
            change.b.to_string(),
            change.went.to_string(),
            change.came.to_string(),
        ]);
    }
    align(&mut table, &[1, 2, 3, 4]);
    let rule = rule_title(comparison.rule);
    Some(format!(
        "Misses by {rule}; went: A's that B gets right, came: B's that A gets right\n{table}"
    ))
}

fn spending(comparison: &Comparison) -> Option<String> {
    let spending = &comparison.spending;
    let line = |name: &str, amounts: &Option<Amounts>, digits: usize| {
        amounts.map(|amounts| {
            vec![
                name.to_owned(),
                amounts.n.to_string(),
                format!("{:.digits$}", amounts.mean_a),
                format!("{:.digits$}", amounts.mean_b),
                format!("{:+.digits$}", amounts.difference),
                format!("{:.digits$}", amounts.total_a),
                format!("{:.digits$}", amounts.total_b),
            ]
        })
    };
    let lines: Vec<_> = [
        line("seconds", &spending.latency, 2),
        line("rounds", &spending.rounds, 2),
        line("US dollars", &spending.cost_usd, 5),
    ]
    .into_iter()
    .flatten()
    .collect();
    if lines.is_empty() {
        return None;
    }
    let mut table = table(&[
        "a question",
        "n",
        "mean A",
        "mean B",
        "B - A",
        "total A",
        "total B",
    ]);
    table.add_rows(lines);
    align(&mut table, &[1, 2, 3, 4, 5, 6]);
    Some(table.to_string())
}

fn flips(comparison: &Comparison, right: Paired) -> String {
    let flips: Vec<&Flip> = comparison
        .flips
        .iter()
        .filter(|flip| flip.right == right)
        .collect();
    let name = match right {
        Paired::A => "A",
        Paired::B => "B",
    };
    let rule = rule_title(comparison.rule);
    if flips.is_empty() {
        return format!("Right in {name} alone, by {rule}: none");
    }
    let mut table = table(&["question", "gold", "A", "B", "cause"]);
    for flip in flips.iter().take(FLIPS) {
        let epoch = match flip.epoch.as_str() {
            "0" => String::new(),
            epoch => format!(", epoch {epoch}"),
        };
        table.add_row([
            format!("{} ({}{epoch})", flip.key.id, flip.key.part),
            flip.gold.clone(),
            flip.a.clone(),
            flip.b.clone(),
            title(flip.cause),
        ]);
    }
    let more = match flips.len().saturating_sub(FLIPS) {
        0 => String::new(),
        n => format!("\n… and {n} more: --json lists them all"),
    };
    format!(
        "Right in {name} alone, by {rule}: {}\n{table}{more}",
        flips.len()
    )
}
