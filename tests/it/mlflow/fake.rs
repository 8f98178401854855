//! Just enough of MLflow's REST API to be broken on purpose.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::fault_server::{FaultServer, Reply, Request};

/// What a fake server received.
#[derive(Default)]
pub struct Told {
    pub runs: usize,
    pub params: BTreeMap<String, String>,
    /// Key, step and time, as often as they came.
    pub points: Vec<(String, i64, i64)>,
    pub files: BTreeMap<String, usize>,
    pub status: String,
}

pub struct Fake {
    server: FaultServer,
    told: Arc<Mutex<Told>>,
}

impl Fake {
    /// A server that answers as MLflow does wherever `fault` gives nothing.
    pub fn start(fault: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> Self {
        let told = Arc::new(Mutex::new(Told::default()));
        let state = Arc::clone(&told);
        let server = FaultServer::start(move |request| {
            let done = answer(&mut state.lock().unwrap(), request);
            fault(request).unwrap_or(done)
        });
        Self { server, told }
    }

    pub fn uri(&self) -> String {
        self.server.url()
    }

    pub fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap()
    }

    pub fn requests(&self) -> Vec<Request> {
        self.server.requests()
    }
}

fn run(told: &Told) -> Value {
    json!({
        "info": {"run_id": "r1", "experiment_id": "7", "status": told.status,
                 "lifecycle_stage": "active", "artifact_uri": "mlflow-artifacts:/7/r1/artifacts"},
        "data": {"params": []},
    })
}

fn answer(told: &mut Told, request: &Request) -> Reply {
    let body = &request.body;
    let none = Reply::json(
        404,
        &json!({"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "no"}),
    );
    let call = request.path.rsplit("/mlflow/").next().unwrap_or_default();
    match call {
        "experiments/get-by-name" => {
            let experiment = json!({"experiment_id": "7", "lifecycle_stage": "active"});
            Reply::json(200, &json!({"experiment": experiment}))
        }
        "runs/search" if told.runs == 0 => Reply::json(200, &json!({})),
        "runs/search" => Reply::json(200, &json!({"runs": [run(told)]})),
        "runs/get" if told.runs == 0 => none,
        "runs/get" => Reply::json(200, &json!({"run": run(told)})),
        "runs/create" => {
            told.runs += 1;
            told.status = "RUNNING".to_owned();
            Reply::json(200, &json!({"run": run(told)}))
        }
        "runs/update" => {
            told.status = body["status"].as_str().unwrap_or_default().to_owned();
            Reply::json(200, &json!({}))
        }
        "runs/log-batch" => {
            for param in body["params"].as_array().into_iter().flatten() {
                let text = |name: &str| param[name].as_str().unwrap().to_owned();
                told.params.insert(text("key"), text("value"));
            }
            for metric in body["metrics"].as_array().into_iter().flatten() {
                assert!(metric["value"].is_number(), "{metric}");
                let key = metric["key"].as_str().unwrap().to_owned();
                let number = |name: &str| metric[name].as_i64().unwrap();
                told.points.push((key, number("step"), number("timestamp")));
            }
            Reply::json(200, &json!({}))
        }
        "runs/log-inputs" => Reply::json(200, &json!({})),
        _ if request
            .path
            .starts_with("/api/2.0/mlflow-artifacts/artifacts/7/r1/artifacts/") =>
        {
            let name = request
                .path
                .rsplit("/artifacts/")
                .next()
                .unwrap_or_default();
            told.files.insert(name.to_owned(), request.raw.len());
            Reply::plain(200, "")
        }
        "/v1/traces" => Reply::plain(200, ""),
        "/version" => Reply::plain(200, "fake"),
        _ => none,
    }
}
