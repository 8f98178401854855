//! Decides whether financial equivalence (FE) treats two numbers as equal, and for which reason.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use finqa_core::number::{NEAR, rounds_to, truncates_to, within};

use super::quantity::WrittenNumber;

/// The reason why FE accepts an answer. If several apply, it is the first in this order.
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
    /// The prediction truncates to gold at gold's decimals, and is within 3 % of gold.
    Truncation,
    /// The prediction is within 0.5 % of gold, or within 1e-4.
    Near,
    /// One of the above is true after multiplying by 100 or 0.01, and there is a cue that percents
    /// are meant.
    PercentDecimal,
    /// Both are yes, or both are no.
    YesNo,
}

impl FeReason {
    /// The name in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The information besides gold and prediction that FE may use.
#[derive(Clone, Copy, Debug, Default)]
pub struct FeContext<'c> {
    /// The question's text, which may contain cues that percents are meant.
    pub question: &'c str,
    /// Gold's program. If it is absent, a small gold is not a cue that percents are meant.
    pub gold_program: Option<&'c str>,
    /// The table, for gold programs that read it; empty if not available.
    pub table: &'c [Vec<String>],
}

/// Maximum relative distance at which a truncated number is accepted, by FE's definition
/// (docs/scoring.md). Truncation alone would accept 10.9 for a gold of 10.
pub(crate) const MOST_FORGIVEN: f64 = 0.03;

/// Returns the first reason that applies: exact, rounding, truncation, near. A gold of 0 is equal
/// only to 0 itself. `None` if the numbers differ by more, or if `x` is not finite.
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
