//! Clients, distinguished by their address, and the limits of each: connections,
//! sessions, its share of the memory for large messages and answers, and its request
//! rate outside sessions. Clients behind one proxy are one client.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::server::options::ServerOptions;
use crate::server::state::memory_budget::MemoryBudget;
use crate::server::state::rate_limit::RateLimit;
use crate::server::state::usage::UsageAccount;

/// One client may reserve a quarter of the shared memory.
const SHARE_DIVISOR: usize = 4;
/// Connections that a client may have in addition to its sessions.
const EXTRA_CONNECTIONS: usize = 256;
/// Of these, connections that may not become WebSockets, which are never idle and
/// would leave none for a plain request.
const PLAIN_CONNECTIONS: usize = 64;

/// All known clients.
pub(crate) struct Clients {
    max_connections: usize,
    max_per_client: usize,
    rate_limit: u32,
    requests: MemoryBudget,
    answers: MemoryBudget,
    start: Instant,
    table: Mutex<ClientTable>,
}

struct ClientTable {
    known: HashMap<IpAddr, Arc<Client>>,
    /// Clients without connections and sessions are forgotten at this number.
    sweep_at: usize,
    connections: usize,
    serial: u64,
}

pub(crate) struct Client {
    /// Query time outside sessions.
    account: Arc<UsageAccount>,
    /// Total query time.
    pub total: UsageAccount,
    /// Request rate outside sessions.
    pub rate: RateLimit,
    /// Share of the memory for messages and bodies.
    pub requests: MemoryBudget,
    /// Share of the memory for answers.
    pub answers: MemoryBudget,
    sessions: AtomicUsize,
    max_sockets: usize,
    open: Mutex<BTreeMap<u64, Arc<ConnectionActivity>>>,
}

impl Client {
    /// The client outside its sessions.
    pub(crate) fn caller(self: &Arc<Self>) -> Caller {
        Caller {
            account: Arc::clone(&self.account),
            client: Arc::clone(self),
        }
    }

    /// Counts one more session; `None` if the client already has `most`.
    pub(crate) fn reserve_session(self: &Arc<Self>, most: usize) -> Option<SessionSlot> {
        let counted = self
            .sessions
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| {
                (n < most).then_some(n + 1)
            });
        counted.ok().map(|_| SessionSlot(Arc::clone(self)))
    }

    /// True if another WebSocket would use a connection reserved for plain requests.
    pub(crate) fn is_crowded(&self) -> bool {
        self.open.lock().len() > self.max_sockets
    }

    /// Ends the connection that has been idle for the longest time.
    fn evict(&self) -> bool {
        let mut open = self.open.lock();
        let idle = open
            .iter()
            .filter(|(_, connected)| connected.state.load(Ordering::Relaxed) == IDLE)
            .min_by_key(|(_, connected)| connected.since.load(Ordering::Relaxed))
            .map(|(id, _)| *id);
        let Some(id) = idle else { return false };
        // A request may have arrived in the meantime.
        let evicted = open.get(&id).is_some_and(|connected| connected.evict());
        if evicted {
            open.remove(&id);
        }
        evicted
    }
}

/// Who asks: a session, or a client outside its sessions.
#[derive(Clone)]
pub(crate) struct Caller {
    pub account: Arc<UsageAccount>,
    pub client: Arc<Client>,
}

impl Caller {
    /// Records query time.
    pub(super) fn charge(&self, time: Duration) {
        let now = Instant::now();
        self.account.charge(time, now);
        self.client.total.charge(time, now);
    }
}

/// One of a client's sessions; counted until it is dropped.
pub(crate) struct SessionSlot(Arc<Client>);

impl Drop for SessionSlot {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Clients {
    pub(crate) fn new(options: &ServerOptions) -> Arc<Self> {
        let each = options.sessions_per_client();
        Arc::new(Self {
            // Plain requests have connections in addition to those of sessions, so that
            // a full server still answers `/health`.
            max_connections: options.max_sessions.saturating_add(2 * EXTRA_CONNECTIONS),
            max_per_client: each.saturating_add(EXTRA_CONNECTIONS),
            rate_limit: options.rate_limit,
            requests: MemoryBudget::new(options.request_bytes),
            answers: MemoryBudget::new(options.answer_bytes),
            start: Instant::now(),
            table: Mutex::new(ClientTable {
                known: HashMap::new(),
                sweep_at: 1024,
                connections: 0,
                serial: 0,
            }),
        })
    }

    pub(crate) fn of(&self, address: IpAddr) -> Arc<Client> {
        let mut table = self.table.lock();
        if table.known.len() >= table.sweep_at {
            let now = Instant::now();
            table
                .known
                .retain(|_, client| Arc::strong_count(client) > 1 || client.total.used(now) > 1e-3);
            table.sweep_at = 2 * table.known.len() + 1024;
        }
        let client = table.known.entry(network(address)).or_insert_with(|| {
            Arc::new(Client {
                account: Arc::default(),
                total: UsageAccount::default(),
                rate: RateLimit::new(self.rate_limit),
                requests: self.requests.share(SHARE_DIVISOR),
                answers: self.answers.share(SHARE_DIVISOR),
                sessions: AtomicUsize::new(0),
                max_sockets: self.max_per_client - PLAIN_CONNECTIONS,
                open: Mutex::default(),
            })
        });
        Arc::clone(client)
    }

    /// Admits a connection. If there are too many, the one that has been idle for the
    /// longest time is ended; `None` if none is idle.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let client = self.of(address);
        let mut table = self.table.lock();
        if client.open.lock().len() >= self.max_per_client {
            if !client.evict() {
                return None;
            }
            table.connections -= 1;
        }
        if table.connections >= self.max_connections {
            let largest = table.known.values().max_by_key(|one| one.open.lock().len());
            if !largest.is_some_and(|one| one.evict()) && !client.evict() {
                return None;
            }
            table.connections -= 1;
        }
        table.connections += 1;
        table.serial += 1;
        let connected = Arc::new(ConnectionActivity {
            state: AtomicU8::new(IDLE),
            start: self.start,
            since: AtomicU64::new(0),
            evicted: CancellationToken::new(),
        });
        connected.touch();
        let id = table.serial;
        client.open.lock().insert(id, Arc::clone(&connected));
        Some(ConnectionSlot {
            clients: Arc::clone(self),
            client,
            connected,
            id,
        })
    }

    /// Ends an idle connection of the client with the most, because the process has no
    /// file descriptors left.
    pub(crate) fn evict_idle(&self) {
        let mut table = self.table.lock();
        let largest = table.known.values().max_by_key(|one| one.open.lock().len());
        if largest.is_some_and(|one| one.evict()) {
            table.connections -= 1;
        }
    }
}

/// The address that identifies a client: an IPv6 client has a whole /64 network.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64)).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

const IDLE: u8 = 0;
const BUSY: u8 = 1;
const EVICTED: u8 = 2;

/// The activity of a connection: idle, busy or evicted.
pub(crate) struct ConnectionActivity {
    state: AtomicU8,
    start: Instant,
    /// Milliseconds after `start` of the last change.
    since: AtomicU64,
    evicted: CancellationToken,
}

impl ConnectionActivity {
    fn touch(&self) {
        let millis = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.since.store(millis, Ordering::Relaxed);
    }

    /// True if the state was `from`, and now is `to`.
    fn change(&self, from: u8, to: u8) -> bool {
        let changed = self
            .state
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
        changed.is_ok()
    }

    /// A request has arrived.
    pub(crate) fn begin(&self) {
        self.change(IDLE, BUSY);
        self.touch();
    }

    /// The request is answered.
    pub(crate) fn end(&self) {
        self.change(BUSY, IDLE);
        self.touch();
    }

    fn evict(&self) -> bool {
        let evicted = self.change(IDLE, EVICTED);
        if evicted {
            self.evicted.cancel();
        }
        evicted
    }

    /// Returns when the connection must be closed.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

/// An admitted connection; counted until it is dropped.
pub(crate) struct ConnectionSlot {
    clients: Arc<Clients>,
    pub client: Arc<Client>,
    pub(crate) connected: Arc<ConnectionActivity>,
    id: u64,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut table = self.clients.table.lock();
        // An evicted connection is no longer counted.
        if self.client.open.lock().remove(&self.id).is_some() {
            table.connections -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn small() -> Arc<Clients> {
        Clients::new(&ServerOptions {
            max_sessions: 300,
            max_sessions_per_client: Some(2),
            ..ServerOptions::default()
        })
    }

    #[test]
    fn the_longest_idle_connection_is_evicted_and_a_busy_one_never() {
        let clients = small();
        let places: Vec<ConnectionSlot> = (0..258).map(|_| clients.admit(HERE).unwrap()).collect();
        places[0].connected.begin();
        for place in &places[1..] {
            assert!(!place.connected.evicted.is_cancelled());
        }
        assert!(places[0].client.is_crowded(), "no more sockets");
        let next = clients.admit(HERE).unwrap();
        assert!(!places[0].connected.evicted.is_cancelled());
        let gone = places
            .iter()
            .filter(|place| place.connected.evicted.is_cancelled());
        assert_eq!(gone.count(), 1);
        next.connected.begin();
        for place in &places {
            place.connected.begin();
        }
        assert!(clients.admit(HERE).is_none(), "nobody is idle");
        assert!(
            clients.admit([10, 0, 0, 1].into()).is_some(),
            "another client"
        );
        drop((places, next));
        assert_eq!(clients.table.lock().connections, 0);
    }

    #[test]
    fn on_a_full_server_the_client_with_the_most_connections_loses_one() {
        let clients = small();
        let mut held = Vec::new();
        // 812 connections, three clients of 258 at most and one of 38.
        for last in 1..=3 {
            held.extend((0..258).map(|_| clients.admit([10, 0, 0, last].into()).unwrap()));
        }
        held.extend((0..38).map(|_| clients.admit([10, 0, 0, 4].into()).unwrap()));
        let place = clients.admit([10, 0, 0, 5].into()).unwrap();
        assert!(!place.connected.evicted.is_cancelled());
        let gone: Vec<usize> = (0..held.len())
            .filter(|at| held[*at].connected.evicted.is_cancelled())
            .collect();
        assert!(matches!(gone.as_slice(), [at] if *at < 3 * 258), "{gone:?}");
    }

    #[test]
    fn addresses_of_one_network_are_one_client() {
        let clients = small();
        let same = |a: &str, b: &str| {
            let of = |text: &str| clients.of(text.parse().unwrap());
            Arc::ptr_eq(&of(a), &of(b))
        };
        assert!(same("2001:db8::1", "2001:db8::ffff:1"));
        assert!(!same("2001:db8::1", "2001:db8:0:1::1"));
        assert!(same("::ffff:10.0.0.1", "10.0.0.1"));
        assert!(!same("10.0.0.2", "10.0.0.1"));
    }

    #[test]
    fn clients_without_connections_are_forgotten() {
        let clients = small();
        for n in 0..10_000_u32 {
            clients.of(IpAddr::V4(n.into()));
        }
        assert!(clients.table.lock().known.len() <= 1025);
    }

    #[test]
    fn a_client_has_a_quarter_of_the_memory() {
        let clients = Clients::new(&ServerOptions {
            request_bytes: 400_000,
            ..ServerOptions::default()
        });
        let (one, other) = (clients.of(HERE), clients.of([10, 0, 0, 1].into()));
        let taken = one.requests.take(100_000, 0).unwrap();
        assert!(one.requests.take(1, 0).is_none());
        assert!(other.requests.take(100_000, 0).is_some());
        drop(taken);
        assert!(one.requests.take(100_000, 0).is_some());
    }
}
