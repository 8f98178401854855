//! The sessions that are open, and who holds each: a WebSocket that made its
//! own, or a client that made one by `openenv/session/create` and may attach a
//! WebSocket to it. One session is one environment. A slot is free again the
//! moment its holder lets go.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::rate::Rate;
use crate::env::episode::Environment;

/// One session: an environment, taken by one request at a time.
pub(super) struct Session {
    /// Random, so that knowing it is the right to use it.
    pub id: Uuid,
    /// The episode in play; never locked while a tool runs.
    pub environment: Mutex<Environment>,
    /// Slows a client that asks too fast.
    pub rate: Rate,
    born: Instant,
    /// Milliseconds after `born` of the last request.
    used: AtomicU64,
}

impl Session {
    /// Notes that the session is in use.
    pub fn touch(&self) {
        let millis = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.used.store(millis, Ordering::Relaxed);
    }

    /// How long ago the last request was.
    pub fn idle(&self) -> Duration {
        let used = Duration::from_millis(self.used.load(Ordering::Relaxed));
        self.born.elapsed().saturating_sub(used)
    }
}

/// Who keeps a session open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    /// The WebSocket that made it.
    Socket,
    /// Its id alone.
    Nobody,
    /// A WebSocket attached to it; `closing` once its end was asked for.
    Attached { closing: bool },
}

struct Entry {
    session: Arc<Session>,
    holder: Holder,
}

/// All slots are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Server at capacity: {active}/{max} sessions active. Cannot accept new connections.")]
pub(super) struct Full {
    /// Sessions open.
    pub active: usize,
    /// Sessions allowed.
    pub max: usize,
}

/// Why a WebSocket cannot attach to a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum AttachError {
    /// There is no such session.
    #[error("Unknown session_id: {0}")]
    Unknown(String),
    /// Another WebSocket is attached to it.
    #[error("Session {0} already has an attached WebSocket")]
    Taken(String),
}

/// What came of a request to close a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closing {
    /// It is closed.
    Done,
    /// It will be, when its WebSocket ends.
    WhenDetached,
    /// There is no such session.
    Unknown,
}

/// The table of open sessions.
pub(super) struct Sessions {
    max: usize,
    rate_limit: Option<u32>,
    open: Mutex<HashMap<Uuid, Entry>>,
}

impl Sessions {
    pub fn new(max: usize, rate_limit: Option<u32>) -> Self {
        Self {
            max,
            rate_limit,
            open: Mutex::new(HashMap::new()),
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Uuid, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn insert(&self, environment: Environment, holder: Holder) -> Result<Arc<Session>, Full> {
        let mut table = self.table();
        if table.len() >= self.max {
            return Err(Full {
                active: table.len(),
                max: self.max,
            });
        }
        let session = Arc::new(Session {
            id: Uuid::new_v4(),
            environment: Mutex::new(environment),
            rate: Rate::new(self.rate_limit),
            born: Instant::now(),
            used: AtomicU64::new(0),
        });
        table.insert(
            session.id,
            Entry {
                session: Arc::clone(&session),
                holder,
            },
        );
        Ok(session)
    }

    /// Opens a session that lives until it is closed by its id, or idles away.
    pub fn create(&self, environment: Environment) -> Result<Uuid, Full> {
        Ok(self.insert(environment, Holder::Nobody)?.id)
    }

    /// Opens a session that ends with the seat.
    pub fn take_seat(self: &Arc<Self>, environment: Environment) -> Result<Seat, Full> {
        let session = self.insert(environment, Holder::Socket)?;
        Ok(Seat {
            sessions: Arc::clone(self),
            session,
        })
    }

    /// Attaches to a session made by its id; letting the seat go leaves it open.
    pub fn attach(self: &Arc<Self>, id: &str) -> Result<Seat, AttachError> {
        let unknown = || AttachError::Unknown(shown(id));
        let key = Uuid::parse_str(id).map_err(|_| unknown())?;
        let mut table = self.table();
        let entry = table.get_mut(&key).ok_or_else(unknown)?;
        if entry.holder != Holder::Nobody {
            return Err(AttachError::Taken(shown(id)));
        }
        entry.holder = Holder::Attached { closing: false };
        entry.session.touch();
        Ok(Seat {
            sessions: Arc::clone(self),
            session: Arc::clone(&entry.session),
        })
    }

    /// The session of an id.
    pub fn get(&self, id: &str) -> Option<Arc<Session>> {
        let key = Uuid::parse_str(id).ok()?;
        self.table()
            .get(&key)
            .map(|entry| Arc::clone(&entry.session))
    }

    /// Closes a session, or notes that it ends with its WebSocket.
    pub fn close(&self, id: &str) -> Closing {
        let Ok(key) = Uuid::parse_str(id) else {
            return Closing::Unknown;
        };
        let mut table = self.table();
        match table.get_mut(&key) {
            None => Closing::Unknown,
            Some(entry) if entry.holder == Holder::Nobody => {
                table.remove(&key);
                Closing::Done
            }
            Some(entry) => {
                if let Holder::Attached { closing } = &mut entry.holder {
                    *closing = true;
                }
                Closing::WhenDetached
            }
        }
    }

    /// Drops the sessions that nobody is attached to and that have idled
    /// longer than `limit`; gives their number.
    pub fn reap(&self, limit: Duration) -> usize {
        let mut table = self.table();
        let before = table.len();
        table.retain(|_, entry| entry.holder != Holder::Nobody || entry.session.idle() <= limit);
        before - table.len()
    }

    fn let_go(&self, id: Uuid) {
        let mut table = self.table();
        if let Some(entry) = table.get_mut(&id) {
            match entry.holder {
                Holder::Socket | Holder::Attached { closing: true } => {
                    table.remove(&id);
                }
                Holder::Attached { closing: false } => {
                    entry.holder = Holder::Nobody;
                    entry.session.touch();
                }
                Holder::Nobody => {}
            }
        }
    }
}

/// An id as it may be shown in an answer: whole, unless it is a flood.
fn shown(id: &str) -> String {
    id.chars().take(200).collect()
}

/// A WebSocket's hold on a session; dropping it lets go.
pub(super) struct Seat {
    sessions: Arc<Sessions>,
    /// The session held.
    pub session: Arc<Session>,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.sessions.let_go(self.session.id);
    }
}
