//! The sessions that are open, and who holds each: a WebSocket that made its
//! own, or a client that made one by `openenv/session/create` and may attach a
//! WebSocket to it. One session is one environment. A slot is free again the
//! moment its holder lets go.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use finqa_core::text::head;
use parking_lot::Mutex;
use uuid::Uuid;

use crate::episode::Environment;
use crate::server::options::ServerOptions;
use crate::server::state::clients::{Caller, Client, SessionSlot};
use crate::server::state::metrics::{Metrics, Rejection};
use crate::server::state::rate_limit::RateLimit;

/// One session: an environment, taken by one request at a time.
pub(crate) struct EnvSession {
    /// Random, so that knowing it is the right to use it; behind the server's id if it has one.
    pub id: Arc<str>,
    /// The episode in play; never locked while a tool runs.
    pub environment: Mutex<Environment>,
    /// Slows a client that asks too fast.
    pub rate: RateLimit,
    /// Who its queries are counted for.
    pub(crate) caller: Caller,
    born: Instant,
    /// Milliseconds after `born` of the last request.
    used: AtomicU64,
}

impl EnvSession {
    /// Notes that the session is in use.
    pub(crate) fn touch(&self) {
        let millis = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.used.store(millis.max(1), Ordering::Relaxed);
    }

    /// True if it was created and never used.
    fn is_unused(&self) -> bool {
        self.used.load(Ordering::Relaxed) == 0
    }

    /// The time since the last request.
    pub(crate) fn idle(&self) -> Duration {
        let used = Duration::from_millis(self.used.load(Ordering::Relaxed));
        self.born.elapsed().saturating_sub(used)
    }
}

/// Who keeps a session open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionHolder {
    /// The WebSocket that made it.
    Socket,
    /// Only its id.
    Nobody,
    /// An attached WebSocket; `closing` once the session was asked to close.
    Attached { closing: bool },
}

struct SessionEntry {
    session: Arc<EnvSession>,
    holder: SessionHolder,
    _slot: SessionSlot,
}

/// All slots are taken: those of the server, or those that one client may have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct CapacityReached {
    pub(crate) active: usize,
    pub max: usize,
    message: String,
}

/// The reason why a WebSocket cannot attach to a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AttachError {
    /// There is no such session.
    #[error("Unknown session_id: {0}")]
    Unknown(String),
    /// Another WebSocket is attached to it.
    #[error("Session {0} already has an attached WebSocket")]
    Attached(String),
}

/// The result of a request to close a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseOutcome {
    /// Closed.
    Done,
    /// Will be closed when its WebSocket ends.
    WhenDetached,
    /// There is no such session.
    Unknown,
}

/// The table of open sessions.
pub(crate) struct SessionTable {
    max: usize,
    max_each: usize,
    rate_limit: u32,
    server_id: Option<String>,
    metrics: Arc<Metrics>,
    open: Mutex<HashMap<Arc<str>, SessionEntry>>,
}

impl SessionTable {
    pub(crate) fn new(options: &ServerOptions, metrics: Arc<Metrics>) -> Self {
        Self {
            max: options.max_sessions,
            max_each: options.sessions_per_client(),
            rate_limit: options.rate_limit,
            server_id: options.server_id.clone(),
            metrics,
            open: Mutex::new(HashMap::new()),
        }
    }

    fn insert(
        &self,
        environment: Environment,
        client: &Arc<Client>,
        holder: SessionHolder,
    ) -> Result<Arc<EnvSession>, CapacityReached> {
        let mut table = self.open.lock();
        if table.len() >= self.max {
            self.metrics.rejected(Rejection::Sessions);
            let (active, max) = (table.len(), self.max);
            let message = format!(
                "Server at capacity: {active}/{max} sessions active. Cannot accept new connections."
            );
            return Err(CapacityReached {
                active,
                max,
                message,
            });
        }
        let Some(hold) = client.reserve_session(self.max_each) else {
            self.metrics.rejected(Rejection::ClientSessions);
            let max = self.max_each;
            let message = format!(
                "Client at capacity: {max}/{max} sessions of this address are active. Close \
                 some, or start the server with a larger --max-sessions-per-client."
            );
            return Err(CapacityReached {
                active: max,
                max,
                message,
            });
        };
        self.metrics.session_opened();
        let id = Uuid::new_v4();
        let id = match &self.server_id {
            Some(server) => format!("{server}.{id}"),
            None => id.to_string(),
        };
        let session = Arc::new(EnvSession {
            id: id.into(),
            environment: Mutex::new(environment),
            rate: RateLimit::new(self.rate_limit),
            caller: Caller {
                account: Arc::default(),
                client: Arc::clone(client),
            },
            born: Instant::now(),
            used: AtomicU64::new(0),
        });
        table.insert(
            Arc::clone(&session.id),
            SessionEntry {
                session: Arc::clone(&session),
                holder,
                _slot: hold,
            },
        );
        Ok(session)
    }

    /// Opens a session that lives until it is closed by its id, or idles away.
    pub(crate) fn create(
        &self,
        environment: Environment,
        client: &Arc<Client>,
    ) -> Result<Arc<str>, CapacityReached> {
        let session = self.insert(environment, client, SessionHolder::Nobody)?;
        Ok(Arc::clone(&session.id))
    }

    /// Opens a session that ends when the handle is dropped.
    pub(crate) fn open_for_socket(
        self: &Arc<Self>,
        environment: Environment,
        client: &Arc<Client>,
    ) -> Result<SessionHandle, CapacityReached> {
        let session = self.insert(environment, client, SessionHolder::Socket)?;
        Ok(SessionHandle {
            sessions: Arc::clone(self),
            session,
        })
    }

    /// Attaches to a session made by its id; dropping the handle leaves it open.
    pub(crate) fn attach(self: &Arc<Self>, id: &str) -> Result<SessionHandle, AttachError> {
        let mut table = self.open.lock();
        let Some(entry) = table.get_mut(id) else {
            self.metrics.rejected(Rejection::UnknownSession);
            return Err(AttachError::Unknown(head(id, 200).to_owned()));
        };
        if entry.holder != SessionHolder::Nobody {
            self.metrics.rejected(Rejection::AttachedSession);
            return Err(AttachError::Attached(head(id, 200).to_owned()));
        }
        entry.holder = SessionHolder::Attached { closing: false };
        entry.session.touch();
        Ok(SessionHandle {
            sessions: Arc::clone(self),
            session: Arc::clone(&entry.session),
        })
    }

    pub(crate) fn get(&self, id: &str) -> Option<Arc<EnvSession>> {
        let found = self
            .open
            .lock()
            .get(id)
            .map(|entry| Arc::clone(&entry.session));
        if found.is_none() {
            self.metrics.rejected(Rejection::UnknownSession);
        }
        found
    }

    /// The number of open sessions.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Closes a session, or notes that it ends with its WebSocket.
    pub(crate) fn close(&self, id: &str) -> CloseOutcome {
        let mut table = self.open.lock();
        match table.get_mut(id) {
            None => {
                self.metrics.rejected(Rejection::UnknownSession);
                CloseOutcome::Unknown
            }
            Some(entry) if entry.holder == SessionHolder::Nobody => {
                table.remove(id);
                CloseOutcome::Done
            }
            Some(entry) => {
                if let SessionHolder::Attached { closing } = &mut entry.holder {
                    *closing = true;
                }
                CloseOutcome::WhenDetached
            }
        }
    }

    /// Drops the sessions without a WebSocket that have idled longer than `limit`, or
    /// longer than `unused` if they were never used; returns their number.
    pub(crate) fn reap(&self, limit: Duration, unused: Duration) -> usize {
        let mut table = self.open.lock();
        let before = table.len();
        table.retain(|_, entry| {
            let session = &entry.session;
            let limit = if session.is_unused() {
                unused.min(limit)
            } else {
                limit
            };
            entry.holder != SessionHolder::Nobody || session.idle() <= limit
        });
        before - table.len()
    }

    fn release(&self, id: &str) {
        let mut table = self.open.lock();
        if let Some(entry) = table.get_mut(id) {
            match entry.holder {
                SessionHolder::Socket | SessionHolder::Attached { closing: true } => {
                    table.remove(id);
                }
                SessionHolder::Attached { closing: false } => {
                    entry.holder = SessionHolder::Nobody;
                    entry.session.touch();
                }
                SessionHolder::Nobody => {}
            }
        }
    }
}

/// A WebSocket's hold on a session; dropping it lets go.
pub(crate) struct SessionHandle {
    sessions: Arc<SessionTable>,
    pub session: Arc<EnvSession>,
}

impl Drop for SessionHandle {
    fn drop(&mut self) {
        self.sessions.release(&self.session.id);
    }
}
