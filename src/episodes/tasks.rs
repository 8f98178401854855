//! The tasks of a server, by the routes of OpenEnv's cores from 0.4.2 on.

use serde::Deserialize;
use serde_json::json;

use super::address::Address;
use super::remote::{CONNECT_TIMEOUT, MAX_NAME_CHARS, MAX_QUESTION_CHARS};
use finqa_agents::llm;
use finqa_agents::solve::EpisodeQuestion;
use secrecy::ExposeSecret;

/// Most bytes of one split's list: 100,000 questions of 600 bytes.
const MAX_LIST_BYTES: usize = 64 << 20;

const SPLITS: [&str; 3] = ["train", "validation", "test"];

/// A question, and where a reset finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ListedTask {
    pub(super) question: EpisodeQuestion,
    pub(super) split: &'static str,
    pub(super) index: usize,
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

/// All tasks of a server; `None` where it lists none, as OpenEnv's own finqa_env.
pub(super) async fn list(address: &Address) -> Option<Vec<ListedTask>> {
    let mut all = Vec::new();
    for split in SPLITS {
        for task in one_split(address, split).await?.tasks {
            let question = EpisodeQuestion {
                id: task.question_id,
                text: task.question,
                company: task.company,
            };
            all.push(ListedTask {
                question,
                split,
                index: task.index,
            });
        }
    }
    let short = |text: &str, most: usize| text.chars().nth(most).is_none();
    let is_plain = |task: &ListedTask| {
        let EpisodeQuestion { id, text, company } = &task.question;
        let names = [id, company].map(|name| short(name, MAX_NAME_CHARS));
        !text.is_empty() && short(text, MAX_QUESTION_CHARS) && names == [true; 2]
    };
    (!all.is_empty() && all.iter().all(is_plain)).then_some(all)
}

async fn one_split(address: &Address, split: &str) -> Option<TaskList> {
    let mut url = address.url.clone();
    let root = url.path().trim_end_matches('/').trim_end_matches("/ws");
    let path = format!("{root}/finqa_env/tasks");
    url.set_path(&path);
    let client = llm::upgrade_client(CONNECT_TIMEOUT, address.is_loopback()).ok()?;
    let mut request = client
        .post(url)
        .timeout(CONNECT_TIMEOUT * 6)
        .json(&json!({ "split": split }));
    if let Some(token) = &address.token {
        request = request.bearer_auth(token.expose_secret());
    }
    let mut answer = request.send().await.ok()?;
    if answer.status() != 200 {
        return None;
    }
    let mut body = Vec::new();
    while let Some(part) = answer.chunk().await.ok()? {
        if body.len() + part.len() > MAX_LIST_BYTES {
            return None;
        }
        body.extend_from_slice(&part);
    }
    serde_json::from_slice(&body).ok()
}
