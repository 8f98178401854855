//! Puts the verdict of a comparison into words, for the terminal and the page.

use finqa_core::text::grouped;
use finqa_score::analysis::{Shown, Verdict};

use super::numbers::signed;

/// The verdict in one sentence, without a full stop.
pub(crate) fn verdict_sentence(verdict: &Verdict) -> String {
    let points = |rate: f64| signed(100.0 * rate, 1);
    let interval = verdict.interval.map_or_else(String::new, |it| {
        format!(" [{},\u{a0}{}]", points(it.low), points(it.high))
    });
    let found = format!(
        "{}{interval} points by {}",
        points(verdict.difference),
        verdict.rule.short().to_uppercase()
    );
    match (verdict.shown, verdict.questions_needed) {
        (Shown::Better, _) => format!("B is better than A: {found}"),
        (Shown::Worse, _) => format!("B is worse than A: {found}"),
        (Shown::Nothing, None) => format!("no difference: {found}"),
        (Shown::Nothing, Some(needed)) => {
            let needed = grouped(needed as u64);
            format!(
                "no difference shown: {found} may be chance; about {needed} questions would show it"
            )
        }
    }
}
