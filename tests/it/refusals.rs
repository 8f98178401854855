//! What is refused: a command line, its exit code, and words of its one line. Run in this
//! process; what needs variables of the environment is in other files.

use std::process::Command;

use crate::support::cli::{Workplace, words};

const PAGE: &str = "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n";
const KEY: &str = "sk-planted-0123456789abcdef";
#[rustfmt::skip] // A table: rustfmt would give most of its rows four lines.
const REFUSALS: &[(&str, u8, &[&str])] = &[
    // Data
    ("--data-path nowhere.json", 3, &["nowhere.json", "data download"]),
    ("--data-path text.json", 3, &["text.json"]),
    ("--data-path empty.json", 3, &["no record"]),
    ("--data-path nan.json", 3, &["nan.json", "at line 2"]),
    ("--data-path large.json", 3, &["large.json, record 1", "field `id`", "write the id in quotes"]),
    ("--data-path ''", 2, &["the path of the data is blank"]),
    ("score mine.csv --data-path ' '", 2, &["the path of the data is blank"]),
    ("score mine.csv", 3, &["no gold to score its 2 answers by", "--data-path"]),
    ("analyze mine.csv", 3, &["no gold to score its 2 answers by", "--data-path"]),
    ("compare mine.csv mine.csv", 3, &["no gold to compare 2 questions by", "--data-path"]),
    ("score mine.csv --fail-under fe=1", 6, &["could not score any question"]),
    ("score missing.csv", 3, &["missing.csv"]),
    ("analyze", 2, &["no whole run yet in output/runs: `convfinqa run` starts one"]),
    ("compare . .", 3, &["journal.sqlite"]),
    // Opening a FIFO would wait forever, and a device is no file of data.
    ("--data-path in", 3, &["not a regular file"]),
    ("--data-path /dev/tty", 3, &["not a regular file"]),
    ("--config in", 2, &["not a regular file"]),
    ("--prompts prompts", 2, &["not a regular file"]),
    ("ask in 'what was revenue?'", 3, &["not a regular file"]),
    ("ask /dev/null 'what was revenue?'", 3, &["not a regular file"]),
    ("ask 'what was revenue?'", 2, &["no file named \"what was revenue?\": name the document before"]),
    ("ask page.md ' '", 2, &["the question is empty"]),
    ("ask nowhere.md why?", 3, &["nowhere.md"]),
    ("ask . why?", 3, &[".: "]),
    ("ask empty.md why?", 3, &["neither a table nor text"]),
    ("ask pdf.md why?", 3, &["a PDF"]),
    ("ask records.json why?", 3, &["it is JSON, not a page; a run reads records with --data-path"]),
    ("--data-path sample --n 1 --output page.md", 2, &["; choose another folder with --output, or"]),
    ("ask split.csv why?", 3, &["split.csv: line 2: 4 cells"]),
    ("score in", 3, &["not a regular file"]),
    ("compare in in", 3, &["not a regular file"]),
    ("data check --data-path in", 3, &["not a regular file"]),
    ("env check --data-path env", 3, &["not a regular file"]),
    ("env build --data-path in --output new", 3, &["not a regular file"]),
    ("env build --data-path no.json --output new", 3, &["no data file at no.json"]),
    ("env build --data-path test.json --output new", 3, &["no stand-alone question"]),
    ("env build --data-path sample --output page.md/new", 2, &["cannot write page.md/new"]),
    ("env build --data-path sample --output page.md", 2, &["page.md: not a directory"]),
    ("--calibration none.json", 2, &["none.json", "No such file"]),
    ("--calibration empty.json", 2, &["empty.json is not a calibration", "convfinqa calibrate"]),
    ("calibrate nowhere", 2, &["nowhere: no such run", "-o names another folder"]),
    // Values
    ("--bogus", 2, &["--bogus"]),
    // It was called a subcommand.
    ("--n 3 sample", 2, &["unrecognized `sample`; did you mean `--data-path sample`?"]),
    ("--n 0", 2, &["--n is 0; it must be at least 1"]),
    ("--n=ten", 2, &["invalid value 'ten' for '--n <N>'"]),
    ("--n x", 2, &["invalid value 'x' for '--n <N>': give a whole number, such as 10"]),
    ("--temperature hot", 2, &["'hot'", "give a number, such as 0.5"]),
    ("--n -3", 2, &["invalid value '-3' for '--n <N>'"]),
    ("--n 99999999999999999999", 2, &["number too large to fit"]),
    ("--temperature 2.5", 2, &["--temperature is 2.5; it must be between 0 and 2"]),
    ("--temperature nan", 2, &["--temperature is NaN"]),
    ("--max-rounds 0", 2, &["--max-rounds is 0"]),
    ("--seed 18446744073709551615", 2, &["command line"]),
    ("--concurrency 4611686018427387904", 2, &["--concurrency is", "at most 10000"]),
    ("env play -j 4611686018427387904", 2, &["--concurrency is", "at most 10000"]),
    ("--timeout 9223372036854775807", 2, &["--timeout is", "at most"]),
    ("--epochs 4294967295", 2, &["--epochs is", "at most 1000"]),
    ("env serve --ping-timeout 0", 2, &["--ping-timeout"]),
    ("--max-cost -1", 2, &["--max-cost"]),
    ("--max-cost NaN", 2, &["--max-cost"]),
    ("--max-cost 0", 2, &["--max-cost is 0; it must be above 0"]),
    ("--max-error 5", 2, &["`5` is not a share", "such as 5%"]),
    ("--config share.toml", 2, &["share.toml: max_error: `0.05` is not a share", "such as 5%"]),
    ("--max-time 90", 2, &["--max-time", "a time with its unit"]),
    ("--config unknown.toml", 2, &["unknown.toml: unknown setting `colour`"]),
    ("--config broken.toml", 2, &["broken.toml, line 1: not TOML"]),
    ("--prompts mine", 2, &["critic_user.j2", "2"]),
    // Questions and runs
    ("--ids Single_NOPE/2001/page_1.pdf-1", 2, &["Single_NOPE", "; --filter finds ids by a part"]),
    // Filtered out, they would select every record.
    ("--ids ,", 2, &["--ids holds a blank id", "comma"]),
    ("--ids a,", 2, &["--ids holds a blank id", "comma"]),
    ("--only wrong", 2, &["--only wrong: give wrong, flaky"]),
    ("--only wrong:nothing", 2, &["nothing: no such run"]),
    ("--range 9000..9001", 2, &["9000", "exceeds the "]),
    ("--range 5..5", 2, &["`5..5` is not a range"]),
    ("--range 6..5", 2, &["`6..5` is not a range"]),
    ("--range 5", 2, &["`5` is not a range"]),
    ("--range a..b", 2, &["`a..b` is not a range"]),
    ("--filter (", 2, &["unclosed group"]),
    ("--data-path sample --filter zzzz", 2, &["no record matches"]),
    ("--resume", 2, &["no unfinished run"]),
    ("--resume 01zz", 2, &["no such run", "`convfinqa runs` lists them", "-o names another"]),
    ("--resume zz -o 'c 3'", 2, &["c 3/runs", "`convfinqa runs -o 'c 3'`"]),
    ("--resume ''", 2, &["the name of the run is empty"]),
    ("report ''", 2, &["the name of the run is empty"]),
    ("merge ''", 2, &["which run?"]),
    ("track sync '' --mlflow http://127.0.0.1:9", 2, &["the name of the run is empty"]),
    ("score zzz", 2, &["no such run", "convfinqa runs"]),
    ("merge", 2, &["which run?"]),
    ("merge x", 2, &["x: no run of this name", "convfinqa runs"]),
    ("--run a --shard 4/3", 2, &["4/3"]),
    ("--shard 1/3", 2, &["--shard needs --run NAME"]),
    ("--run a --shard auto", 2, &["not a task of an array job"]),
    // What does not go together
    ("--max-error 5%", 2, &["--max-error needs a calibration", "convfinqa calibrate RUN"]),
    ("ask page.md why? --max-error 5%", 2, &["unexpected argument", "--max-error"]),
    ("improve", 2, &["improve needs a chat model"]),
    // They ran the embedded analyst.
    ("--provider openai", 2, &["--provider", "--model"]),
    ("--api responses", 2, &["--api", "--model"]),
    ("ask page.md why? --max-tokens 100", 2, &["--max-tokens", "--model"]),
    ("env play -n 1 --provider openai", 2, &["--provider", "--model"]),
    ("--engine batch", 2, &["a batch run needs a chat model"]),
    ("--engine batch --dry-run", 2, &["a batch run needs a chat model"]),
    ("ask page.md why? --replay none", 2, &["none holds no stored replies"]),
    ("--model m --replay none", 2, &["none holds no stored replies"]),
    ("--model m --replay .", 2, &[". holds no stored replies"]),
    ("--model m --replay a --cache b", 2, &["cannot be used with"]),
    ("--model m --base-url http://127.0.0.1:9/v1 --data-path sample --cache page.md", 2,
        &["cannot use page.md for stored replies"]),
    ("--model m --base-url http://127.0.0.1:9/v1 --data-path sample --cache .", 2,
        &[". holds no stored replies", "a new or empty one"]),
    // Outputs
    ("score mine.csv --export-predictions mine", 2, &["mine", "choose another path with --export"]),
    ("score mine.csv --export-predictions ./mine/../mine.csv", 2, &["would replace it"]),
    ("analyze mine.csv --data-path records.json --csv records.json", 2, &["would replace it"]),
    ("analyze ran --csv ran/journal.sqlite", 2, &["ran/journal.sqlite: ", "a run's", "--csv FILE"]),
    ("analyze ran --csv link.csv", 2, &["link.csv: ", "a run's"]),
    ("score ran --export-predictions ran/new.json", 2, &["a run's", "--export-predictions FILE"]),
    ("compare mine.csv ran --html ran/../ran/report.html", 2, &["a run's", "--html FILE"]),
    ("calibrate ran --to ran/journal.sqlite", 2, &["a run's", "--to FILE"]),
    ("env play -n 1 --export-episodes ran/journal.sqlite", 2, &["a run's", "--export-episodes"]),
    ("analyze left --csv left/output.csv", 2, &["would replace it", "--csv FILE"]),
    ("analyze ran -o left --csv left/output.csv", 2, &["would replace it"]),
    ("score ran -o left --export-predictions left/output.csv", 2, &["would replace it"]),
    ("compare ran ran -o left --html left/output.csv", 2, &["would replace it"]),
    ("compare mine.csv mine.csv --html none/x.html", 2, &["none/x.html", "--html FILE"]),
    ("env play -n 1 --export-episodes none/x.jsonl", 2, &["none/x.jsonl", "--export-episodes"]),
    ("--model m --data-path sample --critic-provider anthropic", 2, &["name the critic's model"]),
    ("--model claude-x --provider openai --data-path sample", 2, &["; for Claude: --provider anthropic"]),
    // It asked for a key of OpenAI.
    ("--model ofline --data-path sample", 2,
        &["no key for api.openai.com", "; did you mean `--model offline`?"]),
    // The hints were those of --model.
    ("--model m --base-url http://127.0.0.1:9/v1 --critic-model ofline --critic-provider openai \
        --data-path sample", 2,
        &["the critic's model: no key for api.openai.com", "; --critic-model names a chat model"]),
    ("--model m --base-url http://127.0.0.1:9/v1 --critic-model claude-x --critic-provider openai \
        --data-path sample", 2, &["; for Claude: --critic-provider anthropic"]),
    ("--model m --provider openai --base-url http://127.0.0.1:9/v1/messages --data-path sample", 2,
        &["ends in `/messages`, an API of anthropic: name it with --provider anthropic"]),
    // The line did not say that it is about the critic's address, but for its last word.
    ("--model m --base-url http://127.0.0.1:9/v1 --critic-model n --data-path sample \
        --critic-base-url http://127.0.0.1:9/v1/messages", 2,
        &["the critic's model: the base URL ends in `/messages`, an API of anthropic: name it with \
            --critic-provider anthropic"]),
    ("--model m --base-url nowhere --data-path sample", 2,
        &["`nowhere` is not a usable address: write http:// or https:// and a host"]),
    ("--model m --data-path sample --provider anthropic --api responses", 2, &["leave it out"]),
    // Keys in addresses
    ("--base-url http://127.0.0.1:9/v1?key=KEY", 2, &["--base-url holds a query string"]),
    ("--model m --base-url http://127.0.0.1:9/v1#KEY", 2, &["--base-url holds a query string"]),
    ("--base-url http://me:KEY@127.0.0.1:9/v1", 2, &["a user or password", "ANTHROPIC_API_KEY"]),
    ("--mlflow http://127.0.0.1:9/?key=KEY", 2, &["--mlflow holds a query string"]),
    ("--mlflow http://me:KEY@127.0.0.1:9/", 2, &["--mlflow holds a user or password"]),
    ("--mlflow sqlite:///x.db", 2, &["sqlite:///x.db", "mlflow server"]),
    ("--config secret.toml", 2, &["secret.toml: base_url holds a query string"]),
];

#[test]
fn each_refusal_is_one_line_with_its_exit_code() {
    finqa_agents::llm::install_crypto();
    let place = Workplace::new();
    for (name, text) in [
        ("text.json", "hello"),
        ("empty.json", "[]"),
        (
            "test.json",
            r#"[{"id": "Single_A", "table": [["", "2001"]], "qa": {"question": "why?"}}]"#,
        ),
        (
            "nan.json",
            "[{\"id\": \"Single_A/2001/page_1.pdf-1\", \"qa\":\n {\"question\": \"why?\", \"exe_ans\": NaN}}]",
        ),
        ("records.json", include_str!("../../data/sample.json")),
        (
            "large.json",
            r#"[{"id": 9007199254740993, "table": [["", "2001"]], "qa": {"question": "why?"}}]"#,
        ),
        ("share.toml", "max_error = 0.05"),
        ("mine.csv", "id,prediction\na,1\nb,2\n"),
        ("page.md", PAGE),
        ("empty.md", "\n \n"),
        ("notes.md", "Only text."),
        ("pdf.md", "%PDF-1.7"),
        ("split.csv", ",2019,2018\nRevenue,1,250,9\n"),
        ("unknown.toml", "colour = 'red'"),
        ("broken.toml", "model = "),
        ("set.toml", "n = 1"),
        (
            "secret.toml",
            &format!("base_url = 'http://127.0.0.1:9/v1?key={KEY}'"),
        ),
    ] {
        place.write(name, text);
    }
    let folders = [
        "mine", "prompts", "env/benchmark_questions", "env/input_companies/acme", "ran", "left",
    ];
    for folder in folders {
        std::fs::create_dir_all(place.path(folder)).unwrap();
    }
    place.write("ran/journal.sqlite", "paid for");
    place.write("left/output.csv", "id,prediction\na,1\n");
    std::os::unix::fs::symlink("ran/journal.sqlite", place.path("link.csv")).unwrap();
    place.write("mine/critic_user.j2", "fine\n{% if %}\n");
    for fifo in [
        "in", "prompts/critic_user.j2", "env/benchmark_questions/finqa.csv",
    ] {
        let made = Command::new("mkfifo").arg(place.path(fifo)).status();
        assert!(made.unwrap().success());
    }
    std::env::set_current_dir(place.path("")).unwrap();
    let kept = place.read("records.json");
    for (line, code, expected) in REFUSALS {
        let line = line.replace("KEY", KEY);
        let (ended, told) =
            convfinqa::cli::run_in_process(&[&["convfinqa"], &words(&line)[..]].concat());
        assert_eq!(ended, *code, "{line}: {told}");
        assert!(
            !told.contains('\n') && !told.contains("planted"),
            "{line}: {told}"
        );
        for word in *expected {
            assert!(told.contains(word), "{line}: no {word:?} in {told}");
        }
    }
    for begun in ["output/runs", "new"] {
        assert!(!place.path(begun).exists(), "nothing is begun");
    }
    assert_eq!(place.read("records.json"), kept);
    assert_eq!(place.read("ran/journal.sqlite"), "paid for");
}

/// Each said "1 records", "1 answers", "1 questions" or "1 page are".
#[test]
fn one_record_page_or_answer_is_in_the_singular() {
    let place = Workplace::new();
    place.write(
        "turns.json",
        r#"[{"id": "a", "filename": "p", "table": [["", "2001"], ["sales", "40"]],
            "annotation": {"dialogue_break": ["what were sales?"], "turn_program": ["40"]}}]"#,
    );
    place.write("bare.csv", "id,prediction\na,1\n");
    for (line, code, words) in [
        (
            "--data-path turns.json --range 1..2", 2, "the range 1..2 exceeds the 1 record of",
        ),
        (
            "--data-path turns.json --mode questions",
            3,
            "no stand-alone question (qa, qa_0) in its 1 record",
        ),
        ("score bare.csv", 3, "no gold to score its 1 answer by"),
        (
            "compare bare.csv bare.csv", 3, "no gold to compare 1 question by",
        ),
        (
            "env build --data-path turns.json --output new",
            3,
            "0 without gold, and 1 turn of conversations cannot be asked alone",
        ),
    ] {
        place.run(line).fails(code, &[words]);
    }
    for (name, answer) in [("a.csv", 10), ("b.csv", 12)] {
        let row = format!("Single_X/2010/page_1.pdf-1,what?,10,{answer}");
        place.write(
            name,
            &format!("id,question,ground_truth,prediction\n{row}\n"),
        );
    }
    let compared = place.run("compare a.csv b.csv --html page.html");
    let compared = compared.succeeds().unwrapped();
    let told = "Do not trust the intervals of B - A: they are from 1 page, too few for a bootstrap";
    assert!(compared.contains(told), "{compared}");
    let told = "Do not trust the interval: it is from 1 page, too few for a bootstrap";
    assert!(place.read("page.html").contains(told));
}
