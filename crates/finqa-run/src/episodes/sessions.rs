//! The open sessions on an environment's server. An episode takes an idle session or opens a new
//! one, and puts it back when it ends.

use std::time::{Duration, Instant};

use futures::future::join_all;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::address::Address;
use super::error::RemoteError;
use super::remote::RemoteSession;

/// Waits, in milliseconds, before a full server is asked again for a session. OpenEnv's finqa_env
/// frees a slot some time after its session is closed. Set by hand: about four seconds in all.
const FULL_WAITS: [u64; 5] = [100, 300, 600, 1000, 2000];

/// Number of consecutive losses after which the server is given up; the end of an episode resets
/// it. All sessions that were open at a loss count as one loss with it. Several servers may share
/// an address, and the end of one of them loses many sessions at once. Set by hand.
const MAX_LOST: u32 = 3;

/// A callback for lines that a person should see.
pub(crate) type Note = Box<dyn Fn(String) + Send + Sync>;

/// The sessions that are open on an environment's server.
pub(super) struct SessionPool {
    address: Address,
    pub(super) note: Note,
    sessions: Mutex<OpenSessions>,
    /// Notified when a session is put back or lost.
    returned: Notify,
}

#[derive(Default)]
struct OpenSessions {
    idle: Vec<RemoteSession>,
    /// Number of sessions in use.
    taken: usize,
    /// Number of consecutive losses.
    lost: u32,
    last_loss: Option<Instant>,
}

impl SessionPool {
    pub(super) fn new(address: Address, note: Note) -> Self {
        Self {
            address,
            note,
            sessions: Mutex::default(),
            returned: Notify::new(),
        }
    }

    /// Closes all idle sessions at the same time, as the protocol prescribes.
    pub(super) async fn close(&self) {
        let idle = std::mem::take(&mut self.sessions.lock().idle);
        join_all(idle.into_iter().map(RemoteSession::close)).await;
    }

    /// Takes an idle session, or opens a new one. If the server is full, tries again after each of
    /// [`FULL_WAITS`], and after that whenever a session in use is put back.
    ///
    /// # Errors
    /// [`RemoteError::Full`] if the server remains full although no session is in use, and any
    /// other error of opening a session.
    pub(super) async fn take(&self) -> Result<RemoteSession, RemoteError> {
        let mut waits = FULL_WAITS.into_iter();
        loop {
            // The lock must be released before a session is opened, which waits for the server.
            let idle = self.sessions.lock().idle.pop();
            let session = match idle {
                Some(session) => Ok(session),
                None => RemoteSession::open(&self.address).await,
            };
            if !matches!(session, Err(RemoteError::Full { .. })) {
                self.sessions.lock().taken += usize::from(session.is_ok());
                return session;
            }
            match waits.next() {
                Some(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
                None if self.sessions.lock().taken > 0 => self.returned.notified().await,
                None => return session,
            }
        }
    }

    /// Puts back the session of an episode that has ended. `None` for a session that was lost.
    pub(super) fn put_back(&self, session: Option<RemoteSession>) {
        let mut sessions = self.sessions.lock();
        sessions.taken -= 1;
        if let Some(session) = session {
            sessions.lost = 0;
            sessions.idle.push(session);
        }
        // Unlock first, because a task that is woken takes the lock.
        drop(sessions);
        self.returned.notify_one();
    }

    /// Counts the loss of a session that was opened at `since`, or began to be opened then. Returns
    /// true if the server is given up.
    pub(super) fn count_loss(&self, since: Instant, error: &RemoteError) -> bool {
        let mut sessions = self.sessions.lock();
        if sessions.last_loss.is_some_and(|last| since < last) {
            return false;
        }
        sessions.last_loss = Some(Instant::now());
        sessions.lost += 1;
        let lost = sessions.lost;
        // Unlock first, so that no episode waits while the note is shown.
        drop(sessions);
        if lost == 1 {
            (self.note)(format!("{error}; the episode is played again later"));
        }
        lost >= MAX_LOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When one of three servers was killed, four sessions were lost at once, which ended the run.
    #[test]
    fn sessions_that_were_open_at_a_loss_count_as_one_with_it() {
        let address = Address::new("http://127.0.0.1:1", None, false).unwrap();
        let pool = SessionPool::new(address, Box::new(|_| {}));
        let error = RemoteError::Lost {
            url: String::new(),
            reason: String::new(),
        };
        let opened = Instant::now();
        let gives_up = |since| pool.count_loss(since, &error);
        assert_eq!([opened; 5].map(gives_up), [false; 5]);
        assert!(!gives_up(Instant::now()), "the second loss");
        assert!(gives_up(Instant::now()), "the third");
    }
}
