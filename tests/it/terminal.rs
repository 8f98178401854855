//! What a person reads in a terminal: widths, colours, silence.

#[cfg(unix)]
mod live;

use serde_json::json;

use crate::support::agents::{analysis, is_critic};
use crate::support::cli::{Ran, Workplace, sample_records};
use crate::support::fault_server::{FaultServer, Reply};

/// Characters, for the tables hold none that is wider than a column.
fn widest(text: &str) -> usize {
    let widths = text.lines().map(|line| line.chars().count());
    widths.max().unwrap_or(0)
}

/// Lines but those that hold a path, which nobody may break.
fn laid_out(text: &str, place: &Workplace) -> String {
    let folder = place.folder.path().to_string_lossy().into_owned();
    let lines = text.lines().filter(|line| {
        let named = ["Answers: ", "Report: ", "Run: "];
        !line.contains(&folder) && !named.iter().any(|name| line.starts_with(name))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_table_fits_into_80_columns() {
    let place = Workplace::new();
    for line in [
        "run --data-path sample --mode conversations --verbose",
        "score output/output.csv --data-path sample",
        "analyze output/output.csv --examples 2",
        "compare last output/output.csv",
    ] {
        let text = laid_out(&place.run(line).succeeds().stdout, &place);
        assert!(widest(&text) <= 80, "{}:\n{text}", widest(&text));
        let is_broken = text.contains("│ (FE) ") || text.contains("│ (NM) ");
        assert!(!is_broken, "a rule's name is on one line:\n{text}");
        assert!(!text.contains('\u{1b}'), "no colour in a pipe");
    }
}

/// What a page shows of a command in its nth block of text is printed. If the weights have
/// changed, copy it from the failure.
fn shows_the_same(page: &str, nth: usize, printed: &str) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join(page)).unwrap();
    let block = text.split("```text\n").nth(nth).unwrap();
    let block = block.split("```").next().unwrap();
    let is_of_every_run = |line: &&str| line.trim() != "…" && !line.contains("output/runs/");
    for line in block.lines().filter(is_of_every_run) {
        assert!(printed.contains(line), "{page}: no {line:?} in\n{printed}");
    }
}

#[test]
fn the_first_run_says_what_was_measured_shows_few_figures_and_leaves_its_files() {
    let place = Workplace::new();
    let ran = place.run("");
    let shown = &ran.succeeds().stdout;
    let start = "Embedded analyst, built-in sample (fictional), 58 questions on 32 pages:\n  \
                 financial equivalence (FE) ";
    assert!(shown.starts_with(start), "{shown}");
    let first: String = shown.lines().take(2).collect();
    assert!(first.contains(" %, 95 % interval "), "{shown}");
    let second = shown
        .lines()
        .find(|line| line.starts_with("Exact match (EM) "));
    assert!(second.unwrap().contains("numeric match (NM)"), "{shown}");
    assert!(
        !shown.contains("execution accuracy"),
        "only with --verbose: {shown}"
    );
    shows_the_same("docs/tutorial.md", 1, shown);
    let analysis = place.run("analyze").succeeds().stdout.clone();
    shows_the_same("docs/tutorial.md", 2, &analysis);
    let report = shown
        .lines()
        .find_map(|line| line.strip_prefix("Report:  "));
    assert!(place.path(report.unwrap()).is_file());
    assert!(shown.contains("\nAnswers: output/output.csv\n"), "{shown}");
    assert!(place.summary()["latency"]["p99"].is_number());
    assert!(ran.stderr.contains(" right (FE), "), "{}", ran.stderr);

    assert_eq!(place.rows("output/output.csv").len(), 58);
    let columns = "id,question,ground_truth,prediction,latency,exact_match,numerical_match,part,";
    assert!(place.read("output/output.csv").starts_with(columns));
    let folder = place.run_folder();
    for file in [
        "journal.sqlite", "output.csv", "transcripts.jsonl", "summary.json",
    ] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let config = std::fs::read_to_string(folder.join("config.toml")).unwrap();
    let said = config.contains("# critic  rules") && !config.contains("critic = ");
    assert!(said && !config.contains("# note"), "{config}");
}

/// It was only "1 finding", and gold was "expected".
#[test]
fn verbose_has_three_lines_for_a_question_with_gold_answer_and_verdicts() {
    let told = Workplace::new()
        .run("--data-path sample --n 3 --verbose -q")
        .stderr;
    assert_eq!(told, "", "--quiet wins");
    let place = Workplace::new();
    let told = place.run("--data-path sample --n 3 --verbose").stderr;
    let part = "\n  wrong: gold 3354 · answer 17.0% · 1 round (checks object) · ";
    assert!(told.contains(part), "{told}");
    let questions = place.rows("output/output.csv").len();
    // With the line at the end of the run.
    assert_eq!(told.lines().count(), 3 * questions + 1, "{told}");
    let lines = told.lines().filter(|line| !line.ends_with(')'));
    assert!(
        lines.clone().all(|line| line.chars().count() <= 80),
        "{told}"
    );
}

/// With `--critic off` the round was "skipped", and a draft that the checks sent back was "ok".
#[test]
fn verbose_says_nothing_of_a_critic_that_is_off_and_names_the_checks_that_object() {
    let server = FaultServer::start(|request| {
        if is_critic(request) {
            return Reply::chat("ALL_OK");
        }
        let is_revised = request
            .conversation()
            .iter()
            .any(|(role, _)| role == "assistant");
        if !is_revised {
            return analysis("add(98765, 4321)");
        }
        let second = json!({"evidence": [], "program": null, "steps": ["read it off"],
            "answer": "31.4%", "unit": "percent"});
        Reply::chat(&second.to_string())
    });
    for (critic, rounds) in [
        ("off", " · 1 round · "),
        ("llm", " · 2 rounds (checks object, ok) · "),
    ] {
        let line = format!("-n 1 --verbose --second-opinion off --critic {critic}");
        Workplace::new()
            .chat(&server, &line)
            .succeeds()
            .tells(rounds);
    }
}

/// The line said only "checks object", not that the critic failed too.
#[test]
fn verbose_names_the_checks_that_object_with_a_critic_that_cannot_be_read() {
    let server = FaultServer::start(|request| {
        if is_critic(request) {
            return Reply::chat("...");
        }
        analysis("add(98765, 4321)")
    });
    let line = "-n 1 --verbose --second-opinion off";
    let ran = Workplace::new().chat(&server, line);
    ran.tells(" · 2 rounds (checks object/unparsable");
    let told = ran.stderr.lines().find(|line| line.contains("unparsable"));
    assert!(widest(told.unwrap()) <= 80, "{}", ran.stderr);
}

/// It was "gold (no gold)", although the answer was scored.
#[test]
fn verbose_shows_the_value_that_scores_a_question_without_a_printed_gold() {
    let mut record = sample_records().remove(0);
    for (field, gold) in [
        ("exe_ans", "gold 0.392 (exe_ans) · "),
        ("program", "gold 0.25 (exe_ans) · "),
        ("nothing", "not scored: no gold · "),
    ] {
        let question = json!({"question": "what was revenue in 2019?"});
        record["qa"] = question;
        match field {
            "exe_ans" => record["qa"]["exe_ans"] = json!(0.392),
            "program" => record["qa"]["program"] = json!("divide(1, 4)"),
            _ => {}
        }
        let place = Workplace::new();
        place.write("own.json", &json!([record]).to_string());
        place.run("--data-path own.json --verbose").tells(gold);
    }
}

#[test]
fn colours_are_for_terminals_unless_somebody_says_otherwise() {
    let place = Workplace::new();
    let score = |variables: &[(&str, &str)]| {
        let ran = place.run_with("score nowhere.csv", variables);
        ran.stderr.contains("\u{1b}[31m")
    };
    assert!(!score(&[]));
    assert!(score(&[("CLICOLOR_FORCE", "1")]));
    assert!(!score(&[("CLICOLOR_FORCE", "0")]));
    assert!(!score(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn what_others_wrote_gives_a_terminal_no_orders() {
    const ORDER: &str = "\u{1b}[2J\u{1b}]0;evil\u{7}";
    let harmless = |ran: &Ran| {
        let told = ran.stdout.clone() + &ran.stderr;
        assert!(
            !told.contains(|c: char| c.is_control() && c != '\n'),
            "{told:?}"
        );
        assert!(told.contains("␛[2J"), "{told}");
    };
    let place = Workplace::new();
    let table = format!("x,2019,2018\nnet {ORDER}income,10,20\n");
    place.write("own.csv", &table);
    harmless(
        place
            .run("ask own.csv 'what was net income in 2019?'")
            .ends(4),
    );

    let model = FaultServer::start(|request| {
        if is_critic(request) {
            return Reply::chat("ALL_OK");
        }
        Reply::chat(
            &json!({"answer": format!("no {ORDER}"), "label": ORDER, "steps": [ORDER]}).to_string(),
        )
    });
    let mut record = sample_records().remove(0);
    record["qa"]["question"] = json!(format!("{ORDER} what was it?"));
    place.write("own.json", &json!([record]).to_string());
    let url = model.base_url();
    let line = format!("--model m --base-url {url} --data-path own.json --verbose");
    harmless(&place.run(&line));

    place.write("right.csv", "id,part,ground_truth,prediction\na,qa,5,5\n");
    place.write(
        "wrong.csv",
        &format!("id,part,ground_truth,prediction\na,qa,5,{ORDER}no\n"),
    );
    harmless(place.run("analyze wrong.csv --rule nm").succeeds());
    harmless(
        place
            .run("compare right.csv wrong.csv --rule nm")
            .succeeds(),
    );
    harmless(&place.run(&format!("--data-path {ORDER}.json")));
}

/// Data are others' text: an id, a question, a file's name may hold what a terminal obeys.
#[test]
fn commands_that_print_data_show_what_a_terminal_would_obey() {
    const EVIL: &str = "\u{1b}[31m\u{7}\u{202e}";
    let place = Workplace::new();
    let mut record = sample_records().remove(0);
    let id = record["id"].as_str().unwrap().to_owned();
    let evil_id = format!("{id}{EVIL}");
    record["pre_text"][0] = json!(format!("it was {EVIL}"));
    record["qa"]["question"] = json!(format!("what was {EVIL}?"));
    record["qa"]["exe_ans"] = json!(918_273.0);
    record["id"] = json!(evil_id);
    place.write("evil.json", &json!([record]).to_string());
    for (arguments, code) in [
        (format!("data show '{id}' --data-path evil.json --gold"), 0),
        ("data check --data-path evil.json".to_owned(), 3),
        ("data check --programs evil.json".to_owned(), 3),
        ("data stats --data-path evil.json".to_owned(), 0),
    ] {
        let ran = place.run(&arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
        let shown = ran.stdout + &ran.stderr;
        assert!(
            !shown.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{shown:?}"
        );
        let told = shown.contains("␛[31m␇<U+202E>");
        assert!(
            told || arguments.contains("stats"),
            "{arguments:?}: {shown}"
        );
    }
}
