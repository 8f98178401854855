//! Clients that mean harm, next to honest ones, on a server in a process of its own.
//!
//! ```text
//! cargo bench --bench env_attack                          # this crate's `env serve`
//! cargo bench --bench env_attack -- --server PATH         # another build of it
//! cargo bench --bench env_attack -- --seconds 3 --kinds like,sort
//! ```
//!
//! Each kind of attack is run by 16 and by 100 connections at a time, over and
//! over, for so many seconds, on a fresh server. Next to them four honest sessions
//! play at a person's pace, and one asks for `/health`. Printed are how many
//! attempts got through (a query that ran for more than a second, an honest answer
//! that was refused or wrong, a server that died), the honest p50 and p99, the
//! slowest answer, the peak resident memory, and how long SIGTERM took while the
//! attack lasted. Everything goes to loopback, from one address: the hardest case,
//! for the server cannot tell the clients apart. Linux only: it reads `/proc`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an attack stops at the first surprise, and its figures are small"
)]

#[path = "../common/env_server.rs"]
mod env_server;
mod kinds;
#[path = "../common/process.rs"]
mod process;

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use env_server::EnvServer;
use futures::SinkExt;
use kinds::{Attack, Kind, kinds};
use process::Socket;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

/// Connections that attack at a time.
const CROWDS: [usize; 2] = [16, 100];
const HONEST: usize = 4;
/// A query that answers after more has evaded the limit of 250 ms, and not only
/// waited for its turn: it is asked alone.
const EVADED: Duration = Duration::from_secs(1);
const HONEST_QUERY: &str = "select count(*) as n from data where 'income' not like '%x%'";
/// No attack is waited for any longer.
const TIMEOUT: Duration = Duration::from_secs(40);

struct Server(EnvServer);

impl Server {
    /// Highest resident memory so far, in MB.
    fn peak(&self) -> f64 {
        self.0.process.memory("VmHWM:").unwrap_or(f64::NAN)
    }

    fn lives(&mut self) -> bool {
        matches!(self.0.process.0.try_wait(), Ok(None))
    }

    /// Sends SIGTERM; how long it took to end.
    fn stop(&mut self) -> Duration {
        let began = Instant::now();
        let _ = Command::new("kill")
            .args(["-TERM", &self.0.process.0.id().to_string()])
            .status();
        while began.elapsed() < TIMEOUT && self.lives() {
            std::thread::sleep(Duration::from_millis(10));
        }
        began.elapsed()
    }
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

fn action(place: &(String, String), query: &str) -> Value {
    let asked = json!({"company_name": place.0, "table_name": place.1, "query": query});
    json!({"type": "call_tool", "tool_name": "sql_query", "arguments": asked})
}

fn step(place: &(String, String), query: &str) -> String {
    json!({"type": "step", "data": action(place, query)}).to_string()
}

/// One request over a connection of its own; the answer, or nothing.
async fn http(address: &str, request: String) -> Option<String> {
    let talk = async {
        let mut stream = TcpStream::connect(address).await.ok()?;
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.ok()?;
        Some(answer)
    };
    tokio::time::timeout(TIMEOUT, talk).await.ok()?
}

fn post(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

struct Crowd {
    address: String,
    place: (String, String),
    kind: Kind,
    end: Instant,
    tried: AtomicU64,
}

impl Crowd {
    fn is_active(&self) -> bool {
        Instant::now() < self.end
    }

    /// One attacker; it stops at the end, and in the middle of what it does.
    async fn attack(self: Arc<Self>, number: usize) {
        let until = tokio::time::Instant::from_std(self.end);
        let _ = tokio::time::timeout_at(until, self.attempts(number)).await;
    }

    async fn attempts(&self, number: usize) {
        let mut kept: Vec<Box<dyn std::any::Any + Send>> = Vec::new();
        let mut socket = None;
        while self.is_active() {
            let attempt = self.tried.fetch_add(1, Ordering::Relaxed);
            // A statement of its own, so that none is ready from the last time.
            let query = self.kind.query.replace('#', &format!("{number} {attempt}"));
            let message = step(&self.place, &query);
            match self.kind.attack {
                Attack::Query | Attack::Fresh | Attack::Messages => {
                    if socket.is_none() || matches!(self.kind.attack, Attack::Fresh) {
                        socket = open(&self.address).await;
                    }
                    let Some(open) = &mut socket else {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                        continue;
                    };
                    let message = match self.kind.attack {
                        Attack::Messages => format!("[{}", "[1,".repeat(80_000)),
                        _ => message,
                    };
                    if ask(open, &message).await.is_none() {
                        socket = None;
                    }
                }
                Attack::Stateless => {
                    let body = json!({"action": action(&self.place, &query)}).to_string();
                    http(&self.address, post("/step", &body)).await;
                }
                Attack::Sessions => {
                    let body = r#"{"jsonrpc":"2.0","id":1,"method":"openenv/session/create"}"#;
                    http(&self.address, post("/mcp", body)).await;
                }
                Attack::Idle => {
                    if kept.len() * 100 < 2000 {
                        if let Ok(stream) = TcpStream::connect(&self.address).await {
                            kept.push(Box::new(stream));
                        }
                    } else {
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                }
                Attack::Announced => {
                    if kept.len() < 8
                        && let Ok(mut stream) = TcpStream::connect(&self.address).await
                    {
                        let head = post("/reset", &" ".repeat(262_144));
                        let _ = stream.write_all(&head.as_bytes()[..200]).await;
                        kept.push(Box::new(stream));
                    }
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Attack::Fragments => {
                    let Some(mut socket) = open(&self.address).await else {
                        continue;
                    };
                    let mut kind = Data::Text;
                    while self.is_active() {
                        let frame = Frame::message(Vec::new(), OpCode::Data(kind), false);
                        kind = Data::Continue;
                        self.tried.fetch_add(1, Ordering::Relaxed);
                        if socket.send(Message::Frame(frame)).await.is_err() {
                            break;
                        }
                        tokio::task::yield_now().await;
                    }
                    kept.push(Box::new(socket));
                }
                Attack::Unread => {
                    let Some(mut socket) = open(&self.address).await else {
                        continue;
                    };
                    for _ in 0..20 {
                        if socket.send(Message::text(message.clone())).await.is_err() {
                            break;
                        }
                    }
                    if kept.len() < 8 {
                        kept.push(Box::new(socket));
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(kept);
    }
}

/// What the honest saw: times in milliseconds, and what went wrong.
#[derive(Default)]
struct Seen {
    times: Mutex<Vec<f64>>,
    failed: AtomicU64,
}

impl Seen {
    fn note(&self, began: Instant, fine: bool, what: &str) {
        self.times
            .lock()
            .unwrap()
            .push(began.elapsed().as_secs_f64() * 1e3);
        if !fine && self.failed.load(Ordering::Relaxed) == 0 {
            eprintln!("not answered: {what:.300}");
        }
        if !fine {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn at(&self, share: f64) -> f64 {
        let mut times = self.times.lock().unwrap();
        times.sort_by(f64::total_cmp);
        let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        times.get(place).copied().unwrap_or(f64::NAN)
    }
}

/// A session that asks, reads, and asks again.
async fn honest(mut socket: Socket, place: (String, String), end: Instant, seen: Arc<Seen>) {
    let asked = step(&place, HONEST_QUERY);
    for turn in 0.. {
        if Instant::now() >= end {
            return;
        }
        if turn % 40 == 0 && ask(&mut socket, r#"{"type":"reset"}"#).await.is_none() {
            return seen.note(Instant::now(), false, "a reset");
        }
        let began = Instant::now();
        let answer = ask(&mut socket, &asked).await;
        let fine = answer
            .as_ref()
            .is_some_and(|text| text.contains(r#"[{\"n\":"#));
        seen.note(began, fine, answer.as_deref().unwrap_or("a step"));
        if answer.is_none() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn healthy(address: String, end: Instant, seen: Arc<Seen>) {
    while Instant::now() < end {
        let began = Instant::now();
        let request = "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        let answer = http(&address, request.to_owned()).await;
        let fine = answer.as_ref().is_some_and(|text| text.contains("healthy"));
        seen.note(began, fine, answer.as_deref().unwrap_or("/health"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// How long one such query takes that nobody else competes with.
async fn alone(address: &str, place: &(String, String), kind: &Kind) -> Option<Duration> {
    if !matches!(kind.attack, Attack::Query) {
        return None;
    }
    let mut socket = open(address).await?;
    let began = Instant::now();
    let _ = ask(&mut socket, &step(place, &kind.query)).await;
    Some(began.elapsed())
}

struct Line {
    tried: u64,
    through: u64,
    p50: f64,
    p99: f64,
    health: f64,
    alone: Option<Duration>,
    peak: f64,
    stop: Duration,
}

async fn one(program: &str, kind: Kind, crowd: usize, seconds: Duration) -> Line {
    let mut server = Server(EnvServer::start(program, &[]));
    let catalog = convfinqa::env_build::builtin().expect("the built-in data");
    let (company, found) = catalog.companies().first_key_value().expect("a company");
    let table = found.tables.keys().next().expect("a table");
    let place = (company.clone(), table.clone());
    let address = server.0.address.clone();
    let alone = alone(&address, &place, &kind).await;
    let mut sockets = Vec::new();
    for _ in 0..HONEST {
        let mut socket = open(&address).await.expect("an honest session");
        // They have played before the attack begins.
        let played = ask(&mut socket, &step(&place, HONEST_QUERY)).await;
        played.expect("an answer");
        sockets.push(socket);
    }
    let end = Instant::now() + seconds;
    let crowd_of = Arc::new(Crowd {
        address: address.clone(),
        place: place.clone(),
        kind,
        end,
        tried: AtomicU64::new(0),
    });
    let attackers: Vec<_> = (0..crowd)
        .map(|number| tokio::spawn(Arc::clone(&crowd_of).attack(number)))
        .collect();
    let (steps, health) = (Arc::new(Seen::default()), Arc::new(Seen::default()));
    let mut playing: Vec<_> = sockets
        .into_iter()
        .map(|socket| tokio::spawn(honest(socket, place.clone(), end, Arc::clone(&steps))))
        .collect();
    playing.push(tokio::spawn(healthy(
        address.clone(),
        end,
        Arc::clone(&health),
    )));
    let measured = (end - Instant::now()).saturating_sub(Duration::from_millis(100));
    tokio::time::sleep(measured).await;
    let died = u64::from(!server.lives());
    let peak = server.peak();
    for one in playing {
        one.await.expect("played");
    }
    // The attack's last queries are still running.
    let stop = tokio::task::spawn_blocking(move || server.stop())
        .await
        .expect("stopped");
    for one in attackers {
        let _ = one.await;
    }
    let evaded = u64::from(alone.is_some_and(|took| took > EVADED));
    let failed = steps.failed.load(Ordering::Relaxed) + health.failed.load(Ordering::Relaxed);
    Line {
        tried: crowd_of.tried.load(Ordering::Relaxed),
        through: evaded + failed + died,
        p50: steps.at(0.5),
        p99: steps.at(0.99),
        health: health.at(1.0),
        alone,
        peak,
        stop,
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    let seconds = given("--seconds").map_or(3, |text| text.parse().expect("a number"));
    let seconds = Duration::from_secs(u64::min(seconds, 60));
    let program = given("--server").map_or(env!("CARGO_BIN_EXE_convfinqa"), String::as_str);
    let wanted: Option<Vec<&str>> = given("--kinds").map(|text| text.split(',').collect());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    println!(
        "{:<22} {:>5} {:>9} {:>8} {:>9} {:>9} {:>10} {:>9} {:>8} {:>8}",
        "kind",
        "crowd",
        "tried",
        "through",
        "p50 ms",
        "p99 ms",
        "health ms",
        "alone ms",
        "peak MB",
        "stop s"
    );
    let (mut tried, mut through, mut worst, mut peak) = (0, 0, 0.0_f64, 0.0_f64);
    for crowd in CROWDS {
        for kind in kinds() {
            let name = kind.name;
            if wanted
                .as_ref()
                .is_some_and(|wanted| !wanted.contains(&name))
            {
                continue;
            }
            let line = runtime.block_on(one(program, kind, crowd, seconds));
            let alone = line.alone.map_or("–".to_owned(), |took| {
                format!("{:.0}", took.as_secs_f64() * 1e3)
            });
            println!(
                "{name:<22} {crowd:>5} {:>9} {:>8} {:>9.1} {:>9.1} {:>10.1} {alone:>9} {:>8.0} {:>8.2}",
                line.tried,
                line.through,
                line.p50,
                line.p99,
                line.health,
                line.peak,
                line.stop.as_secs_f64()
            );
            tried += line.tried;
            through += line.through;
            worst = worst.max(line.p99);
            peak = peak.max(line.peak);
        }
    }
    println!(
        "\n{tried} tried, {through} got through, worst honest p99 {worst:.1} ms, peak memory {peak:.0} MB"
    );
}
