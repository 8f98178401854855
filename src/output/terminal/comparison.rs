//! Two runs side by side, as tables.

use comfy_table::Cell;

use crate::analysis::{Amounts, Comparison, Flip, RuleComparison, RunLetter, RunSide};
use finqa_core::stats::Interval;
use finqa_core::text::counted;

use super::analysis::title;
use super::style::{TerminalStyle, harmless};
use super::table::{align, rule_title};

/// Flips shown of each way; the rest are in `--json`.
const FLIPS: usize = 20;

/// The comparison as tables for a terminal of 80 columns and more.
pub fn comparison_tables(comparison: &Comparison, style: TerminalStyle) -> String {
    let side = |name: &str, side: &RunSide| {
        let left_out = match side.left_out {
            0 => String::new(),
            n => format!(", {n} left out because the other lacks them"),
        };
        style.wrap(&format!(
            "{name}: {} ({}{left_out})",
            side.path.display(),
            counted(side.questions, "answer")
        ))
    };
    let mut parts = vec![side("A", &comparison.a), side("B", &comparison.b)];
    if comparison.same {
        parts.push("A and B are the same file or run, so they do not differ.".to_owned());
    }
    let answers = match comparison.answers {
        n if n == comparison.questions => String::new(),
        n => format!(" ({} on each side)", counted(n, "answer")),
    };
    parts.push(format!(
        "{} on {}{answers}, paired by id, part and epoch",
        counted(comparison.questions, "question"),
        counted(comparison.pages, "page")
    ));
    if let Some(equal) = no_difference(comparison) {
        parts.push(style.wrap(&equal));
        // A file has the same latencies as itself.
        if !comparison.same {
            parts.extend(spending(comparison, style));
        }
        return parts.join("\n");
    }
    parts.push(rules(comparison, style));
    parts.extend(causes(comparison, style));
    parts.extend(spending(comparison, style));
    parts.push(flips(comparison, RunLetter::A, style));
    parts.push(flips(comparison, RunLetter::B, style));
    parts.join("\n")
}

/// The counts of both sides in a sentence, if A and B are right about the same questions by
/// every rule.
fn no_difference(comparison: &Comparison) -> Option<String> {
    let mut rules = comparison.rules.iter();
    if rules.any(|rule| rule.only_a + rule.only_b > 0) {
        return None;
    }
    let counts = comparison
        .rules
        .iter()
        .map(|rule| format!("{} {} of {}", rule_title(rule.rule), rule.both, rule.n));
    Some(format!(
        "No question differs. Right in both: {}",
        counts.collect::<Vec<_>>().join(", ")
    ))
}

/// Three tables, because one of all columns is wider than 80.
fn rules(comparison: &Comparison, style: TerminalStyle) -> String {
    let mut counts = style.table(&["rule", "n", "both", "A only", "B only", "neither"]);
    let mut rates = style.table(&["rule", "A %", "95 % CI", "B %", "95 % CI", "floor %"]);
    let mut differences = style.table(&["rule", "B - A", "95 % CI", "McNemar p"]);
    for rule in &comparison.rules {
        counts.add_row([
            rule_title(rule.rule).to_owned(),
            rule.n.to_string(),
            rule.both.to_string(),
            rule.only_a.to_string(),
            rule.only_b.to_string(),
            rule.neither.to_string(),
        ]);
        rates.add_row([
            rule_title(rule.rule).to_owned(),
            percent(rule.rate_a),
            span(rule.interval_a),
            percent(rule.rate_b),
            span(rule.interval_b),
            rule.floor
                .map_or_else(String::new, |floor| percent(floor.rate)),
        ]);
        differences.add_row(difference(rule, style));
    }
    align(&mut counts, &[1, 2, 3, 4, 5]);
    align(&mut rates, &[1, 3, 5]);
    align(&mut differences, &[1, 2, 3]);
    [counts, rates, differences]
        .map(|table| table.to_string())
        .join("\n")
}

fn percent(x: f64) -> String {
    format!("{:.1}", 100.0 * x)
}

/// An interval in percent, for people.
pub(in crate::output) fn span(interval: Interval) -> String {
    format!("{} – {}", percent(interval.low), percent(interval.high))
}

fn difference(rule: &RuleComparison, style: TerminalStyle) -> Vec<Cell> {
    let signed = |x: f64| signed(100.0 * x, 1);
    let Interval { low, high } = rule.interval;
    // Different only if the interval excludes 0.
    let better = (low > 0.0 || high < 0.0).then_some(low > 0.0);
    vec![
        Cell::new(rule_title(rule.rule)),
        style.signed_cell(signed(rule.difference), better),
        Cell::new(format!("{} – {}", signed(low), signed(high))),
        Cell::new(p_value(rule.p)),
    ]
}

/// A difference with its sign; one that rounds to 0 has none.
pub(in crate::output) fn signed(x: f64, digits: usize) -> String {
    let text = format!("{x:+.digits$}");
    match text.contains(|c: char| ('1'..='9').contains(&c)) {
        true => text,
        false => format!("{:.digits$}", 0.0),
    }
}

/// McNemar's p, for people.
pub(in crate::output) fn p_value(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        format!("{p:.3}")
    }
}

fn causes(comparison: &Comparison, style: TerminalStyle) -> Option<String> {
    if comparison.causes.is_empty() {
        return None;
    }
    let mut table = style.table(&["cause of miss", "A", "B", "fixed", "new"]);
    for change in &comparison.causes {
        table.add_row([
            title(change.cause),
            change.a.to_string(),
            change.b.to_string(),
            change.fixed.to_string(),
            change.new.to_string(),
        ]);
    }
    align(&mut table, &[1, 2, 3, 4]);
    let rule = rule_title(comparison.rule);
    let title = style.wrap(&format!(
        "Misses by {rule}; fixed: A's that B gets right, new: B's that A gets right"
    ));
    Some(format!("{title}\n{table}"))
}

fn spending(comparison: &Comparison, style: TerminalStyle) -> Option<String> {
    let spending = &comparison.spending;
    let line = |name: &str, amounts: &Option<Amounts>, digits: usize| {
        amounts.map(|amounts| {
            vec![
                name.to_owned(),
                amounts.n.to_string(),
                format!("{:.digits$}", amounts.mean_a),
                format!("{:.digits$}", amounts.mean_b),
                signed(amounts.difference, digits),
                format!("{:.digits$}", amounts.total_a),
                format!("{:.digits$}", amounts.total_b),
            ]
        })
    };
    let paid = spending
        .cost_usd
        .filter(|paid| paid.total_a + paid.total_b > 0.0);
    let lines: Vec<_> = [
        line("seconds", &spending.latency, 2),
        line("rounds", &spending.rounds, 2),
        line("US dollars", &paid, 5),
    ]
    .into_iter()
    .flatten()
    .collect();
    if lines.is_empty() {
        return None;
    }
    let mut table = style.table(&[
        "per question", "n", "mean A", "mean B", "B - A", "total A", "total B",
    ]);
    table.add_rows(lines);
    align(&mut table, &[1, 2, 3, 4, 5, 6]);
    Some(table.to_string())
}

fn flips(comparison: &Comparison, right: RunLetter, style: TerminalStyle) -> String {
    let flips: Vec<&Flip> = comparison
        .flips
        .iter()
        .filter(|flip| flip.right == right)
        .collect();
    let name = match right {
        RunLetter::A => "A",
        RunLetter::B => "B",
    };
    let rule = rule_title(comparison.rule);
    if flips.is_empty() {
        return format!("Right only in {name}, by {rule}: none");
    }
    let mut table = style.table(&["question", "gold", "A", "B", "cause"]);
    for flip in flips.iter().take(FLIPS) {
        let epoch = match flip.epoch.as_str() {
            "0" => String::new(),
            epoch => format!(", epoch {epoch}"),
        };
        let question = format!("{} ({}{epoch})", flip.key.id, flip.key.part);
        let cause = title(flip.cause);
        let cells = [&question, &flip.gold, &flip.a, &flip.b, &cause];
        table.add_row(cells.map(|text| harmless(text)));
    }
    let more = match flips.len().saturating_sub(FLIPS) {
        0 => String::new(),
        n => format!("\n… and {n} more: --json lists them all"),
    };
    format!(
        "Right only in {name}, by {rule}: {}\n{table}{more}",
        flips.len()
    )
}
