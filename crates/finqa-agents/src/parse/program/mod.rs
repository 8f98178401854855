//! Brings a model's program into the dataset's language where it has only one reading;
//! otherwise leaves it exactly as written, so that the checks object to it.
//!
//! `divide(subtract(a, b), b)` → `subtract(a, b), divide(#0, b)`; `A0` → `#0`;
//! `(a - b) / b`, lists of steps, named steps, evidence ids, `206,588`.

mod emit;
mod read;
mod split;

use serde_json::Value;

use super::types::{Leniency, Notes};
use finqa_core::question::CitedEvidence;

/// Longer programs are left unchanged, in bytes.
const MAX_PROGRAM_BYTES: usize = 4096;

/// The program of a reply's `program` member, if there is one.
pub(super) fn program(
    value: &Value,
    evidence: &[CitedEvidence],
    notes: &mut Notes,
) -> Option<String> {
    let raw = text_of(value, notes)?;
    let raw = raw.trim_matches(|c: char| c == '`' || c.is_whitespace());
    if matches!(
        raw.to_lowercase().as_str(),
        "" | "none" | "null" | "n/a" | "-" | "no program"
    ) {
        return None;
    }
    if raw.len() > MAX_PROGRAM_BYTES {
        return Some(raw.to_string());
    }
    let mut own = Notes::default();
    let Some(normal) = emit::program(raw, evidence, &mut own) else {
        return Some(raw.to_string());
    };
    if normal != raw {
        if own.is_empty() {
            own.add(Leniency::ProgramSpelling);
        }
        notes.extend(&own);
    }
    Some(normal)
}

/// The program as one string, whatever JSON shape it has.
fn text_of(value: &Value, notes: &mut Notes) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => {
            notes.add(Leniency::ProgramSpelling);
            Some(number.to_string())
        }
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => {
            notes.add(Leniency::ProgramList);
            let steps: Option<Vec<String>> = items.iter().map(step_text).collect();
            let steps = steps?;
            Some(if steps.iter().any(|s| s.trim().ends_with('(')) {
                from_tokens(&steps)
            } else {
                steps.join("; ")
            })
        }
        Value::Object(_) => {
            notes.add(Leniency::ProgramList);
            step_text(value)
        }
        Value::Null | Value::Bool(_) => None,
    }
}

/// One step of a list: a string, or an object with an operation and arguments.
fn step_text(step: &Value) -> Option<String> {
    const OPERATION: [&str; 5] = ["op", "operation", "operator", "function", "name"];
    const ARGUMENTS: [&str; 4] = ["args", "arguments", "operands", "inputs"];
    const NUMBERED: [&str; 4] = ["arg1", "arg2", "arg_1", "arg_2"];
    let object = match step {
        Value::String(text) => return Some(text.clone()),
        Value::Number(number) => return Some(number.to_string()),
        Value::Object(object) => object,
        _ => return None,
    };
    if let Some(Value::String(text)) = object.get("program").or_else(|| object.get("expression")) {
        return Some(text.clone());
    }
    let operation = OPERATION.iter().find_map(|k| object.get(*k)?.as_str())?;
    let arguments: Vec<String> = match ARGUMENTS.iter().find_map(|k| object.get(*k)) {
        Some(Value::Array(items)) => items.iter().map(argument_text).collect::<Option<_>>()?,
        Some(_) => return None,
        None => NUMBERED
            .iter()
            .filter_map(|k| object.get(*k))
            .map(argument_text)
            .collect::<Option<_>>()?,
    };
    Some(format!("{operation}({})", arguments.join(", ")))
}

fn argument_text(argument: &Value) -> Option<String> {
    match argument {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The leaderboard's token list: `["subtract(", "5", "3", ")", "EOF"]`.
fn from_tokens(tokens: &[String]) -> String {
    let mut out = String::new();
    for token in tokens.iter().map(|t| t.trim()) {
        if token == "EOF" {
            break;
        }
        if !out.is_empty() && !out.ends_with('(') && token != ")" {
            out.push_str(", ");
        }
        out.push_str(token);
    }
    out
}

#[cfg(test)]
mod agreement;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> (Option<String>, Vec<Leniency>) {
        let evidence = [
            CitedEvidence {
                id: "r6c1".into(),
                literal: "$ 206,588".into(),
            },
            CitedEvidence {
                id: "r6c2".into(),
                literal: "181001".into(),
            },
        ];
        let mut notes = Notes::default();
        let program = program(&value, &evidence, &mut notes);
        (program, notes.parsed(()).leniencies)
    }

    #[test]
    fn the_datasets_language_passes_untouched() {
        for text in [
            "206588",
            "-2913",
            "14%",
            "subtract(206588, 181001)",
            "subtract(206588, 181001), divide(#0, 181001)",
            "add(5.0, const_100), multiply(#0, const_m1), greater(#1, #0)",
            "table_average(net income ( loss ), none)",
            "table_max(cash, end of year, none), divide(#0, 12)",
            "exp(2, 3)",
        ] {
            assert_eq!(
                read(json!(text)),
                (Some(text.to_string()), vec![]),
                "{text}"
            );
        }
    }

    #[test]
    fn variants_with_one_reading_are_converted() {
        let change = "subtract(206588, 181001), divide(#0, 181001)";
        for (value, expected, leniency) in [
            (
                json!("divide(subtract(206588, 181001), 181001)"),
                change,
                Leniency::ProgramNested,
            ),
            (
                json!("subtract(206588, 181001), divide(A0, 181001)"),
                change,
                Leniency::ProgramReferences,
            ),
            (
                json!(["subtract(206588, 181001)", "divide(#0, 181001)"]),
                change,
                Leniency::ProgramList,
            ),
            (
                json!([
                    "subtract(", "206588", "181001", ")", "divide(", "#0", "181001", ")", "EOF"
                ]),
                change,
                Leniency::ProgramList,
            ),
            (
                json!([{"op": "subtract", "args": ["206588", 181_001]}, {"op": "divide", "arg1": "#0", "arg2": "181001"}]),
                change,
                Leniency::ProgramList,
            ),
            (
                json!("(206,588 - 181,001) / 181,001"),
                change,
                Leniency::ProgramInfix,
            ),
            (
                json!("subtract(206,588, 181,001), divide(#0, 181,001)"),
                change,
                Leniency::ProgramSpelling,
            ),
            (
                json!("subtract(206588,181001)\ndivide(#0,181001)"),
                change,
                Leniency::ProgramSpelling,
            ),
            (
                json!("step1 = subtract(206588, 181001); step2 = divide(step1, 181001)"),
                change,
                Leniency::ProgramReferences,
            ),
            (
                json!("#1 = subtract(206588, 181001), #2 = divide(#1, 181001)"),
                change,
                Leniency::ProgramReferences,
            ),
            (
                json!("a = 206588; b = 181001; divide(subtract(a, b), b)"),
                change,
                Leniency::ProgramReferences,
            ),
            (
                json!("divide(subtract(r6c1, r6c2), r6c2)"),
                change,
                Leniency::ProgramEvidenceIds,
            ),
            (
                json!("Subtract(206588,181001), #0"),
                "subtract(206588, 181001)",
                Leniency::ProgramReferences,
            ),
            (
                json!("average(1, 2, 3)"),
                "add(1, 2), add(#0, 3), divide(#1, const_3)",
                Leniency::ProgramSpelling,
            ),
            (
                json!("add(100, 200, 300)"),
                "add(100, 200), add(#0, 300)",
                Leniency::ProgramSpelling,
            ),
            (
                json!("diff = 206588 - 181001 = 25587; diff / 181001 = 0.1414 ≈ 14.1%"),
                change,
                Leniency::ProgramInfix,
            ),
            (json!("5 > 3"), "greater(5, 3)", Leniency::ProgramInfix),
            (json!("$206,588"), "206588", Leniency::ProgramSpelling),
            (json!(206_588), "206588", Leniency::ProgramSpelling),
        ] {
            let (program, leniencies) = read(value.clone());
            assert_eq!(program.as_deref(), Some(expected), "{value}");
            assert!(leniencies.contains(&leniency), "{value}: {leniencies:?}");
        }
    }

    #[test]
    fn ambiguous_programs_are_left_as_written() {
        for text in [
            "add(100,200,300)", "add(1,234,567)", "percent_change(206588, 181001)",
            "subtract(206588)", "subtract(206588, x)", "divide(#3, 2)", "divide(#0, 2)",
            "206588, subtract(206588, 181001)", "subtract(206588, 181001",
            "the difference of the two", "75 = 80", "75 million = 75,000,000",
        ] {
            assert_eq!(
                read(json!(text)),
                (Some(text.to_string()), vec![]),
                "{text}"
            );
        }
    }

    #[test]
    fn no_program() {
        for value in [json!(null), json!(""), json!("N/A"), json!([]), json!(true)] {
            assert_eq!(read(value).0, None);
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = "add(1, ".repeat(500) + "1" + &")".repeat(500);
        assert_eq!(read(json!(deep.clone())).0, Some(deep));
        let deep = "(".repeat(2000) + "1" + &")".repeat(2000);
        assert_eq!(read(json!(deep.clone())).0, Some(deep));
        let deep = "-".repeat(4000) + "1";
        assert_eq!(read(json!(deep.clone())).0, Some(deep));
    }
}
