//! Golds that a file lacks or contradicts, keys that are mistyped, and pages that are too large.

use finqa_core::number::Value;
use finqa_score::dataset::{check, figures_off_page, from_str, sample};
use finqa_score::score::check_printed;
use rstest::rstest;
use serde_json::{Value as Json, json};

use super::{complaint, parse, record};
use crate::support::cli::Workplace;

#[rstest]
#[case::swapped("/qa", "anwser", "`qa.anwser`: is not known; did you mean `answer`?")]
#[case::plural("/qa", "answers", "`qa.answers`: is not known; did you mean `answer`?")]
#[case::case_of_letters("/qa", "Answer", "did you mean `answer`?")]
#[case::turns(
    "/annotation",
    "exe_ans_lst",
    "`annotation.exe_ans_lst`: is not known; did you mean `exe_ans_list`?"
)]
#[case::record("", "post_txt", "`post_txt`: is not known; did you mean `post_text`?")]
fn a_mistyped_key_is_named(#[case] parent: &str, #[case] typo: &str, #[case] expected: &str) {
    let mut bad = record("Single_BAD");
    let object = bad.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    let known = expected.rsplit('`').nth(1).unwrap();
    let value = object.remove(known).unwrap();
    object.insert(typo.to_owned(), value.clone());
    let line = complaint(parse(&json!([record("Single_GOOD"), bad])));
    assert!(
        line.starts_with("test.json, record 2 (Single_BAD), field "),
        "{line}"
    );
    assert!(line.contains(expected), "{line}");
    // With the key that is meant, it is another one.
    let object = bad.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    object.insert(known.to_owned(), value);
    let notes = parse(&json!([bad])).unwrap().notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(
        notes[0].contains(&format!("{typo}` (1 record)")),
        "{notes:?}"
    );
}

/// Each once, however many records have it; those of the published files never.
#[test]
fn other_unknown_keys_are_named_in_one_line() {
    let mut records: Vec<Json> = (0..3).map(|n| record(&format!("Single_{n}"))).collect();
    for record in &mut records {
        record["topic"] = json!("sales");
        record["_comment"] = json!("ours");
        record["qa"]["explanation"] = json!("");
        record["qa"]["gold_inds"] = json!({"table_1": "x"});
        record["annotation"]["amt_table"] = json!("<table>");
    }
    records[1]["qa"]["level"] = json!({"answer": 5});
    let notes = parse(&json!(records)).unwrap().notes;
    let expected = "unknown keys, which are not read: `qa.level` (1 record), `topic` (3 records)";
    assert_eq!(notes, [expected]);

    let place = Workplace::new();
    place.write("own.json", &json!(records).to_string());
    let told = format!("own.json: {expected}");
    for line in [
        "data check", "data stats", "--quiet --model offline", "env build -o env",
    ] {
        let ran = place.run(&format!("{line} --data-path own.json"));
        let count = ran.succeeds().stderr.matches(&told).count();
        assert_eq!(
            count,
            usize::from(!line.contains("quiet")),
            "{line}: {}",
            ran.stderr
        );
    }
    place.run("--data-path own.json").tells(&told);
    place.run("score last --data-path own.json").tells(&told);
    place
        .run("compare last last --data-path own.json")
        .tells(&told);
}

/// They had no gold, and were passed over in silence.
#[test]
fn a_turn_with_a_program_and_no_value_is_scored_by_what_the_program_gives() {
    let mut only_programs = record("Single_A");
    only_programs["annotation"]
        .as_object_mut()
        .unwrap()
        .remove("exe_ans_list");
    let mut some = record("Single_B");
    some["annotation"]["exe_ans_list"] = json!([10, null]);
    some["annotation"]["turn_program"] = json!(["10", "divide(#3, 2)"]);
    let dataset = parse(&json!([only_programs, some])).unwrap();
    let values = dataset.records[0]
        .turns
        .iter()
        .map(|turn| turn.gold.exe_ans.clone());
    let expected = [10.0, 20.0].map(|x| Some(Value::Number(x)));
    assert_eq!(values.collect::<Vec<_>>(), expected);
    assert_eq!(dataset.records[1].turns[1].gold.exe_ans, None);
    let notes = [
        "2 golds without `exe_ans` computed from the program",
        "1 gold not scored: no `exe_ans`, and the program cannot be executed (Single_B (1))",
    ];
    assert_eq!(dataset.notes, notes);
    // No value of the file confirms a program whose value takes its place.
    let (agree, defects) = check(&dataset);
    assert_eq!((agree, defects.len()), (3, 1));
    assert_eq!(defects[0].0.to_string(), "Single_B (1)");

    let place = Workplace::new();
    place.write("own.json", &json!([only_programs, some]).to_string());
    let ran = place.run("--data-path own.json --mode conversations --json");
    let summary = ran.succeeds().tells(notes[0]).tells(notes[1]).json();
    assert_eq!(summary["questions"], 4);
    place.write(
        "answers.csv",
        "id,part,prediction\nSingle_A,0,10\nSingle_A,1,21\nSingle_B,0,10\n",
    );
    let card = place
        .run("score answers.csv --data-path own.json --json")
        .succeeds()
        .json();
    assert_eq!(card["financial_equivalence_n"], 3);
    assert_eq!(card["financial_equivalence_hits"], 2);
}

#[rstest]
// Percent form, rounding, truncation, signs of money and words are no difference.
#[case("25%", json!(0.25), None)]
#[case("25 %", json!(25), None)]
#[case("14.1%", json!(0.14136), None)]
#[case("-32%", json!(-0.3282), None)]
#[case("$ 10 million", json!(10), None)]
#[case("yes", json!("yes"), None)]
#[case("", json!(7), None)]
#[case("99 %", json!(0.25), Some("complement"))]
#[case("7", json!(0.25), Some("other"))]
#[case("19.4%", json!(-0.19355), Some("sign"))]
#[case("10", json!(10000), Some("scale"))]
#[case("yes", json!("no"), Some("other"))]
#[case("increase", json!(0.25), Some("other"))]
fn a_printed_answer_is_compared_with_its_value(
    #[case] answer: &str,
    #[case] value: Json,
    #[case] kind: Option<&str>,
) {
    let mut changed = record("Single_A");
    changed["qa"]["answer"] = json!(answer);
    changed["qa"]["exe_ans"] = value;
    changed["qa"]["question"] = json!("what was the percentage change?");
    let (agree, defects) = check_printed(&parse(&json!([changed])).unwrap());
    let kinds: Vec<&str> = defects.iter().map(|defect| defect.kind).collect();
    assert_eq!(kinds, Vec::from_iter(kind), "{defects:?}");
    assert_eq!(agree, usize::from(kind.is_none() && !answer.is_empty()));
    // Without a value, the program's takes its place.
    let mut no_value = record("Single_A");
    no_value["qa"]["answer"] = json!("99 %");
    no_value["qa"].as_object_mut().unwrap().remove("exe_ans");
    assert_eq!(
        check_printed(&parse(&json!([no_value])).unwrap()).1.len(),
        1
    );
}

/// It exited with 0 at "1 of 2 exactly", and passed 99 % beside 0.25.
#[test]
fn data_check_exits_with_3_where_golds_differ_and_counts_them_by_kind() {
    let place = Workplace::new();
    let mut records: Vec<Json> = (0..4).map(|n| record(&format!("Single_{n}"))).collect();
    let write = |records: &[Json]| place.write("own.json", &json!(records).to_string());
    write(&records);
    let check = || place.run("data check --data-path own.json");
    check()
        .succeeds()
        .prints("12 of 12 gold programs")
        .prints("printed answers checked: 4; agree with their values: 4; differ: 0\n");
    records[0]["qa"]["answer"] = json!("-10");
    records[1]["qa"]["answer"] = json!("-10");
    records[2]["qa"]["answer"] = json!("7");
    write(&records);
    let ran = check();
    ran.ends(3).prints("12 of 12 gold programs");
    ran.prints(
        "printed answers checked: 4; agree with their values: 1; differ: 3 (other 1, sign 2)\n\
         suspect: 1 (",
    );
    ran.prints("Single_0 (qa): printed answer `-10` is not its value 10: sign\n");
    place.run("data check --programs own.json").succeeds();
    records.truncate(1);
    records[0]["qa"]["answer"] = json!("10");
    records[0]["annotation"]["exe_ans_list"] = json!([10, 21]);
    write(&records);
    check()
        .ends(3)
        .prints("2 of 3 gold programs")
        .prints("printed answers checked: 1; ");
    place.run("data check --programs own.json").ends(3);
}

/// Python writes `nan` for an answer that it does not have; as a gold it was equal to itself.
#[test]
fn nan_is_no_gold() {
    let mut odd = record("Single_A");
    odd["qa"]["answer"] = json!("nan");
    odd["qa"]["exe_ans"] = json!("NaN");
    odd["qa"]["program"] = json!("");
    let dataset = parse(&json!([odd])).unwrap();
    assert!(dataset.records[0].questions[0].gold.is_empty());
}

/// A run took 29 s and 3 GB.
#[test]
fn a_page_that_is_too_large_is_said_in_one_line() {
    let mut large = record("Single_LARGE");
    large["pre_text"] = json!([" word".repeat(1_000_000)]);
    let text = json!([record("Single_A"), large]).to_string();
    let line = complaint(from_str("test.json", &text));
    let expected =
        "test.json, record 2 (Single_LARGE): it has 5 MiB; at most 4 are read, so split its page";
    assert_eq!(line, expected);
    large["pre_text"] = json!([" word".repeat(800_000)]);
    assert_eq!(parse(&json!([large])).unwrap().records.len(), 1);
}

/// It was passed over, and the exit code was 0.
#[test]
fn data_check_names_a_program_that_fails_without_a_value() {
    let place = Workplace::new();
    let mut odd = record("Single_A");
    odd["qa"].as_object_mut().unwrap().remove("exe_ans");
    let write = |odd: &Json| place.write("own.json", &json!([odd]).to_string());
    write(&odd);
    place.run("data check --data-path own.json").succeeds();
    odd["qa"]["program"] = json!("divide(5, const_0)");
    write(&odd);
    for option in ["--data-path", "--programs"] {
        let ran = place.run(&format!("data check {option} own.json"));
        ran.ends(3)
            .prints("Single_A (qa): gold program cannot be executed: divide(5, const_0): ");
    }
}

/// They passed in silence, and the right prediction `39.2%` was then wrong.
#[test]
fn data_check_names_golds_that_are_not_read() {
    let place = Workplace::new();
    let check = |golds: &[Json]| {
        let records = golds.iter().enumerate().map(|(at, gold)| {
            let mut record = record(&format!("Single_{at}"));
            record["qa"] = gold.clone();
            record["qa"]["question"] = json!("what was the share?");
            record
        });
        let records: Vec<Json> = records.collect();
        place.write("own.json", &json!(records).to_string());
        place.run("data check own.json")
    };
    let answers = ["1.234,5", "39,2%", "most of it", "39.2%", "-1,234.5", "Yes"];
    let ran = check(&answers.map(|answer| json!({"answer": answer})));
    let notes = ran.succeeds().stdout.matches("note       ").count();
    assert_eq!(notes, 3, "{}", ran.stdout);
    ran.prints("note       answer of Single_0 (qa): `1.234,5` is not read as a number, yes or no")
        .prints("note       answer of Single_1 (qa): `39,2%` is not read")
        .prints("note       answer of Single_2 (qa): `most of it` is not read");
    let ran = check(&vec![json!({"answer": "most of it"}); 12]);
    let notes = ran
        .succeeds()
        .stdout
        .matches("note       answer of")
        .count();
    assert_eq!(notes, 10, "{}", ran.stdout);
    ran.prints("note       … and 2 more\n");

    for value in ["1.234,5", "about 1755", "39.2%"] {
        check(&[json!({"exe_ans": value})]).ends(3).prints(&format!(
            "Single_0 (qa): exe_ans `{value}` is not a number, yes or no; write a plain number"
        ));
    }
    check(&[json!({"exe_ans": "yes"}), json!({"exe_ans": "1755"})]).succeeds();
}

/// `divide(999, 2548.98)` passed, although no figure of the page is 999.
#[test]
fn data_check_names_figures_of_programs_that_are_not_on_the_page() {
    let place = Workplace::new();
    let check = |records: &Json| {
        place.write("own.json", &records.to_string());
        place.run("data check own.json")
    };
    let mut odd = record("Single_A");
    odd["table"] = json!([["", "2001"], ["sales", "$ 2,548.98"], ["share", "14.2%"]]);
    odd["pre_text"] = json!(["costs were 1250 ( 1250 ) in the year ."]);
    odd["qa"] = json!({"question": "what was the share?", "program": "divide(999, 2548.98)"});
    odd["annotation"] = json!({
        "dialogue_break": ["what were sales?", "and at a rate of 3.75?", "and in all?", "and half?"],
        "turn_program": [
            "divide(2548.98, 1250)",
            "multiply(1250, 3.75), multiply(#0, 0.142), divide(#1, const_1000)",
            "multiply(2.03918, 3.75), divide(#0, 1000), multiply(#1, 100), add(#2, 14.2%)",
            "divide(999, 777.5)"
        ]
    });
    let ran = check(&json!([odd]));
    let notes: Vec<&str> = ran.succeeds().stdout.lines().collect();
    let notes = notes.into_iter().filter(|line| line.starts_with("note "));
    assert_eq!(
        notes.collect::<Vec<_>>(),
        [
            "note       program of Single_A (qa): 999 is not on its page",
            "note       program of Single_A (3): 777.5 is not on its page",
        ]
    );
    let of_sample = figures_off_page(&sample().unwrap());
    assert!(of_sample.is_empty(), "{of_sample:?}");
}
