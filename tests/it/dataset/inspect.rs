//! `check`, `stats` and `show`.

use convfinqa::dataset::{RecordDefect, check, gold_text, record_text, sample};
use rstest::rstest;
use serde_json::{Value as Json, json};

use super::{parse, record};

/// The defects of one record with one field set.
fn defects(pointer: &str, value: Json) -> Vec<(RecordDefect, Option<String>)> {
    let mut changed = record("Double_ZED/2001/page_1.pdf");
    changed["table_ori"] = json!([["", "2001"], ["Sales", "10"]]);
    if pointer == "/table_ori" {
        changed.as_object_mut().unwrap().remove("table_ori");
    } else if !pointer.is_empty() {
        *changed.pointer_mut(pointer).unwrap() = value;
    }
    check(&parse(&json!([changed])).unwrap())
        .findings
        .into_iter()
        .map(|finding| (finding.defect, finding.part))
        .collect()
}

#[test]
fn a_sound_record_has_no_findings() {
    assert_eq!(defects("", Json::Null), []);
}

#[rstest]
#[case("/qa/program", Json::Null, RecordDefect::NoProgram, Some("qa"))]
#[case("/qa/program", json!("sum(10, 0)"), RecordDefect::ProgramUnreadable, Some("qa"))]
#[case("/qa/program", json!("divide(10, 0)"), RecordDefect::ProgramFails, Some("qa"))]
#[case("/qa/exe_ans", json!(11), RecordDefect::ValueDiffers, Some("qa"))]
#[case("/qa/answer", json!("11"), RecordDefect::AnswerDiffers, Some("qa"))]
#[case("/annotation/qa_split", Json::Null, RecordDefect::NoSplit, None)]
#[case("/annotation/exe_ans_list/1", json!(21), RecordDefect::ValueDiffers, Some("1"))]
#[case("/table_ori", Json::Null, RecordDefect::NoOriginalTable, None)]
#[case("/table/1/1", json!("-10 ( 10 )"), RecordDefect::DoubledNumbers, None)]
#[case("/table/1/1", json!("2014"), RecordDefect::LostDashes, None)]
#[case("/table/0", json!(["sales of zed", "$ 12.5"]), RecordDefect::NoHeader, None)]
fn each_defect_is_found_where_it_is(
    #[case] pointer: &str,
    #[case] value: Json,
    #[case] defect: RecordDefect,
    #[case] part: Option<&str>,
) {
    assert_eq!(defects(pointer, value), [(defect, part.map(str::to_owned))]);
}

#[test]
fn garbled_headers_are_found_and_told_apart() {
    let mut mended = record("Single_A");
    mended["table"] = json!([
        ["2000", "year 2001 2000", "year 2001 2000"],
        ["sales", "10", "9"]
    ]);
    mended["table_ori"] = json!([["", "Year 2001"], ["2000"], ["Sales", "10", "9"]]);
    let mut doubled = mended.clone();
    doubled["id"] = json!("Single_B");
    doubled.as_object_mut().unwrap().remove("table_ori");
    let report = check(&parse(&json!([mended, doubled])).unwrap());
    let counts = report.counts();
    assert_eq!(counts.get(&RecordDefect::HeaderRepaired), Some(&1));
    assert_eq!(counts.get(&RecordDefect::DuplicateLabels), Some(&1));
    let detail = &report.findings[0].detail;
    assert_eq!(detail, " | year 2001 | year 2000");
}

#[test]
fn the_gold_of_the_sample_holds() {
    let report = check(&sample().unwrap());
    let of_gold: Vec<_> = report
        .findings
        .iter()
        .filter(|finding| {
            matches!(
                finding.defect,
                RecordDefect::NoGold
                    | RecordDefect::NoProgram
                    | RecordDefect::ProgramUnreadable
                    | RecordDefect::ProgramFails
                    | RecordDefect::ValueDiffers
                    | RecordDefect::AnswerDiffers
                    | RecordDefect::NoSplit
            )
        })
        .collect();
    assert!(of_gold.is_empty(), "{of_gold:#?}");
    assert_eq!(report.programs_confirmed, report.questions + report.turns);
}

#[test]
fn a_shown_record_keeps_its_gold_apart() {
    let mut shown = record("Single_ZED/2001/page_1.pdf-1");
    shown["post_text"] = json!(["it has one customer ."]);
    shown["qa"]["answer"] = json!("ten dollars");
    let dataset = parse(&json!([shown])).unwrap();
    let record = &dataset.records[0];
    insta::assert_snapshot!(record_text(record), @r"
    Single_ZED/2001/page_1.pdf-1  (Single, ZED/2001/page_1.pdf)

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
    ");
    insta::assert_snapshot!(gold_text(record), @r"
       qa  answer ten dollars · value 10 · program add(10, 0)
        0  value 10 · program 10 · half 0
        1  value 20 · program multiply(10, const_2) · half 0
    ");
}
