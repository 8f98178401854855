//! An environment behind a WebSocket, whose server deals the questions.
//!
//! The protocol lets nobody ask for a question by name: a reset deals the next
//! one. So every session walks through the questions and offers those that were
//! not dealt before; once it is dealt what it was dealt already, it has seen them
//! all. On a server that honours seeds, all sessions walk in the same order, and
//! `--n 10` means the first ten of it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::address::Address;
use super::error::RemoteError;
use super::question::{AskedKey, asked_key, planned};
use super::remote::Remote;
use crate::dataset::{Gold, Question};
use crate::run::{Dealer, DealtQuestion, Planned, Row};
use finqa_agents::agents::{Call, RunFailure};
use finqa_agents::models::Role;
use finqa_agents::solve::{
    AskedQuestion, BegunEpisode, EnvironmentError, EpisodeSession, StepReply, ToolEnvironment,
};

/// Questions dealt again, one after the other, after which a session has seen
/// all there are; a single one may stand twice in the data.
const REPEATS: u32 = 3;

/// Resets refused one after the other after which a session is given up:
/// OpenEnv's finqa_env refuses questions whose cells its CSV reader takes for
/// missing.
const REFUSALS: u32 = 20;

/// Sessions lost one after the other, with no episode ended in between, after
/// which the server is given up.
const BROKEN: u32 = 3;

/// How long a full server is asked again: OpenEnv's finqa_env frees a slot late.
const FULL_WAITS: [u64; 5] = [100, 300, 600, 1000, 2000];

/// A callback for lines that a person should see.
pub type Note = Box<dyn Fn(String) + Send + Sync>;

/// An environment's server and the sessions that are open on it.
pub struct ServerEnvironment {
    address: Address,
    seed: u64,
    note: Note,
    sessions: Mutex<Sessions>,
    /// A session has become idle, or is lost.
    freed: Notify,
}

#[derive(Default)]
struct Sessions {
    idle: Vec<DealtSession>,
    /// Sessions in which a question was dealt whose episode is about to begin.
    dealt: HashMap<AskedKey, (AskedQuestion, DealtSession)>,
    /// Sessions that exist, those in play among them.
    open: usize,
    /// Whether the server has no other session.
    full: bool,
}

/// A session, and what it was dealt.
#[derive(Default)]
struct DealtSession {
    /// The socket; absent where it was lost.
    remote: Option<Remote>,
    begun: bool,
    dealt: HashSet<AskedKey>,
    repeats: u32,
    /// How many sockets in a row were lost.
    broken: u32,
}

impl ServerEnvironment {
    /// The environment at an address; `note` is called with what should be known.
    /// Without a seed the order of questions is one that is the same every time.
    #[must_use]
    pub fn new(address: Address, seed: Option<u64>, note: Note) -> Arc<Self> {
        Arc::new(Self {
            address,
            seed: seed.unwrap_or_default(),
            note,
            sessions: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// Ends the sessions in order.
    pub async fn close(&self) {
        let (idle, dealt) = {
            let mut sessions = self.sessions();
            let idle = std::mem::take(&mut sessions.idle);
            (idle, std::mem::take(&mut sessions.dealt))
        };
        let dealt = dealt.into_values().map(|(_, session)| session);
        let remotes = idle
            .into_iter()
            .chain(dealt)
            .filter_map(|session| session.remote);
        join_all(remotes.map(Remote::close)).await;
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session in which no episode is played: one that is idle, else a new one,
    /// else the next that becomes idle.
    async fn session(&self) -> Result<DealtSession, RemoteError> {
        let mut waits = FULL_WAITS.into_iter();
        loop {
            let (idle, others, full) = {
                let mut sessions = self.sessions();
                (sessions.idle.pop(), sessions.open, sessions.full)
            };
            let is_new = idle.is_none();
            match idle {
                Some(session) if session.remote.is_some() => return Ok(session),
                None if full && others > 0 => {
                    self.freed.notified().await;
                    continue;
                }
                _ => {}
            }
            let broken = idle.map_or(0, |lost| lost.broken);
            match Remote::open(&self.address).await {
                Ok(remote) => {
                    self.sessions().open += usize::from(is_new);
                    return Ok(DealtSession {
                        remote: Some(remote),
                        broken,
                        ..DealtSession::default()
                    });
                }
                Err(full @ RemoteError::Full { .. }) => {
                    let others = {
                        let mut sessions = self.sessions();
                        sessions.open -= usize::from(!is_new);
                        sessions.open
                    };
                    match waits.next() {
                        Some(millis) => {
                            let wait = Duration::from_millis(millis);
                            let _ = tokio::time::timeout(wait, self.freed.notified()).await;
                        }
                        None if others > 0 => {
                            (self.note)(format!("{full}: continuing with fewer sessions"));
                            self.sessions().full = true;
                        }
                        None => return Err(full),
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Puts a session back, its socket perhaps `lost`; whether the server is to be
    /// given up.
    fn put_back(&self, mut session: DealtSession, lost: bool) -> bool {
        if lost {
            session.broken += 1;
            session.remote = None;
            session.dealt.clear();
        } else {
            session.broken = 0;
        }
        let over = session.broken >= BROKEN;
        self.sessions().idle.push(session);
        self.freed.notify_one();
        over
    }

    /// Resets until a question is dealt that is wanted; `None` once a session has
    /// seen them all, from here on if it is to walk `anew`. The session waits for
    /// its episode to begin.
    async fn deal(
        &self,
        anew: bool,
        wanted: impl Fn(&AskedKey) -> bool,
    ) -> Result<Option<Planned>, RemoteError> {
        loop {
            let mut session = self.session().await?;
            if anew {
                session.dealt.clear();
                session.repeats = 0;
            }
            match self.next(&mut session, &wanted).await {
                Ok(None) => {
                    self.put_back(session, false);
                    return Ok(None);
                }
                Ok(Some(asked)) => {
                    let planned = planned(&asked, 0, Gold::default());
                    let key = asked_key(&planned.case.question);
                    self.sessions().dealt.insert(key, (asked, session));
                    return Ok(Some(planned));
                }
                Err(error) => {
                    if self.put_back(session, true) {
                        return Err(error);
                    }
                }
            }
        }
    }

    async fn next(
        &self,
        session: &mut DealtSession,
        wanted: impl Fn(&AskedKey) -> bool,
    ) -> Result<Option<AskedQuestion>, RemoteError> {
        let mut refusals = 0;
        let Some(remote) = &mut session.remote else {
            return Ok(None);
        };
        loop {
            let begun = std::mem::replace(&mut session.begun, true);
            let asked = match remote.reset((!begun).then_some(self.seed)).await {
                Ok(asked) => asked,
                Err(RemoteError::Answer { code, message, .. })
                    if refusals < REFUSALS
                        && ["EXECUTION_ERROR", "VALIDATION_ERROR"].contains(&code.as_str()) =>
                {
                    refusals += 1;
                    if refusals == 1 {
                        (self.note)(format!(
                            "a question was refused by the environment: {message}"
                        ));
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            refusals = 0;
            let key = asked_key(&planned(&asked, 0, Gold::default()).case.question);
            if session.dealt.insert(key.clone()) {
                session.repeats = 0;
            } else {
                session.repeats += 1;
                if session.repeats >= REPEATS {
                    return Ok(None);
                }
            }
            if wanted(&key) {
                return Ok(Some(asked));
            }
        }
    }
}

/// Deals the questions of a server to a run.
pub struct ServerDealer {
    environment: Arc<ServerEnvironment>,
    taken: HashSet<AskedKey>,
    /// Questions that may still be dealt.
    left: usize,
    /// Questions that an earlier process began, by the message that asks a model:
    /// their calls are recalled under the same index.
    begun: HashMap<String, (usize, Vec<Call>)>,
    next_index: usize,
}

impl ServerDealer {
    /// Deals `n` questions at most, those of an earlier process among them.
    #[must_use]
    pub fn new(environment: Arc<ServerEnvironment>, n: usize) -> Self {
        Self {
            environment,
            taken: HashSet::new(),
            left: n,
            begun: HashMap::new(),
            next_index: 0,
        }
    }
}

impl Dealer for ServerDealer {
    fn answered(&mut self, row: &Row) {
        let key = (row.key.clone(), row.filename.clone(), row.question.clone());
        self.taken.insert(key);
        self.left = self.left.saturating_sub(1);
        self.next_index = self.next_index.max(row.index + 1);
    }

    fn begun(&mut self, index: usize, calls: Vec<Call>) {
        self.next_index = self.next_index.max(index + 1);
        let messages = calls.iter().flat_map(|call| &call.messages);
        let asked = messages.clone().find(|message| message.role == Role::User);
        if let Some(asked) = asked.map(|message| message.content.clone()) {
            self.begun.insert(asked, (index, calls));
        }
    }

    fn deal(&mut self) -> BoxFuture<'_, Result<Option<DealtQuestion>, RunFailure>> {
        async move {
            if self.left == 0 {
                return Ok(None);
            }
            let taken = &self.taken;
            let dealt = self
                .environment
                .deal(false, |key| !taken.contains(key))
                .await?;
            let Some(mut planned) = dealt else {
                return Ok(None);
            };
            let key = asked_key(&planned.case.question);
            let prompt = {
                let sessions = self.environment.sessions();
                sessions.dealt.get(&key).map(|(asked, _)| asked.prompt())
            };
            let begun = prompt.and_then(|prompt| self.begun.remove(&prompt));
            let (index, calls) = begun.unwrap_or_else(|| {
                self.next_index += 1;
                (self.next_index - 1, Vec::new())
            });
            planned.index = index;
            self.taken.insert(key);
            self.left -= 1;
            Ok(Some((planned, calls)))
        }
        .boxed()
    }
}

/// The environment as the agent plays in it.
pub struct ServerEpisodes(pub Arc<ServerEnvironment>);

impl ToolEnvironment for ServerEpisodes {
    fn begin<'a>(
        &'a self,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<BegunEpisode, EnvironmentError>> {
        async move {
            let key = asked_key(question);
            let dealt = || self.0.sessions().dealt.remove(&key);
            let mut waiting = dealt();
            if waiting.is_none() {
                // An episode that failed is played again: its question has to be
                // dealt once more.
                let found = self.0.deal(true, |other| *other == key).await;
                let found = found.map_err(|error| EnvironmentError {
                    message: error.to_string(),
                    fatal: Some(error.fault()),
                })?;
                waiting = found.and_then(|_| dealt());
            }
            let (asked, session) = waiting.ok_or_else(|| EnvironmentError {
                message: format!("the server no longer deals the question {}", question.key),
                fatal: None,
            })?;
            let session = ServerSession {
                environment: Arc::clone(&self.0),
                session: Some(session),
            };
            let begun: BegunEpisode = (asked, Box::new(session));
            Ok(begun)
        }
        .boxed()
    }
}

/// An episode on a server; the session is put back when it is dropped.
struct ServerSession {
    environment: Arc<ServerEnvironment>,
    /// Absent once it is lost.
    session: Option<DealtSession>,
}

impl ServerSession {
    fn remote(&mut self) -> Result<&mut Remote, EnvironmentError> {
        let remote = self.session.as_mut().and_then(|s| s.remote.as_mut());
        remote.ok_or_else(|| EnvironmentError {
            message: "the session is lost".to_owned(),
            fatal: None,
        })
    }

    fn lost(&mut self, error: &RemoteError) -> EnvironmentError {
        let session = self.session.take();
        let over = session.is_some_and(|session| self.environment.put_back(session, true));
        EnvironmentError {
            message: error.to_string(),
            fatal: over.then(|| error.fault()),
        }
    }
}

impl Drop for ServerSession {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.environment.put_back(session, false);
        }
    }
}

impl EpisodeSession for ServerSession {
    fn step<'a>(
        &'a mut self,
        tool: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<StepReply, EnvironmentError>> {
        async move {
            let stepped = self.remote()?.step(tool, arguments).await;
            stepped.map_err(|error| self.lost(&error))
        }
        .boxed()
    }

    fn ground_truth(&mut self) -> BoxFuture<'_, Result<Option<String>, EnvironmentError>> {
        async move {
            let truth = self.remote()?.ground_truth().await;
            let truth = truth.map_err(|error| self.lost(&error))?;
            Ok(Some(truth).filter(|truth| !truth.is_empty()))
        }
        .boxed()
    }
}
