//! Shows the candidates of `improve` with their results.

use crate::output::numbers::{p_value, signed};
use finqa_score::improve::{Candidate, Effect, Improvement};

use super::style::{TerminalStyle, unbroken};

/// The result of a candidate, on one line.
pub fn candidate_line(candidate: &Candidate) -> String {
    let number = candidate.number;
    let Some(effect) = &candidate.effect else {
        let why = candidate.rejected.as_deref().unwrap_or_default();
        return format!("candidate {number} was not run: {why}");
    };
    let passes = if candidate.passes {
        "passes"
    } else {
        "does not pass"
    };
    let p = p_value(effect.p);
    format!(
        "candidate {number} {passes}: {}, one-sided p {p}",
        gain(effect)
    )
}

/// All candidates with their changes, and the effect of the promoted candidate on the sealed pages.
pub fn improvement_text(found: &Improvement, style: TerminalStyle) -> String {
    let mut lines = Vec::new();
    for candidate in &found.candidates {
        let (line, cost) = (candidate_line(candidate), &candidate.cost);
        lines.push(style.wrap(&format!("{line}; cost {cost}")));
        if !candidate.diff.is_empty() {
            let (template, reason) = (&candidate.template, &candidate.reason);
            lines.push(style.wrap(&format!("{template}: {reason}")));
            lines.push(candidate.diff.clone());
        }
    }
    let promoted = match (found.promoted, &found.sealed) {
        (Some(number), Some(sealed)) => format!(
            "Candidate {number} is promoted. On the sealed pages: {} (n {})",
            gain(sealed),
            sealed.n
        ),
        (Some(number), None) => format!("Candidate {number} is the best so far"),
        (None, _) => "No candidate is promoted".to_owned(),
    };
    lines.push(style.wrap(&promoted));
    lines.push(format!("Cost: {}", found.cost));
    lines.join("\n")
}

/// `+5.0 [1.2, 8.8] points`, which is not broken into two lines.
fn gain(effect: &Effect) -> String {
    let points = [effect.difference, effect.interval.low, effect.interval.high];
    let [difference, low, high] = points.map(|rate| signed(100.0 * rate, 1));
    unbroken(&format!("{difference} [{low}, {high}] points"))
}
