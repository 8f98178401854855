//! Sessions that take steps as fast as the server answers, and their answer times.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::process::{Socket, ask};

/// Below the default step limit, so that every step runs its tool.
const STEPS_AN_EPISODE: usize = 48;

pub fn megabytes(memory: Option<f64>) -> String {
    memory.map_or("unknown".to_owned(), |mb| format!("{mb:.1} MB"))
}

/// Opens a WebSocket with small buffers, because this process may open ten thousand of them.
pub async fn open(url: &str) -> Option<Socket> {
    let config = WebSocketConfig::default()
        .read_buffer_size(2048)
        .write_buffer_size(0);
    tokio_tungstenite::connect_async_with_config(url, Some(config), true)
        .await
        .ok()
        .map(|(socket, _)| socket)
}

fn step(tool: &str, arguments: Value) -> String {
    json!({"type": "step", "data": {"type": "call_tool", "tool_name": tool, "arguments": arguments}})
        .to_string()
}

pub const RESET: &str = r#"{"type":"reset","data":{}}"#;

/// A session that finds a company and a table once, and then repeats three tool calls.
pub struct Player {
    pub socket: Socket,
    calls: [String; 3],
}

impl Player {
    /// Opens a session; `None` if the server refuses it.
    pub async fn new(url: &str) -> Option<Self> {
        let mut socket = open(url).await?;
        ask(&mut socket, RESET)
            .await
            .filter(|text| !text.contains("CAPACITY_REACHED"))?;
        // OpenEnv's `finqa_env` shows the company in the state only.
        let state: Value =
            serde_json::from_str(&ask(&mut socket, r#"{"type":"state"}"#).await?).ok()?;
        let company = state["data"]["current_company"].as_str()?.to_owned();
        let listed = json!({"company_name": company});
        let tables = result(&ask(&mut socket, &step("get_descriptions", listed.clone())).await?)?;
        let tables: Vec<String> = serde_json::from_str(&tables).ok()?;
        let table = tables.last()?;
        let looked = json!({"company_name": company, "table_name": table});
        let info = result(&ask(&mut socket, &step("get_table_info", looked.clone())).await?)?;
        let info: Value = serde_json::from_str(&info.replace("NaN", "null")).ok()?;
        let column = info["column_dtypes"]
            .as_object()?
            .keys()
            .next()?
            .replace('"', "\"\"");
        let name = table.replace('"', "\"\"");
        let query = format!(
            "SELECT \"{column}\", COUNT(1) AS n FROM \"{name}\" WHERE \"{column}\" IS NOT NULL GROUP BY 1 ORDER BY 1 LIMIT 5"
        );
        let asked = json!({"company_name": company, "table_name": table, "query": query});
        let first = ask(&mut socket, &step("sql_query", asked.clone())).await?;
        assert!(
            first.contains("\"n\\\":"),
            "the query does not run: {first}"
        );
        Some(Self {
            socket,
            calls: [
                step("get_descriptions", listed),
                step("get_table_info", looked),
                step("sql_query", asked),
            ],
        })
    }

    /// Plays until `end` and adds each step's time in microseconds; false if the
    /// connection ends first.
    pub async fn play(&mut self, end: Instant, times: &mut Vec<u32>) -> bool {
        let mut taken = STEPS_AN_EPISODE;
        while Instant::now() < end {
            if taken >= STEPS_AN_EPISODE {
                if ask(&mut self.socket, RESET).await.is_none() {
                    return false;
                }
                taken = 0;
            }
            let began = Instant::now();
            let Some(answer) = ask(&mut self.socket, &self.calls[taken % 3]).await else {
                return false;
            };
            times.push(began.elapsed().as_micros() as u32);
            // Python's JSON has a space after the colon.
            let fine = ["\"is_error\":false", "\"is_error\": false"];
            assert!(fine.iter().any(|text| answer.contains(text)), "{answer}");
            taken += 1;
        }
        true
    }
}

fn result(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    Some(
        answer["data"]["observation"]["result"]["data"]
            .as_str()?
            .to_owned(),
    )
}

pub struct Load {
    times: Vec<u32>,
    wall: Duration,
    playing: usize,
}

pub async fn drive(url: &str, sessions: usize, seconds: Duration) -> Load {
    let mut players = Vec::new();
    for _ in 0..sessions {
        match Player::new(url).await {
            Some(player) => players.push(player),
            None => break,
        }
    }
    let playing = players.len();
    let began = Instant::now();
    let end = began + seconds;
    let running: Vec<_> = players
        .into_iter()
        .map(|mut player| {
            tokio::spawn(async move {
                let mut times = Vec::with_capacity(16_384);
                assert!(player.play(end, &mut times).await, "an answer");
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for one in running {
        times.extend(one.await.expect("played"));
    }
    Load::of(times, began.elapsed(), playing)
}

impl Load {
    /// The load of `playing` sessions whose steps took these times in microseconds.
    pub fn of(mut times: Vec<u32>, wall: Duration, playing: usize) -> Self {
        times.sort_unstable();
        Self {
            times,
            wall,
            playing,
        }
    }

    /// Steps per second.
    pub fn rate(&self) -> f64 {
        self.times.len() as f64 / self.wall.as_secs_f64()
    }

    pub fn print(&self, server: &str, sessions: usize, memory: Option<f64>) {
        if self.times.is_empty() {
            println!("{server:<15} {sessions:>8} none of its sessions was let in");
            return;
        }
        let at = |share: f64| {
            let place = (self.times.len() as f64 * share) as usize;
            f64::from(self.times[place.min(self.times.len() - 1)]) / 1e3
        };
        let refused = sessions - self.playing;
        println!(
            "{server:<15} {sessions:>8} {:>12.0} {:>9.2} {:>9.2} {:>10}{}",
            self.rate(),
            at(0.50),
            at(0.99),
            megabytes(memory),
            if refused > 0 {
                format!("  ({refused} sessions refused)")
            } else {
                String::new()
            },
        );
    }
}
