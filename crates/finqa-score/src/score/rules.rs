//! The rules that compare only a gold and a prediction: exact match (EM), numeric match (NM) and
//! the official rules.

use finqa_core::number::{Value, literal, round5};
use finqa_core::program;
use finqa_core::program::official::{Evaluator, evaluate};

/// EM: the two texts are equal after trimming.
pub fn exact_match(ground_truth: &str, prediction: &str) -> bool {
    ground_truth.trim() == prediction.trim()
}

/// NM: the two numbers differ by at most 0.5. It copies the LangGraph baseline including its bugs,
/// so that scores are comparable with the published ones. `numeric_value` says what counts as a
/// number.
///
/// Against `exe_ans`, NM says little, because many golds are small fractions. Print its floor next
/// to it.
///
/// ```
/// use finqa_score::score::numeric_match;
/// assert!(numeric_match("14.10%", "14.13"));
/// assert!(numeric_match("yes", "no"));
/// ```
pub fn numeric_match(ground_truth: &str, prediction: &str) -> bool {
    (numeric_value(ground_truth) - numeric_value(prediction)).abs() <= 0.5
}

/// The number that NM reads: the first match of `-?(?:\$)?[\d,]+\.?\d*`, without `$` and `,`. It is
/// 0 if nothing matches or if the match is not a number; `yes, 5` is 0, because the pattern matches
/// the comma. Unlike Python's `\d`, only ASCII digits match.
pub(crate) fn numeric_value(text: &str) -> f64 {
    let bytes = text.as_bytes();
    let is_digit_or_comma = |b: &u8| b.is_ascii_digit() || *b == b',';
    let Some(start) = bytes.iter().position(is_digit_or_comma) else {
        return 0.0;
    };
    let (before, rest) = bytes.split_at(start);
    let negative = before.strip_suffix(b"$").unwrap_or(before).ends_with(b"-");
    let whole = rest.iter().take_while(|b| is_digit_or_comma(b)).count();
    let (whole, rest) = rest.split_at(whole);
    // Eight more bytes, set by hand, for a fraction.
    let mut plain = String::with_capacity(whole.len() + 8);
    plain.extend(whole.iter().filter(|b| **b != b',').map(|b| char::from(*b)));
    if let Some(fraction) = rest.strip_prefix(b".") {
        plain.push('.');
        let digits = fraction.iter().take_while(|b| b.is_ascii_digit());
        plain.extend(digits.map(|b| char::from(*b)));
    }
    let value: f64 = plain.parse().unwrap_or(0.0);
    if negative { -value } else { value }
}

/// The value of a plain answer under the official execution. A literal is executed as `add(x, 0)`,
/// yes as `greater(1, 0)` and no as `greater(0, 1)`. `None` for any other text.
pub fn plain_answer(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Some(yes) = Value::Text(text.to_owned()).yes_no() {
        return Some(Value::Text(if yes { "yes" } else { "no" }.to_owned()));
    }
    literal(text).map(|x| Value::Number(round5(x)))
}

/// Official execution accuracy of a value: the value, rounded to 5 decimals, equals gold's value.
#[allow(clippy::float_cmp, reason = "the official rule is equality")]
pub fn execution_accuracy(exe_ans: &Value, value: &Value) -> bool {
    match (exe_ans, value) {
        (Value::Number(gold), Value::Number(x)) => *gold == round5(*x),
        // The official evaluator returns "n/a" for a program without steps.
        (Value::Text(_), Value::Text(word)) if word == "n/a" => false,
        (Value::Text(gold), Value::Text(word)) => gold.trim() == word.trim(),
        _ => false,
    }
}

/// Official execution accuracy of a program in the ConvFinQA evaluator.
pub fn program_execution(exe_ans: &Value, program: &str, table: &[Vec<String>]) -> bool {
    let (valid, result) = evaluate(program, table, Evaluator::ConvFinQa);
    valid && result.is_some_and(|result| execution_accuracy(exe_ans, &result))
}

/// Official program accuracy: [`program::equal`].
pub(crate) fn program_accuracy(gold: &str, predicted: &str) -> bool {
    program::equal(gold, predicted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_match_is_bug_compatible() {
        for (text, expected) in [
            (".27%", 27.0),
            ("(5.2)", 5.2),
            ("$-5", -5.0),
            ("-$1,234.5", -1234.5),
            ("- 5", 5.0),
            ("-$ 5", 5.0),
            ("\u{2212}5", 5.0),
            ("yes, 5", 0.0),
            ("1.5e6", 1.5),
            ("6e-05", 6.0),
            ("$1.2 billion", 1.2),
            ("5.", 5.0),
            (",.", 0.0),
            ("", 0.0),
            ("yes", 0.0),
            ("no", 0.0),
        ] {
            assert_eq!(numeric_value(text), expected, "{text:?}");
        }
    }

    /// The reader of answers also normalises characters, reads units and chooses among figures. The
    /// published rules must not change when that reader does.
    #[test]
    fn published_rules_read_what_they_always_read() {
        for (text, first, literal) in [
            ("\u{2011}5.2%", 5.2, None),
            ("－５．２％", 0.0, None),
            ("12\u{202f}345", 12.0, None),
            ("1\u{2019}200", 1.0, None),
            ("1.2 × 10^6", 1.2, None),
            ("1.2e6", 1.2, Some(1.2e6)),
            ("**45.2**", 45.2, None),
            ("[45.2]", 45.2, None),
            ("(45.2)", 45.2, None),
            ("\u{25b3}45.2", 45.2, None),
            ("-USD 45.2", 45.2, None),
            ("45.2-", 45.2, None),
            ("25 bps", 25.0, None),
            ("5 crore", 5.0, None),
            ("loss of 45.2", 45.2, None),
            ("4,812 / 198.4 = 24.25", 4812.0, None),
            ("In 2031, revenue was 1,454", 2031.0, None),
            ("1_000", 1.0, Some(1000.0)),
            ("nan", 0.0, Some(f64::NAN)),
        ] {
            assert_eq!(numeric_value(text), first, "{text}");
            let read = plain_answer(text).map(|value| value.number().unwrap());
            assert_eq!(read.map(f64::to_bits), literal.map(f64::to_bits), "{text}");
        }
        assert_eq!(plain_answer("True"), None);
        assert!(!exact_match("-5.2%", "\u{2212}5.2%"));
    }

    #[test]
    fn half_is_inclusive() {
        assert!(numeric_match("1", "1.5"));
        assert!(!numeric_match("1", "1.51"));
        assert!(!numeric_match(&"9".repeat(400), "1"));
    }

    #[test]
    fn exact_match_trims_and_does_nothing_else() {
        assert!(exact_match(" 5% ", "5%"));
        assert!(!exact_match("5.0", "5"));
    }

    #[test]
    fn plain_answers_are_literals() {
        assert_eq!(plain_answer("14.136%"), Some(Value::Number(0.14136)));
        assert_eq!(plain_answer(" Yes "), Some(Value::Text("yes".into())));
        assert_eq!(plain_answer("$ 5"), None);
        assert!(!execution_accuracy(
            &Value::Text("n/a".into()),
            &Value::Text("n/a".into())
        ));
    }
}
