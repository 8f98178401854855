//! The open sessions. A session is one environment. It belongs to the WebSocket that opened it, or
//! to a client that created it with `openenv/session/create` and may attach a WebSocket to it. Its
//! slot is free as soon as the socket or the client closes it. OpenEnv's `finqa_env` frees slots
//! later, so that it may refuse a client that reconnects at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use finqa_core::text::head;
use parking_lot::Mutex;
use uuid::Uuid;

use crate::episode::Environment;
use crate::server::options::ServerOptions;
use crate::server::state::metrics::{Metrics, RefusalReason};
use crate::server::state::query_queue::QueryCostHistory;

/// One session and its environment.
pub(crate) struct EnvSession {
    /// The server's id, if it has one, and a random part. It works like a password: whoever knows
    /// the id may use the session.
    pub id: Arc<str>,
    /// The session's environment. It is never locked while a tool runs.
    pub environment: Mutex<Environment>,
    pub(crate) queries: QueryCostHistory,
    /// The time of the last use. Sessions that are idle for too long are closed.
    used: Mutex<Instant>,
}

impl EnvSession {
    /// Restarts the measurement of the session's idle time.
    pub(crate) fn touch(&self) {
        *self.used.lock() = Instant::now();
    }
}

/// The holder of a session, which keeps it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SessionHolder {
    /// The WebSocket that opened the session.
    Socket,
    /// No WebSocket. `openenv/session/create` opened the session, and it stays open until it is
    /// closed by its id or is idle for too long.
    Nobody,
    /// A WebSocket that attached to the session. If `closing`, the session is closed together with
    /// the socket.
    Attached { closing: bool },
}

/// An open session, and whether a WebSocket keeps it open.
struct SessionEntry {
    session: Arc<EnvSession>,
    holder: SessionHolder,
}

/// All slots are taken. The message is that of OpenEnv's core.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Server at capacity: {active}/{max} sessions active. Cannot accept new connections.")]
pub(crate) struct CapacityReached {
    pub(crate) active: usize,
    pub max: usize,
}

/// The error for an unknown session, with at most 200 characters of its id (set by hand).
fn unknown(id: &str) -> String {
    format!("Unknown session_id: {}", head(id, 200))
}

/// The open sessions of the server, at most `max`, by their ids.
pub(crate) struct SessionTable {
    max: usize,
    server_id: Option<String>,
    metrics: Arc<Metrics>,
    open: Mutex<HashMap<Arc<str>, SessionEntry>>,
}

impl SessionTable {
    pub(crate) fn new(options: &ServerOptions, metrics: Arc<Metrics>) -> Self {
        Self {
            max: options.max_sessions,
            server_id: options.server_id.clone(),
            metrics,
            open: Mutex::new(HashMap::new()),
        }
    }

    /// Opens a session with a new id.
    ///
    /// # Errors
    /// [`CapacityReached`] if the greatest number of sessions is open.
    fn insert(
        &self,
        environment: Environment,
        holder: SessionHolder,
    ) -> Result<Arc<EnvSession>, CapacityReached> {
        let mut table = self.open.lock();
        // Checked under the lock, so that two clients cannot take the same slot.
        if table.len() >= self.max {
            self.metrics.count_refusal(RefusalReason::Sessions);
            let (active, max) = (table.len(), self.max);
            return Err(CapacityReached { active, max });
        }
        self.metrics.sessions_opened.inc();
        let id = Uuid::new_v4();
        let id = match &self.server_id {
            Some(server) => format!("{server}.{id}"),
            None => id.to_string(),
        };
        let session = Arc::new(EnvSession {
            id: id.into(),
            environment: Mutex::new(environment),
            queries: QueryCostHistory::default(),
            used: Mutex::new(Instant::now()),
        });
        table.insert(
            Arc::clone(&session.id),
            SessionEntry {
                session: Arc::clone(&session),
                holder,
            },
        );
        Ok(session)
    }

    /// Opens a session that stays open until it is closed by its id or is idle for too long.
    pub(crate) fn create(&self, environment: Environment) -> Result<Arc<str>, CapacityReached> {
        let session = self.insert(environment, SessionHolder::Nobody)?;
        Ok(Arc::clone(&session.id))
    }

    /// Opens a session that ends when the handle is dropped.
    pub(crate) fn open_for_socket(
        self: &Arc<Self>,
        environment: Environment,
    ) -> Result<SessionHandle, CapacityReached> {
        let session = self.insert(environment, SessionHolder::Socket)?;
        Ok(SessionHandle {
            sessions: Arc::clone(self),
            session,
        })
    }

    /// Attaches a WebSocket to a session that [`Self::create`] opened. The session stays open when
    /// the handle is dropped. The error is a text for the client.
    pub(crate) fn attach(self: &Arc<Self>, id: &str) -> Result<SessionHandle, String> {
        let mut table = self.open.lock();
        let Some(entry) = table.get_mut(id) else {
            self.metrics.count_refusal(RefusalReason::UnknownSession);
            return Err(unknown(id));
        };
        if entry.holder != SessionHolder::Nobody {
            self.metrics.count_refusal(RefusalReason::AttachedSession);
            return Err(format!("Session {id} already has an attached WebSocket"));
        }
        entry.holder = SessionHolder::Attached { closing: false };
        entry.session.touch();
        Ok(SessionHandle {
            sessions: Arc::clone(self),
            session: Arc::clone(&entry.session),
        })
    }

    /// The session with this id. The error is a text for the client.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<EnvSession>, String> {
        let table = self.open.lock();
        let found = table.get(id).map(|entry| Arc::clone(&entry.session));
        found.ok_or_else(|| {
            self.metrics.count_refusal(RefusalReason::UnknownSession);
            unknown(id)
        })
    }

    /// The number of open sessions.
    pub(crate) fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Closes a session. Returns false if the session has a WebSocket: the session is then closed
    /// later, together with the socket. The error, a text for the client, names an unknown session.
    pub(crate) fn close(&self, id: &str) -> Result<bool, String> {
        let mut table = self.open.lock();
        let Some(entry) = table.get_mut(id) else {
            self.metrics.count_refusal(RefusalReason::UnknownSession);
            return Err(unknown(id));
        };
        if let SessionHolder::Attached { closing } = &mut entry.holder {
            *closing = true;
        }
        let is_free = entry.holder == SessionHolder::Nobody;
        if is_free {
            table.remove(id);
        }
        Ok(is_free)
    }

    /// Closes the sessions without a WebSocket that have been idle for longer than `limit`, and
    /// returns their number.
    pub(crate) fn reap(&self, limit: Duration) -> usize {
        let mut table = self.open.lock();
        // The table is always locked before a session's time, so that no two threads wait for each
        // other.
        let before = table.len();
        table.retain(|_, entry| {
            entry.holder != SessionHolder::Nobody || entry.session.used.lock().elapsed() <= limit
        });
        before - table.len()
    }

    /// Ends the use of a session by a WebSocket. The session is closed now if the socket opened it
    /// or if a client asked to close it; otherwise it stays open.
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

/// The use of a session by a WebSocket. It ends when the handle is dropped.
pub(crate) struct SessionHandle {
    sessions: Arc<SessionTable>,
    pub session: Arc<EnvSession>,
}

impl Drop for SessionHandle {
    fn drop(&mut self) {
        self.sessions.release(&self.session.id);
    }
}
