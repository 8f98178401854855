//! The questions that a server chooses, one after the other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use async_trait::async_trait;

use super::question::QuestionIdentity;
use super::sessions::SessionPool;
use crate::run::{QuestionSource, Row, StartedQuestion};
use finqa_agents::llm::Role;
use finqa_agents::pair::{Call, RunFailure};

/// The questions that a server chooses.
pub(crate) struct ServerQuestions {
    sessions: Arc<SessionPool>,
    asked: HashSet<QuestionIdentity>,
    /// Questions that may still be asked.
    left: usize,
    /// Questions that an earlier process began, by the message that asks a model:
    /// their calls are recalled under the same index.
    started: HashMap<String, (usize, Vec<Call>)>,
    next_index: usize,
}

impl ServerQuestions {
    /// At most `n` questions, including those of earlier processes.
    pub(crate) fn new(sessions: Arc<SessionPool>, n: usize) -> Self {
        Self {
            sessions,
            asked: HashSet::new(),
            left: n,
            started: HashMap::new(),
            next_index: 0,
        }
    }
}

#[async_trait]
impl QuestionSource for ServerQuestions {
    fn skip_answered(&mut self, row: &Row) {
        self.asked.insert(QuestionIdentity::of_row(row));
        self.left = self.left.saturating_sub(1);
        self.next_index = self.next_index.max(row.index + 1);
    }

    fn add_started(&mut self, index: usize, calls: Vec<Call>) {
        self.next_index = self.next_index.max(index + 1);
        let messages = calls.iter().flat_map(|call| &call.messages);
        let asked = messages.clone().find(|message| message.role == Role::User);
        if let Some(asked) = asked.map(|message| message.content.clone()) {
            self.started.insert(asked, (index, calls));
        }
    }

    async fn next_question(&mut self) -> Result<Option<StartedQuestion>, RunFailure> {
        if self.left == 0 {
            return Ok(None);
        }
        let taken = &self.asked;
        let found = self
            .sessions
            .find_question(false, |key| !taken.contains(key))
            .await?;
        let Some(mut planned) = found else {
            return Ok(None);
        };
        let key = QuestionIdentity::of_question(&planned.case.question);
        let prompt = self.sessions.prompt(&key);
        let started = prompt.and_then(|prompt| self.started.remove(&prompt));
        let (index, calls) = started.unwrap_or_else(|| {
            self.next_index += 1;
            (self.next_index - 1, Vec::new())
        });
        planned.index = index;
        self.asked.insert(key);
        self.left -= 1;
        Ok(Some((planned, calls)))
    }
}
