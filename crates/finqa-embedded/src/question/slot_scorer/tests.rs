//! Tests of the slot scorer: its features do not depend on the order of the facts, and the best are
//! kept.

use finqa_core::question::Document;

use super::*;
use crate::reading::text::stem;

#[test]
fn a_fact_has_the_same_features_whichever_fact_is_read_before_it() {
    let cells = [
        ["", "2019", "2018"],
        ["net sales", "10", "8"],
        ["cost of sales", "7", "6"],
    ];
    let document = Document {
        pre_text: vec!["net sales of services were $ 4 and $ 3 .".to_owned()],
        table: cells.map(|row| row.map(str::to_owned).to_vec()).to_vec(),
        ..Document::default()
    };
    let facts = Facts::read(&document, &[]);
    let words = ["net", "sales", "services"].map(|word| facts.vocabulary.get(&stem(word)).unwrap());
    let query = SlotQuery {
        words: words.map(|word| (word, 1.0)).to_vec(),
        ..SlotQuery::default()
    };
    assert_eq!(facts.all.len(), 6);
    for (i, first) in facts.all.iter().enumerate() {
        for (j, second) in facts.all.iter().enumerate() {
            let mut both = SlotScorer::new(&facts, &query);
            both.features(first, i);
            let alone = SlotScorer::new(&facts, &query).features(second, j);
            assert_eq!(both.features(second, j), alone, "{i} {j}");
        }
    }
}

#[test]
fn the_best_are_kept_and_ties_go_to_the_first() {
    let scored = vec![(1.0, 0), (3.0, 1), (2.0, 2), (3.0, 3), (2.0, 4)];
    let kept = |n: usize| -> Vec<i32> {
        let best = best_first(scored.clone(), n).into_iter();
        best.map(|(_, at)| at).collect()
    };
    assert_eq!(kept(3), [1, 3, 2]);
    assert_eq!(kept(5), [1, 3, 2, 4, 0]);
    assert_eq!(kept(9), kept(5));
    assert!(kept(0).is_empty());
}
