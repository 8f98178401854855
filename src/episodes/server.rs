//! An environment behind a WebSocket, as the agent plays in it.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::error::RemoteError;
use super::question::QuestionIdentity;
use super::remote::RemoteSession;
use super::sessions::{PooledSession, SessionPool};
use crate::dataset::Question;
use finqa_agents::solve::{
    EnvironmentError, EpisodeSession, StartedEpisode, StepReply, ToolEnvironment,
};

pub(crate) struct ServerEnvironment(pub Arc<SessionPool>);

#[async_trait]
impl ToolEnvironment for ServerEnvironment {
    async fn begin(&self, question: &Question) -> Result<StartedEpisode, EnvironmentError> {
        let key = QuestionIdentity::of_question(question);
        let take = || self.0.take_waiting(&key);
        let mut waiting = take();
        if waiting.is_none() {
            // An episode that failed is played again: the server has to ask its question
            // again.
            let found = self.0.find_question(true, |other| *other == key).await;
            let found = found.map_err(|error| EnvironmentError {
                message: error.to_string(),
                fatal: Some(error.fault()),
            })?;
            waiting = found.and_then(|_| take());
        }
        let (asked, session) = waiting.ok_or_else(|| EnvironmentError {
            message: format!("the server no longer deals the question {}", question.key),
            fatal: None,
        })?;
        let session = ServerSession {
            pool: Arc::clone(&self.0),
            session: Some(session),
        };
        let started: StartedEpisode = (asked, Box::new(session));
        Ok(started)
    }
}

/// An episode on a server; the session is put back when it is dropped.
struct ServerSession {
    pool: Arc<SessionPool>,
    /// Absent once it is lost.
    session: Option<PooledSession>,
}

impl ServerSession {
    fn remote(&mut self) -> Result<&mut RemoteSession, EnvironmentError> {
        let remote = self.session.as_mut().and_then(|s| s.remote.as_mut());
        remote.ok_or_else(|| EnvironmentError {
            message: "the session is lost".to_owned(),
            fatal: None,
        })
    }

    fn lost(&mut self, error: &RemoteError) -> EnvironmentError {
        let session = self.session.take();
        let over = session.is_some_and(|session| self.pool.put_back_lost(session, error));
        EnvironmentError {
            message: error.to_string(),
            fatal: over.then(|| error.fault()),
        }
    }
}

impl Drop for ServerSession {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.pool.put_back(session);
        }
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
