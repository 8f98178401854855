//! Three servers behind HAProxy with `deploy/haproxy/haproxy.cfg`.

use std::net::TcpListener;
use std::process::{Child, Command};
use std::time::Duration;

use serde_json::{Value, json};

use super::cli::Served;
use crate::support::socket::Socket;

const NAMES: [&str; 3] = ["a", "b", "c"];

/// Three servers, each in a process of its own, and the proxy.
struct Cluster {
    servers: Vec<Served>,
    proxy: Child,
    address: String,
    client: reqwest::Client,
}

impl Cluster {
    async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let started = |id: &&str| Served::with(&[("HOSTNAME", id)]);
        let servers: Vec<Served> = NAMES.iter().map(started).collect();
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let proxy = Command::new("haproxy")
            .args(["-db", "-f", "deploy/haproxy/haproxy.cfg"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("FINQA_BIND", &address)
            .env("FINQA_A", &servers[0].address)
            .env("FINQA_B", &servers[1].address)
            .env("FINQA_C", &servers[2].address)
            .spawn()
            .expect("haproxy is installed");
        let cluster = Self {
            servers,
            proxy,
            address,
            client: reqwest::Client::new(),
        };
        while cluster.get("/health").await != Some(200) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        cluster
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    async fn get(&self, path: &str) -> Option<u16> {
        let answer = self.client.get(self.url(path)).send().await.ok()?;
        Some(answer.status().as_u16())
    }

    async fn rpc(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = self.client.post(self.url("/mcp")).json(&body);
        request.send().await.unwrap().json().await.unwrap()
    }

    async fn create(&self) -> String {
        let created = self.rpc("openenv/session/create", json!({})).await;
        created["result"]["session_id"].as_str().unwrap().to_owned()
    }

    async fn socket(&self, query: &str) -> Socket {
        Socket::at(&self.address, &format!("/ws{query}")).await
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

/// The id of a socket's session, which begins with that of the server.
async fn id_of(socket: &mut Socket) -> String {
    let asked = json!({"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"});
    let answer = socket.ask(json!({"type": "mcp", "data": asked})).await;
    let id = answer["data"]["result"]["session_id"].as_str();
    id.expect("an id").to_owned()
}

#[tokio::test]
#[ignore = "needs haproxy, which tests/run.sh --all installs"]
async fn a_sessions_requests_reach_its_server_and_a_killed_one_ends_no_others() {
    let mut cluster = Cluster::start().await;
    // One server's counters would pass for those of all.
    assert_eq!(cluster.get("/metrics").await, Some(404));
    let mut sessions = Vec::new();
    for n in 0..24 {
        let made = match n % 2 {
            0 => Some(cluster.create().await),
            _ => None,
        };
        let named = made.as_ref().map(|id| format!("?session_id={id}"));
        let mut socket = cluster.socket(&named.unwrap_or_default()).await;
        let id = id_of(&mut socket).await;
        assert!(made.is_none_or(|made| made == id), "{id}");
        socket.reset(json!({"episode_id": id})).await;
        // As long as a query can be, written in as many bytes as JSON allows.
        let query = format!("SELECT '{}' WHERE 1", "\\u00e9".repeat(9800));
        let call = format!(
            r#"{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{"name": "sql_query",
               "arguments": {{"company_name": "x", "table_name": "y", "query": "{query}"}},
               "session_id": "{id}"}}}}"#
        );
        assert!(call.len() > 55_000);
        let request = cluster.client.post(cluster.url("/mcp")).body(call);
        let called: Value = request.send().await.unwrap().json().await.unwrap();
        assert!(called["result"].is_object(), "{called}");
        sessions.push((id, socket));
    }
    let of = |name: &str| {
        let of_it = sessions.iter().filter(|(id, _)| id.starts_with(name));
        of_it.count()
    };
    assert_eq!(NAMES.map(of), [8; 3]);
    cluster.servers.remove(1);
    for (id, mut socket) in sessions {
        let named = json!({"session_id": id});
        if id.starts_with("b.") {
            assert_eq!(socket.next().await, None, "{id} outlived its server");
            let listed = cluster.rpc("tools/list", named).await;
            let unknown = format!("Unknown session_id: {id}");
            assert_eq!(listed["error"]["message"], unknown);
            let mut attached = cluster.socket(&format!("?session_id={id}")).await;
            let refused = attached.answer().await;
            assert_eq!(refused["data"]["code"], "SESSION_ERROR");
            assert_eq!(refused["data"]["message"], unknown);
            let mut again = cluster.socket("").await;
            assert!(!id_of(&mut again).await.starts_with("b."));
        } else {
            assert_eq!(socket.state().await["episode_id"], id);
            let closed = cluster.rpc("openenv/session/close", named).await;
            assert!(closed["result"].is_object(), "{closed}");
        }
    }
}
