//! When two numbers are the same to FE, and why.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use finqa_core::number::{NEAR, rounds_to, truncates_to, within};

use super::quantity::WrittenNumber;

/// The reason why FE accepts an answer: the first that holds, in this order.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FeReason {
    /// The same number, or the same text.
    Exact,
    /// The prediction rounds to gold at gold's decimals.
    Rounding,
    /// Cut to gold's decimals it is gold, and it is within 3 %.
    Truncation,
    /// Within 0.5 % of gold, or within 1e-4.
    Near,
    /// One of the above after ×100 or ÷100, with a cue that percents are meant.
    PercentDecimal,
    /// The same word, yes or no.
    YesNo,
}

impl FeReason {
    /// The name in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The context of the two answers.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeContext<'c> {
    /// The question's text, for cues that percents are meant.
    pub question: &'c str,
    /// Gold's program. Without it a small gold is not a cue.
    pub gold_program: Option<&'c str>,
    /// The table, for gold programs that read it; empty if not available.
    pub table: &'c [Vec<String>],
}

/// Maximum relative distance of a truncated number.
pub(crate) const MOST_FORGIVEN: f64 = 0.03;

/// Exact, rounding, truncation, near, in this order; a gold of 0 only exact.
#[allow(clippy::float_cmp, reason = "exact means exact")]
pub(super) fn match_reason(gold: &WrittenNumber, x: f64) -> Option<FeReason> {
    let g = gold.value;
    if g == x {
        return Some(FeReason::Exact);
    }
    if is_zero(g) || !x.is_finite() {
        return None;
    }
    let distance = (x - g).abs();
    if rounds_to(x, g, gold.unit) {
        return Some(FeReason::Rounding);
    }
    if truncates_to(x, g, gold.unit) && within(x, g, MOST_FORGIVEN) {
        return Some(FeReason::Truncation);
    }
    (within(x, g, NEAR) || distance <= 1e-4).then_some(FeReason::Near)
}

pub(super) fn is_zero(x: f64) -> bool {
    x.abs() <= 0.0
}
