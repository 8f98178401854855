//! Against a real server: what a run looks like there, and that a run that was cut short, or
//! whose server was away, looks the same in the end.

use std::time::Duration;

use serde_json::{Value, json};

use super::server::{Content, Mlflow};
use crate::support::agents::scripted;
use crate::support::cli::{CommandExt, Ran, Workplace, wait_until};
use crate::support::fault_server::FaultServer;

/// A chat model that takes its time.
fn model(milliseconds: u64) -> FaultServer {
    FaultServer::start(move |request| scripted(request).after(Duration::from_millis(milliseconds)))
}

fn command(place: &Workplace, model: &FaultServer, mlflow: &Mlflow) -> std::process::Command {
    let mut command = place.command();
    let url = model.base_url();
    command.given(&format!(
        "--model scripted --data-path sample -j 2 --base-url {url}"
    ));
    command.env("MLFLOW_TRACKING_URI", mlflow.uri());
    command
}

fn sync(place: &Workplace, mlflow: &Mlflow, what: &str) -> Ran {
    let server = ("MLFLOW_TRACKING_URI", &*mlflow.uri());
    place.run_with(&format!("track sync {what}"), &[server])
}

fn run_id(place: &Workplace) -> String {
    let text = std::fs::read(place.run_folder().join("mlflow.json")).unwrap();
    let record: Value = serde_json::from_slice(&text).unwrap();
    record["run_id"].as_str().unwrap().to_owned()
}

/// The same run delivered whole, at once, to a server that had none of it.
fn delivered_at_once(place: &Workplace, mlflow: &Mlflow) -> Content {
    let experiment = ("MLFLOW_EXPERIMENT_NAME", "undisturbed");
    let server = ("MLFLOW_TRACKING_URI", &*mlflow.uri());
    let sync = place.run_with("track sync last", &[server, experiment]);
    sync.succeeds();
    mlflow.content(&run_id(place))
}

/// A server takes longer to start than all of this.
#[test]
#[ignore = "needs .venv, which tests/python/setup.sh makes"]
fn runs_are_on_a_real_server_as_they_are_in_their_folders() {
    let mlflow = Mlflow::start();
    a_run_cut_short_continues_its_mlflow_run(&mlflow);
    a_run_is_there_as_it_is_in_its_folder(&mlflow);
}

fn a_run_is_there_as_it_is_in_its_folder(mlflow: &Mlflow) {
    let (place, model) = (Workplace::new(), model(1));
    let filter = format!("({}|.)", "x".repeat(7000));
    let mut filtered = command(&place, &model, mlflow);
    let ran = filtered.args(["--filter", &filter]).ran();
    ran.succeeds();
    let id = run_id(&place);
    let page = format!("MLflow: {}/#/experiments/1/runs/{id}", mlflow.uri());
    ran.tells(&page);

    let content = mlflow.content(&id);
    assert_eq!(content.status, "FINISHED");
    assert_eq!(content.params["model"], "scripted");
    assert_eq!(content.params["temperature"], "default");
    assert!(content.params["analyst_prompt"].contains("PROGRAM"));
    assert!(content.params["critic_prompt"].contains("ALL_OK"));
    assert_eq!(content.params["filter"].chars().count(), 6000);
    assert_eq!(
        content.tags["mlflow.runName"].split(' ').next(),
        Some("scripted")
    );
    assert_eq!(content.tags["mlflow.source.name"], "convfinqa");
    assert_eq!(content.tags["convfinqa.data_hash"].len(), 64);
    assert_eq!(
        content.inputs[0]["dataset"]["digest"]
            .as_str()
            .unwrap()
            .len(),
        32
    );

    let rows = place.rows("output/output.csv");
    let summary: Value = serde_json::from_slice(&content.files["summary.json"]).unwrap();
    for name in [
        "exact_match", "numerical_match", "mean_latency", "min_latency", "max_latency", "p25",
        "p50", "p75", "p95", "p99", "financial_equivalence", "financial_equivalence_low",
        "execution_accuracy", "input_tokens", "output_tokens", "critic_fixed", "critic_broken",
    ] {
        let (step, _, value) = content.histories[name].last().unwrap();
        assert_eq!(usize::try_from(*step).unwrap(), rows.len(), "{name}");
        let ours = summary.get(name).or_else(|| summary["latency"].get(name));
        if let Some(ours) = ours.and_then(Value::as_f64) {
            let theirs: f64 = value.parse().unwrap();
            assert!((ours - theirs).abs() < 1e-12, "{name}: {ours} {theirs}");
        }
    }
    assert_eq!(content.histories["exact_match"].len(), 1);

    let folder = place.run_folder();
    for name in [
        "output.csv", "transcripts.jsonl", "report.html", "config.toml",
    ] {
        assert_eq!(
            content.files[name],
            std::fs::read(folder.join(name)).unwrap(),
            "{name}"
        );
    }
    let graph = String::from_utf8(content.files["graph.mmd"].clone()).unwrap();
    assert!(graph.contains("analyst") && graph.contains("revise"));
    let logged: Value = serde_json::from_str(&content.tags["mlflow.loggedArtifacts"]).unwrap();
    assert_eq!(
        logged,
        json!([{"path": "eval_results_table.json", "type": "table"}])
    );
    let table: Value = serde_json::from_slice(&content.files["eval_results_table.json"]).unwrap();
    assert_eq!(table["data"].as_array().unwrap().len(), rows.len());
    assert_eq!(
        table["data"][0].as_array().unwrap().len(),
        table["columns"].as_array().unwrap().len()
    );

    // A trace a question, seen from the run.
    let traces = mlflow.traces("1", &id);
    assert_eq!(traces.len(), rows.len());
    for trace in &traces {
        assert_eq!(trace["state"], "OK", "{trace}");
        assert!(
            trace["trace_metadata"]["mlflow.trace.tokenUsage"].is_string(),
            "{trace}"
        );
    }

    // Again, and by somebody who has lost the record: nothing changes.
    sync(&place, mlflow, "last").succeeds();
    assert_eq!(mlflow.content(&id), content);
    std::fs::remove_file(folder.join("mlflow.json")).unwrap();
    sync(&place, mlflow, "").succeeds();
    assert_eq!(run_id(&place), id, "found by its tag");
    assert_eq!(mlflow.content(&id), content);
    sync(&place, mlflow, "").succeeds().prints("every run");

    // Deleted there: it is made again.
    mlflow.post("runs/delete", &json!({"run_id": id}));
    sync(&place, mlflow, "last").succeeds();
    assert_ne!(run_id(&place), id);
    assert_eq!(mlflow.content(&run_id(&place)), content);
    mlflow.post("experiments/delete", &json!({"experiment_id": "1"}));
    sync(&place, mlflow, "last").fails(5, &["deleted"]);
}

/// The server is away when the run is killed, and when it ends.
fn a_run_cut_short_continues_its_mlflow_run(mlflow: &Mlflow) {
    let (place, model) = (Workplace::new(), model(100));
    let mut child = command(&place, &model, mlflow).begin();
    wait_until(|| model.count() >= 20);
    // A run in progress delivers itself.
    sync(&place, mlflow, "last").fails(2, &["is in use by process"]);
    child.kill().unwrap();
    child.wait().unwrap();
    // Of a dead run, all that it wrote is delivered.
    sync(&place, mlflow, "").succeeds();
    let id = run_id(&place);
    let killed = mlflow.content(&id);
    assert_eq!(killed.status, "KILLED");

    let away = "http://127.0.0.1:9";
    let resumed = place.run_with("--resume", &[("MLFLOW_TRACKING_URI", away)]);
    resumed.succeeds();
    let told = resumed.stderr.matches("cannot be reached");
    assert_eq!(told.count(), 1, "{}", resumed.stderr);
    resumed.tells("convfinqa track sync");
    let synced = place.run(&format!("track sync --mlflow {away}"));
    synced.fails(5, &["cannot be reached"]);
    assert_eq!(mlflow.content(&id), killed);
    sync(&place, mlflow, "").succeeds();
    assert_eq!(run_id(&place), id, "the same MLflow run");
    assert_eq!(mlflow.runs("financial_qa").len(), 1);

    let mut synced = mlflow.content(&id);
    assert_eq!(synced.status, "FINISHED");
    for points in synced.histories.values_mut() {
        // That of the killed run is there too, at its step.
        points.drain(..points.len() - 1);
    }
    assert_eq!(synced, delivered_at_once(&place, mlflow));
}
