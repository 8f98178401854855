//! Gold that an environment shows once an episode is over.

use crate::dataset::Gold;
use finqa_agents::agents::printed_value;

/// The gold of a truth: mostly the executed value (`env build`), and never the
/// answer as it was typed, because that was rounded.
pub fn gold(truth: Option<&str>) -> Gold {
    Gold {
        exe_ans: truth.and_then(|truth| printed_value(&unboxed(truth))),
        ..Gold::default()
    }
}

/// A truth without its box: `14.136%` of `\boxed{14.136\%}`.
fn unboxed(truth: &str) -> String {
    let inside = truth
        .trim()
        .strip_prefix("\\boxed{")
        .and_then(|rest| rest.strip_suffix('}'));
    inside.unwrap_or(truth.trim()).replace("\\%", "%")
}

#[cfg(test)]
mod tests {
    use super::unboxed;

    #[test]
    fn a_truth_loses_its_box() {
        assert_eq!(unboxed(r"\boxed{14.136\%}"), "14.136%");
        assert_eq!(unboxed(r" \boxed{yes} "), "yes");
        assert_eq!(unboxed("6.1"), "6.1");
    }
}
