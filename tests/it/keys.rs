//! Tests of keys and of the addresses they go to: where each is taken from, and
//! what the user sees.

use finqa_journal::settings::{Layers, Variables};
use rstest::rstest;

use crate::support::agents::{is_critic, repeating_the_key, scripted};
use crate::support::cli::{CommandExt, Ran, Workplace};
use crate::support::fault_server::{FaultServer, Reply, Request};

const UNCHOSEN: &str =
    "but no model is chosen: answering with the embedded analyst; pass --model NAME";

/// A key alone, as `docker compose` passes it from `.env`. An empty variable counts as unset.
#[test]
fn a_key_without_a_model_is_announced() {
    let place = Workplace::new();
    place.write(".env", "OPENAI_API_KEY=k\n");
    place.write("page.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
    for line in ["--n 1", "ask page.md 'what was revenue in 2019?'"] {
        let ran = place.run_with(line, &[("CONVFINQA_MODEL", "")]);
        ran.succeeds();
        let line = format!("OPENAI_API_KEY is set {UNCHOSEN}");
        let told = ran.stderr.lines().filter(|told| *told == line).count();
        assert_eq!(told, 1, "{line} in {}", ran.stderr);
    }
    let played = place.run_with("env play -n 1", &[("API_BASE_URL", "http://x.example/v1")]);
    played.succeeds().tells("OPENAI_API_KEY is set");
    played.tells("but no model is chosen: playing with the embedded analyst");
}

#[test]
fn settings_of_a_server_without_a_model_are_announced() {
    let place = Workplace::new();
    let text = "base_url = 'http://ollama:11434/v1'\nn = 1";
    let file = place.write("convfinqa.toml", text);
    let layers = Layers::default().file(&file, true).unwrap();
    let mut settings = layers.settings().unwrap();
    settings.run.output = place.path("output");
    let lines = place.notices(&settings, Variables::none());
    let line = format!("base_url is set in {} {UNCHOSEN}", file.display());
    assert!(lines.contains(&line), "{lines:?}");
}

const KEY: &str = "sk-planted-0123456789abcdef";

/// A `.env` of a parent folder may be anybody's: with its base URL and the
/// exported key, somebody else would get the key.
#[test]
fn a_dotenv_of_a_parent_folder_is_not_read() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let dotenv = format!("OPENAI_API_KEY=k\nOPENAI_BASE_URL={url}\n");
    place.write(".env", &dotenv);
    let below = place.path("below");
    std::fs::create_dir(&below).unwrap();
    let mut command = place.command();
    command.given("--model m --data-path sample --n 1");
    let ran = command.current_dir(&below).ran();
    ran.fails(2, &["OPENAI_API_KEY"]);
    assert_eq!(server.count(), 0);
}

/// `.env` is read by every command, and no error of it shows what it holds.
#[test]
fn a_dotenv_gives_a_key_and_an_error_in_it_shows_no_content() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    place.write(
        ".env",
        &format!("OPENAI_API_KEY={KEY}\nOPENAI_BASE_URL={url}\n"),
    );
    let ran = place.run("--model m --data-path sample --n 2 --critic rules");
    ran.succeeds()
        .tells(&format!("note: the key is sent to {url}"));
    assert_eq!(server.requests()[0].key(), Some(KEY));
    holds_no_key(&place, &ran);
    for text in [
        "OPENAI_API_KEY=SECRET for me\n", "SECRET\n", "OPENAI_API_KEY=\"SECRET\nB=2",
        "OPENAI_API_KEY=SECRET\0\n",
    ] {
        place.write(".env", &format!("# note\n{}", text.replace("SECRET", KEY)));
        for line in ["--n 1", "track sync", "env play", "env serve", "graph"] {
            let ran = place.run(line);
            ran.fails(2, &[".env: line 2 is not NAME=value"]);
            assert!(!ran.stderr.contains("planted"), "{}", ran.stderr);
        }
        place.run("env serve --help").succeeds();
    }
}

/// A part of the key was taken for the name of a variable.
#[test]
fn a_dollar_in_a_dotenv_is_a_dollar() {
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    for (at, (written, key)) in [
        ("k-$HOME-$1$", "k-$HOME-$1$"),
        ("\"k-$HOME\"", "k-$HOME"),
        ("'k-$HOME'", "k-$HOME"),
        (r"k-\$HOME", "k-$HOME"),
        // As Python's reader has it.
        ("k-${PART}", "k-part"),
    ]
    .into_iter()
    .enumerate()
    {
        let place = Workplace::new();
        let text = format!("PART=part\nOPENAI_API_KEY={written}\nOPENAI_BASE_URL={url}\n");
        place.write(".env", &text);
        place
            .run("--model m --data-path sample --n 1 --critic off")
            .succeeds();
        assert_eq!(server.requests()[at].key(), Some(key), "{written}");
    }
}

#[test]
fn a_chosen_model_an_address_on_the_command_line_or_nothing_to_use_is_not_announced() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let key = || Variables::new(|name| (name == "OPENAI_API_KEY").then(|| KEY.to_owned()));
    for (given, variables) in [
        ("n = 1", Variables::none()),
        ("n = 1\nmodel = 'offline'", key()),
        (&format!("model = 'm'\nn = 1\nbase_url = '{url}'"), key()),
    ] {
        let settings = place.settings(given);
        assert_eq!(place.notices(&settings, variables), [""; 0], "{given}");
    }
    assert_eq!(server.requests()[0].key(), Some(KEY));
}

/// The key and the prompts went to OpenAI, without a word.
#[test]
fn the_other_name_of_the_base_url_says_where_the_key_goes() {
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let target = format!("{url}/chat/completions");
    for (count, address) in [&url, &target].into_iter().enumerate() {
        let place = Workplace::new();
        place.write(
            ".env",
            &format!("OPENAI_API_KEY={KEY}\nOPENAI_API_BASE={address}\n"),
        );
        let line = "--model m --data-path sample --n 1 --critic off";
        let ran = place.run_with(
            line,
            &[("OPENAI_ORG_ID", "org-1"), ("MLFLOW_EXPERIMENT_ID", "3")],
        );
        ran.succeeds()
            .tells(&format!("note: the key is sent to {url}"));
        let unused = "note: OPENAI_ORG_ID is set and not used; the key decides the organization";
        assert_eq!(ran.stderr.matches(unused).count(), 1, "{}", ran.stderr);
        assert!(
            !ran.stderr.contains("MLFLOW"),
            "not tracked: {}",
            ran.stderr
        );
        assert!(server.requests().len() > count);
        assert!(
            server
                .requests()
                .iter()
                .all(|it| it.path == "/v1/chat/completions")
        );
        let config = place.run_folder().join("config.toml");
        place.write(".env", &format!("OPENAI_API_KEY={KEY}\n"));
        let again = place.run(&format!("--config {}", config.display()));
        again
            .succeeds()
            .tells(&format!("note: the key is sent to {url}"));
    }
    let place = Workplace::new();
    let variables = [
        ("OPENAI_API_KEY", KEY),
        ("OPENAI_API_BASE", &*url),
        ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
    ];
    let ran = place.run_with("--model m --data-path sample --n 1", &variables);
    ran.fails(2, &["OPENAI_BASE_URL and OPENAI_API_BASE differ"]);
}

/// As a shell, Docker's `--env-file` or a chat copies a key.
#[test]
fn a_key_with_what_no_key_has_is_refused_and_not_shown() {
    for (variable, line) in [
        ("OPENAI_API_KEY", "--model m --data-path sample --n 1"),
        ("MLFLOW_TRACKING_TOKEN", "--n 1 --mlflow http://127.0.0.1:9"),
    ] {
        for given in [
            format!("'{KEY}'"),
            format!("Bearer {KEY}"),
            format!("{KEY}\u{200b}"),
        ] {
            let place = Workplace::new();
            let from_file = Workplace::new();
            from_file.write(".env", &format!("{variable}=\"{given}\"\n"));
            for ran in [
                place.run_with(line, &[(variable, &*given)]),
                from_file.run(line),
            ] {
                ran.fails(
                    2,
                    &[&format!("{variable} contains a quotation mark, a blank or")],
                );
                assert!(!ran.stderr.contains("planted"), "{}", ran.stderr);
            }
        }
    }
}

#[test]
fn a_key_is_not_sent_over_http_to_another_machine() {
    let place = Workplace::new();
    let variables = ["OPENAI_API_KEY", "MLFLOW_TRACKING_TOKEN", "FINQA_TOKEN"];
    for line in [
        "--model m --data-path sample --base-url http://models.invalid/v1",
        "env play --url http://env.invalid:8000",
        "--n 1 --mlflow http://mlflow.invalid:5000",
    ] {
        let ran = place.run_with(line, &variables.map(|name| (name, KEY)));
        ran.fails(2, &["unencrypted", "CONVFINQA_ALLOW_HTTP=true"]);
        assert!(!ran.stderr.contains("planted"), "{}", ran.stderr);
    }
}

/// A run's folder may be somebody else's too.
#[test]
fn a_base_url_of_a_resumed_run_with_an_exported_key_is_announced() {
    let place = Workplace::new();
    let server = FaultServer::start(|_| Reply::error(401, "invalid_api_key", "no"));
    let url = server.base_url();
    let line = format!("--model m --data-path sample --n 1 --base-url {url} --attempts 1");
    // The traces keep the folder of a run that asked nothing.
    place.run(&format!("{line} --traces on")).ends(5);
    let ran = place.run_with("--resume", &[("OPENAI_API_KEY", KEY)]);
    ran.tells(&format!("note: the key is sent to {url}"));
}

/// Every byte below a folder, with the names of the files.
fn written(folder: &std::path::Path, into: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            written(&path, into);
        } else {
            into.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
}

/// The key is neither on the terminal nor in any file of the output folder.
#[track_caller]
fn holds_no_key(place: &Workplace, ran: &Ran) {
    let mut all = vec![
        ("stdout".to_owned(), ran.stdout.clone().into_bytes()),
        ("stderr".to_owned(), ran.stderr.clone().into_bytes()),
    ];
    if place.path("output").is_dir() {
        written(&place.path("output"), &mut all);
    }
    for (name, bytes) in all {
        let found = bytes.windows(10).any(|part| part == b"sk-planted");
        assert!(!found, "{name}: {}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_key_outside_the_path_of_an_address_in_a_variable_is_refused_and_not_shown() {
    for variable in ["CONVFINQA_BASE_URL", "OPENAI_BASE_URL"] {
        for address in ["http://127.0.0.1:9/v1", "127.0.0.1:9/v1"] {
            let place = Workplace::new();
            place.write(".env", &format!("{variable}={address}?key={KEY}\n"));
            let ran = place.run("--n 1 --model m --data-path sample");
            ran.fails(2, &[]);
            holds_no_key(&place, &ran);
        }
    }
}

#[test]
fn a_key_in_the_path_of_an_address_is_used_and_kept_nowhere() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let base = format!("http://{}/{KEY}/v1", server.address());
    // Nobody listens at the tracking server: the message names its address.
    let mlflow = format!("http://127.0.0.1:9/{KEY}");
    let ran = place.run(&format!(
        "--model m --data-path sample --n 2 --base-url {base} --mlflow {mlflow} --verbose"
    ));
    ran.succeeds();
    assert!(server.requests()[0].path.contains(KEY));
    ran.tells("http://127.0.0.1:9/[redacted]");
    holds_no_key(&place, &ran);
    let config = place.run_folder().join("config.toml");
    let ran = place.run(&format!("--config {}", config.display()));
    ran.fails(2, &["config.toml", "[redacted]", "give the whole address"]);

    // An error that names the address is a row of the results.
    let place = Workplace::new();
    let broken = FaultServer::start(|_| Reply::error(404, "model_not_found", "no such model"));
    let base = format!("http://{}/{KEY}/v1", broken.address());
    let ran = place.run(&format!("--model m --data-path sample --base-url {base}"));
    ran.fails(5, &["[redacted]"]);
    holds_no_key(&place, &ran);
}

/// Servers that repeat the key they were sent, in each place that is kept.
#[rstest]
#[case::answer(|request: &Request, key: &str| analysis(request, key))]
#[case::escaped(|_: &Request, key: &str| {
    let escaped: String = key.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    Reply::new(200, "application/json", format!(
        r#"{{"choices": [{{"message": {{"role": "assistant", "content": "12 {escaped}"}}, "finish_reason": "stop"}}]}}"#
    ))
})]
#[case::critic(|request: &Request, key: &str| {
    if is_critic(request) {
        Reply::chat(&format!(r#"{{"findings": [{{"where": "answer", "problem": "{key} is wrong.", "fix": "{key}"}}]}}"#))
    } else {
        scripted(request)
    }
})]
#[case::header(|request: &Request, key: &str| scripted(request).header("x-request-id", key))]
#[case::refused(|_: &Request, key: &str| Reply::error(400, "invalid_prompt", &format!("{key} may not")))]
#[case::page(|_: &Request, key: &str| Reply::plain(200, key))]
fn a_key_that_a_server_repeats_is_kept_nowhere(#[case] reply: fn(&Request, &str) -> Reply) {
    let place = Workplace::new();
    let server = repeating_the_key(reply);
    let mut command = place.command_with_key(KEY, &server.base_url());
    command.given("--n 2 --verbose --attempts 1 --log text");
    command.env("RUST_LOG", "trace");
    command.env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    let ran = command.ran();
    assert!(matches!(ran.code, Some(0 | 4 | 5)), "{}", ran.stderr);
    assert!(server.count() > 0);
    assert!(place.run_folder().join("report.html").is_file());
    holds_no_key(&place, &ran);
}

#[test]
fn a_key_in_anthropics_header_is_kept_nowhere() {
    let place = Workplace::new();
    let server = repeating_the_key(|_, key| {
        let reply = Reply::error(401, "", &format!("x-api-key: invalid {key}"));
        reply.header("request-id", key)
    });
    let variables = [
        ("ANTHROPIC_BASE_URL", &*server.azure_endpoint()),
        ("ANTHROPIC_API_KEY", KEY),
    ];
    let line = "--model m --data-path sample --n 1 --traces on --log json";
    let ran = place.run_with(line, &variables);
    assert_eq!(server.requests()[0].header("x-api-key"), Some(KEY));
    assert!(place.run_folder().join("journal.sqlite").is_file());
    holds_no_key(&place, &ran);
}

/// The scripted analysis with `key` in all of its texts.
fn analysis(request: &Request, key: &str) -> Reply {
    if is_critic(request) {
        return Reply::chat("ALL_OK");
    }
    let analysis = serde_json::json!({
        "evidence": [{"id": "s1", "text": key}], "program": null, "steps": [format!("read {key}")],
        "answer": format!("12 {key}"), "unit": "number", "label": key, "confidence": 0.9,
    });
    Reply::chat(&analysis.to_string())
}
