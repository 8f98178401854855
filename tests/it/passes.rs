//! Options of a run that draw more than one answer or withhold one, the
//! leaderboard's file, and the check that no agent sees the gold of the current turn.

use finqa_journal::run::Finish;
use serde_json::{Value as Json, json};

use crate::support::agents::{analysis, is_critic};
use crate::support::cli::{Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply, Request};
use crate::support::in_process::asking;

/// Gold that is not on the page: where it turns up, it was leaked.
/// A turn's own number makes each unmistakable.
fn records() -> Json {
    json!([{
        "id": "Single_ZED/2001/page_1.pdf-1",
        "filename": "ZED/2001/page_1.pdf",
        "pre_text": ["zed is an invented company ."],
        "post_text": [],
        "table": [["", "2001", "2000"], ["sales", "40", "30"], ["costs", "20", "10"]],
        "qa": {"question": "what is the growth of sales?", "answer": "987654.25",
            "program": "add(987654.25, const_0)", "exe_ans": 987654.25},
        "annotation": {
            "dialogue_break": ["what were sales in 2001?", "and in 2000?", "what is the sum?"],
            "turn_program": ["add(771001.5, const_0)", "add(771002.5, const_0)", "add(771003.5, const_0)"],
            "exe_ans_list": [771001.5, 771002.5, 771003.5],
            "qa_split": [0, 0, 0]
        }
    }])
}

const MARKERS: [&str; 3] = ["771001.5", "771002.5", "771003.5"];
const ANSWER_MARKER: &str = "987654.25";

/// A workplace with the records as `data.json`.
fn workplace() -> Workplace {
    let place = Workplace::new();
    place.write("data.json", &records().to_string());
    place
}

/// Lines of settings, for the records.
fn of_data(place: &Workplace, given: &str) -> String {
    format!(
        "data_path = '{}'\n{given}",
        place.path("data.json").display()
    )
}

/// Answers the records; the text is lines of settings.
fn answer(place: &Workplace, given: &str) {
    place.answer(&of_data(place, given));
}

/// Runs the binary over the records and exports their programs, which are given.
#[track_caller]
fn exported(place: &Workplace, options: &str) -> (Ran, Json) {
    let ran = place.run(&format!("--data-path data.json {options}"));
    ran.succeeds();
    place
        .run("score last --export-predictions programs.json")
        .succeeds();
    (ran, place.json("programs.json"))
}

/// A critic that never approves draws every kind of request.
fn disapproved(request: &Request) -> Reply {
    if is_critic(request) {
        Reply::chat(r#"{"findings": [{"where": "program", "problem": "no", "fix": "look again"}]}"#)
    } else {
        by_question(request)
    }
}

/// What an analyst answers to the question at the end of its prompt.
fn by_question(request: &Request) -> Reply {
    let user = request.user();
    analysis(if user.contains("Question: and in 2000?") {
        "30"
    } else if user.contains("Question: what is the sum?") {
        "add(40, 30)"
    } else {
        "40"
    })
}

#[test]
fn no_request_holds_the_gold_of_the_current_turn() {
    let server = FaultServer::start(disapproved);
    let given = "mode = 'conversations'\nhistory = 'gold'";
    answer(&workplace(), &asking(&server, given));
    let questions = [
        "what were sales in 2001?", "and in 2000?", "what is the sum?",
    ];
    let mut seen = [0; 3];
    for request in server.requests() {
        let text = String::from_utf8(request.raw.clone()).unwrap();
        // The last of the questions that it holds is the one that is asked.
        let turn = questions.iter().rposition(|it| text.contains(it)).unwrap();
        seen[turn] += 1;
        for (number, marker) in MARKERS.iter().enumerate() {
            // Earlier turns are shown with their gold, so that the
            // search finds what is there; this turn's and later ones' are not.
            let is_shown = text.contains(marker);
            assert_eq!(
                is_shown,
                number < turn,
                "turn {turn}, gold of turn {number}"
            );
        }
        assert!(!text.contains(ANSWER_MARKER), "turn {turn}");
    }
    assert!(seen.iter().all(|requests| *requests >= 2), "{seen:?}");
}

#[test]
fn no_request_of_a_question_holds_any_gold() {
    let server = FaultServer::start(by_question);
    answer(&workplace(), &asking(&server, ""));
    assert!(server.count() >= 2);
    for request in server.requests() {
        let text = String::from_utf8(request.raw).unwrap();
        for marker in MARKERS.iter().chain([&ANSWER_MARKER]) {
            assert!(!text.contains(marker), "{marker}");
        }
    }
}

#[test]
fn the_commonest_of_the_samples_is_answered_and_every_call_is_counted() {
    // The seed tells the samples apart, as a provider that honours it would.
    let server = FaultServer::start(|request| match request.body["seed"].as_u64() {
        Some(7) => analysis("40"),
        _ => analysis("add(20, 10)"),
    });
    let place = workplace();
    let url = server.base_url();
    let options = format!("--model m --base-url {url} --critic off --samples 3 --seed 7");
    let (ran, programs) = exported(&place, &options);
    ran.tells("--temperature above 0");
    assert_eq!(server.count(), 3);
    let summary = place.summary();
    for node in ["analyst", "analyst#2", "analyst#3"] {
        assert_eq!(summary["spent"]["nodes"][node]["calls"], 1, "{node}");
    }
    let expected = json!([{"id": "Single_ZED/2001/page_1.pdf-1",
        "predicted": ["add(", "20", "10", ")", "EOF"]}]);
    assert_eq!(programs, expected);
}

#[test]
fn turns_are_exported_under_ids_of_their_own() {
    let (_, predictions) = exported(&workplace(), "--mode conversations --epochs 2");
    let ids: Vec<_> = predictions
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["id"])
        .collect();
    let expected = [0, 1, 2].map(|turn| format!("Single_ZED/2001/page_1.pdf-1_{turn}"));
    assert_eq!(ids, expected.each_ref());
    assert_eq!(predictions[0]["predicted"], json!(["40", "EOF"]));
}

#[test]
fn passes_are_compared_only_where_there_are_several() {
    // Right in the first pass only: the second asks the same again.
    let server = FaultServer::start(|request| match request.repeat {
        0 => analysis("987654.25"),
        _ => analysis("40"),
    });
    let two_passes = workplace();
    let given = asking(&server, "critic = 'off'\nconcurrency = 1");
    answer(&two_passes, &format!("{given}\nepochs = 2"));
    let two = two_passes.summary();
    for card in two["epochs"].as_array().unwrap() {
        assert_eq!((&card["k"], &card["n"]), (&json!(2), &json!(1)));
        assert_eq!(card["mean"]["rate"], 0.5, "{card}");
        assert_eq!(card["pass_at_k"]["rate"], 1.0, "{card}");
        assert_eq!(card["pass_hat_k"]["rate"], 0.0, "{card}");
        let counts = ["varying", "flaky", "systematic"].map(|name| card[name].as_u64().unwrap());
        assert_eq!(counts, [1, 1, 0], "{card}");
        let by_k = &card["by_k"];
        let found = [0, 1].map(|k| {
            [
                &by_k[k]["pass_at_k"]["rate"], &by_k[k]["pass_hat_k"]["rate"],
            ]
        });
        assert_eq!(
            found,
            [[&json!(0.5), &json!(0.5)], [&json!(1.0), &json!(0.0)]]
        );
    }
    assert_eq!(two["epochs"].as_array().unwrap().len(), 2);
    let folder = two_passes.run_folder();
    let report = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(report.contains("Not answered the same in every pass: 1 question;"));
    let compared = two_passes.run("compare last last --html compared.html");
    compared.succeeds().prints("A: 2 passes by FE: mean 50.0 %");
    compared.prints("B: Not answered the same in every pass: 1 of 1 question; wrong in all");
    assert!(two_passes.read("compared.html").contains("Passes of B"));
    let one_pass = workplace();
    answer(&one_pass, &given);
    assert!(one_pass.summary().get("epochs").is_none());
}

#[test]
fn below_the_least_confidence_the_embedded_analyst_abstains() {
    let place = workplace();
    answer(&place, "mode = 'conversations'\nmin_confidence = 1.0");
    let summary = place.summary();
    let abstained = json!([{"name": "abstained", "count": 3}]);
    assert_eq!(summary["outcomes"], abstained);
    assert_eq!(summary["execution_accuracy_hits"], 0);
}

#[test]
fn a_resumed_run_recalls_each_sample_by_itself() {
    // Without a seed the samples' requests are the same on the wire.
    let server = FaultServer::start(|request| match request.index {
        0 => analysis("40"),
        2 => Reply::error(401, "invalid_api_key", "the key has run out"),
        _ => analysis("add(20, 10)"),
    });
    let place = workplace();
    let given = of_data(&place, &asking(&server, "critic = 'off'\nsamples = 3"));
    let first = place.start(&given).unwrap();
    let finish = &first.finish;
    assert!(matches!(finish, Finish::Fatal(_)), "{finish:?}");
    assert_eq!(server.count(), 3);
    drop(first);
    let resumed = place.resume("last", "").unwrap();
    assert_eq!((resumed.finish, server.count()), (Finish::Complete, 4));
    let csv = place.read("output/output.csv");
    assert!(csv.contains("30"), "two of three samples come to 30: {csv}");
    let nodes = &place.summary()["spent"]["nodes"];
    let calls = |node: &str| nodes[node]["calls"].as_u64().unwrap();
    assert_eq!(calls("analyst"), 1);
    // Of these two the one that came last was refused, and asked again.
    assert_eq!(calls("analyst#2") + calls("analyst#3"), 3);
}
