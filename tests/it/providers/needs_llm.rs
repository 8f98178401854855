//! Against a server that is not ours: `CONVFINQA_TEST_LLM` is the address of a llama.cpp
//! server without its path, such as `http://127.0.0.1:8080`.

use rstest::rstest;

use super::answers;
use crate::support::cli::{Ran, Workplace, words};

#[rstest]
#[case::messages(&["--provider", "anthropic"], "")]
#[case::responses(&["--api", "responses"], "/v1")]
#[case::chat(&[], "/v1")]
#[ignore = "needs a llama.cpp server: CONVFINQA_TEST_LLM"]
fn a_real_model_answers(#[case] options: &[&str], #[case] path: &str) {
    let server = std::env::var("CONVFINQA_TEST_LLM").expect("CONVFINQA_TEST_LLM is not set");
    let place = Workplace::new();
    let mut command = place.command();
    command.args(["--data-path", "sample", "--n", "2", "--mode", "questions"]);
    command.args(["--model", "local", "--base-url", &format!("{server}{path}")]);
    command.args(words("--max-tokens 400 --max-rounds 1 --mlflow off -j 1"));
    let ran = Ran::of(command.args(options));
    assert!(matches!(ran.code, Some(0 | 4)), "{}", ran.stderr);
    let rows = answers(&place);
    assert_eq!(rows.len(), 2);
    // A small model may fail to write JSON, but its reply is read, and counted.
    for [_, _, outcome, _] in &rows {
        let read = ["answered", "parse_failure", "truncated"];
        assert!(read.contains(&outcome.as_str()), "{rows:?}");
    }
    let nodes = place.summary()["spent"]["nodes"].clone();
    for (node, spent) in nodes.as_object().unwrap() {
        assert!(
            spent["input_tokens"].as_u64().unwrap() > 500,
            "{node} {spent}"
        );
        assert!(
            spent["output_tokens"].as_u64().unwrap() > 2,
            "{node} {spent}"
        );
        assert_eq!(spent["without_usage"], 0, "{node} {spent}");
    }
}
