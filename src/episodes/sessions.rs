//! The open sessions of an environment's server, which chooses the questions.
//!
//! The protocol lets nobody ask for a question by name: a reset returns the next
//! one. So every session walks through the questions and offers those that the
//! run has not asked yet; once its own questions repeat, it has seen them all. On a
//! server that honours seeds, all sessions walk in the same order, and `--n 10` means
//! the first ten of it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::address::Address;
use super::error::RemoteError;
use super::question::{QuestionIdentity, planned};
use super::remote::RemoteSession;
use crate::dataset::Gold;
use crate::run::PlannedQuestion;
use finqa_agents::solve::EpisodeQuestion;

/// Consecutive repeated questions after which a session has seen all; a single question may
/// be in the data twice.
const MAX_REPEATS: u32 = 3;

/// Resets refused one after the other after which a session is given up:
/// OpenEnv's finqa_env refuses questions whose cells its CSV reader takes for
/// missing.
const MAX_REFUSALS: u32 = 20;

/// Sessions lost one after the other, with no episode ended in between, after
/// which the server is given up.
const MAX_LOST: u32 = 3;

/// The waits before a full server is asked again: OpenEnv's finqa_env frees a slot late.
const FULL_WAITS: [u64; 5] = [100, 300, 600, 1000, 2000];

/// A callback for lines that a person should see.
pub(crate) type Note = Box<dyn Fn(String) + Send + Sync>;

/// A server and the sessions that are open on it.
pub(crate) struct SessionPool {
    address: Address,
    seed: u64,
    note: Note,
    sessions: Mutex<OpenSessions>,
    /// A session has become idle, or is lost.
    freed: Notify,
}

#[derive(Default)]
struct OpenSessions {
    idle: Vec<PooledSession>,
    /// Sessions with a question whose episode is about to begin.
    waiting: HashMap<QuestionIdentity, (EpisodeQuestion, PooledSession)>,
    /// Sessions that exist, those in play among them.
    open: usize,
    /// The server has no other session.
    full: bool,
}

/// A session and its questions.
#[derive(Default)]
pub(super) struct PooledSession {
    /// The socket; absent where it was lost.
    pub(super) remote: Option<RemoteSession>,
    has_started: bool,
    seen: HashSet<QuestionIdentity>,
    repeats: u32,
    /// Consecutive lost sockets.
    lost: u32,
}

impl SessionPool {
    /// The server at an address; `note` is called with what should be known.
    /// Without a seed the order of questions is one that is the same every time.
    pub(crate) fn new(address: Address, seed: Option<u64>, note: Note) -> Arc<Self> {
        Arc::new(Self {
            address,
            seed: seed.unwrap_or_default(),
            note,
            sessions: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// Ends the sessions in order.
    pub(crate) async fn close(&self) {
        let (idle, waiting) = {
            let mut sessions = self.sessions.lock();
            let idle = std::mem::take(&mut sessions.idle);
            (idle, std::mem::take(&mut sessions.waiting))
        };
        let waiting = waiting.into_values().map(|(_, session)| session);
        let remotes = idle
            .into_iter()
            .chain(waiting)
            .filter_map(|session| session.remote);
        join_all(remotes.map(RemoteSession::close)).await;
    }

    /// The prompt of a question whose session waits.
    pub(super) fn prompt(&self, key: &QuestionIdentity) -> Option<String> {
        let sessions = self.sessions.lock();
        sessions.waiting.get(key).map(|(asked, _)| asked.prompt())
    }

    /// Removes a waiting question and its session, to start its episode.
    pub(super) fn take_waiting(
        &self,
        key: &QuestionIdentity,
    ) -> Option<(EpisodeQuestion, PooledSession)> {
        self.sessions.lock().waiting.remove(key)
    }

    /// A session in which no episode is played: one that is idle, else a new one,
    /// else the next that becomes idle.
    async fn session(&self) -> Result<PooledSession, RemoteError> {
        let mut waits = FULL_WAITS.into_iter();
        loop {
            let (idle, others, full) = {
                let mut sessions = self.sessions.lock();
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
            let broken = idle.map_or(0, |lost| lost.lost);
            match RemoteSession::open(&self.address).await {
                Ok(remote) => {
                    self.sessions.lock().open += usize::from(is_new);
                    return Ok(PooledSession {
                        remote: Some(remote),
                        lost: broken,
                        ..PooledSession::default()
                    });
                }
                Err(full @ RemoteError::Full { .. }) => {
                    let others = {
                        let mut sessions = self.sessions.lock();
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
                            self.sessions.lock().full = true;
                        }
                        None => return Err(full),
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(super) fn put_back(&self, mut session: PooledSession) {
        session.lost = 0;
        self.sessions.lock().idle.push(session);
        self.freed.notify_one();
    }

    /// Puts back a session whose socket is lost; whether the server is to be given up.
    pub(super) fn put_back_lost(&self, session: PooledSession, error: &RemoteError) -> bool {
        let broken = session.lost + 1;
        let others = {
            let mut sessions = self.sessions.lock();
            let others = sessions.idle.iter().any(|idle| idle.remote.is_none());
            sessions.idle.push(PooledSession {
                lost: broken,
                ..PooledSession::default()
            });
            others
        };
        // One line for all sessions that a server takes with it.
        if !others && broken < MAX_LOST {
            (self.note)(format!(
                "{error}; connecting again, interrupted episodes are played again"
            ));
        }
        self.freed.notify_one();
        broken >= MAX_LOST
    }

    /// Resets until a wanted question comes; `None` once a session has seen all questions,
    /// counted from here if `anew`. The session waits for its episode to begin.
    pub(super) async fn find_question(
        &self,
        anew: bool,
        wanted: impl Fn(&QuestionIdentity) -> bool,
    ) -> Result<Option<PlannedQuestion>, RemoteError> {
        loop {
            let mut session = self.session().await?;
            if anew {
                session.seen.clear();
                session.repeats = 0;
            }
            match self.next(&mut session, &wanted).await {
                Ok(None) => {
                    self.put_back(session);
                    return Ok(None);
                }
                Ok(Some(asked)) => {
                    let planned = planned(&asked, 0, Gold::default());
                    let key = QuestionIdentity::of_episode(&asked);
                    self.sessions.lock().waiting.insert(key, (asked, session));
                    return Ok(Some(planned));
                }
                Err(error) => {
                    if self.put_back_lost(session, &error) {
                        return Err(error);
                    }
                }
            }
        }
    }

    async fn next(
        &self,
        session: &mut PooledSession,
        wanted: impl Fn(&QuestionIdentity) -> bool,
    ) -> Result<Option<EpisodeQuestion>, RemoteError> {
        let mut refusals = 0;
        let Some(remote) = &mut session.remote else {
            return Ok(None);
        };
        loop {
            let has_started = std::mem::replace(&mut session.has_started, true);
            let asked = match remote.reset((!has_started).then_some(self.seed)).await {
                Ok(asked) => asked,
                Err(RemoteError::Answer { code, message, .. })
                    if refusals < MAX_REFUSALS
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
            let key = QuestionIdentity::of_episode(&asked);
            if session.seen.insert(key.clone()) {
                session.repeats = 0;
            } else {
                session.repeats += 1;
                if session.repeats >= MAX_REPEATS {
                    return Ok(None);
                }
            }
            if wanted(&key) {
                return Ok(Some(asked));
            }
        }
    }
}
