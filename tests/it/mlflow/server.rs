//! A real `mlflow server` on a free port, with a store of its own, and what it says of a run.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::python::program;

pub struct Mlflow {
    store: tempfile::TempDir,
    port: u16,
    process: Child,
}

impl Mlflow {
    /// Waits until it answers.
    pub fn start() -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .unwrap()
            .port();
        let store = tempfile::tempdir().unwrap();
        let at = store.path();
        let log = std::fs::File::create(at.join("log")).unwrap();
        let process = Command::new(program("mlflow", "python"))
            .args(["-m", "mlflow", "server", "--workers", "1"])
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .arg("--backend-store-uri")
            .arg(format!("sqlite:///{}", at.join("mlflow.db").display()))
            .arg("--artifacts-destination")
            .arg(at.join("artifacts"))
            .env("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false")
            .env("MLFLOW_DISABLE_TELEMETRY", "true")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("NO_PROXY", "127.0.0.1,localhost")
            .current_dir(at)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = Self {
            store,
            port,
            process,
        };
        let begun = Instant::now();
        while !server.is_up() {
            let log = std::fs::read_to_string(server.store.path().join("log")).unwrap();
            let ended = server.process.try_wait().unwrap();
            assert!(ended.is_none(), "mlflow server has ended: {log}");
            let patient = begun.elapsed() < Duration::from_secs(400);
            assert!(patient, "mlflow server does not answer: {log}");
            std::thread::sleep(Duration::from_millis(200));
        }
        server
    }

    pub fn uri(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn is_up(&self) -> bool {
        let reply = ask(|client| client.get(format!("{}/health", self.uri())));
        reply.is_ok_and(|(status, _)| status.is_success())
    }

    /// A call that reads.
    pub fn get(&self, call: &str) -> Value {
        let address = format!("{}/api/2.0/mlflow/{call}", self.uri());
        let (_, text) = ask(|client| client.get(address)).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{call}: {text}"))
    }

    pub fn post(&self, call: &str, body: &Value) -> Value {
        let address = format!("{}/api/2.0/mlflow/{call}", self.uri());
        let (_, text) = ask(|client| client.post(address).json(body)).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{call}: {text}"))
    }

    /// The runs of an experiment.
    pub fn runs(&self, experiment: &str) -> Vec<Value> {
        let found = self.get(&format!(
            "experiments/get-by-name?experiment_name={experiment}"
        ));
        let Some(id) = found["experiment"]["experiment_id"].as_str() else {
            return Vec::new();
        };
        let search = json!({"experiment_ids": [id], "max_results": 100});
        let runs = self.post("runs/search", &search);
        runs["runs"].as_array().cloned().unwrap_or_default()
    }

    /// The traces that are linked to a run.
    pub fn traces(&self, experiment: &str, run: &str) -> Vec<Value> {
        let place = json!({"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": experiment}});
        let search = json!({
            "locations": [place],
            "filter": format!("attributes.run_id = '{run}'"),
            "max_results": 500,
        });
        let found = self.post("../../3.0/mlflow/traces/search", &search);
        found["traces"].as_array().cloned().unwrap_or_default()
    }

    /// All that there is of a run, comparable with another delivery of it.
    pub fn content(&self, run: &str) -> Content {
        let reply = self.get(&format!("runs/get?run_id={run}"));
        let data = &reply["run"]["data"];
        let pairs = |list: &Value| -> BTreeMap<String, String> {
            let list = list.as_array().cloned().unwrap_or_default();
            list.iter()
                .map(|entry| (text(&entry["key"]), text(&entry["value"])))
                .collect()
        };
        let mut histories = BTreeMap::new();
        for metric in data["metrics"].as_array().unwrap() {
            let key = text(&metric["key"]);
            let call = format!("metrics/get-history?run_id={run}&metric_key={key}");
            let mut points: Vec<(i64, i64, String)> = self.get(&call)["metrics"]
                .as_array()
                .unwrap()
                .iter()
                .map(|point| {
                    let integer = |name: &str| point[name].as_i64().unwrap();
                    (
                        integer("step"),
                        integer("timestamp"),
                        point["value"].to_string(),
                    )
                })
                .collect();
            points.sort();
            histories.insert(key, points);
        }
        let info = &reply["run"]["info"];
        Content {
            status: text(&info["status"]),
            times: (info["start_time"].clone(), info["end_time"].clone()),
            params: pairs(&data["params"]),
            tags: pairs(&data["tags"]),
            histories,
            inputs: reply["run"]["inputs"]["dataset_inputs"].clone(),
            files: self.files(&text(&info["artifact_uri"])),
        }
    }

    /// The files of a run, from the disk that the server keeps them on.
    fn files(&self, artifact_uri: &str) -> BTreeMap<String, Vec<u8>> {
        let inside = artifact_uri.strip_prefix("mlflow-artifacts:/").unwrap();
        let root = self.store.path().join("artifacts").join(inside);
        let mut files = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&root).unwrap().display().to_string();
                    files.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
        files
    }
}

impl Drop for Mlflow {
    /// Ends it, and the process that it has started to serve.
    fn drop(&mut self) {
        let pid = self.process.id();
        let children = Path::new("/proc").join(format!("{pid}/task/{pid}/children"));
        let children = std::fs::read_to_string(children).unwrap_or_default();
        let mut ends: Vec<String> = children.split_whitespace().map(str::to_owned).collect();
        ends.push(pid.to_string());
        let _ = Command::new("kill").arg("-9").args(&ends).status();
        let _ = self.process.wait();
    }
}

/// What MLflow holds of a run, less what is another for each delivery.
#[derive(Debug, PartialEq)]
pub struct Content {
    pub status: String,
    pub times: (Value, Value),
    pub params: BTreeMap<String, String>,
    pub tags: BTreeMap<String, String>,
    /// Step, timestamp and value of each metric's points.
    pub histories: BTreeMap<String, Vec<(i64, i64, String)>>,
    pub inputs: Value,
    pub files: BTreeMap<String, Vec<u8>>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// One request to its end, for tests that are not async.
fn ask(
    make: impl FnOnce(&reqwest::Client) -> reqwest::RequestBuilder,
) -> reqwest::Result<(reqwest::StatusCode, String)> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let client = finqa_agents::llm::http::client(true).unwrap();
        let reply = make(&client).send().await?;
        let status = reply.status();
        Ok((status, reply.text().await?))
    })
}
