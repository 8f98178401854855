//! Tests of keys and of the addresses they go to: where each is taken from, and
//! what the user sees.

use convfinqa::settings::{Layers, Variables};
use finqa_agents::llm::Provider;
use rstest::rstest;

use crate::support::agents::{is_critic, repeating_the_key, scripted};
use crate::support::cli::{Ran, Workplace, words};
use crate::support::fault_server::{FaultServer, Reply, Request};

const UNCHOSEN: &str =
    "but no model is chosen: answering with the embedded analyst; pass --model NAME";

/// Keys alone, as `docker compose` passes them from `.env`.
#[rstest]
#[case::exported(&["OPENAI_API_KEY"], "", "OPENAI_API_KEY is set")]
#[case::azure(&["AZURE_OPENAI_API_KEY"], "", "AZURE_OPENAI_API_KEY is set")]
#[case::dotenv(&[], "OPENAI_API_KEY=k\n", "OPENAI_API_KEY is set")]
#[case::dotenv_address(&[], "OPENAI_BASE_URL=http://ollama:11434/v1\n", "OPENAI_BASE_URL is set")]
#[case::our_variable(&["CONVFINQA_BASE_URL"], "", "CONVFINQA_BASE_URL is set")]
fn a_key_or_address_without_a_model_is_announced(
    #[case] exported: &[&str],
    #[case] dotenv: &str,
    #[case] what: &str,
) {
    let place = Workplace::new();
    place.write(".env", dotenv);
    let line = format!("{what} {UNCHOSEN}");
    for arguments in [
        &["--n", "1"][..],
        &["ask", "page.md", "what was revenue in 2019?"],
    ] {
        place.write("page.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
        let mut command = place.command();
        // Compose passes what is not set as empty.
        command.env("CONVFINQA_MODEL", "").args(arguments);
        command.envs(exported.iter().map(|name| (name, "http://x.example/v1")));
        let ran = Ran::of(&mut command);
        ran.succeeds();
        let told = ran.stderr.lines().filter(|told| *told == line).count();
        assert_eq!(told, 1, "{line} in {}", ran.stderr);
    }
}

#[test]
fn an_address_in_a_settings_file_without_a_model_is_announced() {
    let place = Workplace::new();
    let file = place.write(
        "convfinqa.toml",
        "base_url = 'http://ollama:11434/v1'\nn = 1",
    );
    let layers = Layers::default().file(&file, true).unwrap();
    let mut settings = layers.settings().unwrap();
    settings.run.output = place.path("output");
    let lines = place.notices(&settings, Variables::none());
    let line = format!("base_url is set in {} {UNCHOSEN}", file.display());
    assert!(lines.contains(&line), "{lines:?}");
}

#[test]
fn a_chosen_model_or_nothing_to_use_is_not_announced() {
    let place = Workplace::new();
    let unset = Variables::none();
    assert_eq!(place.notices(&place.settings("n = 1"), unset), [""; 0]);
    let key = Variables::new(|name| (name == "OPENAI_API_KEY").then(|| "k".to_owned()));
    let chosen = place.settings("n = 1\nmodel = 'offline'");
    assert_eq!(place.notices(&chosen, key), [""; 0]);
}

#[rstest]
#[case("API_KEY")]
#[case("OPENAI_API_KEY")]
#[case("API_BASE_URL")]
fn a_play_announces_a_key_without_a_model(#[case] name: &str) {
    let place = Workplace::new();
    let play = words("env play -n 1");
    let ran = place.run_with(&play, &[(name, "http://x.example/v1")]);
    let line = match name {
        "API_BASE_URL" => "API_BASE_URL is set",
        name => name,
    };
    ran.succeeds().tells(line);
    ran.tells("but no model is chosen: playing with the embedded analyst");
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
    command.args(words("--model m --data-path sample --n 1"));
    Ran::of(command.current_dir(&below)).fails(2, &["OPENAI_API_KEY"]);
    assert_eq!(server.count(), 0);
}

#[rstest]
#[case::spaces("\u{feff}A=1\n\nOPENAI_API_KEY=SECRET for me\n", "line 3")]
#[case::no_name("# mine\nSECRET\n", "line 2")]
#[case::open_quote("A=1\nOPENAI_API_KEY=\"SECRET\nB=2", "line 3")]
#[case::nul("OPENAI_API_KEY=SECRET\0\n", "line 1")]
#[case::not_utf8("OPENAI_API_KEY=SECRET\nB=\u{1}\n", "line 2")]
fn an_error_in_a_dotenv_names_its_line_and_no_content(#[case] text: &str, #[case] line: &str) {
    let place = Workplace::new();
    let mut bytes = text.replace("SECRET", KEY).into_bytes();
    for byte in bytes.iter_mut().filter(|byte| **byte == 1) {
        *byte = 0xff;
    }
    std::fs::write(place.path(".env"), bytes).unwrap();
    for arguments in [&["--n", "1"][..], &["track", "sync"], &["env", "play"]] {
        let ran = place.run(arguments);
        ran.fails(2, &[".env", line]);
        assert!(!ran.stderr.contains("planted"), "{}", ran.stderr);
    }
}

/// Who wrote the file may not be who owns the key.
#[rstest]
#[case::dotenv(".env", "OPENAI_BASE_URL=URL\n", true)]
#[case::our_variable(".env", "CONVFINQA_BASE_URL=URL\n", true)]
#[case::settings("convfinqa.toml", "base_url = 'URL'\n", true)]
#[case::another_variable_with_the_same_value(".env", "OTHER=KEY\nOPENAI_BASE_URL=URL\n", true)]
#[case::the_key_too(".env", "OPENAI_API_KEY=KEY\nOPENAI_BASE_URL=URL\n", false)]
fn a_base_url_of_a_file_with_a_key_of_elsewhere_is_announced(
    #[case] file: &str,
    #[case] text: &str,
    #[case] announced: bool,
) {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    place.write(
        file,
        &text
            .replace("URL\n", &format!("{url}\n"))
            .replace("'URL'", &format!("'{url}'"))
            .replace("=KEY", &format!("={KEY}")),
    );
    let line =
        format!("note: the key from the environment is sent to {url}, the base URL in {file}");
    let run = words("--model m --data-path sample --n 1 --quiet");
    place.write("page.md", "| | 2019 |\n|---|---|\n| Revenue | 1,250 |\n");
    let ask = words("ask --model m --quiet page.md what?");
    let play = words("env play --model m --data-path sample -n 1 --quiet");
    let exported = [("OPENAI_API_KEY", KEY)];
    let exported = &exported[..usize::from(announced)];
    for arguments in [run, ask, play] {
        let ran = place.run_with(&arguments, exported);
        let told = ran.stderr.lines().filter(|told| *told == line).count();
        assert_eq!(told, usize::from(announced), "{line} in {}", ran.stderr);
        let requests = server.requests();
        assert!(requests.iter().all(|request| request.key() == Some(KEY)));
    }
}

#[test]
fn an_address_on_the_command_line_is_not_announced() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let settings = place.settings(&format!("model = 'm'\nn = 1\nbase_url = '{url}'"));
    let key = Variables::new(|name| (name == "OPENAI_API_KEY").then(|| KEY.to_owned()));
    assert_eq!(place.notices(&settings, key), [""; 0]);
    assert_eq!(server.requests()[0].key(), Some(KEY));
}

#[rstest]
#[case::model(&["--model", "m", "--data-path", "sample", "--base-url", "http://models.invalid/v1"])]
#[case::mlflow(&["--n", "1", "--mlflow", "http://mlflow.invalid:5000"])]
#[case::play(&["env", "play", "--url", "http://env.invalid:8000"])]
fn a_key_is_not_sent_over_http_to_another_machine(#[case] arguments: &[&str]) {
    let place = Workplace::new();
    let variables = ["OPENAI_API_KEY", "MLFLOW_TRACKING_TOKEN", "FINQA_TOKEN"];
    let ran = place.run_with(arguments, &variables.map(|name| (name, KEY)));
    ran.fails(2, &["unencrypted", "--allow-http"]);
    assert!(!ran.stderr.contains("planted"), "{}", ran.stderr);
}

/// A run's folder may be somebody else's too.
#[test]
fn a_base_url_of_a_resumed_run_with_an_exported_key_is_announced() {
    let place = Workplace::new();
    let server = FaultServer::start(|_| Reply::error(401, "invalid_api_key", "no"));
    let url = server.base_url();
    let line = format!("--model m --data-path sample --n 1 --base-url {url} --attempts 1");
    place.run(&line).ends(5);
    let ran = place.run_with("--resume", &[("OPENAI_API_KEY", KEY)]);
    let line = format!(
        "note: the key from the environment is sent to {url}, the base URL in the run's own settings"
    );
    let told = ran.stderr.lines().filter(|told| *told == line).count();
    assert_eq!(told, 1, "{}", ran.stderr);
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

#[rstest]
#[case::flag(&["--base-url", "http://127.0.0.1:9/v1?key=KEY"], "", "")]
#[case::flag_of_a_model(&["--model", "m", "--base-url", "http://127.0.0.1:9/v1?key=KEY"], "", "")]
#[case::fragment(&["--base-url", "http://127.0.0.1:9/v1#KEY"], "", "")]
#[case::user(&["--base-url", "http://me:KEY@127.0.0.1:9/v1"], "", "")]
#[case::mlflow(&["--mlflow", "http://127.0.0.1:9/?key=KEY"], "", "")]
#[case::mlflow_user(&["--mlflow", "http://me:KEY@127.0.0.1:9/"], "", "")]
#[case::settings(&[], "convfinqa.toml", "base_url = 'http://127.0.0.1:9/v1?key=KEY'\n")]
#[case::variable(&[], ".env", "CONVFINQA_BASE_URL=http://127.0.0.1:9/v1?key=KEY\n")]
#[case::openai(&["--model", "m", "--data-path", "sample"], ".env", "OPENAI_BASE_URL=http://127.0.0.1:9/v1?key=KEY\n")]
#[case::not_an_address(&["--model", "m", "--data-path", "sample"], ".env", "OPENAI_BASE_URL=127.0.0.1:9/v1?key=KEY\n")]
fn a_key_outside_the_path_of_an_address_is_refused_and_not_shown(
    #[case] arguments: &[&str],
    #[case] file: &str,
    #[case] text: &str,
) {
    let place = Workplace::new();
    if !file.is_empty() {
        place.write(file, &text.replace("KEY", KEY));
    }
    let arguments: Vec<_> = arguments.iter().map(|a| a.replace("KEY", KEY)).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let ran = place.run(&[&["--n", "1"], &arguments[..]].concat());
    ran.fails(2, &[]);
    holds_no_key(&place, &ran);
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
    let ran = place.run(&["--config", config.to_str().unwrap()]);
    ran.fails(2, &["config.toml", "[redacted]", "give the whole address"]);

    // An error that names the address is a row of the results.
    let place = Workplace::new();
    let broken = FaultServer::start(|_| Reply::error(404, "model_not_found", "no such model"));
    let base = format!("http://{}/{KEY}/v1", broken.address());
    let ran = place.run(&["--model", "m", "--data-path", "sample", "--base-url", &base]);
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
    command.args(words("--n 2 --verbose --attempts 1 --log text"));
    command.env("RUST_LOG", "trace");
    command.env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true");
    let ran = Ran::of(&mut command);
    assert!(matches!(ran.code, Some(0 | 4 | 5)), "{}", ran.stderr);
    assert!(server.count() > 0);
    assert!(place.run_folder().join("report.html").is_file());
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

#[test]
fn an_address_with_a_key_is_refused_with_the_variables_of_every_provider() {
    let place = Workplace::new();
    let keys: Vec<_> = Provider::key_variables().collect();
    let ran = place.run("--model m --base-url https://u:p@models.example/v1");
    ran.fails(2, &["--base-url holds a user or password"]);
    ran.fails(2, &keys);
}
