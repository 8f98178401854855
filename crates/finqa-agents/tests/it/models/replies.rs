//! Tests stored replies: which are stored, reused and replayed, and how damaged entries are
//! handled.

use std::path::{Path, PathBuf};

use finqa_agents::llm::{RepliesError, StoredReplies};
use rstest::rstest;

use super::*;

mod replay;

const SERVER: &str = "openai http://a/v1 m";

/// A folder of stored replies, and the warnings about it.
struct Cached {
    folder: tempfile::TempDir,
    warnings: Arc<Mutex<Vec<String>>>,
}

impl Cached {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            warnings: Arc::default(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn cache(&self) -> Arc<StoredReplies> {
        let warnings = Arc::clone(&self.warnings);
        let warn = Arc::new(move |line: &str| warnings.lock().unwrap().push(line.to_owned()));
        Arc::new(StoredReplies::reuse(&self.path(), warn).unwrap())
    }

    fn model(&self, server: &FaultServer) -> Arc<dyn ChatModel> {
        let model = HttpModel::new(openai(server)).unwrap();
        self.cache().wrap(Arc::new(model), SERVER)
    }

    /// A model that uses only the folder. Its server does not exist.
    fn replayed(&self) -> Arc<dyn ChatModel> {
        let vars = [
            ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
            ("OPENAI_API_KEY", "none"),
        ];
        let model = HttpModel::new(settings(&vars, "gpt-4o")).unwrap();
        let replies = Arc::new(StoredReplies::replay(&self.path()).unwrap());
        replies.wrap(Arc::new(model), SERVER)
    }

    fn entries(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in std::fs::read_dir(self.path()).unwrap().flatten() {
            if let Ok(files) = std::fs::read_dir(folder.path()) {
                found.extend(files.flatten().map(|entry| entry.path()));
            }
        }
        found
    }

    fn warned(&self) -> Vec<String> {
        self.warnings.lock().unwrap().clone()
    }
}

async fn ask_model(
    model: &Arc<dyn ChatModel>,
    request: &ChatRequest,
) -> Result<ChatReply, ModelError> {
    model.chat(request, &Stop::default()).await
}

#[tokio::test]
async fn a_stored_reply_is_given_again_without_a_request() {
    let cached = Cached::new();
    let server = FaultServer::start(|_| Reply::chat("42").header("x-request-id", "req_1"));
    let request = ask("How much?");
    let first = ask_model(&cached.model(&server), &request).await.unwrap();
    // A second model, as another process has it.
    let second = ask_model(&cached.model(&server), &request).await.unwrap();
    assert_eq!(server.count(), 1);
    assert!(!first.cached && second.cached);
    assert_eq!((first.attempts, second.attempts, second.lost), (1, 0, 0));
    let expected = ChatReply {
        attempts: 0,
        cached: true,
        ..first
    };
    assert_eq!(second, expected);
}

#[tokio::test]
async fn whatever_changes_the_reply_is_part_of_the_key() {
    let cached = Cached::new();
    let server = FaultServer::start(|_| Reply::chat("42"));
    let model = cached.model(&server);
    let plain = ask("How much?");
    let changes: [fn(&mut ChatRequest); 10] = [
        |_| (),
        |request| request.messages = ask("How many?").messages,
        |request| request.temperature = Some(0.0),
        |request| request.temperature = Some(0.5),
        |request| request.seed = Some(1),
        |request| request.max_output_tokens = Some(9),
        |request| {
            request.format = ReplyFormat::JsonSchema {
                name: "answer".into(),
                schema: json!({}),
                strict: true,
                or_text: false,
            };
        },
        |request| request.node = "analyst#2".into(),
        |request| request.origin.epoch = 1,
        |request| request.origin.repeat = 1,
    ];
    let requests = changes.map(|change| {
        let mut request = plain.clone();
        change(&mut request);
        request
    });
    for request in requests.iter().chain(&requests) {
        ask_model(&model, request).await.unwrap();
    }
    assert_eq!(server.count(), requests.len());
    // An equal request about another question gets the same reply.
    let mut other = plain.clone();
    other.origin.question = "q".to_owned();
    assert!(ask_model(&model, &other).await.unwrap().cached);
    let elsewhere = Arc::new(HttpModel::new(openai(&server)).unwrap());
    let elsewhere = cached.cache().wrap(elsewhere, "openai http://b/v1 m");
    assert!(!ask_model(&elsewhere, &plain).await.unwrap().cached);
}

fn refusal(content: &str) -> Reply {
    let mut refusal = completion(content, "stop");
    refusal["choices"][0]["message"]["refusal"] = json!("I cannot help with that.");
    Reply::json(200, &refusal)
}

/// When the outcome of a call is used again.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kept {
    /// In a run and in a replay.
    Reused,
    /// Only in a replay.
    Replayed,
    Nowhere,
}

/// A refusal settles its call, as an answer does. A request with a failure that may pass is sent
/// again.
#[rstest]
#[case::refusal(refusal(""), Kept::Reused)]
#[case::refusal_in_words(refusal("I am sorry."), Kept::Reused)]
#[case::filtered_answer(Reply::json(200, &completion("In 20", "content_filter")), Kept::Reused)]
#[case::filtered_prompt(Reply::content_filter(), Kept::Reused)]
#[case::truncated(Reply::json(200, &completion("In 20", "length")), Kept::Reused)]
#[case::status_400(Reply::error(400, "invalid_request_error", "no"), Kept::Reused)]
#[case::status_400_of_unknown_meaning(Reply::error(400, "x", "no"), Kept::Replayed)]
#[case::too_long(Reply::error(400, "context_length_exceeded", "no"), Kept::Reused)]
#[case::error_for_a_reason(Reply::json(200, &completion("Bad gateway", "error")), Kept::Replayed)]
#[case::unknown_word_with_an_answer(Reply::json(200, &completion("In 2019", "frobnicated")), Kept::Replayed)]
#[case::no_word_with_an_answer(Reply::json(200, &completion("In 2019", "")), Kept::Reused)]
#[case::unknown_word_with_an_object(Reply::json(200, &completion("{\"answer\": 1}", "frobnicated")), Kept::Reused)]
#[case::unknown_word_with_a_cut_object(Reply::json(200, &completion("{\"answer\": 1", "frobnicated")), Kept::Replayed)]
#[case::empty(Reply::json(200, &completion("", "stop")), Kept::Replayed)]
#[case::blank(Reply::json(200, &completion(" \n", "stop")), Kept::Replayed)]
#[case::status_401(Reply::error(401, "x", "no"), Kept::Nowhere)]
#[case::status_404(Reply::error(404, "x", "no"), Kept::Nowhere)]
#[case::status_429(Reply::error(429, "x", "no"), Kept::Nowhere)]
#[case::status_500(Reply::error(500, "x", "no"), Kept::Nowhere)]
#[case::connection_reset(Reply::reset(), Kept::Nowhere)]
#[case::error_for_a_body(Reply::json(200, &json!({"error": {"code": 502, "message": "upstream"}})), Kept::Nowhere)]
#[case::web_page(Reply::plain(200, "<html>busy</html>"), Kept::Nowhere)]
#[tokio::test]
async fn what_settled_a_call_is_stored_and_what_may_pass_is_not(
    #[case] reply: Reply,
    #[case] kept: Kept,
) {
    let told = format!("{reply:?}");
    let cached = Cached::new();
    let server = FaultServer::start(move |_| reply.clone());
    let connection = ModelConnection {
        retry: RetryOptions {
            max_attempts: 1,
            ..QUICK
        },
        ..openai(&server)
    };
    let model = Arc::new(HttpModel::new(connection).unwrap());
    let model = cached.cache().wrap(model, SERVER);
    let first = ask_model(&model, &ask("How much?")).await;
    let again = ask_model(&model, &ask("How much?")).await;
    let sent = 2 - usize::from(kept == Kept::Reused);
    assert_eq!(server.count(), sent, "{told} {again:?}");
    let replayed = ask_model(&cached.replayed(), &ask("How much?")).await;
    match (&replayed, &first) {
        _ if kept == Kept::Nowhere => {
            assert_eq!(cached.entries().len(), 0, "{told}");
            assert_eq!(replayed.unwrap_err().kind, ErrorKind::NotStored, "{told}");
        }
        (Ok(replayed), Ok(first)) => {
            assert_eq!(replayed.content, first.content);
            assert_eq!(replayed.usage, first.usage);
            assert_eq!((replayed.attempts, replayed.cached), (1, false));
            assert!(replayed.latency > Duration::ZERO);
        }
        (Err(replayed), Err(first)) => {
            assert_eq!(replayed.to_string(), first.to_string());
            let of = |error: &ModelError| (error.attempts, error.lost, error.scope());
            assert_eq!(of(replayed), of(first));
        }
        (replayed, first) => panic!("{told}: {first:?} {replayed:?}"),
    }
}

#[tokio::test]
async fn a_cancelled_call_is_never_stored() {
    let cached = Cached::new();
    let server = FaultServer::start(|_| Reply::hang());
    let model = cached.model(&server);
    let stop = Stop::default();
    let request = ask("How much?");
    let asking = model.chat(&request, &stop);
    let cancel = async {
        while server.count() == 0 {
            tokio::task::yield_now().await;
        }
        stop.abort.cancel();
    };
    let (outcome, ()) = tokio::join!(asking, cancel);
    assert_eq!(outcome.unwrap_err().kind, ErrorKind::Cancelled);
    assert_eq!(cached.entries().len(), 0);
}

/// Both requests were once sent and paid for.
#[tokio::test]
async fn of_equal_requests_at_the_same_time_the_second_waits_for_the_first() {
    let cached = Cached::new();
    let server = FaultServer::start(|_| Reply::chat("42").after(Duration::from_millis(50)));
    let model = cached.model(&server);
    let (request, other) = (ask("How much?"), ask("How many?"));
    let [one, two, three] = [&request, &request, &other].map(|it| ask_model(&model, it));
    let (one, two, three) = tokio::join!(one, two, three);
    let cached = [one, two, three].map(|reply| reply.unwrap().cached);
    assert_eq!((cached, server.count()), ([false, true, false], 2));
}

#[tokio::test]
async fn a_damaged_entry_is_a_miss_with_a_warning_and_replaced() {
    let cached = Cached::new();
    let server = FaultServer::start(|_| Reply::chat("42"));
    let model = cached.model(&server);
    ask_model(&model, &ask("How many?")).await.unwrap();
    let other = std::fs::read(&cached.entries()[0]).unwrap();
    std::fs::remove_file(&cached.entries()[0]).unwrap();
    ask_model(&model, &ask("How much?")).await.unwrap();
    let path = cached.entries().remove(0);
    let whole = std::fs::read_to_string(&path).unwrap();
    let newer = whole.replace("{\"version\":1", "{\"version\":2");
    let half = &whole.as_bytes()[..whole.len() / 2];
    for damaged in [b"", half, b"{}", b"\xff", &other, newer.as_bytes()] {
        std::fs::write(&path, damaged).unwrap();
        cached.warnings.lock().unwrap().clear();
        assert!(!ask_model(&model, &ask("How much?")).await.unwrap().cached);
        let warned = cached.warned();
        assert_eq!(warned.len(), 1, "{warned:?}");
        assert!(warned[0].contains("is damaged ("), "{warned:?}");
        assert!(ask_model(&model, &ask("How much?")).await.unwrap().cached);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_cannot_be_written_warns_once_and_fails_nothing() {
    let cached = Cached::new();
    let server = FaultServer::start(|_| Reply::chat("42"));
    let model = cached.model(&server);
    // Files with the names of the entries' folders make writing fail for every user, as on a full
    // disk.
    for first in 0..=255_u8 {
        std::fs::write(cached.path().join(format!("{first:02x}")), "").unwrap();
    }
    for text in ["a", "b"] {
        assert_eq!(ask_model(&model, &ask(text)).await.unwrap().content, "42");
    }
    let mut warned = cached.warned();
    warned.retain(|line| line.contains("cannot be written"));
    assert_eq!(warned.len(), 1);
}

#[test]
fn only_a_folder_of_replies_or_an_empty_one_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| StoredReplies::reuse(path, Arc::new(|_: &str| {}));
    let mine = folder.path().join("mine.txt");
    std::fs::write(&mine, "mine").unwrap();
    for opened in [open(folder.path()), StoredReplies::replay(folder.path())] {
        assert!(matches!(opened, Err(RepliesError::Foreign { .. })));
    }
    assert!(matches!(open(&mine), Err(RepliesError::Folder { .. })));
    let path = folder.path().join("a/cache");
    let replies = open(&path).unwrap();
    assert_eq!(replies.run().unwrap(), None);
    replies.begin_run(json!({"id": "x"})).unwrap();
    let again = StoredReplies::replay(&path).unwrap();
    assert_eq!(again.run().unwrap(), Some(json!({"id": "x"})));
    std::fs::write(path.join("replies.json"), r#"{"convfinqa_replies":2}"#).unwrap();
    let error = open(&path).err().unwrap().to_string();
    let words = "holds replies of version 2; this program reads version 1";
    assert!(error.ends_with(words), "{error}");
}
