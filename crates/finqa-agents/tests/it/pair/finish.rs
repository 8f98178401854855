//! Tests replies by the way in which they ended: by the model, at a limit, by a filter, or by a
//! failure of the provider.

use std::sync::Mutex;

use super::*;

/// A pair whose server sends these replies to the analyst and to the critic.
struct ScriptedPair {
    server: FaultServer,
    pair: TwoAgentSolver,
    replies: Arc<Mutex<[Reply; 2]>>,
}

impl ScriptedPair {
    fn new() -> Self {
        let replies = Arc::new(Mutex::new([(); 2].map(|()| Reply::chat(""))));
        let given = Arc::clone(&replies);
        let server = FaultServer::start(move |request| {
            given.lock().unwrap()[usize::from(is_critic(request))].clone()
        });
        let model = Arc::new(HttpModel::new(openai(&server)).unwrap());
        let mut options = PairOptions::new(Backend::Llm {
            analyst: model.clone(),
            critic: model,
        });
        options.settings.second_opinion = OpinionUse::Off;
        let pair = TwoAgentSolver::new(&options).unwrap();
        Self {
            server,
            pair,
            replies,
        }
    }

    /// The solution, and the number of requests that it took.
    async fn solve(&self, analyst: Reply, critic: Reply) -> (Solution, usize) {
        *self.replies.lock().unwrap() = [analyst, critic];
        let before = self.server.count();
        let asked = Arc::new(question(REVENUE));
        let memory = CallMemory::default();
        let solving = self.pair.solve(asked, 0, memory, Stop::default(), &|_| {});
        let solution = solved(solving.await);
        (solution, self.server.count() - before)
    }
}

/// Every finish word of the table in two spellings, with its meaning, and some unknown words.
fn finish_words() -> Vec<(serde_json::Value, String)> {
    let table = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/failures.json");
    let table: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(table).unwrap()).unwrap();
    let known = table["finish_words"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|row| {
            let word = row["word"].as_str().unwrap();
            let means = row["means"].as_str().unwrap().to_owned();
            let other = word.to_uppercase().replace('_', "-");
            [word.to_owned(), other].map(|word| (word.into(), means.clone()))
        });
    let unknown = [
        json!(null),
        json!(""),
        json!("frobnicated"),
        json!("OTHER"),
        json!("pause_turn"),
        json!(7),
    ];
    known
        .chain(unknown.map(|word| (word, "unknown".to_owned())))
        .collect()
}

/// Failures of the provider were once scored as the model's answers.
#[tokio::test]
async fn each_finish_word_with_each_content_is_an_answer_or_whose_failure_it_is() {
    let analysis = json!({"steps": ["read"], "evidence": [], "unit": "number", "label": "revenue",
        "program": "1250", "answer": "1250"});
    let verdict = json!({"verdict": "ALL_OK", "findings": []});
    let calls =
        json!([{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let pair = ScriptedPair::new();
    for (word, means) in finish_words() {
        for content in ["empty", "null", "cut", "complete", "no message"] {
            let said = |whole: &serde_json::Value| {
                let whole = whole.to_string();
                let mut body = completion(&whole, "");
                body["choices"][0]["finish_reason"] = word.clone();
                let message = &mut body["choices"][0]["message"];
                match content {
                    "empty" => message["content"] = "".into(),
                    "null" => message["content"] = json!(null),
                    "cut" => message["content"] = whole[..whole.len() / 2].into(),
                    "complete" => {}
                    _ => *message = json!(null),
                }
                Reply::json(200, &body)
            };
            let told = format!("{word} {content}");
            let is_silent = content == "no message";
            let (solution, requests) = pair.solve(said(&analysis), Reply::chat("ALL_OK")).await;
            let expected = match (means.as_str(), content) {
                ("content_filter", _) => Outcome::ContentFilter,
                ("failed", _) => Outcome::ProviderError,
                ("stop" | "tool_calls" | "unknown", "no message") => Outcome::ProviderError,
                (_, "complete") => Outcome::Answered,
                ("length", _) => Outcome::Truncated,
                ("stop", _) => Outcome::ParseFailure,
                _ => Outcome::ProviderError,
            };
            assert_eq!(solution.outcome, expected, "{told}: {solution:?}");
            let is_repeated = means == "bad_generation";
            if expected == Outcome::ProviderError && is_repeated {
                assert_eq!(requests, 2, "as an unreadable reply: {told}");
            } else if expected == Outcome::ProviderError
                && !(is_silent && ["stop", "tool_calls", "unknown"].contains(&means.as_str()))
            {
                let call = solution.calls.last().unwrap();
                assert_eq!((requests, call.is_settled()), (1, false), "{told}");
                assert!(call.reply.is_some(), "what it took is counted: {told}");
            }
            let answer = Reply::chat(&analysis.to_string());
            let (solution, _) = pair.solve(answer, said(&verdict)).await;
            let (outcome, stop) = match (means.as_str(), content) {
                ("content_filter", _) => (Outcome::Answered, StopReason::NoVerdict),
                ("failed", _) => (Outcome::ProviderError, StopReason::Failed),
                ("stop" | "tool_calls" | "unknown", "no message") => {
                    (Outcome::ProviderError, StopReason::Failed)
                }
                (_, "complete") => (Outcome::Answered, StopReason::Accepted),
                ("length" | "stop", _) => (Outcome::Answered, StopReason::NoVerdict),
                _ => (Outcome::ProviderError, StopReason::Failed),
            };
            assert_eq!(solution.outcome, outcome, "critic {told}: {solution:?}");
            assert!(
                outcome != Outcome::Answered || solution.stop == stop,
                "critic {told}: {solution:?}"
            );
        }
    }
    // A complete call is an answer, whatever the finish word. A call that is announced but missing
    // is not an answer. A call that is cut off is an answer only if the server says that the calls
    // ended.
    let with_arguments = |arguments: &str| {
        let mut calls = calls.clone();
        calls[0]["function"]["arguments"] = arguments.into();
        calls
    };
    for (calls, expected) in [
        (calls.clone(), Outcome::ParseFailure),
        (json!([]), Outcome::ProviderError),
        (with_arguments(""), Outcome::ParseFailure),
        (with_arguments("{'a': 1}"), Outcome::ParseFailure),
        (
            with_arguments("{\"question\": \"Wh"),
            Outcome::ProviderError,
        ),
        (with_arguments("{\"a\": 1, "), Outcome::ProviderError),
    ] {
        for word in ["frobnicated", "tool_calls"] {
            let mut body = completion("", word);
            body["choices"][0]["message"]["tool_calls"] = calls.clone();
            let reply = Reply::json(200, &body);
            let (solution, _) = ask(REVENUE, |_| {}, move |_: &Request| reply.clone()).await;
            let is_ended = word == "tool_calls" && calls != json!([]);
            let expected = if is_ended {
                Outcome::ParseFailure
            } else {
                expected
            };
            assert_eq!(solution.outcome, expected, "{word} {calls}");
        }
    }
}

#[tokio::test]
async fn an_error_inside_a_choice_and_an_answer_in_the_reasoning_are_the_providers_failures() {
    let whole = json!({"answer": "1250", "program": "1250"}).to_string();
    let with = |finish: &str, content: serde_json::Value, place: &str, value: serde_json::Value| {
        let mut body = completion("", finish);
        body["choices"][0]["message"]["content"] = content;
        match place {
            "error" => body["choices"][0]["error"] = value,
            "body" => body["error"] = value,
            "message" => body["choices"][0]["message"]["error"] = value,
            field => body["choices"][0]["message"][field] = value,
        }
        Reply::json(200, &body)
    };
    let lost = json!({"code": 502, "message": "upstream connection lost"});
    for (reply, outcome, words) in [
        (
            with("error", json!(""), "error", lost.clone()),
            Outcome::ProviderError,
            "upstream connection lost (code 502)",
        ),
        (
            with("stop", json!(whole), "error", json!({"message": "no luck"})),
            Outcome::ProviderError,
            "no luck",
        ),
        (
            with("stop", json!("{\"ans"), "error", json!("it broke")),
            Outcome::ProviderError,
            "it broke",
        ),
        (
            with("length", json!("{\"ans"), "body", lost.clone()),
            Outcome::ProviderError,
            "upstream connection lost",
        ),
        // These once counted as empty or unreadable replies of the model.
        (
            with("stop", json!(""), "body", lost.clone()),
            Outcome::ProviderError,
            "upstream connection lost (code 502)",
        ),
        (
            with("stop", json!("{\"ans"), "body", lost.clone()),
            Outcome::ProviderError,
            "upstream connection lost",
        ),
        (
            with("stop", json!(""), "message", json!({"message": "lost"})),
            Outcome::ProviderError,
            "failed while it replied: lost",
        ),
        (
            with("stop", json!(whole), "message", lost.clone()),
            Outcome::Answered,
            "",
        ),
        (
            with("length", json!(whole), "body", lost.clone()),
            Outcome::Answered,
            "",
        ),
        (
            with("stop", json!(whole), "body", lost),
            Outcome::Answered,
            "",
        ),
        (
            with("stop", json!(whole), "error", json!({})),
            Outcome::Answered,
            "",
        ),
        (
            with(
                "error",
                json!(null),
                "error",
                json!({"code": "content_filter", "message": "no"}),
            ),
            Outcome::ContentFilter,
            "filter",
        ),
        (
            with("stop", json!(null), "reasoning_content", json!(whole)),
            Outcome::ProviderError,
            "`reasoning_content`",
        ),
        (
            with("stop", json!(""), "reasoning", json!(whole)),
            Outcome::ProviderError,
            "reasoning parser",
        ),
        (
            with("frobnicated", json!(null), "reasoning", json!(whole)),
            Outcome::ProviderError,
            "reasoning parser",
        ),
        (
            with("length", json!(null), "reasoning_content", json!(whole)),
            Outcome::Truncated,
            "--max-tokens",
        ),
        (
            with("stop", json!(whole), "reasoning_content", json!("hm")),
            Outcome::Answered,
            "",
        ),
        (
            with("stop", json!(null), "reasoning_content", json!(" ")),
            Outcome::ParseFailure,
            "empty",
        ),
    ] {
        let script = move |request: &Request| {
            if is_critic(request) {
                Reply::chat("ALL_OK")
            } else {
                reply.clone()
            }
        };
        let (solution, _) = ask(REVENUE, |_| {}, script).await;
        assert_eq!(solution.outcome, outcome, "{solution:?}");
        let said = solution.error.unwrap_or_default();
        assert!(said.contains(words), "{said}");
    }
}

/// The outcome was once `truncated`, after a second reply of the same kind had been paid for.
#[tokio::test]
async fn a_whole_object_that_white_space_follows_to_the_limit_is_the_answer() {
    let object = json!({"steps": ["read"], "answer": "1250", "program": "1250",
        "evidence": [], "unit": "number"});
    let white = "\n \t".repeat(500);
    for (before, after, is_whole) in [
        ("", "", true),
        ("", "WHITE", true),
        ("```json\n", "WHITE```", true),
        ("```json\n", "\n```WHITE", true),
        ("So it is:\n```\n", "\n``", true),
        ("<think>{</think>", "WHITE", true),
        ("", "WHITEIt", false),
        ("", "{WHITE", false),
        ("", " and {\"answer\": ", false),
    ] {
        let content = format!("{before}{object}{after}").replace("WHITE", &white);
        let verdict = format!("{{\"verdict\": \"ALL_OK\", \"findings\": []}}{white}");
        let script = move |request: &Request| {
            if is_critic(request) {
                Reply::json(200, &completion(&verdict, "length"))
            } else {
                Reply::json(200, &completion(&content, "length"))
            }
        };
        let (solution, server) = ask(REVENUE, |_| {}, script).await;
        let expected = if is_whole {
            Outcome::Answered
        } else {
            Outcome::Truncated
        };
        assert_eq!(solution.outcome, expected, "{before} {after}");
        assert_eq!(server.count(), 2, "{before} {after}");
        assert!(
            !is_whole || solution.stop == StopReason::Accepted,
            "{after}"
        );
    }
    // Without the last brace, the object counts as cut off.
    let cut = object.to_string();
    let cut = cut.trim_end_matches('}').to_owned() + &white;
    let script = move |_: &Request| Reply::json(200, &completion(&cut, "length"));
    let (solution, _) = ask(REVENUE, |_| {}, script).await;
    assert_eq!(solution.outcome, Outcome::Truncated);
}
