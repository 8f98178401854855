//! Tests the program language with test vectors of the official evaluators and with arbitrary
//! input.

use finqa_core::number::Value;
use finqa_core::program::official::{Evaluator, evaluate};
use finqa_core::program::{Program, equal};
use proptest::prelude::*;

fn table() -> Vec<Vec<String>> {
    serde_json::from_str(include_str!("../vectors/official_programs_table.json")).unwrap()
}

/// Compares numbers by their bits, so that -0.0 differs from 0.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

fn value(text: &str) -> Option<Value> {
    match text {
        "" => None,
        _ => Some(
            text.parse()
                .map_or_else(|_| Value::Text(text.to_owned()), Value::Number),
        ),
    }
}

#[test]
fn official_execution_vectors() {
    let vectors = include_bytes!("../vectors/official_programs.csv");
    let mut count = 0;
    for row in csv::Reader::from_reader(vectors.as_slice()).records() {
        let row = row.unwrap();
        for (evaluator, at) in [(Evaluator::ConvFinQa, 1), (Evaluator::FinQa, 3)] {
            let (valid, result) = evaluate(&row[0], &table(), evaluator);
            assert_eq!(valid, &row[at] == "true", "{} {evaluator:?}", &row[0]);
            let expected = value(&row[at + 1]);
            assert!(
                match (&result, &expected) {
                    (Some(a), Some(b)) => same(a, b),
                    (a, b) => a == b,
                },
                "{} {evaluator:?}: {result:?} instead of {expected:?}",
                &row[0]
            );
        }
        // The typed program must have the same result, unless the official program is unfinished
        // (`n/a`).
        let (valid, result) = evaluate(&row[0], &table(), Evaluator::ConvFinQa);
        let typed = Program::parse(&row[0]).and_then(|program| program.execute(&table()));
        assert_eq!(typed.is_ok(), valid && &row[2] != "n/a", "{}", &row[0]);
        if let Ok(typed) = typed {
            assert!(same(&typed, &result.unwrap()), "{}", &row[0]);
        }
        count += 1;
    }
    assert_eq!(count, 39);
}

#[test]
fn official_equality_vectors() {
    let vectors = include_bytes!("../vectors/official_program_equality.csv");
    let mut count = 0;
    for row in csv::Reader::from_reader(vectors.as_slice()).records() {
        let row = row.unwrap();
        assert_eq!(
            equal(&row[0], &row[1]),
            &row[2] == "true",
            "{} | {}",
            &row[0],
            &row[1]
        );
        count += 1;
    }
    assert_eq!(count, 24);
}

/// The published vectors have no pair of programs with a power.
#[test]
fn powers_are_equal_only_to_the_same_powers() {
    assert!(equal("exp(3, 2), add(#0, 1)", "exp(3, 2), add(1, #0)"));
    for other in ["divide(3, 2), add(#0, 1)", "exp(2, 3), add(#0, 1)"] {
        assert!(!equal("exp(3, 2), add(#0, 1)", other), "{other}");
    }
}

#[test]
fn errors_name_the_step() {
    const NO_SPACE: &str = "step 0: not of the form `operation(argument, argument)`: \
                            a space is missing after a comma";
    for (program, message) in [
        ("", "empty program"),
        ("abc", "`abc` is neither a number nor a step"),
        ("sum(1, 2)", "step 0: unknown operation `sum`"),
        ("add(1,2)", NO_SPACE),
        ("divide(330.2,842.5), add(#0, 1)", NO_SPACE),
        (
            "add(1, 2),add(#0, 1)",
            "step 1: not of the form `operation(argument, argument)`: a space",
        ),
        (
            "add(1)",
            "step 0: not of the form `operation(argument, argument)`",
        ),
        ("add(1, 2), add(1, 2", "step 1: not of the form `"),
        ("add(1, 2), add(#1, 2)", "step 1: `#1` does not refer"),
        ("add(1, two)", "step 0: `two` is not a number"),
        ("divide(1, 0)", "step 0: division by zero"),
        ("exp(-8, 0.5)", "step 0: the root of a negative number"),
        ("exp(10, 400)", "step 0: the result is too large"),
        ("greater(5, 3), add(#0, 1)", "step 1: arithmetic on yes"),
        ("table_sum(x, none)", "step 0: the table has no row `x`"),
        ("table_sum(bad, none)", "step 0: row `bad` has cells that"),
    ] {
        let error = Program::parse(program)
            .and_then(|program| program.execute(&table()))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(message), "{program}: {error}");
    }
}

#[test]
fn accessors_and_display() {
    let text = "table_max(tax, none), subtract(5%, #0), multiply(#1, const_100)";
    let program = Program::parse(text).unwrap();
    assert_eq!(program.to_string(), text);
    assert_eq!(program.literals().collect::<Vec<_>>(), ["5%", "const_100"]);
    assert_eq!(program.rows().collect::<Vec<_>>(), ["tax"]);
    assert!(program.ends_with_times_100());
    let share = Program::parse("divide(5, const_100)").unwrap();
    assert!(!share.ends_with_times_100());
    assert!(!program.is_number());
    assert!(Program::parse("-12").unwrap().is_number());
}

#[test]
fn long_and_deeply_nested_programs_do_no_harm() {
    let steps: Vec<String> = (0..10_000)
        .map(|at| match at {
            0 => "add(1, 1)".to_owned(),
            _ => format!("add(#{}, 1)", at - 1),
        })
        .collect();
    let long = steps.join(", ");
    let program = Program::parse(&long).unwrap();
    assert_eq!(program.execute(&[]).unwrap(), Value::Number(10_001.0));
    assert!(equal(&long, &long));
    let nested = format!("{}1, 2{}", "add(".repeat(10_000), ")".repeat(10_000));
    assert!(Program::parse(&nested).is_err());
    assert_eq!(evaluate(&nested, &[], Evaluator::FinQa), (false, None));
    // In Python, the text doubles with every step. Here, long texts are refused.
    let mut doubling = "greater(2, 1)".to_owned();
    for at in 0..100 {
        doubling.push_str(&format!(", add(#{at}, #{at})"));
    }
    assert!(!evaluate(&doubling, &[], Evaluator::FinQa).0);
}

/// Generates programs that are mostly well formed.
fn any_program() -> impl Strategy<Value = String> {
    let op = prop::sample::select(vec![
        "add", "subtract", "multiply", "divide", "exp", "greater",
    ]);
    let argument = prop::sample::select(vec![
        "#0", "#1", "#2", "5", "3", "0", "const_100", "4.2%", "-7", "x",
    ]);
    let step = (op, argument.clone(), argument).prop_map(|(op, a, b)| format!("{op}({a}, {b})"));
    prop::collection::vec(step, 1..5).prop_map(|steps| steps.join(", "))
}

proptest! {
    #[test]
    fn whatever_is_read_prints_back_and_agrees_with_the_official_code(program in any_program()) {
        if let Ok(parsed) = Program::parse(&program) {
            prop_assert_eq!(parsed.to_string(), program.clone());
            let (valid, result) = evaluate(&program, &[], Evaluator::ConvFinQa);
            let ours = parsed.execute(&[]);
            prop_assert_eq!(valid, ours.is_ok());
            if let (Some(a), Ok(b)) = (result, ours) {
                prop_assert!(same(&a, &b) || a.number().is_some_and(f64::is_nan));
            }
            // A program that always divides by zero is still equal to itself.
            prop_assert!(equal(&program, &program));
        }
    }

    #[test]
    fn equal_programs_have_equal_values(gold in any_program(), predicted in any_program()) {
        if equal(&gold, &predicted) {
            // Official equality also accepts texts that are not valid programs, so these have no
            // value.
            let value = |p: &str| Program::parse(p).ok()?.execute(&[]).ok();
            if let (Some(Value::Number(a)), Some(Value::Number(b))) = (value(&gold), value(&predicted)) {
                let scale = a.abs().max(b.abs()).max(1.0);
                prop_assert!((a - b).abs() <= 1e-4 * scale || a.is_nan() || a.is_infinite());
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(program in "\\PC{0,60}", tail in "[a-z_#0-9(), |$%.-]{0,60}") {
        for text in [&program, &tail] {
            let _ = Program::parse(text).and_then(|p| p.execute(&table()));
            let _ = evaluate(text, &table(), Evaluator::FinQa);
            let _ = evaluate(text, &table(), Evaluator::ConvFinQa);
            let _ = equal(text, text);
            let found = finqa_core::number::readings(text);
            for reading in found.chain(finqa_core::number::answer(text)) {
                prop_assert!(reading.value.is_finite());
                prop_assert!(text.get(reading.span).is_some());
            }
        }
    }

    #[test]
    fn a_printed_number_reads_back(x in -1e12f64..1e12, decimals in 0usize..6) {
        let printed = format!("{x:.decimals$}");
        let reading = finqa_core::number::read(&printed).unwrap();
        prop_assert_eq!(reading.value, printed.parse::<f64>().unwrap());
        prop_assert_eq!(reading.decimals as usize, decimals);
        let accounting = format!("$ ({} million)", printed.trim_start_matches('-'));
        let reading = finqa_core::number::read(&accounting).unwrap();
        prop_assert!(reading.value <= 0.0 && reading.scaled().abs() >= reading.value.abs());
    }
}
