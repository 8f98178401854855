//! Log lines: quiet by default, JSON that parses, the question in each line.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::agents::scripted;
use crate::support::cli::{CommandExt, Ran, Row, Workplace, words};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::json::has;
use crate::support::traces::of_spans;

/// Every line of stderr, each of which has to be a JSON object.
#[track_caller]
fn lines(ran: &Ran) -> Vec<Value> {
    let parsed = ran.stderr.lines().map(|line| {
        let value: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        let is_whole = value["timestamp"].is_string() && value["level"].is_string();
        assert!(is_whole, "{line}");
        value
    });
    parsed.collect()
}

#[test]
fn json_lines_name_the_question_and_nothing_else_is_on_stderr() {
    let place = Workplace::new();
    let model = FaultServer::start(|request| {
        if request.repeat == 0 && request.index % 3 == 0 {
            Reply::error(503, "x", "busy").header("retry-after-ms", "1")
        } else {
            scripted(request)
        }
    });
    let log = "--n 6 --verbose --log json";
    let ran = place
        .chat_command(&model, log)
        .env("RUST_LOG", "info")
        .ran();
    ran.succeeds();
    let lines = lines(&ran);
    let said = |message: &str| -> Vec<_> {
        let said = lines.iter().filter(|line| line["message"] == message);
        said.collect()
    };
    let rows = place.rows("output/output.csv");
    let answered = said("question answered");
    assert_eq!(answered.len(), rows.len());
    for line in answered {
        let of_line = |row: &&Row| {
            *of_spans(line, "convfinqa.question.id") == row["id"]
                && *of_spans(line, "convfinqa.question.part") == row["part"]
        };
        let row = rows.iter().find(of_line).unwrap();
        assert_eq!(line["rounds"].to_string(), row["rounds"], "{line}");
        assert!(line["seconds"].as_f64() > Some(0.0));
    }
    let runs = lines
        .iter()
        .filter_map(|line| of_spans(line, "convfinqa.run.id").as_str());
    assert_eq!(runs.collect::<HashSet<_>>().len(), 1);
    let retries = said("retry");
    assert!(!retries.is_empty());
    for retry in retries {
        assert_eq!(retry["level"], "WARN");
        for name in ["convfinqa.question.id", "gen_ai.agent.name"] {
            assert!(of_spans(retry, name).is_string(), "{retry}");
        }
    }
    assert_eq!(said("run started").len(), 1);
    assert_eq!(said("run finished").len(), 1);
}

#[test]
fn without_log_there_are_no_lines_and_levels_choose_among_them() {
    let place = Workplace::new();
    let run = |more: &str| {
        let ran = place.run(&format!("--data-path sample --n 2 {more}"));
        ran.succeeds();
        ran.stderr
    };
    assert!(!run("").contains("INFO"));
    let text = run("--log text");
    let answered = text
        .lines()
        .filter(|line| line.contains("question answered"));
    let answered: Vec<_> = answered.collect();
    assert_eq!(answered.len(), 3);
    for part in [
        "  INFO question{",
        "convfinqa.question.id=",
        "convfinqa::run::trace: question answered ",
    ] {
        assert!(answered[0].contains(part), "{}", answered[0]);
    }
    let quiet = run("--log text --quiet");
    assert!(quiet.lines().all(|line| line.contains(" INFO ")), "{quiet}");

    let by_variable = |level: &str| {
        let variables = [("CONVFINQA_LOG", "text"), ("RUST_LOG", level)];
        place
            .run_with("--data-path sample --n 2", &variables)
            .stderr
    };
    assert!(by_variable("info").contains("INFO"));
    for level in ["warn", "off", "convfinqa=error"] {
        assert!(!by_variable(level).contains("INFO"), "{level}");
    }
}

#[test]
fn an_unknown_level_or_form_is_one_line() {
    let place = Workplace::new();
    place
        .run_with("--log text", &[("RUST_LOG", "convfinqa=loud")])
        .fails(2, &["RUST_LOG is `convfinqa=loud`"]);
    let xml = [("CONVFINQA_LOG", "xml")];
    let line = "CONVFINQA_LOG: unknown variant `xml`, expected one of `off`, `text`, `json`";
    place.run_with("", &xml).fails(2, &[line]);
    let served = place.run_with("env serve --port 0", &xml);
    served.fails(2, &["CONVFINQA_LOG", "xml"]);
}

#[test]
fn the_environments_server_logs_requests_without_queries() {
    let place = Workplace::new();
    let mut server = place
        .command()
        .args(words("env serve --port 0 --log json"))
        .env("RUST_LOG", "debug")
        .args(["--token", "let-me-in-please"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(server.stderr.take().unwrap());
    let mut next = || {
        let mut line = String::new();
        told.read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap_or_else(|_| panic!("{line}"))
    };
    let serving = next();
    let address = serving["message"]
        .as_str()
        .and_then(|text| text.split("http://").nth(1)?.split(';').next())
        .unwrap()
        .to_owned();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
    };
    get("/health");
    get("/metadata?access_token=let-me-in-please");
    for (path, status, level) in [("/health", 200, "DEBUG"), ("/metadata", 401, "INFO")] {
        let line = loop {
            let line = next();
            if line["message"] == "request" {
                break line;
            }
        };
        assert_eq!(line["path"], path);
        assert_eq!(line["method"], "GET");
        assert_eq!(line["status"], status);
        assert_eq!(line["level"], level);
        assert!(line["ms"].as_f64() >= Some(0.0));
        assert!(!line.to_string().contains("let-me-in"));
    }
    server.kill().unwrap();
    server.wait().unwrap();
}

/// The last line was written past the redactor, and it is JSON where the others are.
#[test]
fn the_line_of_an_error_holds_no_secret() {
    let place = Workplace::new();
    for format in ["off", "json"] {
        let line = format!("--data-path hunter2-hunter2.json --log {format}");
        let ran = place.run_with(&line, &[("OPENAI_API_KEY", "hunter2-hunter2")]);
        ran.ends(3).tells("no data file at [redacted].json");
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
        if format == "json" {
            let line = lines(&ran).pop().unwrap();
            has(&line, json!({"level": "ERROR", "exit_code": 3}));
        }
    }
}
