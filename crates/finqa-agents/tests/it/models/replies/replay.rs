//! Tests replays: their answers, and their messages about a missing reply.

use finqa_agents::llm::RequestOrigin;

use super::*;

#[tokio::test]
async fn a_miss_in_a_replay_names_the_nearest_request_and_its_fields() {
    let cached = Cached::new();
    let server = FaultServer::start(|_| Reply::chat("42"));
    let model = cached.model(&server);
    let asked = |question: &str, text: &str| ChatRequest {
        seed: Some(7),
        origin: RequestOrigin {
            question: question.to_owned(),
            ..RequestOrigin::default()
        },
        ..ask(text)
    };
    let other = ChatRequest {
        temperature: Some(0.7),
        ..asked("a", "What was revenue in 2009?")
    };
    let error = ask_model(&cached.replayed(), &other).await.unwrap_err();
    let words = "holds no reply to the request of analyst of a";
    assert!(error.message.ends_with(words), "{error}");
    for (question, text) in [("a", "What was revenue in 2008?"), ("b", "What is 2 + 2?")] {
        ask_model(&model, &asked(question, text)).await.unwrap();
    }
    let sent = server.count();
    let error = ask_model(&cached.replayed(), &other).await.unwrap_err();
    assert_eq!((error.scope(), error.attempts), (Scope::Run, 0));
    assert_eq!(server.count(), sent);
    assert_eq!(
        error.to_string(),
        format!(
            "the reply is not stored: {} holds no reply to the request of analyst of a; the nearest, of \
             analyst of a, differs in /request/messages/0/content (\"…venue in 2008?\" stored, \
             \"…venue in 2009?\" asked), /request/temperature (null stored, 0.7 asked)",
            cached.path().display()
        )
    );
}

/// Replies are replayed even if the calls come in a different order and in the dialect of another
/// server.
#[tokio::test]
async fn a_replay_gives_the_recorded_replies_with_their_retries() {
    let cached = Cached::new();
    let server = FaultServer::start(|request| match request.repeat {
        0 => Reply::error(500, "x", "y"),
        repeat => Reply::chat(&repeat.to_string()),
    });
    let model = cached.model(&server);
    let requests = ["a", "b"].map(ask);
    let mut live = Vec::new();
    for request in &requests {
        live.push(ask_model(&model, request).await.unwrap());
    }
    let sent = server.count();
    let model = cached.replayed();
    for (request, live) in requests.iter().zip(live).rev() {
        assert_eq!(ask_model(&model, request).await.unwrap(), live);
    }
    assert_eq!((sent, server.count()), (4, 4));
}

/// Requests contain the pages, which need not be published with the replies.
#[tokio::test]
async fn a_folder_without_the_requests_is_replayed() {
    let cached = Cached::new();
    let server = FaultServer::start(|_| Reply::chat("42"));
    let request = ask("How much?");
    let live = ask_model(&cached.model(&server), &request).await.unwrap();
    let [entry] = cached.entries().try_into().unwrap();
    let mut stored: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&entry).unwrap()).unwrap();
    stored["key"] = json!(null);
    std::fs::write(&entry, stored.to_string()).unwrap();
    let model = cached.replayed();
    assert_eq!(ask_model(&model, &request).await.unwrap(), live);
    let error = ask_model(&model, &ask("How many?")).await.unwrap_err();
    let words = "holds no reply to the request of analyst of ";
    assert!(error.message.ends_with(words), "{error}");
}
