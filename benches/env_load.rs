//! Measures the environment's server under load, as a separate process.
//!
//! ```text
//! cargo bench --bench env_load                      # our server, as a child process
//! FINQA_OPENENV_URL=http://127.0.0.1:8000 cargo bench --bench env_load   # and OpenEnv's, running
//! cargo bench --bench env_load -- --seconds 2 --idle 1000
//! cargo bench --bench env_load -- --write DIR          # only the data, for OpenEnv's finqa_env to serve
//! ```
//!
//! If OpenEnv's `finqa_env` is not installed, `tests/python/openenv_finqa.py` serves the same tools
//! on OpenEnv's framework:
//!
//! ```text
//! cargo bench --bench env_load -- --write /tmp/tables
//! .venv/openenv-0.2.3/bin/python tests/python/openenv_finqa.py /tmp/tables --port 8001 &
//! FINQA_OPENENV_URL=http://127.0.0.1:8001 cargo bench --bench env_load
//! ```
//!
//! It prints steps per second, p50 and p99 for 1, 8, 32 and 128 sessions that call the three query
//! tools in turn, the server's memory, its start-up time with 300 tables, and its memory with
//! 10,000 idle WebSockets. All traffic is on loopback. Memory is read from `/proc`, so on Linux
//! only.

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
#[path = "common/process.rs"]
mod process;

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use env_player::{RESET, drive, megabytes, open};
use finqa_env::data::Catalog;
use finqa_env::episode::EpisodeRules;
use finqa_env::server::{ServerOptions, bind, serve};
use finqa_env::tools::{ToolLimits, Tools};
use process::{Process, ask, first_line};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

const SESSIONS: [usize; 4] = [1, 8, 32, 128];
const COMPANIES: usize = 30;
const TABLES_EACH: usize = 10;
const ROWS: usize = 24;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)
    };
    if let Some(data) = given("--serve") {
        return run_server(Path::new(data));
    }
    if let Some(folder) = given("--write") {
        write_data(Path::new(folder));
        return println!("{folder}: {} tables", COMPANIES * TABLES_EACH);
    }
    let number = |name: &str, default: u64| {
        given(name).map_or(default, |value| value.parse().expect("a number"))
    };
    let seconds = Duration::from_secs(number("--seconds", 3).min(60));
    let idle = number("--idle", 10_000).min(15_000) as usize;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(measure(seconds, idle));
}

/// Runs the server under test; this program starts itself with `--serve` for it.
fn run_server(data: &Path) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let options = ServerOptions {
            port: 0,
            max_sessions: 20_000,
            ..ServerOptions::default()
        };
        let catalog = Catalog::load(data).expect("the data");
        let tools = Arc::new(Tools::new(Arc::new(catalog), ToolLimits::default()));
        let listener = bind(&options).await.expect("a port");
        println!("{}", listener.local_addr().expect("an address"));
        let shutdown = CancellationToken::new();
        serve(listener, tools, EpisodeRules::default(), options, shutdown).await;
    });
}

struct Server {
    process: Process,
    address: SocketAddr,
    startup: Duration,
}

impl Server {
    /// Starts the server and waits until it answers `/health`.
    async fn start(data: &Path) -> Self {
        let began = Instant::now();
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .arg("--serve")
            .arg(data)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let address: SocketAddr = first_line(child.stdout.take())
            .trim()
            .parse()
            .expect("an address");
        healthy(address).await;
        Self {
            process: Process(child),
            address,
            startup: began.elapsed(),
        }
    }

    /// Processor time used so far, in the ticks of 10 ms of `/proc`. Unlike wall time, it shows the
    /// cost of the start-up even on a busy machine.
    fn processor_time(&self) -> String {
        let ticks = || -> Option<u64> {
            let stat =
                std::fs::read_to_string(format!("/proc/{}/stat", self.process.0.id())).ok()?;
            // Fields 14 and 15, counted after the name, which may contain spaces.
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
            Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
        };
        ticks().map_or("unknown".to_owned(), |ticks| format!("{} ms", ticks * 10))
    }

    /// Resident memory in MB; `None` without `/proc`.
    fn memory(&self) -> Option<f64> {
        self.process.memory("VmRSS:")
    }
}

async fn healthy(address: SocketAddr) {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .await
        .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("read");
    assert!(answer.contains("healthy"), "{answer}");
}

async fn measure(seconds: Duration, idle: usize) {
    let data = tempfile::tempdir().expect("a directory");
    write_data(data.path());
    let server = Server::start(data.path()).await;
    println!(
        "start-up with {} tables: {:.0} ms, of which {} on a processor; memory {}",
        COMPANIES * TABLES_EACH,
        server.startup.as_secs_f64() * 1e3,
        server.processor_time(),
        megabytes(server.memory()),
    );
    let url = format!("ws://{}/ws", server.address);
    println!(
        "\n{:<15} {:>8} {:>12} {:>9} {:>9} {:>10}",
        "server", "sessions", "steps/s", "p50 ms", "p99 ms", "memory"
    );
    let mut ours = Vec::new();
    for sessions in SESSIONS {
        let load = drive(&url, sessions, seconds).await;
        load.print("ours", sessions, server.memory());
        ours.push(load.rate());
    }
    if let Ok(theirs) = std::env::var("FINQA_OPENENV_URL") {
        let url = format!(
            "{}/ws",
            theirs.trim_end_matches('/').replacen("http", "ws", 1)
        );
        for (sessions, ours) in SESSIONS.into_iter().zip(ours) {
            let load = drive(&url, sessions, seconds).await;
            load.print("OpenEnv's", sessions, None);
            if load.rate() > 0.0 {
                println!("{:>24} {:>11.0}×  ours by steps/s", "", ours / load.rate());
            }
        }
    }
    drop(server);
    hold_idle(data.path(), idle).await;
}

/// Opens WebSockets that then stay idle, and prints the server's memory.
async fn hold_idle(data: &Path, wanted: usize) {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let files: usize = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .and_then(|line| line.split_whitespace().nth(3)?.parse().ok())
        .unwrap_or(1024);
    let count = wanted.min(files.saturating_sub(200));
    println!(
        "\nidle WebSockets: {count} of {wanted} (descriptor limit {files}; raise it with ulimit -n)"
    );
    let server = Server::start(data).await;
    let before = server.memory();
    let url = format!("ws://{}/ws", server.address);
    let mut sockets = Vec::with_capacity(count);
    while sockets.len() < count {
        let batch = (0..64.min(count - sockets.len())).map(|_| open(&url));
        let opened = futures::future::join_all(batch).await;
        sockets.extend(opened.into_iter().map(|socket| socket.expect("a socket")));
    }
    let after = server.memory();
    let mut last = sockets.pop().expect("a socket");
    let answer = ask(&mut last, RESET).await.expect("an answer");
    assert!(answer.contains("observation"), "{answer}");
    println!(
        "memory {} before, {} with all of them open",
        megabytes(before),
        megabytes(after)
    );
}

/// Writes a synthetic data directory in OpenEnv's layout with 300 tables.
fn write_data(root: &Path) {
    let companies = root.join("input_companies");
    let mut metadata = serde_json::Map::new();
    let mut questions =
        String::from("id,user_query,company,question,answer,question_type,explanation\n");
    for c in 0..COMPANIES {
        let company = format!("company{c:02}");
        std::fs::create_dir_all(companies.join(&company)).expect("a directory");
        for t in 0..TABLES_EACH {
            let name = format!("us_gaap_Table{t}");
            let rows = |value: &dyn Fn(usize) -> String| -> Value {
                (0..ROWS)
                    .map(|row| (row.to_string(), Value::String(value(row))))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            };
            let mut columns = serde_json::Map::new();
            columns.insert("item".into(), rows(&|row| format!("line item {row}")));
            for year in 2020..2025 {
                columns.insert(
                    year.to_string(),
                    rows(&|row| ((row + 1) * (t + 1) * year % 9973).to_string()),
                );
            }
            let table = Value::Object(columns.clone()).to_string();
            std::fs::write(
                companies.join(&company).join(format!("{name}.json")),
                &table,
            )
            .expect("written");
            let names: Vec<&String> = columns.keys().collect();
            metadata.insert(
                format!("{company}/{name}"),
                json!({"description": name, "column_names": names, "unique_vals_per_col": {}, "table": table, "company": company}),
            );
        }
        questions.push_str(&format!(
            "{c},\"What is line item 1 of {company}?\",{company},What?,\\boxed{{{c}}},single,none\n"
        ));
    }
    std::fs::write(
        companies.join("tables_cleaned_all_companies.json"),
        Value::Object(metadata).to_string(),
    )
    .expect("written");
    std::fs::create_dir_all(root.join("benchmark_questions")).expect("a directory");
    std::fs::write(
        root.join("benchmark_questions").join("finqa.csv"),
        questions,
    )
    .expect("written");
}
