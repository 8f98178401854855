//! Converts a gold answer to the form in which the environment stores right answers.

use finqa_core::number::{NumberReading, Value, answer, last_digit, round5};
use finqa_score::dataset::Gold;

/// The right answer with which a submission is graded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExpectedAnswer {
    /// `\boxed{14.136\%}`, `\boxed{-19}`, `\boxed{yes}`.
    pub(super) boxed: String,
    /// `percent`, `number` or `text`.
    pub(super) kind: &'static str,
}

/// The right answer of a question; `None` without gold. If the dataset's typed answer is a rounding
/// of the executed value, or if there is no typed answer, the right answer is the executed value,
/// because a typed `11%` would reject the correct 10.548 %. Otherwise it is the typed answer.
pub(super) fn boxed(gold: &Gold) -> Option<ExpectedAnswer> {
    let typed = gold
        .answer
        .as_deref()
        .map(str::trim)
        .filter(|a| !a.is_empty());
    let executed = gold.exe_ans.as_ref();
    let Some(typed) = typed else {
        return executed.map(|value| match value {
            Value::Number(x) => number(*x, false),
            Value::Text(word) => text(word),
        });
    };
    let Ok(reading) = answer(typed) else {
        return Some(text(typed));
    };
    let value = executed.and_then(Value::number).and_then(|x| {
        // The executed value of a percentage may be a fraction (0.14136) or already in percent.
        let scales = if reading.percent {
            &[100.0, 1.0][..]
        } else {
            &[1.0]
        };
        let mut scaled = scales.iter().map(|scale| x * scale);
        scaled.find(|x| is_rounded_or_truncated_to(*x, &reading))
    });
    Some(number(value.unwrap_or(reading.value), reading.percent))
}

/// True if the typed number is `x`, rounded or truncated to the digits that were typed.
fn is_rounded_or_truncated_to(x: f64, typed: &NumberReading) -> bool {
    (x - typed.value).abs() < last_digit(typed.significant_decimals)
}

/// A right answer that is a number, rounded to 5 decimals. If `percent`, `x` is in percent.
fn number(x: f64, percent: bool) -> ExpectedAnswer {
    // The dataset's values have five decimals. Multiplying by 100 adds rounding noise after these.
    let shown = Value::Number(round5(x));
    let (sign, kind) = if percent {
        ("\\%", "percent")
    } else {
        ("", "number")
    };
    ExpectedAnswer {
        boxed: format!("\\boxed{{{shown}{sign}}}"),
        kind,
    }
}

/// A right answer that is a text. Braces are removed, because a closing one would end the box
/// early.
fn text(word: &str) -> ExpectedAnswer {
    ExpectedAnswer {
        boxed: format!("\\boxed{{{}}}", word.trim().replace(['{', '}'], "")),
        kind: "text",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(answer: &str, exe_ans: Option<Value>) -> String {
        let gold = Gold {
            answer: Some(answer.to_owned()),
            exe_ans,
            ..Gold::default()
        };
        boxed(&gold).unwrap().boxed
    }

    #[test]
    fn a_rounded_answer_gives_way_to_the_executed_value() {
        let n = |x| Some(Value::Number(x));
        assert_eq!(truth("14.1%", n(0.14136)), r"\boxed{14.136\%}");
        assert_eq!(truth("11%", n(0.10548)), r"\boxed{10.548\%}");
        assert_eq!(truth("11.1%", n(11.11111)), r"\boxed{11.11111\%}");
        assert_eq!(truth(".43", n(0.42457)), r"\boxed{0.42457}");
        assert_eq!(
            truth("$ 110774.5 million", n(110_774.5)),
            r"\boxed{110774.5}"
        );
    }

    #[test]
    fn what_disagrees_or_stands_alone_is_taken_as_typed() {
        let n = |x| Some(Value::Number(x));
        assert_eq!(truth("30%", n(0.0228)), r"\boxed{30\%}");
        assert_eq!(truth("13.25%", n(-0.13249)), r"\boxed{13.25\%}");
        assert_eq!(truth("-31.7%", None), r"\boxed{-31.7\%}");
        assert_eq!(
            truth("no", Some(Value::Text("no".to_owned()))),
            r"\boxed{no}"
        );
    }

    #[test]
    fn without_gold_there_is_no_truth() {
        assert_eq!(boxed(&Gold::default()), None);
    }
}
