//! `--only`: an earlier run's questions, asked again.

use serde_json::{Value as Json, json};

use crate::support::agents::analysis;
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply};

/// A record whose page names it. Of its three turns an analyst who answers 40 gets one wrong.
fn record(number: usize) -> Json {
    json!({
        "id": format!("Single_ZED/2001/page_{number}.pdf-1"),
        "filename": format!("ZED/2001/page_{number}.pdf"),
        "pre_text": [format!("this is sheet {number} of zed .")],
        "post_text": [],
        "table": [["", "2001", "2000"], ["sales", "40", "30"]],
        "qa": {"question": "what were sales in 2001?", "answer": "40",
            "program": "add(40, const_0)", "exe_ans": 40.0},
        "annotation": {
            "dialogue_break": ["what were sales in 2001?", "and again?", "and in 2000?"],
            "turn_program": ["40", "40", "30"],
            "exe_ans_list": [40.0, 40.0, 30.0],
            "qa_split": [0, 0, 0]
        }
    })
}

/// A model that answers sheet 1 right the first time only, sheet 2 wrong, sheet 3 not at all,
/// and sheet 4 right.
fn server() -> FaultServer {
    FaultServer::start(|request| {
        let text = String::from_utf8_lossy(&request.raw);
        let sheets = ["1", "2", "3"].map(|it| text.contains(&format!("sheet {it}")));
        let program = match (request.repeat, sheets) {
            (1.., [true, ..]) | (_, [_, true, _]) => "7",
            (_, [.., true]) => return Reply::chat("cannot say"),
            _ => "40",
        };
        analysis(program)
    })
}

fn place() -> Workplace {
    let place = Workplace::new();
    let records: Vec<Json> = (1..=4).map(record).collect();
    place.write("data.json", &json!(records).to_string());
    place
}

#[test]
fn wrong_flaky_or_unanswered_questions_of_a_run_are_asked_again() {
    let (place, server) = (place(), server());
    let url = server.base_url();
    let ask = |options: &str| {
        place.run(&format!(
            "--model m --base-url {url} --critic off -j 1 {options}"
        ))
    };
    ask("--data-path data.json --epochs 2").ends(4);
    let run = place.run_folder();
    let run = run.file_name().unwrap().to_str().unwrap();
    for (which, sheets) in [
        ("flaky", &["1"][..]),
        ("wrong", &["1", "2", "3"]),
        ("unanswered", &["3"]),
    ] {
        let ran = ask(&format!(
            "--data-path data.json --only {which}:{run} --json"
        ));
        let rows = place.rows("output/output.csv");
        let asked = rows.iter().map(|row| row["filename"].as_str());
        let asked: Vec<&str> = asked.map(|name| &name[14..15]).collect();
        assert_eq!(asked, sheets, "{which}");
        let settings = &ran.json()["run"]["settings"];
        // `last` would be another run when it is resumed.
        assert_eq!(settings["only"], json!(format!("{which}:{run}")));
    }
    let data = "--data-path data.json";
    let nothing = format!("{data} --only flaky:{run} --range 1..2");
    ask(&nothing).fails(2, &["--only flaky", "no such question"]);
    ask(&format!("--data-path sample --only wrong:{run}")).fails(2, &["data.json, not built-in"]);
}

#[test]
fn the_conversation_of_a_wrong_turn_is_asked_as_a_whole_in_the_runs_mode() {
    let (place, server) = (place(), server());
    let url = server.base_url();
    let asked = format!("--model m --base-url {url} --critic off --data-path data.json");
    place
        .run(&format!("{asked} --mode conversations --range 3..4"))
        .succeeds();
    // A folder that only shares the name was stored, and the run could not be resumed.
    std::fs::create_dir(place.path("last")).unwrap();
    let run = place.run_folder();
    let again = place.run(&format!("{asked} --only wrong:last --json"));
    let summary = again.succeeds().json();
    let id = run.file_name().unwrap().to_str().unwrap();
    assert_eq!(summary["run"]["settings"]["only"], format!("wrong:{id}"));
    assert_eq!(summary["questions"], 3);
    assert_eq!(summary["financial_equivalence_hits"], 2);
}
