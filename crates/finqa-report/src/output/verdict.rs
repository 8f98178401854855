//! Puts the verdict of a comparison into words, for the terminal and the page.

use finqa_core::text::{counted, grouped};
use finqa_score::analysis::{Comparison, Shown, Verdict};

use super::names::shown_model;
use super::numbers::signed;

/// The names of the two sides: their letters, with the models if these are known and differ.
fn side_names(comparison: &Comparison<'_>) -> [String; 2] {
    match (&comparison.a.model, &comparison.b.model) {
        (Some(a), Some(b)) if a != b => {
            [("A", a), ("B", b)].map(|(letter, model)| format!("{letter} ({})", shown_model(model)))
        }
        _ => ["A", "B"].map(str::to_owned),
    }
}

/// The verdict on two runs in one sentence, without a full stop; `None` if the rule can judge no
/// pair.
pub(crate) fn verdict_of_two(comparison: &Comparison<'_>) -> Option<String> {
    let [a, b] = side_names(comparison);
    Some(verdict_sentence(comparison.verdict.as_ref()?, &a, &b))
}

/// The verdict in one sentence, without a full stop. `a` and `b` are the names of the runs, such as
/// "A (gpt-4o)".
pub(crate) fn verdict_sentence(verdict: &Verdict, a: &str, b: &str) -> String {
    let points = |rate: f64| signed(100.0 * rate, 1);
    // Without a flip, the interval is 0 to 0, which would say too much.
    let interval = verdict.interval.filter(|_| verdict.flips > 0);
    let interval = interval.map_or_else(String::new, |it| {
        format!(" [{},\u{a0}{}]", points(it.low), points(it.high))
    });
    let found = format!(
        "{}{interval} points by {}",
        points(verdict.difference),
        verdict.rule.short().to_uppercase()
    );
    match verdict.shown {
        Shown::Better => format!("{b} is better than {a}: {found}"),
        Shown::Worse => format!("{b} is worse than {a}: {found}"),
        Shown::Nothing => format!(
            "no difference between {a} and {b} is shown: {found}{}",
            why_nothing(verdict)
        ),
    }
}

/// Why no difference is shown, and what would show one.
fn why_nothing(verdict: &Verdict) -> String {
    let Verdict {
        flips, possible, ..
    } = verdict;
    match (possible, verdict.questions_needed) {
        (Some(possible), _) => format!(
            "; no answer is scored differently, which a difference of up to {:.1} points leaves \
             possible",
            100.0 * possible
        ),
        (None, Some(needed)) => {
            let needed = grouped(needed as u64);
            format!(" may be chance; about {needed} questions in all would show it")
        }
        // The difference is 0, although single answers differ.
        (None, None) if verdict.difference.abs() < f64::EPSILON => String::new(),
        (None, None) => {
            let answers = counted(*flips, "answer");
            format!(
                " may be chance; {answers} right on one side only, too few to say how many \
                 questions would show it"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use finqa_score::score::Rule;

    /// It was "up to 0 points" from 601 pages on.
    #[test]
    fn the_difference_that_many_pages_leave_possible_is_not_said_to_be_0() {
        let verdict = Verdict {
            rule: Rule::FinancialEquivalence,
            shown: Shown::Nothing,
            difference: 0.0,
            interval: None,
            p: 1.0,
            n: 700,
            flips: 0,
            possible: Some(3.0 / 700.0),
            questions_needed: None,
        };
        let said = verdict_sentence(&verdict, "A", "B");
        assert!(said.contains("a difference of up to 0.4 points"), "{said}");
    }
}
