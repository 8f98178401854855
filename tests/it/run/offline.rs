//! The main job offline; as its first user runs it and reads it: `terminal.rs`.

use finqa_score::dataset::sample;
use finqa_score::score::Scorecard;
use finqa_score::score::files::{read_predictions, rescore};
use rstest::rstest;

use crate::support::cli::Workplace;
use crate::support::published::{TEN, records_file};
use crate::support::schema::Schema;

/// The rules have seen these records: a change of these figures is one of answers.
#[rstest]
#[case::questions("", [7, 6, 8, 15])]
#[case::turns("mode = 'conversations'", [29, 33, 29, 45])]
#[case::turns_after_gold("mode = 'conversations'\nhistory = 'gold'", [38, 39, 38, 45])]
fn the_embedded_analyst_on_ten_published_records(#[case] given: &str, #[case] figures: [u64; 4]) {
    let data = records_file(TEN);
    let summary = summary(&format!("data_path = '{}'\n{given}", data.display()));
    let hits = [
        "financial_equivalence_hits", "numerical_match_hits", "execution_accuracy_hits",
        "financial_equivalence_n",
    ];
    assert_eq!(hits.map(|name| summary[name].as_u64().unwrap()), figures);
}

fn summary(given: &str) -> serde_json::Value {
    serde_json::to_value(Workplace::new().answer(given).summary).unwrap()
}

#[test]
fn output_order_is_input_order_whatever_the_concurrency() {
    let ids = |concurrency: usize| {
        let place = Workplace::new();
        place.answer(&format!(
            "concurrency = {concurrency}\nmode = 'conversations'"
        ));
        let rows = place.rows("output/output.csv");
        rows.into_iter()
            .map(|row| {
                (
                    row["id"].clone(),
                    row["part"].clone(),
                    row["prediction"].clone(),
                )
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(1), ids(9));
}

#[test]
fn rescoring_our_own_file_gives_the_runs_figures() {
    let place = Workplace::new();
    let run = serde_json::to_value(place.answer("").summary).unwrap();
    let rows = read_predictions(&place.path("output/output.csv")).unwrap();
    let rows = rescore(rows, Some(&sample().unwrap())).unwrap();
    let again = serde_json::to_value(Scorecard::of(&rows)).unwrap();
    for (key, value) in again.as_object().unwrap() {
        assert_eq!(run[key], *value, "{key}");
    }
}

#[test]
fn json_leaves_stdout_to_the_summary_and_follows_its_schema() {
    let place = Workplace::new();
    let ran = place.run("--json --verbose");
    let summary = ran.succeeds().json();
    assert!(ran.stderr.contains("question:"), "the rest goes to stderr");
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../docs/summary.schema.json")).unwrap();
    let schema = Schema::new(&schema);
    schema.accepts(&summary);
    let mut wrong = summary;
    wrong["numerical_match"] = "75 %".into();
    assert!(!schema.is_valid(&wrong), "the schema can refuse");
}

/// It was refused, although there is one way only to ask it.
#[test]
fn a_file_of_turns_only_runs_as_conversations() {
    let place = Workplace::new();
    let records: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../../data/sample.json")).unwrap();
    let turns = records.into_iter().filter_map(|mut record| {
        let fields = record.as_object_mut()?;
        fields.retain(|name, _| !name.starts_with("qa"));
        fields.contains_key("annotation").then_some(record)
    });
    let turns = serde_json::Value::Array(turns.collect());
    place.write("turns.json", &turns.to_string());
    let ran = place.run("--data-path turns.json");
    ran.succeeds().tells("--mode conversations");
    assert_eq!(place.summary()["run"]["settings"]["mode"], "conversations");
    place
        .run("--data-path turns.json --mode questions")
        .fails(3, &["no stand-alone question (qa, qa_0) in its"]);
}
