//! A long run of the environment's server: a million steps over 256 sessions, next
//! to clients that vanish, stay half open, read slowly or leave pings unanswered.
//!
//! ```text
//! cargo bench --bench env_soak
//! cargo bench --bench env_soak -- --steps 100000
//! ```
//!
//! It ends with an error if a step is answered wrongly, a session of the honest is
//! lost, a session of the others keeps its slot, or a full server does not say so as
//! OpenEnv's client expects. Memory is printed as it was after a tenth of the steps
//! and at the end. Loopback only; Linux only, because it reads `/proc`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a soak stops at the first surprise"
)]

#[path = "common/env_server.rs"]
mod env_server;
#[path = "common/process.rs"]
mod process;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use env_server::EnvServer;
use futures::{SinkExt, StreamExt};
use process::{Socket, ask};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::MaybeTlsStream;
use tokio_tungstenite::tungstenite::Message;

/// Sessions that play to the end.
const HONEST: usize = 256;
/// Slots left to the others.
const OTHERS: usize = 64;
/// How long a client leaves pings unanswered and is still served: longer than the
/// 20 s after which the first ping comes, shorter than the 60 s after which it is gone.
const GENERATION: Duration = Duration::from_secs(45);
/// A half-open socket is given up after 60 s.
const GIVEN_UP: Duration = Duration::from_secs(120);

/// How often each kind of client came.
#[derive(Default)]
struct Counts {
    steps: AtomicU64,
    episodes: AtomicU64,
    vanished: AtomicU64,
    half_open: AtomicU64,
    slow_readers: AtomicU64,
    silent: AtomicU64,
    refused: AtomicU64,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let at = arguments.iter().position(|argument| argument == "--steps");
    let steps = at.map_or(1_000_000, |at| arguments[at + 1].parse().expect("a number"));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(soak(steps));
}

/// Resident memory in MB.
fn memory(server: &EnvServer) -> f64 {
    server.process.memory("VmRSS:").expect("its memory")
}

async fn open(address: &str) -> Socket {
    let url = format!("ws://{address}/ws");
    tokio_tungstenite::connect_async(url)
        .await
        .expect("a socket")
        .0
}

fn reset(index: usize) -> String {
    // The built-in data have 47 training tasks.
    json!({"type": "reset", "data": {"split": "train", "index": index % 47}}).to_string()
}

fn step(tool: &str, arguments: &Value) -> String {
    let data = json!({"type": "call_tool", "tool_name": tool, "arguments": arguments});
    json!({"type": "step", "data": data}).to_string()
}

/// Asks and gives `data` of the observation.
async fn observed(socket: &mut Socket, message: &str) -> Value {
    let answer = ask(socket, message).await.expect("an answer");
    let mut answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["type"], "observation", "{answer}");
    answer["data"].take()
}

/// The first table of the company that a reset names.
async fn first_table(socket: &mut Socket, reset: &Value) -> (Value, String) {
    let company = json!({"company_name": reset["metadata"]["company"]});
    let seen = observed(socket, &step("get_descriptions", &company)).await;
    let tables = seen["observation"]["result"]["data"]
        .as_str()
        .expect("text");
    let tables: Vec<String> = serde_json::from_str(tables).expect("a list");
    (company, tables[0].clone())
}

/// Episodes of six steps until all steps are taken.
async fn play(address: String, counts: Arc<Counts>, steps: u64, number: usize) {
    let mut socket = open(&address).await;
    let mut index = number;
    while counts.steps.load(Ordering::Relaxed) < steps {
        let begun = observed(&mut socket, &reset(index)).await;
        let (mut asked, table) = first_table(&mut socket, &begun).await;
        asked["table_name"] = table.into();
        let info = observed(&mut socket, &step("get_table_info", &asked)).await;
        assert!(info["observation"]["result"]["data"].is_string(), "{info}");
        asked["query"] = "SELECT COUNT(*) AS n FROM data WHERE 1 = 1".into();
        for _ in 0..3 {
            let rows = observed(&mut socket, &step("sql_query", &asked)).await;
            let text = rows["observation"]["result"]["data"].as_str();
            assert!(
                text.is_some_and(|text| text.starts_with(r#"[{"n":"#)),
                "{rows}"
            );
        }
        let end = observed(&mut socket, &step("submit_answer", &json!({"answer": "?"}))).await;
        assert_eq!(
            (&end["done"], &end["reward"]),
            (&json!(true), &json!(0.0)),
            "{end}"
        );
        counts.steps.fetch_add(6, Ordering::Relaxed);
        counts.episodes.fetch_add(1, Ordering::Relaxed);
        index += HONEST;
    }
}

/// Connects, begins an episode, and is gone without a word.
async fn vanish(address: String, counts: Arc<Counts>, steps: u64) {
    while counts.steps.load(Ordering::Relaxed) < steps {
        let mut socket = open(&address).await;
        match ask(&mut socket, &reset(0)).await {
            Some(answer) if answer.contains("CAPACITY_REACHED") => {
                counts.refused.fetch_add(1, Ordering::Relaxed);
            }
            Some(_) => {
                counts.vanished.fetch_add(1, Ordering::Relaxed);
            }
            None => {}
        }
        if let MaybeTlsStream::Plain(stream) = socket.get_mut() {
            reset_on_close(stream);
        }
        drop(socket);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The connection ends by a reset and not by a close.
fn reset_on_close(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}

/// Opens a socket that never reads again, so that its pings stay unanswered.
async fn half_open(address: String, counts: Arc<Counts>) {
    let mut socket = open(&address).await;
    socket.send(Message::text(reset(0))).await.expect("sent");
    counts.half_open.fetch_add(1, Ordering::Relaxed);
    tokio::time::sleep(GIVEN_UP).await;
    drop(socket);
}

/// Asks for more than it reads, and goes.
async fn read_slowly(address: String, counts: Arc<Counts>, steps: u64) {
    while counts.steps.load(Ordering::Relaxed) < steps {
        let mut socket = open(&address).await;
        for _ in 0..200 {
            if socket.send(Message::text(reset(1))).await.is_err() {
                break;
            }
        }
        for _ in 0..20 {
            let _ = tokio::time::timeout(Duration::from_millis(50), socket.next()).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        counts.slow_readers.fetch_add(1, Ordering::Relaxed);
    }
}

/// Leaves pings unanswered for as long as a model generates, and plays on.
async fn generate(address: String, counts: Arc<Counts>) {
    let mut socket = open(&address).await;
    let begun = observed(&mut socket, &reset(2)).await;
    tokio::time::sleep(GENERATION).await;
    let (_, table) = first_table(&mut socket, &begun).await;
    assert!(!table.is_empty());
    let state = ask(&mut socket, r#"{"type": "state"}"#)
        .await
        .expect("an answer");
    assert!(
        state.contains(r#""step_count":1"#),
        "the episode is kept: {state}"
    );
    counts.silent.fetch_add(1, Ordering::Relaxed);
}

async fn soak(steps: u64) {
    let slots = (HONEST + OTHERS).to_string();
    let server = EnvServer::start(
        env!("CARGO_BIN_EXE_convfinqa"),
        &[
            "--max-sessions", &slots, "--max-sessions-per-client", &slots,
        ],
    );
    let counts = Arc::new(Counts::default());
    let (address, began) = (server.address.clone(), Instant::now());
    let fresh = memory(&server);
    let with = || (address.clone(), Arc::clone(&counts));
    let mut honest = Vec::new();
    for number in 0..HONEST {
        let (address, counts) = with();
        honest.push(tokio::spawn(play(address, counts, steps, number)));
    }
    let mut others = Vec::new();
    for _ in 0..8 {
        let (address, counts) = with();
        others.push(tokio::spawn(vanish(address, counts, steps)));
        let (address, counts) = with();
        others.push(tokio::spawn(half_open(address, counts)));
        let (address, counts) = with();
        others.push(tokio::spawn(read_slowly(address, counts, steps)));
        let (address, counts) = with();
        others.push(tokio::spawn(generate(address, counts)));
    }
    while counts.steps.load(Ordering::Relaxed) < steps / 10 {
        assert!(
            !honest.iter().all(tokio::task::JoinHandle::is_finished),
            "all sessions failed"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let early = memory(&server);
    for session in honest {
        session.await.expect("an honest session was lost");
    }
    let (took, late) = (began.elapsed(), memory(&server));
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let taken = count(&counts.steps);
    println!(
        "{taken} steps in {} episodes over {HONEST} sessions in {:.0} s",
        count(&counts.episodes),
        took.as_secs_f64()
    );
    for other in others {
        other.await.expect("another client ended as it should");
    }
    println!(
        "{} vanished, {} half open, {} slow readers, {} left pings unanswered for {} s; {} refused at capacity",
        count(&counts.vanished),
        count(&counts.half_open),
        count(&counts.slow_readers),
        count(&counts.silent),
        GENERATION.as_secs(),
        count(&counts.refused)
    );
    println!(
        "memory: {fresh:.1} MB at the start, {early:.1} MB after a tenth, {late:.1} MB at the end"
    );
    println!("{} slots free again", all_slots(&address).await);
}

/// Takes every slot, and sees the next client refused as OpenEnv's expects.
async fn all_slots(address: &str) -> usize {
    let mut taken = Vec::new();
    for _ in 0..HONEST + OTHERS {
        let mut socket = open(address).await;
        observed(&mut socket, &reset(0)).await;
        taken.push(socket);
    }
    let refused = || async {
        let answer = open(address)
            .await
            .next()
            .await
            .expect("a message")
            .expect("a text");
        let answer: Value = serde_json::from_str(answer.to_text().expect("text")).expect("JSON");
        answer["data"]["code"] == "CAPACITY_REACHED"
            && answer["data"]["max_sessions"] == taken.len()
    };
    assert!(refused().await, "a full server says so");
    let count = taken.len();
    // A slot is free at once for a client that reconnects.
    taken[0].close(None).await.expect("closed");
    while let Some(Ok(_)) = taken[0].next().await {}
    let mut again = open(address).await;
    observed(&mut again, &reset(0)).await;
    count
}
