//! `convfinqa ask` as a person runs it.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::support::agents::{analysis, is_critic};
use crate::support::cli::{CommandExt, Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::json::has;

const REPORT: &str = "# Acme Corp.\nAmounts are in millions.\n\n\
| | 2019 | 2018 |\n|---|---:|---:|\n| Revenue | 1,250 | 1,000 |\n| Net income | (12) | 45 |\n\n\
Interest expense was $ 12.5 million in 2019 and $ 10.0 million in 2018.\n";

/// A folder with the report and these files.
fn workplace(files: &[(&str, &str)]) -> Workplace {
    let place = Workplace::new();
    for (name, text) in files.iter().chain(&[("report.md", REPORT)]) {
        place.write(name, text);
    }
    place
}

/// Asks the lines that a person types or pipes in about the report.
fn ask_lines(place: &Workplace, line: &str, stdin: &str) -> Ran {
    let file = std::fs::File::open(place.write("stdin", stdin)).unwrap();
    let mut command = place.command();
    command.given(&format!("ask report.md {line}"));
    command.stdin(file).ran()
}

#[test]
fn a_question_about_a_markdown_page_is_answered_with_its_support() {
    let place = workplace(&[]);
    let line = "ask report.md 'what was the percentage change in revenue from 2018 to 2019?'";
    let ran = place.run(line);
    assert_eq!(ran.succeeds().stderr, "");
    for part in [
        "Answer    25.0%",
        "Steps",
        "r1c1  1250  Revenue · 2019",
        "Program   subtract(1250, 1000), divide(#0, 1000)",
        "Critic    accepted",
    ] {
        ran.prints(part);
    }
    let mut lines = ran.stdout.lines();
    assert!(lines.all(|line| line.chars().count() <= 80));

    let json = place.run(&format!("{line} --json")).succeeds().json();
    has(
        &json,
        json!({"answer": "25.0%", "value": 0.25, "plain_value": 25.0}),
    );
    assert_eq!(json["evidence"][0]["label"], "Revenue · 2019");
    assert_eq!(json["rounds"][0]["verdict"], "ok");
}

#[test]
fn lines_of_stdin_are_one_conversation() {
    let lines = "what was revenue in 2019?\n\nand in 2018?\nwhat was the difference?";
    let ran = ask_lines(&workplace(&[]), "--json", lines);
    let answers = ran.ends(4).stdout.lines();
    let answers = answers.map(|line| serde_json::from_str::<Json>(line).unwrap()["answer"].clone());
    assert_eq!(
        answers.collect::<Vec<_>>(),
        ["1,250 million", "1,000 million", "250 million"]
    );
}

#[test]
fn a_chat_model_is_shown_the_page_and_the_earlier_answers() {
    let server = FaultServer::start(|request| {
        let program = if request.user().contains("EARLIER TURNS") {
            "subtract(1250, 1000)"
        } else {
            "1250"
        };
        analysis(program)
    });
    let url = server.base_url();
    let line = format!("--model m --base-url {url} --critic off --json");
    let lines = "what was revenue in 2019?\nhow much more than in 2018?\n";
    let ran = ask_lines(&workplace(&[]), &line, lines);
    let second = ran.ends(4).stdout.lines().nth(1).unwrap();
    let second: Json = serde_json::from_str(second).unwrap();
    has(&second, json!({"answer": "250", "calls": 1}));
    let shown: Vec<_> = server.requests().iter().map(|it| it.user()).collect();
    assert_eq!(shown.len(), 2);
    assert!(shown[0].contains("Interest expense was $ 12.5 million"));
    assert!(shown[1].contains("[h1] what was revenue in 2019? -> 1250"));
}

const YEARS_AS_VALUES: &str = "Plant,Units 2019,Units 2018\nNorth,2013,1800\nSouth,2014,1999\n";
const COMPANIES: &str = "Company,Founded,Listed\nAcme,2013,2014\nBeta,1999,2005\n";
const RATES: &str = "item,2019,2018\nRevenue,1250,1000\nEffective tax rate,21.5%,23.4%\n";

/// The dataset lost its dashes to `2013` and `2014`; the user's own page did not.
#[test]
fn the_users_own_table_answers() {
    let place = workplace(&[
        (
            "t.csv",
            "\u{feff}In millions,2019,2018\r\nRevenue,\"1,250\",\"1,000\"\r\n",
        ),
        ("units.csv", YEARS_AS_VALUES),
        ("companies.csv", COMPANIES),
        ("rates.csv", RATES),
        (
            "except.csv",
            "\"(In millions, except per share data)\",\"2031 (in millions, except per share data)\"\n\
             Total equity,6515\nDiluted EPS,1.50\n",
        ),
    ]);
    for (line, answer) in [
        (
            "except.csv 'what was total equity in 2031?'",
            "6,515 million",
        ),
        (
            "except.csv 'what was diluted eps in 2031?'",
            "1.50 per share",
        ),
        ("t.csv 'what was revenue in 2019?'", "1,250 million"),
        ("units.csv 'how many units did North make in 2019?'", "2013"),
        (
            "units.csv 'what is the sum of the units of North and South in 2019?'",
            "4,027",
        ),
        ("companies.csv 'what is founded for Acme?'", "2013"),
        (
            "rates.csv 'what was the change in the effective tax rate from 2018 to 2019?'",
            "-1.9 percentage points",
        ),
    ] {
        let ran = place.run(&format!("ask --json {line}"));
        assert_eq!(ran.succeeds().stderr, "", "{line}");
        let json = ran.json();
        assert_eq!(json["answer"], answer, "{line}: {json}");
        let accepted = json["stop"] == "accepted";
        let sure = json["doubt"].is_null();
        assert_eq!(accepted, sure, "a guess is not accepted: {json}");
    }
}

#[test]
fn a_chat_model_is_shown_the_users_own_page_as_it_is_written() {
    let server = FaultServer::start(|_| {
        Reply::chat(r#"{"steps": ["x"], "answer": "5", "program": null, "unit": "number"}"#)
    });
    let place = workplace(&[(
        "own.md",
        "Sales of 2014E are an estimate, and 201cgip is a code.\n\n\
         | Plant | Units FY2014E | Change |\n|---|---|---|\n| North 2013 output | 2014 | -12 ( 12 ) |\n",
    )]);
    let url = server.base_url();
    let line = format!("ask own.md 'how many?' --model m --base-url {url} --critic off");
    // The answer cites no figure.
    place.run(&format!("{line} --second-opinion off")).ends(4);
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
    let lines = "what was revenue in 2019?\nwhat was revenue in 2011?\nwhat was the percentage change in revenue from 2018 to 2019?\n";
    let ran = ask_lines(&workplace(&[]), "-q", lines);
    let shown: Vec<&str> = ran.ends(4).stdout.lines().collect();
    assert_eq!(
        (shown.len(), shown[0], shown[2]),
        (3, "1,250 million", "25.0%")
    );
    assert_eq!(ran.stderr, "not sure: the page has no 2011\n");
}

#[test]
fn a_label_answers_which_and_a_growth_from_a_loss_is_a_guess() {
    let table = "Region,2021,2022\nNorth,-5,12\nSouth,7,9\n";
    let place = workplace(&[("t.csv", table)]);
    let json = place.run("ask t.csv 'which region had the highest figure in 2022?' --json");
    let json = json.succeeds().json();
    has(
        &json,
        json!({"answer": "North", "value": "North", "plain_value": null, "stop": "accepted"}),
    );
    assert_eq!(json["evidence"][0]["literal"], "12");
    let ran = place.run("ask t.csv 'what was the percentage change of North from 2021 to 2022?'");
    let why = "Answer    not sure (growth needs a value above zero)";
    assert!(ran.ends(4).stdout.starts_with(why), "{}", ran.stdout);
    ran.prints("not accepted");
}

/// A round that is sent back was "accepted, although 1 check objects".
#[test]
fn what_the_critic_model_alone_accepts_is_not_accepted() {
    let server = FaultServer::start(|request| {
        if is_critic(request) {
            Reply::chat("ALL_OK")
        } else {
            analysis("77.7")
        }
    });
    let url = server.base_url();
    let model = format!("--model m --base-url {url} --second-opinion off");
    let line = format!("ask report.md 'what was revenue in 2019?' {model}");
    let ran = workplace(&[]).run(&line);
    ran.prints("round 1: 77.7, not accepted: 1 finding (the critic model accepted it)");
}

#[test]
fn a_refused_key_is_exit_code_5() {
    let server = FaultServer::start(|_| Reply::error(401, "invalid_api_key", "wrong key"));
    let url = server.base_url();
    let ran = workplace(&[]).run(&format!("ask report.md why? --model m --base-url {url}"));
    ran.fails(
        5,
        &["wrong key; no key was sent: set OPENAI_API_KEY to the server's key"],
    );
    assert_eq!(ran.stdout, "");
    let https = url.replace("http:", "https:");
    let line = format!("ask report.md why? --model m --base-url {https} --attempts 1");
    workplace(&[])
        .run(&line)
        .fails(5, &["does the server speak http?"]);
}

#[test]
fn a_page_without_numbers_is_named_as_the_cause() {
    let place = workplace(&[("p.md", "Alpha beta.\n")]);
    let ran = place.run("ask p.md 'what was revenue?'");
    let line = "Answer    none: the document contains no number that fits the question";
    assert_eq!(ran.ends(4).stdout.trim_end(), line);
    let ran = place.run("ask p.md 'what was revenue?' -q");
    assert_eq!(ran.stdout, "none\n");
    ran.tells("no answer: the document contains no number");
    // A page alone, and nobody types a question.
    ask_lines(&place, "", "").fails(2, &["no question"]);
}

#[test]
fn the_critic_is_shown_without_instructions_to_a_model_and_without_repetitions() {
    let place = workplace(&[]);
    let line = "ask report.md 'what was revenue in 2021?'";
    let critic = "Critic    not accepted: 2 findings\n          \
        · evidence: the question names 2021, but the page does not.\n          \
        · the answer is a guess\n";
    let ran = place.run(line);
    ran.prints(critic);
    assert!(!ran.stdout.contains("Fix:"), "{}", ran.stdout);
    let json = place.run(&format!("{line} --json"));
    json.prints("Fix: check which period is meant");
}

/// What the documents show of `docs/examples/filing.htm` is what is printed about it.
#[test]
fn the_answers_in_the_documents_are_those_that_are_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = Workplace::new();
    let page = root.join("docs/examples/filing.htm");
    std::fs::copy(page, place.path("filing.htm")).unwrap();
    for document in ["README.md", "docs/tutorial.md", "docs/embedded-analyst.md"] {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        let mut shown = text.split("```console\n$ convfinqa ask docs/examples/");
        let (command, rest) = shown.nth(1).unwrap().split_once('\n').unwrap();
        let (answer, _) = rest.split_once("```").unwrap();
        let ran = place.run(&format!("ask {}", command.replace('"', "'")));
        assert_eq!(
            ran.succeeds().stdout.trim_end(),
            answer.trim_end(),
            "{document}"
        );
    }
}

/// A loss was printed without its sign, a balance was of nine months, and a table's own unit was
/// hidden by that of the table above it.
#[test]
fn a_table_has_its_own_signs_dates_and_units() {
    let rows = |rows: &[[&str; 3]]| {
        let row = |cells: &[&str; 3]| format!("<tr><td>{}</td></tr>", cells.join("</td><td>"));
        format!(
            "<table>{}</table>",
            rows.iter().map(row).collect::<String>()
        )
    };
    let losses = rows(&[
        ["", "2031", "2030"],
        ["Income (loss) before income taxes", "(50)", "(40)"],
    ]);
    let balances = rows(&[
        [
            "", "Nine months ended September 30, 2031", "As of December 31, 2030",
        ],
        ["Total assets", "700", "600"],
    ]);
    let fleet = rows(&[
        ["(in thousands)", "2031", "2030"],
        ["Vehicle leases", "8", "7"],
    ]);
    let place = Workplace::new();
    place.write(
        "a.htm",
        &format!("<p>Results (in millions):</p>{losses}{fleet}"),
    );
    place.write("b.htm", &balances);
    for (question, value) in [
        ("a.htm 'income before income taxes in 2031?'", -50e6),
        ("a.htm 'vehicle leases in 2031?'", 8000.0),
        ("b.htm 'total assets at December 31, 2030?'", 600.0),
    ] {
        let json = place.run(&format!("ask {question} --json"));
        let json = json.succeeds().json();
        assert_eq!(json["plain_value"], value, "{json}");
    }
}

/// What stands below "Earnings per share" was once printed in the millions of its table.
#[test]
fn earnings_per_share_below_their_heading_are_not_in_the_scale_of_the_table() {
    let place = Workplace::new();
    let page = "(in millions, except per share amounts)\n\n| | 2023 | 2022 |\n|---|---|---|\n\
        | Net income | 150 | 120 |\n| Earnings per share: | | |\n| Basic | 1.52 | 1.21 |\n";
    place.write("a.md", page);
    for (question, answer, value) in [
        ("what was basic EPS in 2023?", "1.52 per share", 1.52),
        ("what was net income in 2023?", "150 million", 150e6),
    ] {
        let json = place.run(&format!("ask a.md '{question}' --json"));
        let json = json.succeeds().json();
        has(&json, json!({"answer": answer, "plain_value": value}));
    }
}

/// Without a year, a ratio was once of the earlier period; "A to B" was once A, and a share that
/// of a row in itself.
#[test]
fn a_figure_of_a_report_is_of_the_period_and_the_operation_asked_for() {
    let row = |cells: &[&str]| format!("<tr><td>{}</td></tr>", cells.join("</td><td>"));
    let quarters = [
        "Three Months Ended September 30, 2031", "Three Months Ended September 30, 2030",
    ];
    let halves = [
        "Nine Months Ended September 30, 2031", "Nine Months Ended September 30, 2030",
    ];
    let table = [
        row(&[
            &["(Millions, except per share data)"],
            &quarters[..],
            &halves[..],
        ]
        .concat()),
        row(&["Net sales", "400", "380", "1,200", "1,100"]),
        row(&["Cost of goods sold", "250", "240", "780", "700"]),
        row(&["Gross profit", "150", "140", "420", "400"]),
        row(&[
            "Cash dividends declared per share", "0.18", "0.16", "0.54", "0.48",
        ]),
    ];
    let retailer = [
        row(&[
            "", "Fiscal Year Ended January 28, 2033", "Fiscal Year Ended January 29, 2032",
        ]),
        row(&["Net sales", "400", "380"]),
        row(&["Gross profit", "150", "140"]),
    ];
    let balance = [
        row(&["", "September 30, 2031", "December 31, 2030"]),
        row(&["Assets", "", ""]),
        row(&["Goodwill", "51", "50"]),
        row(&["Allowance for losses", "(7)", "(6)"]),
        row(&["Total assets", "700", "690"]),
    ];
    let place = Workplace::new();
    place.write("a.htm", &format!("<table>{}</table>", table.concat()));
    place.write("c.htm", &format!("<table>{}</table>", balance.concat()));
    place.write("b.htm", &format!("<table>{}</table>", retailer.concat()));
    for (question, value) in [
        (
            "a.htm 'what was the gross margin in the third quarter?'",
            37.5,
        ),
        (
            "a.htm 'what was gross profit minus cost of goods sold in the quarter?'",
            -100e6,
        ),
        (
            "a.htm 'what were cash dividends declared per share in the nine months?'",
            0.54,
        ),
        (
            "b.htm 'what were net sales in the year ended January 28, 2033?'",
            400.0,
        ),
    ] {
        let json = place.run(&format!("ask {question} --json"));
        let json = json.succeeds().json();
        has(&json, json!({"plain_value": value, "doubt": null}));
    }
    for (question, doubt) in [
        ("a.htm 'what was the gross margin?'", "several figures fit"),
        (
            "c.htm 'what was goodwill to total assets at September 30, 2031?'",
            "the question also says \"to\"",
        ),
        (
            "c.htm 'what was the allowance for losses as a percentage of total assets at September 30, 2031?'",
            "is below zero",
        ),
        (
            "b.htm 'what were net sales in fiscal 2032?'",
            "its 2032 ends in January 2032 or 2033",
        ),
        (
            "b.htm 'what was the gross margin in fiscal 2032?'",
            "its 2032 ends in January",
        ),
    ] {
        let json = place.run(&format!("ask {question} --json"));
        let json = json.answer();
        let why = json["doubt"].as_str().unwrap_or_default();
        assert!(why.contains(doubt), "{question}: {json}");
    }
}
