//! `check`, `stats` and `show`.

use finqa_score::dataset::{check, gold_text, record_text, sample};
use rstest::rstest;
use serde_json::{Value as Json, json};

use super::{parse, record};

#[rstest]
#[case("", Json::Null, None)]
#[case("/qa/program", json!("sum(10, 0)"), Some(("cannot be executed", "qa")))]
#[case("/qa/program", json!("divide(10, 0)"), Some(("cannot be executed", "qa")))]
#[case("/qa/exe_ans", json!(11), Some(("does not equal exe_ans", "qa")))]
#[case("/annotation/exe_ans_list/1", json!(21), Some(("does not equal exe_ans", "1")))]
fn each_defect_is_found_where_it_is(
    #[case] pointer: &str,
    #[case] value: Json,
    #[case] expected: Option<(&str, &str)>,
) {
    let mut changed = record("Single_ZED/2001/page_1.pdf-1");
    if !pointer.is_empty() {
        *changed.pointer_mut(pointer).unwrap() = value;
    }
    let (_, found) = check(&parse(&json!([changed])).unwrap());
    let told = found
        .iter()
        .map(|(key, defect)| (defect.to_string(), key.part.as_str()));
    let told: Vec<_> = told.collect();
    assert_eq!(told.len(), usize::from(expected.is_some()), "{told:?}");
    for ((defect, part), (words, expected)) in told.iter().zip(expected) {
        assert!(defect.contains(words) && *part == expected, "{defect}");
    }
}

#[test]
fn the_gold_of_the_sample_holds() {
    let sample = sample().unwrap();
    let cases = sample.question_count() + sample.turn_count();
    assert_eq!(check(&sample), (cases, Vec::new()));
}

#[test]
fn a_shown_record_keeps_its_gold_apart() {
    let mut shown = record("Single_ZED/2001/page_1.pdf-1");
    shown["post_text"] = json!(["it has one customer ."]);
    shown["qa"]["answer"] = json!("ten dollars");
    let dataset = parse(&json!([shown])).unwrap();
    let record = &dataset.records[0];
    let expected = r"Single_ZED/2001/page_1.pdf-1  (Single, ZED/2001/page_1.pdf)

   t1  zed is an invented company .

|     | c0    | c1   |
|-----|-------|------|
| r0  |       | 2001 |
| r1  | sales | 10   |

   t2  it has one customer .

Stand-alone questions
   qa  what were sales?

Conversation
    0  what were sales?
    1  and twice that?
";
    assert_eq!(record_text(record), expected);
    let expected = r"   qa  answer ten dollars · value 10 · program add(10, 0)
    0  value 10 · program 10
    1  value 20 · program multiply(10, const_2)
";
    assert_eq!(gold_text(record), expected);
}
