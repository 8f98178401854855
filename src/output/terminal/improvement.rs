//! The candidates of `improve`, as a table.

use crate::improve::{Effect, Improvement};
use crate::output::numbers::{p_value, signed};

use super::scores::align;
use super::style::{TerminalStyle, spaced};

/// The candidates, and the effect of the promoted one on the sealed pages.
pub(crate) fn improvement_table(found: &Improvement, style: TerminalStyle) -> String {
    let mut table = style.table(&["", "gain [95 % CI]", "p", "cost", "result"]);
    for candidate in &found.candidates {
        let effect = candidate.effect.as_ref();
        let result = match (&effect, candidate.passes) {
            (None, _) => "not run",
            (Some(_), true) => "passes",
            (Some(_), false) => "does not pass",
        };
        table.add_row([
            candidate.number.to_string(),
            effect.map_or_else(String::new, gain),
            effect.map_or_else(String::new, |effect| p_value(effect.p)),
            candidate.cost.to_string(),
            result.to_owned(),
        ]);
    }
    align(&mut table, &[1, 2, 3]);
    let mut lines = vec![spaced(&table.to_string())];
    for candidate in &found.candidates {
        let why = candidate.rejected.as_ref();
        let why = why.map_or_else(String::new, |why| format!("not run: {why}"));
        let mut parts = vec![&candidate.template, &candidate.reason, &why];
        parts.retain(|part| !part.is_empty());
        let parts: Vec<_> = parts.into_iter().map(String::as_str).collect();
        lines.push(style.wrap(&format!("{}: {}", candidate.number, parts.join("; "))));
        lines.push(candidate.diff.clone());
    }
    let promoted = match (found.promoted, &found.sealed) {
        (Some(number), Some(sealed)) => format!(
            "Candidate {number} is promoted. On the sealed pages: {} points, n {}",
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

fn gain(effect: &Effect) -> String {
    let points = |rate: f64| signed(100.0 * rate, 1);
    let (low, high) = (effect.interval.low, effect.interval.high);
    let difference = points(effect.difference);
    format!("{difference}\u{a0}[{},\u{a0}{}]", points(low), points(high))
}
