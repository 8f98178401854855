//! Tests of keys and of the addresses they go to: where each is taken from, and
//! what the user is told.

use rstest::rstest;

use crate::support::cli::{Ran, Workplace};

const UNCHOSEN: &str =
    "but no model is chosen: answering with the embedded offline pair; pass --model NAME";

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
    place.write("convfinqa.toml", "base_url = 'http://ollama:11434/v1'\n");
    let ran = place.run(&["--n", "1"]);
    let line = format!("base_url is set in convfinqa.toml {UNCHOSEN}");
    assert!(ran.succeeds().stderr.contains(&line), "{}", ran.stderr);
}

#[test]
fn a_chosen_model_or_nothing_to_use_is_not_announced() {
    let place = Workplace::new();
    assert!(!place.run(&["--n", "1"]).stderr.contains("no model"));
    let mut command = place.command();
    let chosen = command
        .env("OPENAI_API_KEY", "k")
        .args(["--n", "1", "--model", "offline"]);
    let ran = Ran::of(chosen);
    assert!(
        !ran.succeeds().stderr.contains("no model"),
        "{}",
        ran.stderr
    );
}

#[rstest]
#[case("API_KEY")]
#[case("OPENAI_API_KEY")]
#[case("API_BASE_URL")]
fn a_play_announces_a_key_without_a_model(#[case] name: &str) {
    let place = Workplace::new();
    let mut command = place.command();
    let ran = Ran::of(
        command
            .env(name, "http://x.example/v1")
            .args(["env", "play", "-n", "1"]),
    );
    let line = if name == "API_BASE_URL" {
        "API_BASE_URL is set"
    } else {
        name
    };
    assert!(ran.succeeds().stderr.contains(line), "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("but no model is chosen: playing with the embedded baseline"),
        "{}",
        ran.stderr
    );
}
