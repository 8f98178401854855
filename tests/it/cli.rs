//! Tests of `cli`: bad input gets one line and the documented exit code, and
//! what the pages say is what the program does.

use convfinqa::pipeline::RunContext;
use convfinqa::run::RunFolder;
use convfinqa::settings::Layers;

use crate::support::agents::scripted;
use crate::support::cli::{Workplace, words};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::run;

#[test]
fn bad_data_is_one_line_and_exit_code_3() {
    let place = Workplace::new();
    place
        .run("--data-path nowhere.json")
        .fails(3, &["nowhere.json", "data download"]);
    for (name, text, word) in [
        ("text.json", "hello", "text.json"),
        (
            "cut.json",
            r#"[{"id": "Single_A/2001/page_1.pdf-1", "pre_text": ["#,
            "cut off",
        ),
        ("types.json", r#"[{"id": 5, "table": "x"}]"#, "types.json"),
        ("empty.json", "[]", "no record"),
        ("nothing.json", "", "nothing.json"),
    ] {
        place.write(name, text);
        place.run(&["--data-path", name]).fails(3, &[word]);
    }
    assert!(!place.path("output").exists(), "nothing is begun");
}

#[test]
fn bad_usage_is_one_line_and_exit_code_2() {
    let place = Workplace::new();
    for (line, words) in [
        ("--n 0", &["n is 0"][..]),
        ("--temperature 1.5", &["temperature", "between 0 and 1"]),
        ("--temperature -0.1", &["temperature"]),
        ("--ids Single_NOPE/2001/page_1.pdf-1", &["Single_NOPE"]),
        ("--range 9000..9001", &["9000"]),
        ("--filter (", &["("]),
        ("--max-rounds 0", &["max-rounds"]),
        ("--resume", &["no unfinished run"]),
        ("--resume 01zz", &["no such run"]),
    ] {
        place.run(line).fails(2, words);
    }
    place.write("convfinqa.toml", "colour = 'red'\n");
    place.run("").fails(2, &["convfinqa.toml", "colour"]);
    place.write("convfinqa.toml", "model = \n");
    place.run("").fails(2, &["convfinqa.toml", "not TOML"]);
}

#[test]
fn a_malformed_template_is_one_line_naming_file_and_line() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("mine")).unwrap();
    place.write("mine/critic_user.j2", "fine\n{% if %}\n");
    place
        .run("--prompts mine")
        .fails(2, &["critic_user.j2", "2"]);
}

#[test]
fn an_output_folder_that_cannot_be_written_is_said_before_anything_is_asked() {
    let place = Workplace::new();
    place.write("output", "a file, not a folder");
    let server = FaultServer::start(scripted);
    let line = format!(
        "--model m --data-path sample --base-url {}",
        server.base_url()
    );
    place.run(&line).fails(2, &["cannot write", "output"]);
    assert_eq!(server.count(), 0);
}

#[test]
fn without_key_or_data_nothing_is_paid_for() {
    let place = Workplace::new();
    place.run("--model gpt-4o").fails(2, &["OPENAI_API_KEY"]);
    let keyed = place.run_with("--model gpt-4o", &[("OPENAI_API_KEY", "k")]);
    keyed.fails(3, &["data download"]);
}

#[test]
fn a_provider_that_refuses_every_question_stops_the_run_with_exit_code_5() {
    let place = Workplace::new();
    for (reply, word) in [
        (
            Reply::error(401, "invalid_api_key", "Incorrect API key provided"),
            "key",
        ),
        (
            Reply::error(404, "model_not_found", "The model does not exist"),
            "model",
        ),
    ] {
        let server = FaultServer::start(move |_| reply.clone());
        let url = server.base_url();
        let ran = place.run(&format!(
            "--model m --data-path sample --base-url {url} -j 2"
        ));
        ran.fails(5, &[word]);
        assert!(
            server.count() <= 4,
            "{} requests for a run that cannot succeed",
            server.count()
        );
        ran.tells("--resume");
    }
    let dead = FaultServer::start(scripted).base_url();
    place
        .run(&["--model", "m", "--data-path", "sample", "--base-url", &dead])
        .fails(5, &["refused"]);
}

#[test]
fn a_dotenv_is_read_and_no_secret_is_written_anywhere() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    place.write(
        ".env",
        &format!(
            "OPENAI_API_KEY=sk-very-secret\nOPENAI_BASE_URL={}\n",
            server.base_url()
        ),
    );
    place
        .run("--model m --data-path sample --n 2 --critic rules")
        .succeeds();
    assert_eq!(server.requests()[0].key(), Some("sk-very-secret"));
    for entry in std::fs::read_dir(place.run_folder()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(
            !bytes.windows(14).any(|found| found == b"sk-very-secret"),
            "{}",
            path.display()
        );
    }
}

#[test]
fn the_settings_file_of_a_run_repeats_it() {
    let place = Workplace::new();
    let first = place.answer("n = 3\nmode = 'conversations'\nmax_rounds = 2");
    let layers = Layers::default().file(&first.folder.file(RunFolder::CONFIG), true);
    let mut repeated = layers.unwrap().settings().unwrap();
    repeated.run.output = place.path("again");
    let again = run(&repeated, RunContext::default()).unwrap();
    assert_eq!(first.summary.run.identity, again.summary.run.identity);
    assert_eq!(
        place.rows("output/output.csv").len(),
        place.rows("again/output.csv").len()
    );
}

#[test]
fn the_reading_end_of_a_pipe_may_go_away() {
    let place = Workplace::new();
    let mut child = place
        .command()
        .args(["data", "check", "--data-path", "sample", "--all"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A closed standard output once turned every exit code into 0 and skipped
/// `--junit` and `--fail-under`.
#[test]
fn a_reader_that_goes_away_changes_neither_exit_code_nor_files() {
    let place = Workplace::new();
    let unread = |arguments: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        place
            .command()
            .args(arguments)
            .stdout(writer)
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap()
            .code()
    };
    let run = ["--n", "3", "--fail-under", "fe=100"];
    assert_eq!(
        unread(&[&run[..], &["--min-confidence", "1"]].concat()),
        Some(6)
    );
    assert_eq!(unread(&["--n", "3", "--min-confidence", "1"]), Some(4));

    let scored = ["score", "mine.csv", "--junit", "score.xml"];
    place.write("mine.csv", "id,ground_truth,prediction\na,1,2\n");
    assert_eq!(
        unread(&[&scored[..], &["--fail-under", "fe=50", "--json"]].concat()),
        Some(6)
    );
    assert!(place.path("score.xml").is_file());
    assert_eq!(unread(&scored), Some(0));

    let mut records: serde_json::Value =
        serde_json::from_str(include_str!("../../data/sample.json")).unwrap();
    records.as_array_mut().unwrap().truncate(1);
    let gold = "/0/annotation/exe_ans_list/0";
    *records.pointer_mut(gold).unwrap() = serde_json::json!(-123.0);
    place.write("wrong.json", &records.to_string());
    let programs = ["data", "check", "--programs", "wrong.json"];
    place.run(&programs).code.unwrap();
    assert_eq!(unread(&programs), Some(3));

    place.write("page.md", "| | 2018 |\n|---|---|\n| revenue | 5 |\n");
    let hopeless = ["ask", "page.md", "who?", "--min-confidence", "1"];
    assert_eq!(unread(&hopeless), Some(4));
    let played = words("env play --n 1 --url http://127.0.0.1:1");
    assert_eq!(unread(&played), place.run(&played).code);
}

/// Only Linux has a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_full_is_said_and_hides_no_threshold() {
    let place = Workplace::new();
    place.write("mine.csv", "id,ground_truth,prediction\na,1,2\n");
    let full = |arguments: &[&str]| {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = place
            .command()
            .args(arguments)
            .stdout(file)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for arguments in [
        &["score", "mine.csv"][..],
        &["help"],
        &["env", "--help"],
        &["-V"],
    ] {
        let (code, line) = full(arguments);
        assert_eq!(code, Some(2), "{line}");
        assert!(line.contains("cannot write to standard output"), "{line}");
    }
    let (code, line) = full(&["score", "mine.csv", "--fail-under", "fe=50"]);
    assert_eq!(code, Some(6), "{line}");
}

/// An empty table and exit code 0 said that nothing could be scored to nobody.
#[test]
fn answers_that_nothing_can_score_are_an_error() {
    let place = Workplace::new();
    place.write("mine.csv", "id,prediction\na,1\nb,2\n");
    for arguments in [["score", "mine.csv"], ["analyze", "mine.csv"]] {
        place
            .run(&arguments)
            .fails(3, &["none of its 2 answers has gold", "--data-path"]);
    }
    place
        .run("compare mine.csv mine.csv")
        .fails(3, &["none of the 2 questions has gold", "--data-path"]);
    place
        .run("score mine.csv --fail-under fe=1")
        .fails(6, &["could not score any question"]);

    // A run of questions without gold is what a leaderboard asks for.
    let mut records: serde_json::Value =
        serde_json::from_str(include_str!("../../data/sample.json")).unwrap();
    for record in records.as_array_mut().unwrap() {
        for name in ["qa", "qa_0", "qa_1"] {
            if let Some(qa) = record.get_mut(name).and_then(|qa| qa.as_object_mut()) {
                qa.retain(|key, _| key == "question");
            }
        }
    }
    place.write("test.json", &records.to_string());
    let ran = place.run("--data-path test.json");
    ran.succeeds();
    ran.prints("no question has a gold answer, so");
    assert!(!ran.stdout.contains("95 % CI"), "{}", ran.stdout);
}

/// `docs/scoring.md` promises n and interval with every rate and the floor
/// with every NM figure.
#[test]
fn every_rate_that_is_printed_has_its_n_and_interval_and_nm_its_floor() {
    let place = Workplace::new();
    let arguments = words("--mode conversations --history gold --epochs 2 --verbose");
    let ran = place.run(&arguments);
    ran.succeeds();
    let text = ran.stdout.replace("\n  ", " ");
    let line = |start: &str| {
        let found = text.lines().find(|line| line.contains(start));
        found.unwrap_or_else(|| panic!("no {start:?} in {text}"))
    };
    let interval = regex::Regex::new(r"\d+\.\d( %)? \[\d+\.\d, \d+\.\d\]").unwrap();
    let intervals = |start: &str| interval.find_iter(line(start)).count();
    assert_eq!(intervals("2 passes by NM"), 3);
    assert!(line("2 passes by NM").contains("floor"));
    assert_eq!(intervals("2 passes by FE"), 3);
    for rule in ["by financial equiv. (FE)", "by execution accuracy"] {
        assert!(intervals(rule) > 1, "{rule}");
    }
    let run = place.run_folder();
    let rows = place.rows("output/output.csv");
    let right = rows.iter().find(|row| {
        row["financial_equivalence"] == "True" && row["ground_truth"] != row["prediction"]
    });
    let old = format!(",{},", right.unwrap()["prediction"]);
    let other = place.read("output/output.csv").replace(&old, ",no,");
    place.write("other.csv", &other);
    let compared = place.run(&["compare", run.to_str().unwrap(), "other.csv"]);
    let rates = compared.succeeds().stdout.clone();
    assert!(rates.contains("floor "), "{rates}");
    assert_eq!(rates.matches("[95 % CI]").count(), 3, "{rates}");
}

/// `error: command line: u64 value was too large` with exit code 1, and a panic
/// in the scheduler's semaphore.
#[test]
fn numbers_that_no_run_can_work_with_are_refused_by_name() {
    let place = Workplace::new();
    let huge = "18446744073709551615";
    for flag in ["seed", "timeout", "n", "concurrency"] {
        place
            .run(&[&format!("--{flag}"), huge])
            .fails(2, &[&format!("--{flag} is {huge}; it must be at most")]);
    }
    for (flag, value) in [
        ("concurrency", "4611686018427387904"),
        ("timeout", "9223372036854775807"),
        ("epochs", "4294967295"),
        ("samples", "4294967295"),
    ] {
        let ran = place.run(&format!("--{flag} {value}"));
        ran.fails(2, &[flag, value, "at most"]);
    }
    let whole = "it must be a number without sign and decimals";
    for (flag, reason) in [
        ("--n=ten", whole),
        ("--seed=1.5", whole),
        ("--temperature=warm", "it must be a number, such as 0.5"),
        ("--seed=99999999999999999999", "the number is too large"),
    ] {
        place.run(&[flag]).fails(2, &["invalid value", reason]);
    }
    place
        .run("env serve --ping-timeout 0")
        .fails(2, &["invalid value", "it must be at least 1"]);
    for flag in ["temperature", "min-confidence"] {
        let refused = place.run(&[&format!("--{flag}"), "nan"]);
        refused.fails(2, &[&format!("--{flag} is NaN")]);
    }
    place
        .run(&["ask", "page.md", "why?", "--seed", huge])
        .fails(2, &["seed", huge]);
    place
        .run("env play -j 4611686018427387904")
        .fails(2, &["concurrency"]);
    let seeded = place.run_with("", &[("CONVFINQA_SEED", huge)]);
    seeded.fails(2, &["CONVFINQA_SEED is", "whole number"]);
    place.write("convfinqa.toml", &format!("seed = {huge}\n"));
    place.run("").fails(2, &["convfinqa.toml"]);
}

/// `docs/configuration.md` promises exit code 2 for an unknown key; a variable
/// was ignored.
#[test]
fn a_mistyped_variable_is_refused_with_the_nearest_name() {
    let place = Workplace::new();
    let with = |name: &str, value: &str| place.run_with("--n 1 --quiet", &[(name, value)]);
    with("CONVFINQA_MAX_ROUND", "2").fails(
        2,
        &["CONVFINQA_MAX_ROUND;", "did you mean CONVFINQA_MAX_ROUNDS?"],
    );
    for command in [
        "score a", "analyze", "compare a b", "report", "runs", "graph",
    ] {
        let ran = place.run_with(&words(command), &[("CONVFINQA_BOGUSXYZ", "1")]);
        ran.fails(2, &["unknown variable CONVFINQA_BOGUSXYZ; unset it"]);
    }
    for (name, value) in [
        ("CONVFINQA_MAX_ROUND", ""),
        ("CONVFINQA_MAX_ROUNDS", "2"),
        ("CONVFINQA_REQUIRE_DATA", "1"),
        ("CONVFINQA_TOOLS", "/tmp/tools"),
        ("CONVFINQA_UPDATE", "1"),
    ] {
        with(name, value).succeeds();
    }
    place.write(".env", "CONVFINQA_CRITIC_MODLE=gpt\n");
    place
        .run("")
        .fails(2, &["CONVFINQA_CRITIC_MODLE", "CONVFINQA_CRITIC_MODEL"]);
}

/// compose.yaml passes unset variables on as empty ones.
#[test]
fn an_empty_finqa_data_path_means_the_built_in_data() {
    let place = Workplace::new();
    let ran = place.run_with("env check", &[("FINQA_DATA_PATH", "")]);
    ran.succeeds();
}
