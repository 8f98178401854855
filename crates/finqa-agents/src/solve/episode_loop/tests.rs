//! Tests episodes with scripted replies and results.

use std::sync::Arc;

use async_trait::async_trait;
use finqa_core::question::{QuestionKey, QuestionKind};
use parking_lot::Mutex;

use super::*;
use crate::llm::ToolSpec;
use crate::pair::{CallMemory, Sampling};

/// Replies or results in order. The last one is repeated.
struct Script<T>(Mutex<Vec<T>>);

impl<T: Clone> Script<T> {
    fn new(mut all: Vec<T>) -> Self {
        all.reverse();
        Self(Mutex::new(all))
    }

    fn next(&self) -> T {
        let mut left = self.0.lock();
        match left.as_slice() {
            [last] => last.clone(),
            _ => left.pop().unwrap(),
        }
    }
}

#[async_trait]
impl EpisodeSession for Script<StepReply> {
    async fn step(
        &mut self,
        _tool: &str,
        _arguments: Map<String, Value>,
    ) -> Result<StepReply, EnvironmentError> {
        Ok(self.next())
    }

    async fn ground_truth(&mut self) -> Result<Option<String>, EnvironmentError> {
        Ok(Some("later".to_owned()))
    }
}

#[async_trait]
impl ChatModel for Script<ChatReply> {
    fn name(&self) -> &str {
        "m"
    }

    async fn chat(&self, _: &ChatRequest, _: &Stop) -> Result<ChatReply, ModelError> {
        Ok(self.next())
    }
}

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: Value::Null,
    };
    ["look", SUBMIT].map(tool).into()
}

#[test]
fn a_trace_shows_the_names_of_tools_and_no_text_of_a_model() {
    let shown = ["look", SUBMIT, "5 %"].map(|name| trace::shown_name(name, &tools()));
    assert_eq!(shown, ["look", SUBMIT, "unknown"]);
}

async fn play(replies: Vec<ChatReply>, results: Vec<StepReply>) -> (Solution, EpisodeRecord) {
    let options = ToolAgentOptions {
        tools: tools(),
        max_steps: 3,
        sampling: Sampling::default(),
        result_chars: 100,
        total_chars: 120,
        recorded: false,
    };
    let question = Question {
        key: QuestionKey {
            id: "q".to_owned(),
            part: String::new(),
        },
        kind: QuestionKind::StandAlone,
        document: Arc::default(),
        text: "what was revenue?".to_owned(),
        history: Vec::new(),
    };
    let stop = Stop::default();
    let calls = RecordedCalls::new(CallMemory::default(), stop.clone(), &question, 0);
    let (model, asked) = (Script::new(replies), EpisodeQuestion::default());
    let episode = EpisodeLoop::new(&model, &options, asked, calls);
    let mut session = Script::new(results);
    let mut solution = episode.play(&mut session, &question, &stop).await.unwrap();
    let record = *solution.episode.take().unwrap();
    (solution, record)
}

fn calling(name: &str, arguments: &str) -> ChatReply {
    ChatReply {
        tool_calls: vec![ToolCall {
            id: name.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        }],
        ..ChatReply::default()
    }
}

/// A server that kept refusing an answer given as text was once asked again without end.
#[tokio::test]
async fn an_answer_as_text_that_is_refused_counts_as_a_step() {
    let refused = StepReply::refused("invalid_args", "no".to_owned());
    let (solution, record) = play(vec![ChatReply::text("5")], vec![refused]).await;
    assert_eq!((record.end, record.steps.len()), (EpisodeEnd::StepLimit, 3));
    assert_eq!((record.invalid_calls(), record.text_replies), (3, 4));
    assert_eq!((record.reward, record.answer), (Some(0.0), None));
    assert_eq!(solution.error.unwrap(), "3 steps without an answer");
    assert_eq!(solution.answer, None);
}

#[tokio::test]
async fn a_submission_ends_an_episode_with_its_reward_and_results_are_cut() {
    let result = StepReply {
        text: Some("x".repeat(150)),
        ..StepReply::default()
    };
    let graded = StepReply {
        reward: Some(1.0),
        done: true,
        ground_truth: Some("5".to_owned()),
        ..StepReply::default()
    };
    let submit = calling(SUBMIT, r#"{"answer": "5"}"#);
    let written = "I look.\n<tool_call>{\"name\": \"look\"}</tool_call>";
    let replies = vec![ChatReply::text(written), calling("look", "[1]"), submit];
    let (solution, record) = play(replies, vec![result, graded]).await;
    assert_eq!(solution.answer.unwrap().printed, "5");
    assert_eq!(record.end, EpisodeEnd::Submitted);
    assert_eq!(
        (record.reward, record.ground_truth.as_deref()),
        (Some(1.0), Some("5"))
    );
    assert_eq!((record.steps.len(), record.invalid_calls()), (3, 1));
    let shown = |at: usize| record.messages[at].content.as_str();
    assert_eq!((shown(2), record.calls_from_text), ("I look.", 1));
    let cut = "\n[cut here: 50 more characters; ask for fewer rows or columns]";
    assert_eq!(shown(3), format!("{}{cut}", "x".repeat(100)));
    // The limit for all results together is used up.
    assert!(shown(5).starts_with("\n[cut here: "), "{}", shown(5));
}

#[tokio::test]
async fn a_reply_that_is_withheld_or_a_text_after_the_reminder_ends_an_episode() {
    let declined = ChatReply {
        refusal: Some("I will not".to_owned()),
        ..ChatReply::default()
    };
    let graded = StepReply {
        done: true,
        ..StepReply::default()
    };
    for (reply, end, answer) in [
        (declined, EpisodeEnd::Refusal, None),
        (ChatReply::text(" "), EpisodeEnd::NoAnswer, None),
        (
            ChatReply::text(" 12.5% "),
            EpisodeEnd::Submitted,
            Some("12.5%"),
        ),
    ] {
        let (solution, record) = play(vec![reply], vec![graded.clone()]).await;
        assert_eq!((record.end, solution.outcome), (end, end.outcome()));
        assert_eq!(record.answer.as_deref(), answer);
        assert_eq!(record.answer_from_text, answer.is_some());
        assert_eq!(record.ground_truth.as_deref(), Some("later"));
    }
}
