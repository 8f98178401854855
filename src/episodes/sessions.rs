//! The open sessions of an environment's server. An episode takes an idle one, or opens one
//! while the server has a free slot, and gives it back at its end.

use std::time::Duration;

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::address::Address;
use super::error::RemoteError;
use super::remote::RemoteSession;

/// The waits before a full server is asked again: OpenEnv's finqa_env frees a slot late.
const FULL_WAITS: [u64; 5] = [100, 300, 600, 1000, 2000];

/// Sessions lost in a row, with no episode ended in between, after which the server is given up.
const MAX_LOST: u32 = 3;

/// A callback for lines that a person should see.
pub(crate) type Note = Box<dyn Fn(String) + Send + Sync>;

/// The sessions that are open on a server.
pub(super) struct SessionPool {
    address: Address,
    pub(super) note: Note,
    sessions: Mutex<OpenSessions>,
    /// A session has become idle, or is lost.
    freed: Notify,
}

#[derive(Default)]
struct OpenSessions {
    idle: Vec<RemoteSession>,
    /// Sessions that exist, those in play among them.
    open: usize,
    /// The server has no other session.
    full: bool,
    /// Sessions lost in a row.
    lost: u32,
}

impl SessionPool {
    pub(super) fn new(address: Address, note: Note) -> Self {
        Self {
            address,
            note,
            sessions: Mutex::default(),
            freed: Notify::new(),
        }
    }

    /// Ends the sessions in order.
    pub(super) async fn close(&self) {
        let idle = std::mem::take(&mut self.sessions.lock().idle);
        join_all(idle.into_iter().map(RemoteSession::close)).await;
    }

    /// A session in which no episode is played: one that is idle, else a new one, else the next
    /// that becomes idle.
    pub(super) async fn take(&self) -> Result<RemoteSession, RemoteError> {
        let mut waits = FULL_WAITS.into_iter();
        loop {
            let (idle, others, full) = {
                let mut sessions = self.sessions.lock();
                (sessions.idle.pop(), sessions.open, sessions.full)
            };
            if let Some(session) = idle {
                return Ok(session);
            }
            if full && others > 0 {
                self.freed.notified().await;
                continue;
            }
            let full = match RemoteSession::open(&self.address).await {
                Err(full @ RemoteError::Full { .. }) => full,
                opened => {
                    self.sessions.lock().open += usize::from(opened.is_ok());
                    return opened;
                }
            };
            match waits.next() {
                Some(millis) => {
                    let wait = Duration::from_millis(millis);
                    let _ = tokio::time::timeout(wait, self.freed.notified()).await;
                }
                None if self.sessions.lock().open > 0 => {
                    (self.note)(format!("{full}: continuing with fewer sessions"));
                    self.sessions.lock().full = true;
                }
                None => return Err(full),
            }
        }
    }

    /// Puts back the session of an episode that is over.
    pub(super) fn put_back(&self, session: RemoteSession) {
        let mut sessions = self.sessions.lock();
        sessions.lost = 0;
        sessions.idle.push(session);
        self.freed.notify_one();
    }

    /// Takes note of a lost session; true if the server is to be given up.
    pub(super) fn lose(&self, error: &RemoteError) -> bool {
        let lost = {
            let mut sessions = self.sessions.lock();
            sessions.open = sessions.open.saturating_sub(1);
            sessions.lost += 1;
            sessions.lost
        };
        if lost == 1 {
            (self.note)(format!("{error}; the episode is played again later"));
        }
        self.freed.notify_one();
        lost >= MAX_LOST
    }
}
