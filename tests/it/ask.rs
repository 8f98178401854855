//! `convfinqa ask` as a person runs it.

use rstest::rstest;
use serde_json::{Value as Json, json};

use crate::support::cli::{Workplace, words};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::json::has;

const REPORT: &str = "# Acme Corp.\nAmounts are in millions.\n\n\
| | 2019 | 2018 |\n|---|---:|---:|\n| Revenue | 1,250 | 1,000 |\n| Net income | (12) | 45 |\n\n\
Interest expense was $ 12.5 million in 2019 and $ 10.0 million in 2018.\n";

fn workplace(files: &[(&str, &[u8])]) -> Workplace {
    let place = Workplace::new();
    for (name, bytes) in files {
        std::fs::write(place.path(name), bytes).unwrap();
    }
    place
}

/// Exit code, stdout and stderr of `ask`, with these lines on stdin.
fn ask(place: &Workplace, args: &[&str], stdin: &str) -> (i32, String, String) {
    let ran = place.run_with_stdin(&[&["ask"], args].concat(), stdin);
    (ran.code.unwrap(), ran.stdout, ran.stderr)
}

#[test]
fn a_question_about_a_markdown_page_is_answered_with_its_support() {
    let place = workplace(&[("report.md", REPORT.as_bytes())]);
    let question = "what was the percentage change in revenue from 2018 to 2019?";
    let (code, shown, told) = ask(&place, &["report.md", question], "");
    assert_eq!((code, told.as_str()), (0, ""));
    for part in [
        "Answer    25.0%",
        "Steps",
        "r1c1  1250  Revenue · 2019",
        "Program   subtract(1250, 1000), divide(#0, 1000)",
        "Critic    accepted",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80));

    let (code, json, _) = ask(&place, &["report.md", question, "--json"], "");
    let json: Json = serde_json::from_str(&json).unwrap();
    assert_eq!(code, 0);
    has(&json, json!({"answer": "25.0%", "value": 0.25}));
    assert_eq!(json["evidence"][0]["label"], "Revenue · 2019");
    assert_eq!(json["rounds"][0]["verdict"], "ok");
}

#[test]
fn lines_of_stdin_are_one_conversation() {
    let place = workplace(&[("report.md", REPORT.as_bytes())]);
    let (code, lines, _) = ask(
        &place,
        &["report.md", "--json"],
        "what was revenue in 2019?\n\nand in 2018?\nwhat was the difference?",
    );
    let answers: Vec<Json> = lines
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap()["answer"].clone())
        .collect();
    assert_eq!(code, 0);
    assert_eq!(answers, ["1250", "1000", "250"]);
}

#[test]
fn a_chat_model_is_shown_the_page_and_the_earlier_answers() {
    let server = FaultServer::start(|request| {
        if request.user().contains("HER ANALYSIS") || !request.system().contains("program") {
            return Reply::chat("ALL_OK");
        }
        let program = if request.user().contains("EARLIER TURNS") {
            "subtract(1250, 1000)"
        } else {
            "1250"
        };
        let analysis = json!({"steps": ["read"], "answer": "", "program": program,
            "evidence": [{"id": "r1c1", "literal": "1250"}], "unit": {"kind": "number"}});
        Reply::chat(&analysis.to_string())
    });
    let place = workplace(&[("report.md", REPORT.as_bytes())]);
    let url = server.base_url();
    let line = format!("report.md --model m --base-url {url} --critic off --json");
    let args = words(&line);
    let (code, lines, told) = ask(
        &place,
        &args,
        "what was revenue in 2019?\nhow much more than in 2018?\n",
    );
    assert_eq!(code, 0, "{told}");
    let second: Json = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    has(&second, json!({"answer": "250", "calls": 1}));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(
        requests[0]
            .user()
            .contains("Interest expense was $ 12.5 million")
    );
    assert!(
        requests[1]
            .user()
            .contains("[h1] what was revenue in 2019? -> 1250")
    );
}

const YEARS_AS_VALUES: &str = "Plant,Units 2019,Units 2018\nNorth,2013,1800\nSouth,2014,1999\n";
const COMPANIES: &str = "Company,Founded,Listed\nAcme,2013,2014\nBeta,1999,2005\n";
const RATES: &str = "item,2019,2018\nRevenue,1250,1000\nEffective tax rate,21.5%,23.4%\n";

/// The dataset lost its dashes to `2013` and `2014`; the user's own page did not.
#[rstest]
#[case("t.csv --text notes.txt", "what was revenue in 2019?", "1250")]
#[case("t.csv --text notes.txt", "what was interest expense in 2019?", "12.5")]
#[case("units.csv", "how many units did North make in 2019?", "2013")]
#[case(
    "units.csv",
    "what is the sum of the units of North and South in 2019?",
    "4027"
)]
#[case("companies.csv", "what is founded for Acme?", "2013")]
#[case("rates.csv", "what was the effective tax rate in 2019?", "21.5%")]
#[case(
    "rates.csv",
    "what was the change in the effective tax rate from 2018 to 2019?",
    "-1.9%"
)]
fn the_users_own_table_answers(#[case] files: &str, #[case] question: &str, #[case] answer: &str) {
    let place = workplace(&[
        (
            "t.csv",
            b"\xEF\xBB\xBFin millions,2019,2018\r\nRevenue,\"1,250\",\"1,000\"\r\n".as_slice(),
        ),
        ("notes.txt", b"Interest expense was $ 12.5 million in 2019."),
        ("units.csv", YEARS_AS_VALUES.as_bytes()),
        ("companies.csv", COMPANIES.as_bytes()),
        ("rates.csv", RATES.as_bytes()),
    ]);
    let args = [&["--table"], &words(files)[..], &["--json", question]].concat();
    let (code, json, told) = ask(&place, &args, "");
    assert_eq!((code, told.as_str()), (0, ""));
    let json: Json = serde_json::from_str(&json).unwrap();
    assert_eq!(json["answer"], answer, "{json}");
    let accepted = json["stop"] == "accepted";
    assert_eq!(
        accepted,
        json["doubt"].is_null(),
        "a guess is not accepted: {json}"
    );
}

#[test]
fn a_chat_model_is_shown_the_users_own_page_as_it_is_written() {
    let server = FaultServer::start(|_| {
        Reply::chat(r#"{"steps": ["x"], "answer": "5", "program": null, "unit": "number"}"#)
    });
    let place = workplace(&[(
        "report.md",
        "Sales of 2014E are an estimate, and 201cgip is a code.\n\n\
         | Plant | Units FY2014E | Change |\n|---|---|---|\n| North 2013 output | 2014 | -12 ( 12 ) |\n"
            .as_bytes(),
    )]);
    let url = server.base_url();
    let model = ["--model", "m", "--base-url", &url, "--critic", "off"];
    let args = ["report.md", "how many?", "--second-opinion", "off"];
    let (code, _, told) = ask(&place, &[&args[..], &model[..]].concat(), "");
    assert_eq!(code, 0, "{told}");
    let requests = server.requests();
    let shown = requests[0].user();
    for part in [
        "Units FY2014E", "| North 2013 output | 2014 ", "-12 ( 12 )", "201cgip", "2014E",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
}

/// In an earlier version `-q` printed the same as without.
#[test]
fn quiet_prints_the_answer_alone_and_why_it_is_a_guess_on_stderr() {
    let place = workplace(&[("report.md", REPORT.as_bytes())]);
    let lines = "what was revenue in 2019?\nwhat was revenue in 2011?\nwhat was the percentage change in revenue from 2018 to 2019?\n";
    let (code, shown, told) = ask(&place, &["report.md", "-q"], lines);
    let shown: Vec<&str> = shown.lines().collect();
    assert_eq!(
        (code, shown.len(), shown[0], shown[2]),
        (0, 3, "1250 million", "25.0%")
    );
    assert_eq!(told, "not sure: the page has no 2011\n");
}

#[test]
fn a_label_answers_which_and_a_growth_from_a_loss_is_a_guess() {
    let table = "Region,2021,2022\nNorth,-5,12\nSouth,7,9\n";
    let place = workplace(&[("t.csv", table.as_bytes())]);
    let (code, json, _) = ask(
        &place,
        &[
            "t.csv",
            "which region had the highest figure in 2022?",
            "--json",
        ],
        "",
    );
    let json: Json = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (code, &json["answer"], &json["value"]),
        (0, &json!("North"), &json!("North"))
    );
    assert_eq!(
        (&json["stop"], &json["evidence"][0]["literal"]),
        (&json!("accepted"), &json!("12"))
    );
    let (code, shown, _) = ask(
        &place,
        &[
            "t.csv",
            "what was the percentage change of North from 2021 to 2022?",
        ],
        "",
    );
    assert_eq!(code, 0);
    let why = "Answer    not sure (growth needs a value above zero)";
    assert!(shown.starts_with(why), "{shown}");
    assert!(shown.contains("not accepted"), "{shown}");
}

#[test]
fn a_refused_key_is_exit_code_5() {
    let server = FaultServer::start(|_| Reply::error(401, "invalid_api_key", "wrong key"));
    let place = workplace(&[("report.md", REPORT.as_bytes())]);
    let url = server.base_url();
    let args = ["report.md", "revenue?", "--model", "m", "--base-url", &url];
    let (code, shown, told) = ask(&place, &args, "");
    assert_eq!((code, shown.as_str()), (5, ""));
    assert!(told.starts_with("error: "), "{told}");
}

#[rstest]
#[case::no_document(&[], 2, "no document")]
#[case::no_file(&["what was revenue?"], 2, "no file named \"what was revenue?\": name the document before")]
#[case::two_documents(&["report.md", "revenue?", "--table", "t.csv"], 2, "in one way")]
#[case::no_question(&["report.md"], 2, "no question")]
#[case::blank_question(&["report.md", " "], 2, "the question is empty")]
#[case::no_such_file(&["nowhere.md", "revenue?"], 3, "nowhere.md")]
#[case::a_folder(&[".", "revenue?"], 3, ".: ")]
#[case::empty_file(&["empty.md", "revenue?"], 3, "neither a table nor text")]
#[case::pdf(&["page.md", "revenue?"], 3, "a PDF")]
#[case::split_number(&["--table", "split.csv", "revenue?"], 3, "split.csv: line 2: 4 cells")]
#[case::no_table(&["--table", "notes.md", "revenue?"], 3, "no Markdown table")]
fn bad_input_is_one_clear_line(#[case] args: &[&str], #[case] code: i32, #[case] word: &str) {
    let place = workplace(&[
        ("report.md", REPORT.as_bytes()),
        ("t.csv", b",2019\nRevenue,5\n"),
        ("empty.md", b"\n \n"),
        ("page.md", b"%PDF-1.7"),
        ("split.csv", b",2019,2018\nRevenue,1,250,9\n"),
        ("notes.md", b"Only text."),
    ]);
    let (found, shown, told) = ask(&place, args, "");
    assert_eq!((found, shown.as_str()), (code, ""), "{told}");
    assert!(told.contains(word), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn a_page_without_numbers_is_named_as_the_cause() {
    let place = workplace(&[("p.md", b"Alpha beta.\n".as_slice())]);
    let (code, shown, _) = ask(&place, &["p.md", "what was revenue?"], "");
    assert_eq!(code, 4);
    let line = "Answer    none: the document contains no number that fits the question";
    assert_eq!(shown.trim_end(), line);
    let (_, shown, told) = ask(&place, &["p.md", "what was revenue?", "-q"], "");
    assert_eq!(shown, "none\n");
    assert!(
        told.starts_with("no answer: the document contains no number"),
        "{told}"
    );
}

#[test]
fn the_critic_is_shown_without_instructions_to_a_model_and_without_repetitions() {
    let place = workplace(&[("report.md", REPORT.as_bytes())]);
    let question = "what was revenue in 2021?";
    let (_, shown, _) = ask(&place, &["report.md", question], "");
    let critic = "Critic    not accepted: 2 findings\n          \
        · evidence: the question names 2021, but the page does not.\n          \
        · the answer is a guess\n";
    assert!(shown.contains(critic), "{shown}");
    assert!(!shown.contains("Fix:"), "{shown}");
    let (_, json, _) = ask(&place, &["report.md", question, "--json"], "");
    assert!(json.contains("Fix: check which period is meant"), "{json}");
}
