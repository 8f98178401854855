use super::*;
use finqa_core::number::Value;

fn judge(gold: &str, prediction: &str, question: &str) -> FeVerdict {
    let context = FeContext {
        question,
        ..FeContext::default()
    };
    financial_equivalence(
        &Quantity::parse(gold),
        &Quantity::parse(prediction),
        &context,
    )
}

fn accepted(gold: &str, prediction: &str) -> bool {
    judge(gold, prediction, "").accepted
}

#[test]
fn the_first_reason_that_holds() {
    use FeReason::{Exact, Near, PercentDecimal, Rounding, Truncation, YesNo};
    for (gold, prediction, expected) in [
        ("5", "5.0", Some(Exact)),
        ("$ 1,234", "1234", Some(Exact)),
        ("-5", "(5)", Some(Exact)),
        ("14.10%", "14.13", Some(Rounding)),
        ("14.10%", "14.15", Some(Rounding)),
        ("14.10%", "14.18", Some(Truncation)),
        ("14.10%", "14.21", None),
        ("5%", "5.64", None),
        ("100", "100.9", Some(Truncation)),
        ("10", "10.9", None),
        ("1234.56", "1235", Some(Near)),
        ("0.00001", "0.0001", Some(Near)),
        ("14.1%", "0.14136", Some(PercentDecimal)),
        ("0.14136", "14.1%", Some(PercentDecimal)),
        ("0.14136", "14.1", None),
        ("yes", "Yes.", Some(YesNo)),
        ("yes", "no", None),
        ("no", "241", None),
        ("0", "0.00001", None),
        ("0", "0.0", Some(Exact)),
        ("5", "", None),
        ("", "", None),
        ("n/a", "N/A", Some(Exact)),
        ("5", "1,2,3", None),
    ] {
        let verdict = judge(gold, prediction, "");
        assert_eq!(verdict.reason, expected, "{gold} {prediction}");
        assert_eq!(verdict.accepted, expected.is_some());
    }
}

#[test]
fn what_touches_a_number_counts() {
    for (gold, prediction, expected) in [
        ("45.2", "-USD 45.2", false),
        ("-45.2", "-USD 45.2", true),
        ("45.2", "\u{25b3}45.2", false),
        ("-45.2", "\u{25b2}45.2", true),
        ("45.2", "45.2-", false),
        ("-45.2", "45.2\u{2011}", true),
        ("45.2", "loss of 45.2", false),
        ("-45.2", "a net loss of 45.2", true),
        ("5 million", "5 crore", false),
        ("50 million", "5 crore", true),
        ("5", "5 crore", false),
        ("500000", "5 lakh", true),
        ("24.25", "$4,812 million / $198.4 million = 24.25", true),
        ("4812", "$4,812 million / $198.4 million = 24.25", false),
        ("1454", "In 2031, revenue was 1,454", true),
        ("2031", "In 2031, revenue was 1,454", false),
        ("-5.2%", "\u{ff0d}５.２％", true),
        ("12345", "12\u{202f}345", true),
        ("1200", "1\u{2019}200", true),
        ("1200000", "1.2 × 10^6", true),
        ("yes", "**True**", true),
        ("no", "False", true),
        ("nan", "nan", false),
        ("inf", "inf", false),
    ] {
        assert_eq!(accepted(gold, prediction), expected, "{gold} {prediction}");
    }
    let nothing = Quantity::of(&Value::Number(f64::INFINITY));
    let context = FeContext::default();
    assert!(!financial_equivalence(&nothing, &nothing, &context).accepted);
}

#[test]
fn basis_points_are_hundredths_of_a_percent() {
    let asked = "by how many basis points did the margin rise?";
    for (gold, prediction, question, expected) in [
        ("25%", "25 bps", "", false),
        ("0.25%", "25 bps", "", true),
        ("0.25", "25 bps", "", true),
        ("0.0025", "25 bps", "", true),
        ("25", "25 bps", "what is the growth rate?", false),
        ("25", "25 bps", asked, true),
        ("25%", "25 bps", asked, false),
        ("25", "0.25%", asked, true),
        ("25 bps", "25", "", true),
        ("25 bps", "0.25%", "", true),
        ("25 bps", "25%", "", false),
        ("25 bps", "25 basis points", "", true),
        ("25 bps", "52 bps", "", false),
    ] {
        let verdict = judge(gold, prediction, question);
        assert_eq!(verdict.accepted, expected, "{gold} {prediction} {question}");
    }
}

#[test]
fn a_loss_in_words_is_a_size_where_the_question_names_it() {
    let asked = |gold, prediction| judge(gold, prediction, "what was the net loss?").accepted;
    assert!(asked("45.2", "a loss of 45.2") && asked("-45.2", "a loss of 45.2"));
    assert!(asked("a loss of 45.2", "45.2"));
    assert!(!asked("45.2", "-45.2"));
}

#[test]
fn scale_words_are_held_to_when_both_are_said() {
    assert!(accepted("$1.2 billion", "1200 million"));
    assert!(!accepted("$1.2 billion", "1.2 million"));
    assert!(accepted("$1.2 billion", "1.2"));
    assert!(accepted("1200000000", "$1.2 billion"));
}

#[test]
fn a_percent_needs_a_cue() {
    let accepted = |question| judge("0.14136", "14.136", question).accepted;
    assert!(accepted("what is the growth rate?"));
    assert!(accepted("in percentage terms?"));
    assert!(accepted("what is that in %?"));
    assert!(!accepted("what came from operations, in corporate terms?"));
    let with = |program| {
        let context = FeContext {
            gold_program: Some(program),
            ..FeContext::default()
        };
        let gold = Quantity::of(&Value::Number(0.14136));
        financial_equivalence(&gold, &Quantity::parse("14.136"), &context).accepted
    };
    assert!(with("divide(1, 2), add(#0, const_1000)"));
    assert!(!with("subtract(5, const_100), divide(#0, const_100)"));
}

#[test]
fn diagnostics_say_what_would_have_been_right() {
    use Diagnostic::{Complement, GrowthFactor, Inverse, Scale, ScaleAndSign, Sign};
    for (gold, prediction, expected) in [
        ("-26.16%", "26.16", vec![Sign]),
        ("1281", "1281000", vec![Scale]),
        ("-1281", "1281000", vec![ScaleAndSign]),
        ("70.10%", "0.2994", vec![Complement]),
        ("0.25", "4", vec![Inverse]),
        ("14.1%", "1.141", vec![GrowthFactor]),
        ("14.1%", "99", vec![]),
        ("0", "-5", vec![]),
    ] {
        assert_eq!(
            judge(gold, prediction, "").diagnostics,
            expected,
            "{gold} {prediction}"
        );
    }
    let context = FeContext {
        gold_program: Some("subtract(966, 1135), divide(#0, 1135)"),
        ..FeContext::default()
    };
    let verdict = financial_equivalence(
        &Quantity::parse("-14.9%"),
        &Quantity::parse("169"),
        &context,
    );
    assert_eq!(verdict.diagnostics, [Diagnostic::AbsVsRel]);
}

#[test]
fn a_printed_answer_gets_its_digits_back() {
    let exact = Value::Number(0.141_36);
    let Quantity::Number(percent) = Quantity::sharpened("14.1%", &exact) else {
        panic!("a number");
    };
    assert!((percent.value - 14.136).abs() < 1e-9 && percent.percent);
    // The value of the program wins over a printed answer that is not its own.
    assert_eq!(Quantity::sharpened("99", &exact), Quantity::of(&exact));
}
