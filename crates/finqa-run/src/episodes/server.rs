//! An environment on a server. If the server lists its tasks, each is requested by its index.
//! Otherwise the server chooses a question at each reset; episodes are then planned by seed, and a
//! question is known only from its episode.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::address::Address;
use super::error::RemoteError;
use super::question::{identity, planned, question_of};
use super::remote::RemoteSession;
use super::sessions::{Note, SessionPool};
use super::tasks::ServerTasks;
use finqa_agents::solve::{
    EnvironmentError, EpisodeQuestion, EpisodeSession, StartedEpisode, StepReply, ToolEnvironment,
};
use finqa_journal::run::PlannedQuestion;
use finqa_score::dataset::{Gold, Question};

/// Number of refused resets to repeat before an episode fails. OpenEnv's finqa_env refuses a
/// question if its CSV reader takes a cell of it for a missing value. Set by hand.
const MAX_REFUSALS: u32 = 20;

/// An environment on a server, with a pool of sessions.
pub struct ServerEnvironment {
    sessions: Arc<SessionPool>,
    /// The server's tasks; `None` if it does not list them.
    tasks: Option<ServerTasks>,
    seed: Option<u64>,
}

impl ServerEnvironment {
    /// Connects to a server and reads its tasks. `note` is called with lines for the user.
    ///
    /// # Errors
    /// No session can be opened on the server.
    pub async fn connect(
        address: Address,
        seed: Option<u64>,
        note: Note,
    ) -> Result<Self, RemoteError> {
        let sessions = SessionPool::new(address.clone(), note);
        sessions.put_back(Some(sessions.take().await?));
        Ok(Self {
            sessions: Arc::new(sessions),
            tasks: ServerTasks::list(&address).await,
            seed,
        })
    }

    /// True if the server lists its tasks. Each question is then known before its episode.
    pub(crate) fn lists_tasks(&self) -> bool {
        self.tasks.is_some()
    }

    /// Plans the first `n` tasks, in an order drawn from the seed, or in the server's order. Each
    /// question is planned once. If the server lists no tasks, plans `n` episodes whose questions
    /// the server will choose.
    pub fn plan(&self, n: Option<usize>) -> Vec<PlannedQuestion> {
        if let Some(tasks) = &self.tasks {
            return tasks.questions.plan(self.seed, n, |_| Gold::default());
        }
        let episode = |index: usize| {
            let unknown = EpisodeQuestion {
                id: (index + 1).to_string(),
                ..EpisodeQuestion::default()
            };
            planned(question_of(&unknown), index, Gold::default())
        };
        // Without `n` the plan is empty, and the caller's error asks for `--n`.
        (0..n.unwrap_or_default()).map(episode).collect()
    }

    /// Closes the idle sessions as the protocol prescribes.
    pub async fn close(&self) {
        self.sessions.close().await;
    }

    /// The data of the reset that begins a question's episode. `None` if the server does not have
    /// the question.
    fn reset_data(&self, question: &Question) -> Option<Value> {
        match &self.tasks {
            Some(tasks) => {
                let at = tasks.questions.place(question)?;
                let (split, index) = tasks.places.get(at)?;
                Some(json!({"split": split, "index": index}))
            }
            None => {
                // Episodes are numbered from 1 and use consecutive seeds, which begin at 0 without
                // `--seed`.
                let number: u64 = question.key.id.parse().ok()?;
                let seed = self.seed.unwrap_or_default();
                Some(json!({"seed": seed.wrapping_add(number - 1)}))
            }
        }
    }

    /// Resets a session until the server asks a question. Only a server without a list of tasks may
    /// refuse a reset, up to [`MAX_REFUSALS`] times.
    async fn reset(
        &self,
        session: &mut RemoteSession,
        data: &Value,
    ) -> Result<EpisodeQuestion, RemoteError> {
        // Errors with these codes do not end the session, so the reset can be repeated.
        const REFUSED: [&str; 2] = ["EXECUTION_ERROR", "VALIDATION_ERROR"];
        let mut refusals = 0;
        loop {
            let message = match session.reset(data).await {
                Err(RemoteError::Answer { code, message, .. })
                    if !self.lists_tasks()
                        && REFUSED.contains(&code.as_str())
                        && refusals < MAX_REFUSALS =>
                {
                    message
                }
                other => return other,
            };
            // Only the first refusal is noted, because many more may follow.
            if refusals == 0 {
                let line = format!("a question was refused by the environment: {message}");
                (self.sessions.note)(line);
            }
            refusals += 1;
        }
    }
}

#[async_trait]
impl ToolEnvironment for ServerEnvironment {
    async fn begin(&self, question: &Question) -> Result<StartedEpisode, EnvironmentError> {
        let failed = |message: String| EnvironmentError {
            message,
            fatal: None,
        };
        let data = self.reset_data(question);
        let data =
            data.ok_or_else(|| failed(format!("the server has no question {}", question.key)))?;
        let since = Instant::now();
        let mut remote = self.sessions.take().await.map_err(|error| {
            let over = !error.may_pass() || self.sessions.count_loss(since, &error);
            EnvironmentError {
                message: error.to_string(),
                fatal: over.then(|| error.fault()),
            }
        })?;
        let asked = self.reset(&mut remote, &data).await;
        // Created before the reset's error is returned, because its `drop` tells the pool that the
        // session is not in use any more.
        let mut session = ServerSession {
            pool: Arc::clone(&self.sessions),
            session: Some(remote),
        };
        let asked = asked.map_err(|error| {
            let mut lost = session.lost(&error);
            if matches!(error, RemoteError::Protocol { .. }) {
                // The run ends, because a server that asks no question is not an environment.
                lost.fatal = Some(error.fault());
            }
            lost
        })?;
        if self.lists_tasks() && identity(&question_of(&asked)) != identity(question) {
            return Err(failed(format!(
                "the server asks another question than its task {data} of the list"
            )));
        }
        Ok((asked, Box::new(session)))
    }
}

/// An episode on a server. Dropping it returns its session to the pool.
struct ServerSession {
    pool: Arc<SessionPool>,
    /// `None` once the session is lost.
    session: Option<RemoteSession>,
}

impl ServerSession {
    fn remote(&mut self) -> Result<&mut RemoteSession, EnvironmentError> {
        self.session.as_mut().ok_or_else(|| EnvironmentError {
            message: "the session is lost".to_owned(),
            fatal: None,
        })
    }

    /// Drops the session and counts its loss. The error is fatal if the server is given up.
    fn lost(&mut self, error: &RemoteError) -> EnvironmentError {
        let session = self.session.take();
        let over = session.is_some_and(|session| self.pool.count_loss(session.opened, error));
        EnvironmentError {
            message: error.to_string(),
            fatal: over.then(|| error.fault()),
        }
    }
}

impl Drop for ServerSession {
    fn drop(&mut self) {
        self.pool.put_back(self.session.take());
    }
}

#[async_trait]
impl EpisodeSession for ServerSession {
    async fn step(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<StepReply, EnvironmentError> {
        let stepped = self.remote()?.step(tool, arguments).await;
        stepped.map_err(|error| self.lost(&error))
    }

    async fn ground_truth(&mut self) -> Result<Option<String>, EnvironmentError> {
        let truth = self.remote()?.ground_truth().await;
        let truth = truth.map_err(|error| self.lost(&error))?;
        Ok(Some(truth).filter(|truth| !truth.is_empty()))
    }
}
