//! Finds changes that would make a rejected answer right. They are shown as a diagnosis and never
//! change a score.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use finqa_core::number::{NEAR, Value, within};
use finqa_core::program::{Argument, Op, Program};

use super::matching::{FeContext, MOST_FORGIVEN, is_zero, match_reason};
use super::quantity::WrittenNumber;

/// A single slip that turns gold into the prediction.
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
pub enum Diagnostic {
    /// The wrong sign.
    Sign,
    /// Off by 10^±3, 10^±6 or 10^±9.
    Scale,
    /// Both of the above.
    ScaleAndSign,
    /// The difference instead of the relative change, or the reverse.
    AbsVsRel,
    /// 1 - x instead of x.
    Complement,
    /// 1 / x instead of x.
    Inverse,
    /// 1 + x instead of x, or the reverse.
    GrowthFactor,
}

impl Diagnostic {
    /// The name in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Returns every change that fits; none if gold or the prediction is 0. `cue` is true if percents
/// may be meant.
pub(super) fn diagnose(
    gold: &WrittenNumber,
    prediction: &WrittenNumber,
    cue: bool,
    context: &FeContext<'_>,
) -> Vec<Diagnostic> {
    let (g, x) = (gold.value, prediction.value);
    if is_zero(g) || is_zero(x) || !x.is_finite() {
        return Vec::new();
    }
    let hundreds: &[f64] = if cue { &[1.0, 100.0, 0.01] } else { &[1.0] };
    let any =
        |candidate: &dyn Fn(f64) -> f64| hundreds.iter().any(|by| close(gold, candidate(x) * by));
    let scales = [1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9];
    let scaled = |x: f64| scales.iter().any(|by| close(gold, x * by));
    let mut found = Vec::new();
    let mut note = |holds: bool, diagnostic| {
        if holds {
            found.push(diagnostic);
        }
    };
    note(
        hundreds
            .iter()
            .any(|by| match_reason(gold, -x * by).is_some()),
        Diagnostic::Sign,
    );
    note(scaled(x), Diagnostic::Scale);
    note(scaled(-x), Diagnostic::ScaleAndSign);
    note(abs_vs_rel(prediction, context), Diagnostic::AbsVsRel);
    let complement = any(&|x| 1.0 - x) || (cue && any(&|x| 100.0 - x));
    note(complement, Diagnostic::Complement);
    note(any(&|x| 1.0 / x), Diagnostic::Inverse);
    let growth = any(&|x| x - 1.0)
        || any(&|x| x + 1.0)
        || (cue && (any(&|x| x - 100.0) || any(&|x| x + 100.0)));
    note(growth, Diagnostic::GrowthFactor);
    found
}

/// True if `x` is near gold, or rounds or truncates to it within 3 %. Financial equivalence (FE)
/// has no such limit for rounding; it is needed here, because an integer gold would otherwise match
/// many changed numbers.
fn close(gold: &WrittenNumber, x: f64) -> bool {
    within(x, gold.value, NEAR)
        || (within(x, gold.value, MOST_FORGIVEN) && match_reason(gold, x).is_some())
}

/// True if the prediction is the difference and gold the relative change, or the reverse. Gold's
/// program tells which of the two gold is: it ends in `subtract` for a difference, and in
/// `subtract` and `divide` for a relative change.
fn abs_vs_rel(prediction: &WrittenNumber, context: &FeContext<'_>) -> bool {
    let Some(Ok(program)) = context.gold_program.map(Program::parse) else {
        return false;
    };
    let Some(last) = program.last_step() else {
        return false;
    };
    let Ok(results) = program.execute_steps(context.table) else {
        return false;
    };
    let number = |argument: &Argument| match argument {
        Argument::Literal { value, .. } => Some(*value),
        Argument::Reference(k) => results.get(*k).and_then(Value::number),
        _ => None,
    };
    let near = |target: f64| within(prediction.value.abs(), target.abs(), NEAR) && !is_zero(target);
    let [first, second] = &last.arguments;
    match (last.op, first, number(first), number(second)) {
        (Op::Divide, Argument::Reference(k), Some(difference), _) => {
            let of_a_difference = program
                .steps()
                .get(*k)
                .is_some_and(|s| s.op == Op::Subtract);
            of_a_difference && near(difference)
        }
        (Op::Subtract, _, Some(a), Some(b)) if !is_zero(b) => {
            // The relative change may be given as a fraction or in percent.
            near((a - b) / b) || near((a - b) / b * 100.0)
        }
        _ => false,
    }
}
