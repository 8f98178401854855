//! `ask --explain`: how the embedded analyst read and answered a question.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::support::agents::analysis;
use crate::support::cli::{Ran, Workplace};
use crate::support::fault_server::FaultServer;
use crate::support::json::has;

const TABLE: &str = "| | 2019 | 2018 |\n|---|---|---|\n| Revenue | 1,250 | 1,000 |\n\
    | Rent | 10 | 9 |\n\nInterest expense was $ 12.5 million in 2019.\n";

fn workplace() -> Workplace {
    let place = Workplace::new();
    place.write("table.md", TABLE);
    let filing = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/examples/filing.htm");
    std::fs::copy(filing, place.path("filing.htm")).unwrap();
    place
}

/// The answer is printed as without `--explain`, and the explanation below it, in 80 columns.
fn explained(place: &Workplace, question: &str) -> (Ran, Json) {
    let plain = place.run(&format!("ask {question}"));
    let ran = place.run(&format!("ask {question} --explain"));
    assert_eq!((ran.code, &ran.stderr), (plain.code, &plain.stderr));
    assert!(ran.stdout.starts_with(&plain.stdout), "{}", ran.stdout);
    assert!(!plain.stdout.contains("operation:"), "{}", plain.stdout);
    let wide = ran.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None);
    let plain = place.run(&format!("ask {question} --json")).json();
    let mut json = place
        .run(&format!("ask {question} --json --explain"))
        .json();
    let explanation = json.as_object_mut().unwrap().remove("explanation");
    assert_eq!(json, plain);
    let explanation = explanation.unwrap();
    assert_eq!(explanation["sure"], json["sure"]);
    (ran, explanation)
}

#[test]
fn the_candidates_of_a_filing_are_listed_with_what_speaks_for_them() {
    let (ran, json) = explained(&workplace(), "filing.htm 'what was revenue in 2033?'");
    for part in [
        "Read      operation: take the figure\n          figure: \"revenue\"; 2033\n",
        "1. $ 1,250.4 Net sales · 2033, taken\n",
        "its tag Revenues means it",
        "Sure      the answer comes from the labels of the tables\n",
    ] {
        ran.prints(part);
    }
    let cells = json["figures"][0]["candidates"].as_array().unwrap();
    assert_eq!(cells.len(), 5);
    let taken: Vec<&Json> = cells.iter().filter(|one| one["taken"] == true).collect();
    assert_eq!(taken.len(), 1);
    has(
        taken[0],
        json!({"row": "Net sales", "in_statement": true, "meets": ["revenue (as sales)"]}),
    );
    // "Cost of sales" has the word and says more.
    let other = cells.iter().find(|one| one["row"] == "Cost of sales");
    has(other.unwrap(), json!({"says_more": true, "tag": null}));
}

#[test]
fn each_figure_of_a_share_has_its_own_candidates() {
    let question = "filing.htm 'what share of net sales came from gas pipes in 2033?'";
    let (_, json) = explained(&workplace(), question);
    let taken = |figure: &Json| -> Vec<Json> {
        let cells = figure["candidates"].as_array().unwrap();
        let taken = cells.iter().filter(|one| one["taken"] == true);
        taken.map(|one| one["row"].clone()).collect()
    };
    let figures = json["figures"].as_array().unwrap();
    let rows: Vec<Vec<Json>> = figures.iter().map(taken).collect();
    assert_eq!(json!(rows), json!([["Gas pipes"], ["Total net sales"]]));
    assert_eq!(json["figures"][0]["scope"], json!(["part of net sales"]));
}

#[test]
fn words_of_the_question_that_a_filing_lacks_are_left_over() {
    let question = "filing.htm 'what was marketing spending on billboards in 2033?'";
    let (ran, json) = explained(&workplace(), question);
    ran.ends(4);
    assert_eq!(json["left_over"], json!(["marketing", "billboards"]));
    assert_eq!(json["answered_from"], "nothing");
    ran.prints("Not sure  there is no answer\n");
}

#[test]
fn the_labels_of_the_only_table_explain_an_answer_from_them() {
    let question = "table.md 'by what percentage did revenue grow from 2018 to 2019?'";
    let (ran, json) = explained(&workplace(), question);
    ran.succeeds().prints("operation: relative change");
    has(&json, json!({"answered_from": "labels", "programs": []}));
    let cells = &json["figures"][0]["candidates"];
    has(&cells[0], json!({"value": "1,250", "taken": true}));
    has(&cells[1], json!({"value": "1,000", "taken": true}));
}

#[test]
fn a_guess_from_the_only_table_lists_the_programs_with_each_doubt() {
    let question = "table.md 'what was the operating margin in 2019?'";
    let (ran, json) = explained(&workplace(), question);
    ran.ends(4).prints("Programs  1. ");
    assert_eq!(json["answered_from"], "programs");
    assert_eq!(json["programs"].as_array().unwrap().len(), 5);
    assert_eq!(json["programs"][0]["taken"], true);
    let reasons = json["reasons"].as_array().unwrap();
    assert_eq!(reasons[0], "the page does not mention \"operating margin\"");
    assert!(reasons[1].as_str().unwrap().contains("is below 0.67"));
}

/// The explanation below a chat model's answer is the embedded analyst's, if that was asked.
#[test]
fn a_chat_models_answer_is_followed_by_the_second_opinion() {
    let place = workplace();
    let server = FaultServer::start(|_| analysis("1250"));
    let url = server.base_url();
    let model = format!("--model m --base-url {url} --critic off --explain");
    let line = format!("ask table.md 'what was revenue in 2019?' {model}");
    let ran = place.run(&line);
    ran.prints("Explained what follows is the embedded analyst's second opinion\n");
    ran.prints("1. 1,250 Revenue · 2019, taken\n");
    let off = format!("{line} --second-opinion off");
    let ran = place.run(&off);
    ran.prints("Explained none: the embedded analyst was not asked");
    assert_eq!(
        place.run(&format!("{off} --json")).json()["explanation"],
        json!(null)
    );
}
