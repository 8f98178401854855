//! One server of the environment against three behind HAProxy, and what the
//! others notice when one of the three is killed.
//!
//! ```text
//! .ci/deploy                                    # installs HAProxy, among others
//! cargo bench --bench env_proxy
//! cargo bench --bench env_proxy -- --sessions 96 --seconds 3
//! ```
//!
//! HAProxy runs with `deploy/haproxy/haproxy.cfg`. Every second session is made by
//! `openenv/session/create` and attached to, so that two connections have to find
//! the same server. It ends with an error if a session of a server that was not
//! killed is lost or answered wrongly, or one of the killed server cannot be
//! replaced. Loopback only; servers, proxy and load share the machine's processors.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a load generator stops at the first surprise, and its figures are small"
)]

#[path = "common/env_player.rs"]
mod env_player;
#[path = "common/env_server.rs"]
mod env_server;
#[path = "common/process.rs"]
mod process;

use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use env_player::{Load, Player, drive};
use env_server::EnvServer;
use process::{Process, ask};
use serde_json::{Value, json};

const NAMES: [&str; 3] = ["a", "b", "c"];
/// The server that is killed.
const KILLED: &str = "b";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, default: u64| {
        let at = arguments.iter().position(|argument| argument == name);
        let value = at.and_then(|at| arguments.get(at + 1));
        value.map_or(default, |value| value.parse().expect("a number"))
    };
    let seconds = Duration::from_secs(number("--seconds", 3).clamp(1, 60));
    let sessions = number("--sessions", 96).clamp(6, 900) as usize;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let _ = rustls::crypto::ring::default_provider().install_default();
    runtime.block_on(async {
        throughput(sessions, seconds).await;
        one_is_killed(sessions, seconds).await;
    });
}

fn server(name: &str) -> EnvServer {
    let more = [
        "--server-id", name, "--max-sessions-per-client", "1000", "--rate-limit", "0",
    ];
    EnvServer::start(env!("CARGO_BIN_EXE_convfinqa"), &more)
}

/// HAProxy in front of three addresses; ends with this value.
struct Proxy {
    address: String,
    _process: Process,
}

impl Proxy {
    async fn before(servers: [&EnvServer; 3]) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = free.local_addr().expect("an address").to_string();
        drop(free);
        let mut command = Command::new("haproxy");
        command
            .args(["-db", "-f", "deploy/haproxy/haproxy.cfg"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("FINQA_BIND", &address);
        for (name, server) in NAMES.into_iter().zip(servers) {
            command.env(format!("FINQA_{}", name.to_uppercase()), &server.address);
        }
        let process = Process(command.spawn().expect("haproxy, which .ci/deploy installs"));
        let proxy = Self {
            address,
            _process: process,
        };
        for _ in 0..100 {
            if proxy.post("/reset", &json!({})).await.is_some() {
                return proxy;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("haproxy does not answer on {}", proxy.address);
    }

    fn sockets(&self) -> String {
        format!("ws://{}/ws", self.address)
    }

    async fn post(&self, path: &str, body: &Value) -> Option<Value> {
        let url = format!("http://{}{path}", self.address);
        let answer = reqwest::Client::new()
            .post(url)
            .json(body)
            .send()
            .await
            .ok()?;
        answer.json().await.ok()
    }

    async fn rpc(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.post("/mcp", &body).await.expect("an answer")
    }

    /// A session, by its id first or by a WebSocket alone; gives its server, too.
    async fn session(&self, by_id: bool) -> (String, Player) {
        let mut url = self.sockets();
        if by_id {
            let created = self.rpc("openenv/session/create", json!({})).await;
            let id = created["result"]["session_id"].as_str().expect("an id");
            url = format!("{url}?session_id={id}");
        }
        let mut player = Player::new(&url).await.expect("a session");
        // JSON-RPC on the socket answers with the session that the socket has.
        let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"});
        let asked = json!({"type": "mcp", "data": asked}).to_string();
        let answer = ask(&mut player.socket, &asked).await.expect("an answer");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let id = answer["data"]["result"]["session_id"]
            .as_str()
            .expect("an id");
        (id.split('.').next().expect("a server").to_owned(), player)
    }
}

async fn throughput(sessions: usize, seconds: Duration) {
    println!(
        "{:<15} {:>8} {:>12} {:>9} {:>9} {:>10}",
        "servers", "sessions", "steps/s", "p50 ms", "p99 ms", "memory"
    );
    let one = server("a");
    let memory = |server: &EnvServer| server.process.memory("VmRSS:");
    let load = drive(&format!("ws://{}/ws", one.address), sessions, seconds).await;
    load.print("one, direct", sessions, memory(&one));
    let proxy = Proxy::before([&one, &one, &one]).await;
    let load = drive(&proxy.sockets(), sessions, seconds).await;
    load.print("one, HAProxy", sessions, memory(&one));
    drop((proxy, one));
    let three = NAMES.map(server);
    let proxy = Proxy::before([&three[0], &three[1], &three[2]]).await;
    let load = drive(&proxy.sockets(), sessions, seconds).await;
    let memory = three.iter().filter_map(memory).sum();
    load.print("three, HAProxy", sessions, Some(memory));
}

/// What one session saw.
struct Played {
    server: String,
    before: Vec<u32>,
    after: Vec<u32>,
    /// Its end came before the time was up.
    lost: bool,
    /// From the end of the session to the first step of its replacement.
    replaced: Option<Duration>,
}

async fn one_is_killed(sessions: usize, seconds: Duration) {
    let mut three = NAMES.map(server);
    let proxy = Proxy::before([&three[0], &three[1], &three[2]]).await;
    let created = loop {
        let created = proxy.rpc("openenv/session/create", json!({})).await;
        let id = created["result"]["session_id"]
            .as_str()
            .expect("an id")
            .to_owned();
        if id.starts_with(KILLED) {
            break id;
        }
    };
    let mut players = Vec::new();
    for n in 0..sessions {
        players.push(proxy.session(n % 2 == 0).await);
    }
    let kill_at = Instant::now() + seconds;
    let end = kill_at + seconds;
    let proxy = Arc::new(proxy);
    let playing: Vec<_> = players
        .into_iter()
        .enumerate()
        .map(|(n, (server, player))| {
            let proxy = Arc::clone(&proxy);
            tokio::spawn(play(proxy, n % 2 == 0, server, player, kill_at, end))
        })
        .collect();
    tokio::time::sleep_until(kill_at.into()).await;
    let killed = NAMES
        .iter()
        .position(|name| *name == KILLED)
        .expect("one of them");
    three[killed].process.0.kill().expect("killed");
    let mut played = Vec::new();
    for one in playing {
        played.push(one.await.expect("played"));
    }
    let named = |server: &str| played.iter().filter(|one| one.server == server).count();
    println!(
        "\n{sessions} sessions on three servers behind HAProxy: {}; server {KILLED} is killed",
        NAMES
            .map(|name| format!("{} on {name}", named(name)))
            .join(", ")
    );
    let (lost, others): (Vec<_>, Vec<_>) = played.iter().partition(|one| one.server == KILLED);
    let noticed = others.iter().filter(|one| one.lost).count();
    let report = |name: &str, times: fn(&Played) -> &Vec<u32>| {
        let times = others.iter().flat_map(|one| times(one).iter().copied());
        let load = Load::of(times.collect(), seconds, others.len());
        load.print(name, others.len(), None);
    };
    report("others, before", |one| &one.before);
    report("others, after", |one| &one.after);
    println!("others lost: {noticed} of {}", others.len());
    assert_eq!(noticed, 0, "sessions of other servers were lost");
    assert!(
        lost.iter().all(|one| one.lost),
        "a session outlived its server"
    );
    let waits = lost.iter().map(|one| one.replaced.expect("a new session"));
    println!(
        "sessions of {KILLED} lost: {}, all of them replaced, the last one after {:.0} ms",
        lost.len(),
        waits.max().unwrap_or_default().as_secs_f64() * 1e3
    );
    let refused = proxy
        .rpc("tools/list", json!({"session_id": created}))
        .await;
    let said = refused["error"]["message"].as_str().expect("an error");
    assert!(said.starts_with("Unknown session_id"), "{said}");
    println!("JSON-RPC with an id of {KILLED}: {said}");
}

async fn play(
    proxy: Arc<Proxy>,
    by_id: bool,
    server: String,
    mut player: Player,
    kill_at: Instant,
    end: Instant,
) -> Played {
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let kept = player.play(kill_at, &mut before).await && player.play(end, &mut after).await;
    let mut replaced = None;
    if !kept {
        let ended = Instant::now();
        let (_, mut player) = proxy.session(by_id).await;
        replaced = Some(ended.elapsed());
        player.play(end, &mut Vec::new()).await;
    }
    Played {
        server,
        before,
        after,
        lost: !kept,
        replaced,
    }
}
