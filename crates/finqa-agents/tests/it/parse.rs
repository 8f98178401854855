//! Tests that `parse` reads replies in the forms that models write.

mod verdict;

use finqa_agents::parse::{Analysis, analysis, verdict};
use finqa_core::number::{Scale, Unit, UnitKind};
use finqa_core::question::CitedEvidence;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

const PLAIN: &str = r#"{"steps": ["206,588 - 181,001 = 25,587"], "answer": "14.1%",
 "evidence": [{"id": "r6c1", "literal": "206,588"}], "program": "subtract(206588, 181001), divide(#0, 181001)",
 "unit": "percent", "label": "change in net cash", "confidence": 0.9}"#;

/// The same analysis, in which lists and the number are written as JSON strings, nested this many
/// times.
fn as_texts(times: usize) -> String {
    let mut object: serde_json::Value = serde_json::from_str(PLAIN).unwrap();
    for key in ["steps", "evidence", "confidence"] {
        for _ in 0..times {
            object[key] = object[key].to_string().into();
        }
    }
    object.to_string()
}

fn expected() -> Analysis {
    Analysis {
        steps: vec!["206,588 - 181,001 = 25,587".into()],
        answer: "14.1%".into(),
        evidence: vec![CitedEvidence {
            id: "r6c1".into(),
            literal: "206,588".into(),
        }],
        program: Some("subtract(206588, 181001), divide(#0, 181001)".into()),
        unit: Some(Unit {
            kind: UnitKind::Percent,
            scale: None,
        }),
        label: Some("change in net cash".into()),
        confidence: Some(0.9),
    }
}

#[rstest]
#[case::as_requested(PLAIN.to_owned())]
#[case::fence(format!("Here it is:\n```json\n{PLAIN}\n```\nAnything else? {{note}}"))]
#[case::fence_left_open(format!("```json\n{PLAIN}"))]
#[case::prose(format!("Sure, with \\frac{{a}}{{b}}: {PLAIN} Done."))]
#[case::think(format!("<think>maybe {{\"answer\": \"5\"}}?</think>\n{PLAIN}"))]
#[case::the_last_object_counts(format!("draft {{\"answer\": \"5\"}} better {PLAIN}"))]
#[case::the_fence_counts(format!("```json\n{PLAIN}\n```\nnot {{\"answer\": \"5\"}}"))]
#[case::missing_brace(PLAIN.trim_end_matches('}').to_string() + " ")]
#[case::trailing_comma(PLAIN.replace("0.9}", "0.9,}"))]
#[case::brace_before(format!("{{\"no object: {PLAIN}"))]
#[case::steps_as_string(PLAIN.replace("[\"206,588 - 181,001 = 25,587\"]", "\"206,588 - 181,001 = 25,587\""))]
#[case::unit_words(PLAIN.replace("\"percent\"", "\"% of prior year\""))]
#[case::lists_as_texts(as_texts(1))]
#[case::lists_as_texts_twice(as_texts(2))]
#[case::the_whole_as_a_text(json!(PLAIN).to_string())]
#[case::the_whole_as_a_text_twice(json!(json!(PLAIN).to_string()).to_string())]
#[case::items_as_texts(PLAIN.replace(r#"{"id": "r6c1", "literal": "206,588"}"#, r#""{\"id\": \"r6c1\", \"literal\": \"206,588\"}""#))]
#[case::one_object_for_a_list(PLAIN.replace(['[', ']'], ""))]
#[case::a_list_as_a_text_with_a_comma_too_many(PLAIN.replace(r#"[{"id": "r6c1", "literal": "206,588"}]"#, r#""[{\"id\": \"r6c1\", \"literal\": \"206,588\"},]""#))]
#[case::unquoted_figure(PLAIN.replace("\"206,588\"", "206,588"))]
fn departures_from_the_format_are_read(#[case] text: String) {
    assert_eq!(analysis(&text).unwrap(), expected(), "{text}");
}

/// Such a confidence once discarded a complete answer.
#[test]
fn a_confidence_that_is_no_number_is_none() {
    for word in ["NaN", "Infinity", "-Infinity"] {
        let parsed = analysis(&PLAIN.replace("0.9", word)).unwrap();
        let expected = Analysis {
            confidence: None,
            ..expected()
        };
        assert_eq!(parsed, expected, "{word}");
        let answer = PLAIN.replace("\"14.1%\"", word);
        assert_eq!(analysis(&answer).unwrap().answer, "", "{word}");
    }
}

#[test]
fn a_number_keeps_its_digits() {
    for (written, read) in [
        ("206588", "206588"),
        ("206,588", "206,588"),
        ("-5.20", "-5.2"),
        ("$1,234.5", "$1,234.5"),
        ("14.1%", "14.1%"),
    ] {
        let text =
            format!("{{\"steps\": [\"a\"], \"answer\": {written}, \"unit\": \"USD millions\"}}");
        let parsed = analysis(&text).unwrap();
        assert_eq!(parsed.answer, read);
        assert_eq!(parsed.unit.unwrap().scale, Some(Scale::Million));
    }
}

#[test]
fn labelled_lines_without_json() {
    let text = "The change is 25,587.\n\n**Program:** subtract(206588, 181001)\n**Final Answer:** \\boxed{25{,}587}\nUnit: $ millions\n";
    let parsed = analysis(text).unwrap();
    assert_eq!(parsed.answer, "25,587");
    let program = parsed.program.as_deref();
    assert_eq!(program, Some("subtract(206588, 181001)"));
    assert_eq!(parsed.unit.unwrap().scale, Some(Scale::Million));
    assert_eq!(parsed.steps, ["The change is 25,587."]);
}

/// Models often end a complete reply with an additional small object.
#[rstest]
#[case("{full}\n{\"value\": 0.5}")]
#[case("{full}\nIn short: {\"answer\": \"0.5\"}")]
#[case("{full}\n```json\n{\"answer\": 0.5}\n```")]
#[case("{\"value\": 0.5}\n{full}")]
fn a_small_object_does_not_replace_the_analysis(#[case] reply: &str) {
    let full = r#"{"steps": ["a"], "program": "divide(1, 4)", "answer": "25%", "unit": "percent"}"#;
    let read = analysis(&reply.replace("{full}", full)).unwrap();
    assert_eq!(read.program.as_deref(), Some("divide(1, 4)"));
    assert_eq!(read.answer, "25%");
}

#[test]
fn of_two_full_analyses_the_last_counts_or_the_one_in_a_fence() {
    let reply = r#"{"steps": ["a"], "answer": "1"} then {"steps": ["b"], "answer": "2"}"#;
    assert_eq!(analysis(reply).unwrap().answer, "2");
    let fenced = "```json\n{\"steps\": [\"a\"], \"answer\": \"1\"}\n```\nnot {\"steps\": [], \"answer\": \"2\"}";
    assert_eq!(analysis(fenced).unwrap().answer, "1");
}

#[test]
fn a_program_without_an_answer_is_kept() {
    let parsed = analysis(r#"{"steps": ["x"], "program": "add(1, 2)"}"#).unwrap();
    assert_eq!(parsed.answer, "");
    assert_eq!(parsed.program.as_deref(), Some("add(1, 2)"));
}

#[rstest]
#[case("", "the reply is empty (line 1, column 1)")]
#[case(
    "<think>hm {\"answer\": \"5\"}",
    "the reply has nothing behind its `<think>` block (line 1, column 1), near `<think>hm {\"answer\": \"5\"}`"
)]
#[case(
    "The change is 14.1, computed from 1 and 2.",
    "no JSON object with an `answer`, and no `Answer:` line (line 1, column 1), near `The change is 14.1, computed from 1 and 2.`"
)]
#[case(
    "text\n {\"steps\": [\"a\"]}",
    "the object has no `answer` (its keys: steps) (line 2, column 2), near `{\"steps\": [\"a\"]}`"
)]
#[case(
    "{\"steps\": [\"a\"], \"answer\": \"14.",
    "the reply is cut off inside `answer`, before a whole `answer` (line 1, column 1), near `{\"steps\": [\"a\"], \"answer\": \"14.`"
)]
#[case(
    "{\"steps\": [\"a\"] \"answer\": 5}",
    "expected `,` or `}`, found `\"` (line 1, column 17), near `\"answer\": 5}`"
)]
fn failures_say_what_and_where(#[case] text: &str, #[case] message: &str) {
    assert_eq!(analysis(text).unwrap_err().to_string(), message);
}

/// Hostile replies of a quarter of a megabyte must neither overflow the stack nor stall. The test
/// does not measure the time: if a step is not linear, a reply takes minutes.
#[test]
fn long_runs_of_anything_are_survived() {
    const SIZE: usize = 1 << 18;
    for unit in [
        "{", "[", "{\"a\":", "{\"a\":[", "{\"a\":[{", "```", "```{a:", "'", "\"", "{\"", "{a: ",
        "\\", "{'a': ' ", "/*", "{/*", "// ", "<think>", "</think>", "1,", "{\"answer\": 1,",
        "\\boxed{", "{\"a\":1}", "{\"answer\":[\"", "{\"program\": \"", "(", "a: ", "Answer:",
        "{\"answer\": \" \" ",
    ] {
        let text = unit.repeat(SIZE / unit.len());
        let _ = analysis(&text);
        let _ = verdict(&text);
    }
    let program = format!("{{\"program\": \"{}\"}}", "add(1,".repeat(SIZE / 8));
    assert!(analysis(&program).is_ok());
}

#[test]
fn only_the_end_of_an_overlong_reply_is_read() {
    let filler = "é".repeat(finqa_agents::parse::MAX_REPLY_BYTES);
    let parsed = analysis(&format!("{{\"answer\": \"1\"}} {filler}{PLAIN}")).unwrap();
    assert_eq!(parsed, expected());
}

fn near_json() -> impl Strategy<Value = String> {
    prop_oneof![
        "[{}\\[\\]:,\"'\\\\]",
        "[a-z0-9_,.$%#()=+*/> -]{1,6}",
        proptest::sample::select(vec![
            "\"answer\": ", "\"steps\": [", "\"program\": \"", "\"evidence\": [", "\"unit\": ",
            "\"confidence\": ", "```", "\n", "'é", "None", "\"id\": \"[ R1C1 ]\", ", "subtract(",
            "add(", "average(", "table_max(a, none)", ", #0)", "const_100", "A0", "step1 = ",
            "\", ", "\"}", "5,829, ", "12)", "Answer: ", "` `",
        ])
        .prop_map(str::to_string),
    ]
}

proptest! {
    #[test]
    fn no_reply_panics(text in "\\PC{0,200}") {
        let _ = analysis(&text);
        let _ = verdict(&text);
    }

    /// Near-JSON causes no panic, and a value that is read from it reads back unchanged.
    #[test]
    fn near_json_is_read_stably(parts in proptest::collection::vec(near_json(), 0..40), keyed in any::<bool>()) {
        let mut text = parts.concat();
        if keyed {
            text = format!("{{\"answer\": \"1\", \"program\": \"{text}");
        }
        let _ = verdict(&text);
        if let Ok(parsed) = analysis(&text) {
            let json = serde_json::to_string(&parsed).unwrap();
            prop_assert_eq!(analysis(&json).unwrap(), parsed);
        }
    }
}
