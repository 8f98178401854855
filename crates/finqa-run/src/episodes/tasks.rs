//! Lists a server's tasks over an HTTP route that OpenEnv's core has since 0.4.2.

use secrecy::ExposeSecret;
use serde::Deserialize;
use serde_json::json;

use super::address::Address;
use super::question::QuestionList;
use super::remote::CONNECT_TIMEOUT;
use finqa_agents::llm;
use finqa_agents::solve::EpisodeQuestion;

/// The splits that our server has (`TaskSplit`).
const SPLITS: [&str; 3] = ["train", "validation", "test"];

/// The tasks that a server lists.
pub(super) struct ServerTasks {
    pub(super) questions: QuestionList,
    /// For each question, the split and the index by which a reset requests it.
    pub(super) places: Vec<(&'static str, usize)>,
}

#[derive(Deserialize)]
struct TaskList {
    tasks: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    index: usize,
    question_id: String,
    company: String,
    question: String,
}

impl ServerTasks {
    /// Lists all tasks of a server. `None` if the server does not list them with their questions
    /// (OpenEnv's own finqa_env does not), or if the list cannot be read.
    pub(super) async fn list(address: &Address) -> Option<Self> {
        let (mut questions, mut places) = (Vec::new(), Vec::new());
        for split in SPLITS {
            for task in one_split(address, split).await?.tasks {
                questions.push(EpisodeQuestion {
                    id: task.question_id,
                    text: task.question,
                    company: task.company,
                });
                places.push((split, task.index));
            }
        }
        let is_asked = |question: &EpisodeQuestion| !question.text.is_empty();
        let lists = !questions.is_empty() && questions.iter().all(is_asked);
        lists.then(|| Self {
            questions: QuestionList::new(questions.into_iter()),
            places,
        })
    }
}

/// The tasks of a split; `None` if the request fails or its answer is not a list of tasks.
async fn one_split(address: &Address, split: &str) -> Option<TaskList> {
    let mut url = address.url.clone();
    let root = url.path().trim_end_matches('/').trim_end_matches("/ws");
    let path = format!("{root}/finqa_env/tasks");
    url.set_path(&path);
    let client = llm::upgrade_client(address.is_loopback()).ok()?;
    let mut request = client
        .post(url)
        // A minute, as for an answer over the WebSocket.
        .timeout(CONNECT_TIMEOUT * 6)
        .json(&json!({ "split": split }));
    if let Some(token) = &address.token {
        request = request.bearer_auth(token.expose_secret());
    }
    let answer = request.send().await.ok()?.error_for_status().ok()?;
    answer.json().await.ok()
}
