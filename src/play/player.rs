//! Many episodes: each question once, several sessions side by side, until
//! there is no other question, enough are played, or someone says stop.
//!
//! The protocol lets nobody ask for a question by name: a reset deals the next
//! one. So every session walks through the questions and plays those that no
//! other session has taken; once it is dealt what it was dealt before, it has
//! seen them all. On a server that heeds seeds, all sessions walk in the same
//! order, and `--episodes 10` means the first ten of it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::mpsc;
use tracing::Instrument;

use super::PlayError;
use super::agent::{Agent, AgentOptions, INSTRUCTIONS, Trouble};
use super::log::Log;
use super::record::{Ending, Episode, Identity, Played};
use super::session::{Asked, Session, Target};
use super::trace;
use finqa_agents::models::{ChatModel, PriceOf, Stop};

/// Questions dealt again, one after the other, after which a session has seen
/// all there are; a single one may stand twice in the data.
const REPEATS: u32 = 3;

/// Resets refused one after the other after which a session is given up: the
/// reference refuses questions whose cells its CSV reader takes for missing.
const REFUSALS: u32 = 20;

/// Episodes of one session that fail one after the other, after which nothing
/// is expected of the server any more.
const BROKEN: u32 = 3;

/// Episodes that the provider fails one after the other, with no call answered
/// in between, after which nothing is expected of it any more.
const OUTAGE: u32 = 20;

/// How long a full server is asked again: the reference frees a slot late.
const FULL_WAITS: [u64; 5] = [100, 300, 600, 1000, 2000];

/// How many episodes, how many at a time, in which order.
#[derive(Clone, Debug)]
pub struct PlayOptions {
    /// Questions to be played, those of an earlier process among them; `None`
    /// for all there are.
    pub episodes: Option<usize>,
    /// Sessions side by side; at least 1.
    pub concurrency: usize,
    /// The order of questions; see [`Target::seed`].
    pub seed: Option<u64>,
    /// How the agent plays.
    pub agent: AgentOptions,
}

/// Something that happened, for whoever shows it.
#[derive(Clone, Debug)]
pub enum PlayEvent {
    /// An episode has ended, and the file holds it.
    Ended(Arc<Played>),
    /// A request to the model is tried again.
    Retry {
        /// The request's number for this call, from 1, that failed.
        attempt: u32,
        /// How long it waits.
        delay: Duration,
        /// Why, in one line.
        reason: String,
    },
    /// Something that a person should know.
    Note(String),
}

/// How playing ended.
#[derive(Debug)]
pub enum Finish {
    /// Every question that was asked for has its episode.
    Complete,
    /// Stopped by the user; can be gone on with.
    Interrupted,
    /// Nothing further could succeed; can be gone on with.
    Fatal(PlayError),
}

/// A model that plays in a place.
pub struct Player {
    target: Target,
    options: PlayOptions,
    agent: Agent,
    /// Draining begins no new episode; aborting gives up those in play.
    stop: Stop,
}

/// A player at it.
struct Play {
    player: Player,
    board: Mutex<Board>,
    events: mpsc::Sender<PlayEvent>,
}

/// What the sessions share.
struct Board {
    taken: HashSet<Asked>,
    /// Episodes that may still begin.
    left: Option<usize>,
    /// Sessions that are open.
    open: usize,
    log: Log,
    played: Vec<Arc<Played>>,
    fatal: Option<PlayError>,
    /// Episodes that the provider failed, one after the other.
    failed_in_a_row: u32,
}

/// blake3 of what a model is told before the question: part of an [`Identity`].
#[must_use]
pub fn instructions_hash() -> String {
    blake3::hash(INSTRUCTIONS.as_bytes()).to_hex().to_string()
}

/// A session, and what it was dealt.
struct Seat {
    session: Session,
    fresh: bool,
    dealt: HashSet<Asked>,
    repeats: u32,
}

/// What a session is to do next.
enum Next {
    Play(Asked),
    SeenAll,
    Stop,
}

impl Player {
    /// A player of `model` in `target`; `identity` stands in each episode.
    #[must_use]
    pub fn new(
        target: Target,
        model: Arc<dyn ChatModel>,
        price: PriceOf,
        identity: Arc<Identity>,
        options: PlayOptions,
    ) -> Self {
        let agent = Agent::new(model, options.agent.clone(), price, identity);
        Self {
            target,
            options,
            agent,
            stop: Stop::default(),
        }
    }

    /// Begins no further episode once `stop` drains, and gives up those in play
    /// once it aborts.
    #[must_use]
    pub fn stopped_by(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// Plays until the end; gives the episodes of this process, in the order in
    /// which they ended. `before` are those that the log held when it was opened.
    pub async fn run(
        self,
        log: Log,
        before: &[Arc<Played>],
        events: mpsc::Sender<PlayEvent>,
    ) -> (Finish, Vec<Arc<Played>>) {
        let ended = before.iter().filter(|e| e.outcome != Ending::Failed);
        let taken: HashSet<Asked> = ended.map(|played| Asked::of(played)).collect();
        let episodes = self.options.episodes;
        let left = episodes.map(|episodes| episodes.saturating_sub(taken.len()));
        let sessions = self.options.concurrency.max(1);
        let play = Arc::new(Play {
            player: self,
            board: Mutex::new(Board {
                taken,
                left,
                open: 0,
                log,
                played: Vec::new(),
                fatal: None,
                failed_in_a_row: 0,
            }),
            events,
        });
        let workers = (0..sessions.min(left.unwrap_or(usize::MAX))).map(|_| {
            let play = Arc::clone(&play);
            // A task each: the baseline thinks on the thread that it is polled on.
            tokio::spawn(async move { play.work().await })
        });
        let bug = join_all(workers).await.into_iter().find_map(Result::err);
        let mut board = play.board();
        let finish = match (board.fatal.take(), bug) {
            (Some(error), _) => Finish::Fatal(error),
            (None, Some(bug)) => Finish::Fatal(PlayError::Bug(bug.to_string())),
            (None, None) if play.player.stop.drain.is_cancelled() => Finish::Interrupted,
            (None, None) => Finish::Complete,
        };
        (finish, std::mem::take(&mut board.played))
    }
}

impl Play {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing further can succeed: the first reason is the one that is told.
    fn fatal(&self, error: PlayError) {
        self.board().fatal.get_or_insert(error);
        self.player.stop.drain.cancel();
    }

    async fn note(&self, text: String) {
        let _ = self.events.send(PlayEvent::Note(text)).await;
    }

    /// One session after the other until there is nothing to do.
    async fn work(&self) {
        let mut broken = 0;
        while !self.player.stop.drain.is_cancelled() && self.board().left != Some(0) {
            let Some(session) = self.open().await else {
                return;
            };
            let mut seat = Seat {
                session,
                fresh: true,
                dealt: HashSet::new(),
                repeats: 0,
            };
            let ended = self.sit(&mut seat, &mut broken).await;
            seat.session.close().await;
            self.board().open -= 1;
            match ended {
                Ok(()) => return,
                // The session is lost, not the server: try another one.
                Err(_) if broken < BROKEN => {}
                Err(error) => return self.fatal(error),
            }
        }
    }

    /// A session; `None` if there is none to be had, which has been told.
    async fn open(&self) -> Option<Session> {
        self.board().open += 1;
        let mut waits = FULL_WAITS.into_iter();
        loop {
            match self.player.target.open().await {
                Ok(session) => return Some(session),
                Err(full @ PlayError::Full { .. }) => {
                    // The others go on with the sessions that there are.
                    let others = self.board().open > 1;
                    match waits.next() {
                        Some(millis) if !self.player.stop.drain.is_cancelled() => {
                            tokio::time::sleep(Duration::from_millis(millis)).await;
                        }
                        _ if others => {
                            self.note(format!("{full}: going on with fewer sessions"))
                                .await;
                            break;
                        }
                        _ => {
                            self.fatal(full);
                            break;
                        }
                    }
                }
                Err(error) => {
                    self.fatal(error);
                    break;
                }
            }
        }
        self.board().open -= 1;
        None
    }

    /// Plays in one session for as long as it lasts.
    async fn sit(&self, seat: &mut Seat, broken: &mut u32) -> Result<(), PlayError> {
        loop {
            let asked = match self.next(seat).await {
                Ok(Next::Play(asked)) => asked,
                Ok(Next::SeenAll | Next::Stop) => return Ok(()),
                Err(error) => {
                    *broken += 1;
                    return Err(error);
                }
            };
            let span = trace::episode(&asked);
            let (episode, trouble) = self
                .player
                .agent
                .play(&mut seat.session, asked, &self.player.stop)
                .instrument(span.clone())
                .await;
            trace::ended(&span, &episode.played);
            drop(span);
            // What no model has answered was not paid for, and says nothing.
            let calls = &episode.played.calls;
            let answered = calls.iter().any(|call| !call.model.is_empty());
            if (trouble.is_none() || answered) && !self.keep(&episode).await {
                return Ok(());
            }
            match trouble {
                None => {
                    *broken = 0;
                    if let Some(error) = self.outage(&episode.played) {
                        self.fatal(error);
                        return Ok(());
                    }
                }
                Some(Trouble::Environment(error)) => {
                    *broken += 1;
                    return Err(error);
                }
                Some(Trouble::Fatal(error)) => {
                    self.fatal(error);
                    return Ok(());
                }
                Some(Trouble::Cancelled) => return Ok(()),
            }
        }
    }

    /// Why the provider is given up after this episode, if it is.
    fn outage(&self, played: &Played) -> Option<PlayError> {
        let mut board = self.board();
        if played.calls.iter().any(|call| !call.model.is_empty()) {
            board.failed_in_a_row = 0;
        }
        if played.outcome == Ending::Failed {
            board.failed_in_a_row += 1;
        }
        (board.failed_in_a_row >= OUTAGE).then(|| PlayError::Outage {
            failed: board.failed_in_a_row,
            last: played.error.clone().unwrap_or_default(),
        })
    }

    /// Puts an episode down and tells of it; false if the file fails.
    async fn keep(&self, episode: &Episode) -> bool {
        let appended = self.board().log.append(episode);
        if let Err(error) = appended {
            self.fatal(error);
            return false;
        }
        self.board().played.push(Arc::clone(&episode.played));
        let event = PlayEvent::Ended(Arc::clone(&episode.played));
        let _ = self.events.send(event).await;
        true
    }

    /// Resets until a question is dealt that nobody has taken.
    async fn next(&self, seat: &mut Seat) -> Result<Next, PlayError> {
        let mut refusals = 0;
        loop {
            if self.player.stop.drain.is_cancelled() || self.board().left == Some(0) {
                return Ok(Next::Stop);
            }
            let fresh = std::mem::take(&mut seat.fresh);
            let seed = self
                .player
                .target
                .seed(self.player.options.seed)
                .filter(|_| fresh);
            let asked = match seat.session.reset(seed).await {
                Ok(asked) => asked,
                Err(PlayError::Answer { code, message, .. })
                    if refusals < REFUSALS
                        && ["EXECUTION_ERROR", "VALIDATION_ERROR"].contains(&code.as_str()) =>
                {
                    refusals += 1;
                    if refusals == 1 {
                        self.note(format!(
                            "a question was refused by the environment: {message}"
                        ))
                        .await;
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            refusals = 0;
            if seat.dealt.insert(asked.clone()) {
                seat.repeats = 0;
            } else {
                seat.repeats += 1;
                if seat.repeats >= REPEATS {
                    return Ok(Next::SeenAll);
                }
            }
            let mut board = self.board();
            if board.left == Some(0) {
                return Ok(Next::Stop);
            }
            if board.taken.insert(asked.clone()) {
                board.left = board.left.map(|left| left - 1);
                return Ok(Next::Play(asked));
            }
        }
    }
}

impl Asked {
    /// The question of an episode that was played.
    fn of(played: &Played) -> Self {
        Self {
            id: played.question_id.clone(),
            question: played.question.clone(),
            company: played.company.clone(),
        }
    }
}
