//! Selection: what is asked; what cannot be is in `refusals.rs`.

use finqa_score::dataset::{Dataset, RecordRange, Selection, select};
use rstest::rstest;
use serde_json::json;

use super::{parse, record};

fn dataset() -> Dataset {
    let mut records: Vec<_> = (0..10)
        .map(|n| record(&format!("Single_ZED/2001/page_{n}.pdf-1")))
        .collect();
    records[3]["qa"]["question"] = json!("what is the S&P 500 (a) index?");
    records[4]["annotation"]["dialogue_break"][1] = json!("how about the margin?");
    parse(&json!(records)).unwrap()
}

fn chosen(selection: &Selection) -> Vec<usize> {
    select(&dataset(), selection).unwrap()
}

fn range(text: &str) -> Option<RecordRange> {
    Some(text.parse().unwrap())
}

fn filter(text: &str) -> Selection {
    Selection {
        filter: Some(text.to_owned()),
        ..Selection::default()
    }
}

#[rstest]
#[case::all(Selection::default(), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9])]
#[case(Selection { range: range("2..5"), ..Selection::default() }, &[2, 3, 4])]
#[case(Selection { range: range("8.."), ..Selection::default() }, &[8, 9])]
#[case(Selection { range: range("..2"), ..Selection::default() }, &[0, 1])]
#[case(Selection { range: range(" 0 .. 1 "), ..Selection::default() }, &[0])]
#[case::of_n(Selection { n: Some(3), ..Selection::default() }, &[0, 1, 2])]
#[case::pattern(filter("page_[12]"), &[1, 2])]
#[case::either_case(filter("PAGE_5"), &[5])]
#[case::plain_text(filter("s&p 500 (a)"), &[3])]
#[case::of_a_turn(filter("margin"), &[4])]
fn records_are_selected_in_the_order_of_the_file(
    #[case] selection: Selection,
    #[case] expected: &[usize],
) {
    assert_eq!(chosen(&selection), expected);
}

#[test]
fn ids_keep_the_order_of_the_file_and_more_than_there_are_is_all() {
    let ids = [7, 2].map(|n| format!("Single_ZED/2001/page_{n}.pdf-1"));
    let n = Some(1000);
    let selection = Selection {
        ids: ids.to_vec(),
        n,
        ..Selection::default()
    };
    assert_eq!(chosen(&selection), [2, 7]);
}

#[test]
fn a_shuffle_is_a_permutation_that_its_seed_fixes() {
    let shuffled = |seed| {
        chosen(&Selection {
            shuffle: true,
            seed,
            ..Selection::default()
        })
    };
    assert_eq!(shuffled(1), shuffled(1));
    assert_ne!(shuffled(1), shuffled(2));
    let mut sorted = shuffled(1);
    sorted.sort_unstable();
    assert_eq!(sorted, (0..10).collect::<Vec<_>>());
    let two = Selection {
        shuffle: true,
        seed: 1,
        n: Some(2),
        ..Selection::default()
    };
    assert_eq!(chosen(&two), shuffled(1)[..2]);
}

#[test]
fn the_picked_records_keep_the_name_and_hash_of_their_file() {
    let all = dataset();
    let picked = all.pick(&[4, 1, 99]);
    assert_eq!(
        picked.records,
        [all.records[4].clone(), all.records[1].clone()]
    );
    assert_eq!((picked.source, picked.hash), (all.source, all.hash));
}
