//! Tests of the command line that need a process: its environment, its output, and what it
//! asks of a server.

use finqa_journal::run::RunFolder;
use finqa_journal::settings::Layers;
use finqa_run::pipeline::RunContext;

use crate::support::agents::scripted;
use crate::support::cli::{Workplace, sample_records, words};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::in_process::run;

#[test]
fn an_output_folder_that_cannot_be_written_is_said_before_anything_is_asked() {
    let place = Workplace::new();
    place.write("output", "a file, not a folder");
    let server = FaultServer::start(scripted);
    place
        .chat(&server, "")
        .fails(2, &["cannot write", "output"]);
    assert_eq!(server.count(), 0);
}

#[test]
fn without_key_or_data_nothing_is_paid_for() {
    let place = Workplace::new();
    place.run("--model gpt-4o").fails(2, &["OPENAI_API_KEY"]);
    let keyed = place.run_with("--model gpt-4o", &[("OPENAI_API_KEY", "k")]);
    keyed.fails(3, &["data download"]);
}

/// It was the provider that refused the connection.
#[test]
fn a_dead_proxy_is_named() {
    let ran = Workplace::new().run_with(
        "--model m --data-path sample --base-url http://models.invalid/v1",
        &[("HTTP_PROXY", "http://me:secret@127.0.0.1:9")],
    );
    ran.fails(5, &["through the proxy http://127.0.0.1:9", "HTTP_PROXY"]);
}

/// The commands about runs that a text names, without the program's name.
fn commands(text: &str) -> Vec<String> {
    let named = text.split("convfinqa ").skip(1).map(|rest| {
        let ends = ["`", "\n", "; ", " asks", " continues", " sends", " MORE"];
        let end = ends.iter().filter_map(|end| rest.find(end)).min();
        rest[..end.unwrap_or(rest.len())].to_owned()
    });
    named.filter(|it| !it.starts_with("data ")).collect()
}

/// `convfinqa --resume --engine live` once found no run, for the run was in another folder.
#[test]
fn every_command_that_a_message_names_runs_as_written() {
    let place = Workplace::new();
    place.write(
        "prices.json",
        r#"{"version": 1, "models": {"m": {"input": "9", "output": "9"}}}"#,
    );
    let server = FaultServer::start(|request| match request.index {
        9 => Reply::error(401, "invalid_api_key", "revoked"),
        _ => scripted(request),
    });
    let ask = |more: &str| {
        let ran = place.chat(&server, &format!("-j 1 -o 'my runs' {more}"));
        format!("{}\n{}", ran.stdout, ran.stderr)
    };
    let run = |line: &str| {
        let ran = place.run(&format!("{line} -o 'my runs'"));
        format!("{}\n{}", ran.stdout, ran.stderr)
    };
    ask("--n 7 --shard 1/2 --run s");
    let told = [
        run("analyze"),
        // Refused, begun again, paused, and a shard alone.
        ask("--n 6"),
        ask("--n 6 --max-time 1ms"),
        ask("--n 5 --max-cost 0.14 --prices prices.json"),
        run("report s"),
        run("env play --n 1 --resume last"),
    ];
    let commands: Vec<_> = told.iter().map(|text| commands(text)).collect();
    for (told, commands) in told.iter().zip(&commands) {
        assert!(!commands.is_empty(), "{told}");
        for command in commands {
            assert!(
                command.ends_with("-o 'my runs'") || command.ends_with("--max-cost"),
                "{command}"
            );
            let command = command.replace("--max-cost", "--max-cost 9");
            let ran = place.run(command.as_str());
            // Whatever run it then finds, its options are understood.
            assert!(
                !ran.stderr.contains("unexpected argument"),
                "{command}: {}",
                ran.stderr
            );
        }
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

/// A closed standard output once turned every exit code into 0 and skipped
/// `--export-predictions` and `--fail-under`.
#[test]
fn a_reader_that_goes_away_changes_neither_exit_code_nor_files() {
    let place = Workplace::new();
    let unread = |line: &str| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = place.command();
        let (stdout, stderr) = (writer.try_clone().unwrap(), writer);
        command.args(words(line)).stdout(stdout).stderr(stderr);
        command.status().unwrap().code()
    };
    place.write("mine.csv", "id,ground_truth,prediction\na,1,2\n");
    place.write("page.md", "| | 2018 |\n|---|---|\n| revenue | 5 |\n");
    for (line, code) in [
        ("--n 3 --fail-under fe=100 --min-confidence 1", 6),
        ("--n 3 --min-confidence 1", 4),
        (
            "score mine.csv --export-predictions made.json --fail-under fe=50 --json",
            6,
        ),
        ("score mine.csv", 0),
        ("ask page.md who? --min-confidence 1", 4),
        ("env play --n 1 --url http://127.0.0.1:1", 5),
        ("data check --data-path sample", 0),
        ("completions bash", 0),
        ("graph", 0),
        ("--help", 0),
    ] {
        assert_eq!(unread(line), Some(code), "{line}");
    }
    assert!(place.path("made.json").is_file());
}

/// Only Linux has a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_standard_output_that_is_full_is_said_and_hides_no_threshold() {
    let place = Workplace::new();
    place.write("mine.csv", "id,ground_truth,prediction\na,1,2\n");
    for (line, code) in [
        ("score mine.csv", 2),
        ("env --help", 2),
        ("score mine.csv --fail-under fe=50", 6),
        ("compare mine.csv mine.csv --gate=0.1 --junit made.xml", 6),
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = place.command();
        let output = command.args(words(line)).stdout(full.unwrap()).output();
        let output = output.unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{told}");
        let is_full = told.contains("cannot write to standard output");
        assert_eq!(is_full, code == 2, "{told}");
    }
    assert!(place.path("made.xml").is_file());
}

/// A run of questions without gold is what a leaderboard asks for.
#[test]
fn a_run_of_questions_without_gold_says_that_nothing_is_scored() {
    let place = Workplace::new();
    let mut records = sample_records();
    for record in &mut records {
        for name in ["qa", "qa_0", "qa_1"] {
            if let Some(qa) = record.get_mut(name).and_then(|qa| qa.as_object_mut()) {
                qa.retain(|key, _| key == "question");
            }
        }
    }
    place.write("test.json", &serde_json::json!(records).to_string());
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
    let ran = place.run("--mode conversations --history gold --epochs 2 --verbose");
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
    let row = regex::Regex::new(r"┆ +\d+\.\d ┆ \[\d+\.\d, \d+\.\d\] ┆").unwrap();
    for rule in ["financial equiv. (FE)", "execution accuracy"] {
        assert!(row.is_match(line(rule)), "{rule}: {text}");
    }
}

/// A variable was ignored; `.env` is one more place where a name may be wrong.
#[test]
fn a_mistyped_variable_is_refused() {
    let place = Workplace::new();
    let refusal = "unknown variable CONVFINQA_BOGUS; unset it, or correct its name";
    for command in ["--n 1", "score a", "runs", "graph"] {
        let ran = place.run_with(command, &[("CONVFINQA_BOGUS", "1")]);
        ran.fails(2, &[refusal]);
    }
    for variable in [
        ("CONVFINQA_BOGUS", ""),
        ("CONVFINQA_MAX_ROUNDS", "2"),
        ("CONVFINQA_REQUIRE_DATA", "1"),
    ] {
        place.run_with("--n 1 --quiet", &[variable]).succeeds();
    }
    let wrong = place.run_with("--n 1", &[("CONVFINQA_MAX_COST", "-1")]);
    wrong.fails(2, &["CONVFINQA_MAX_COST"]);
    place.write(".env", "CONVFINQA_BOGUS=gpt\n");
    place.run("").fails(2, &[refusal]);
}

/// An empty variable counts as unset everywhere.
#[test]
fn an_empty_finqa_data_path_means_the_built_in_data() {
    let place = Workplace::new();
    let ran = place.run_with("env check", &[("FINQA_DATA_PATH", "")]);
    ran.succeeds();
}
