//! Measures the environment's server while a hundred hostile clients attack it next to honest ones.
//! The server is a separate process.
//!
//! ```text
//! cargo bench --bench env_hostile                         # this crate's `env serve`
//! cargo bench --bench env_hostile -- --server PATH        # another build of it
//! cargo bench --bench env_hostile -- --seconds 10 --clients 1000 --kinds "large sort"
//! ```
//!
//! Each kind of attack is repeated for some seconds on a fresh server, while four honest sessions
//! ask an ordinary query every 20 ms. The bench prints the attempts, the honest queries that were
//! refused or answered wrong, the honest p50 and p99, and the server's peak resident memory. All
//! traffic is on loopback. It reads `/proc`, so it runs on Linux only.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bench stops at the first surprise, and its figures are small"
)]

#[path = "common/env_server.rs"]
mod env_server;
#[path = "common/process.rs"]
mod process;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use env_server::EnvServer;
use futures::SinkExt;
use process::Socket;
use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

const HONEST: usize = 4;
const HONEST_QUERY: &str = "select count(*) as n from data where 'income' not like '%x%'";
/// Maximum time to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(40);
/// Maximum number of sockets that one client keeps open.
const KEPT: usize = 10;

/// What a client does, over and over.
#[derive(Clone, Copy, PartialEq)]
enum Attack {
    /// Sends the query in one session.
    Query,
    /// Sends the query in a new session each time.
    Fresh,
    /// Requests large answers and reads none.
    Unread,
    /// Sends a message without its last piece.
    Half,
}

struct Kind {
    name: &'static str,
    attack: Attack,
    query: String,
}

fn kinds() -> Vec<Kind> {
    let endless = "with recursive t(x) as (select 1 union all select x + 1 from t)";
    let text = "printf('%.*c', 30000, 'a')";
    let mut nested = format!("select {text} as a");
    for _ in 0..11 {
        let like = format!("(a like '%{}b')", "a_".repeat(15));
        nested = format!("select {like} || {like} || a as a from ({nested})");
    }
    let kind = |name, attack, query: String| Kind {
        name,
        attack,
        query,
    };
    let count = format!("{endless} select max(x) as m from t where 1");
    let rows = format!(
        "with recursive t(x) as (select 1 union all select x + 1 from t limit 15) \
         select x, {text} as y from t where 1"
    );
    vec![
        kind("endless query", Attack::Query, count.clone()),
        kind("nested like", Attack::Query, format!("{nested} where 1")),
        kind(
            "large sort",
            Attack::Query,
            format!(
                "with recursive t(x, y) as (select 1, {text} union all select x + 1, y from t) \
                 select x from t where 1 order by y || x collate nocase limit 1"
            ),
        ),
        kind("fresh sessions", Attack::Fresh, count),
        kind("unread answers", Attack::Unread, rows),
        kind("half-sent messages", Attack::Half, String::new()),
    ]
}

async fn open(address: &str) -> Option<Socket> {
    let url = format!("ws://{address}/ws");
    let opened = tokio::time::timeout(TIMEOUT, tokio_tungstenite::connect_async(url)).await;
    opened.ok()?.ok().map(|(socket, _)| socket)
}

async fn ask(socket: &mut Socket, message: &str) -> Option<String> {
    let answer = tokio::time::timeout(TIMEOUT, process::ask(socket, message));
    answer.await.ok()?
}

fn step(place: &(String, String), query: &str) -> String {
    let asked = json!({"company_name": place.0, "table_name": place.1, "query": query});
    let action = json!({"type": "call_tool", "tool_name": "sql_query", "arguments": asked});
    json!({"type": "step", "data": action}).to_string()
}

struct Crowd {
    address: String,
    message: String,
    attack: Attack,
    tried: AtomicU64,
}

impl Crowd {
    async fn attack(self: Arc<Self>, end: Instant) {
        let _ = tokio::time::timeout_at(end.into(), self.attempts()).await;
    }

    async fn attempts(&self) {
        let mut socket = None;
        let mut kept = Vec::new();
        loop {
            self.tried.fetch_add(1, Ordering::Relaxed);
            if socket.is_none() || self.attack != Attack::Query {
                socket = open(&self.address).await;
            }
            let Some(mut open) = socket.take() else {
                tokio::time::sleep(Duration::from_millis(10)).await;
                continue;
            };
            match self.attack {
                Attack::Query | Attack::Fresh => {
                    let answered = ask(&mut open, &self.message).await.is_some();
                    socket = answered.then_some(open);
                }
                Attack::Unread => {
                    for _ in 0..20 {
                        let _ = open.send(Message::text(self.message.clone())).await;
                    }
                    kept.push(open);
                }
                Attack::Half => {
                    for at in 0..31 {
                        let kind = if at == 0 { Data::Text } else { Data::Continue };
                        let frame = Frame::message(vec![b' '; 4096], OpCode::Data(kind), false);
                        let _ = open.send(Message::Frame(frame)).await;
                    }
                    kept.push(open);
                }
            }
            if kept.len() >= KEPT {
                // Keep the sockets open to the end.
                tokio::time::sleep(TIMEOUT).await;
            }
        }
    }
}

/// The honest sessions' answer times in milliseconds, and their number of failures.
#[derive(Default)]
struct Seen {
    times: Mutex<Vec<f64>>,
    failed: AtomicU64,
}

impl Seen {
    fn at(&self, share: f64) -> f64 {
        let mut times = self.times.lock().unwrap();
        times.sort_by(f64::total_cmp);
        let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        times.get(place).copied().unwrap_or(f64::NAN)
    }
}

/// An honest session: sends a query, reads the answer, and repeats.
async fn honest(mut socket: Socket, message: String, end: Instant, seen: Arc<Seen>) {
    while Instant::now() < end {
        let began = Instant::now();
        let answer = ask(&mut socket, &message).await;
        let milliseconds = began.elapsed().as_secs_f64() * 1e3;
        seen.times.lock().unwrap().push(milliseconds);
        // The step limit has ended the episode, so begin another.
        let text = answer.unwrap_or_default();
        if text.contains("\"done\":true") {
            let _ = ask(&mut socket, r#"{"type":"reset"}"#).await;
        } else if !text.contains(r#"[{\"n\":"#) {
            seen.failed.fetch_add(1, Ordering::Relaxed);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Runs one kind of attack. Returns the honest failures, their p99 in milliseconds, and the
/// server's peak memory in MB.
async fn one(program: &str, kind: Kind, clients: usize, time: Duration) -> (u64, f64, f64) {
    let server = EnvServer::start(program, &[]);
    let catalog = finqa_run::env_build::builtin().expect("the built-in data");
    let (company, found) = catalog.companies().first_key_value().expect("a company");
    let table = found.keys().next().expect("a table");
    let place = (company.clone(), table.clone());
    let mut sockets = Vec::new();
    for _ in 0..HONEST {
        let mut socket = open(&server.address).await.expect("an honest session");
        // Each honest session has its first answer before the crowd comes.
        let played = ask(&mut socket, &step(&place, HONEST_QUERY)).await;
        played.expect("an answer");
        sockets.push(socket);
    }
    let end = Instant::now() + time;
    let crowd = Arc::new(Crowd {
        address: server.address.clone(),
        message: step(&place, &kind.query),
        attack: kind.attack,
        tried: AtomicU64::new(0),
    });
    let attackers: Vec<_> = (0..clients)
        .map(|_| tokio::spawn(Arc::clone(&crowd).attack(end)))
        .collect();
    let seen = Arc::new(Seen::default());
    let playing: Vec<_> = sockets
        .into_iter()
        .map(|socket| {
            let message = step(&place, HONEST_QUERY);
            tokio::spawn(honest(socket, message, end, Arc::clone(&seen)))
        })
        .collect();
    for one in playing {
        one.await.expect("played");
    }
    let peak = server.process.memory("VmHWM:").unwrap_or(f64::NAN);
    for one in attackers {
        one.await.expect("an attacker ends");
    }
    let failed = seen.failed.load(Ordering::Relaxed);
    let (p50, p99) = (seen.at(0.5), seen.at(0.99));
    let tried = crowd.tried.load(Ordering::Relaxed);
    println!(
        "{:<20} {tried:>8} {failed:>8} {p50:>9.1} {p99:>9.1} {peak:>9.0}",
        kind.name
    );
    (failed, p99, peak)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let number =
        |name, default| given(name).map_or(default, |text| text.parse().expect("a number"));
    let time = Duration::from_secs(number("--seconds", 5));
    let clients = number("--clients", 100);
    let program = given("--server").map_or(env!("CARGO_BIN_EXE_convfinqa"), String::as_str);
    let wanted: Option<Vec<&str>> = given("--kinds").map(|text| text.split(',').collect());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    println!(
        "{:<20} {:>8} {:>8} {:>9} {:>9} {:>9}",
        "kind", "tried", "failed", "p50 ms", "p99 ms", "peak MB"
    );
    let (mut failed, mut worst, mut peak) = (0, 0.0_f64, 0.0_f64);
    for kind in kinds() {
        if wanted.as_ref().is_none_or(|it| it.contains(&kind.name)) {
            let clients = usize::try_from(clients).expect("a number");
            let seen = runtime.block_on(one(program, kind, clients, time));
            failed += seen.0;
            worst = worst.max(seen.1);
            peak = peak.max(seen.2);
        }
    }
    println!(
        "\nan honest query with {clients} hostile clients: p99 {worst:.0} ms at most, {failed} failed; \
         the server's memory: {peak:.0} MB at most"
    );
}
