//! `report --inspect`: a run as a log of Inspect.

use serde_json::{Value, json};

use crate::support::agents::{answer_to, is_critic, question_of, scripted};
use crate::support::cli::Workplace;
use crate::support::fault_server::{FaultServer, Reply};

/// Writes logs of runs of three kinds: by the embedded analyst, by a chat model with a critic, of
/// which one question fails, and episodes.
fn three_logs(place: &Workplace) {
    place.run("--data-path sample --n 3 -q").succeeds();
    place.run("report last --inspect embedded.json").succeeds();
    let server = FaultServer::start(|request| match request.index {
        1 => Reply::error(400, "content_filter", "filtered"),
        _ => scripted(request),
    });
    let asked = place.chat(&server, "-q -n 4 --epochs 2 --critic llm -j 1");
    assert!(matches!(asked.code, Some(0 | 4)), "{}", asked.stderr);
    place.run("report last --inspect model.json").succeeds();
    let played = place.run("env play --n 3 -q");
    assert!(matches!(played.code, Some(0 | 4)), "{}", played.stderr);
    let reported = place.run("report last --inspect episodes.json");
    reported.succeeds().prints("Inspect log: episodes.json");
}

#[test]
fn a_log_has_a_sample_for_each_question_with_every_score() {
    let place = Workplace::new();
    three_logs(&place);
    let log = place.json("model.json");
    assert_eq!(
        (&log["version"], &log["status"]),
        (&json!(2), &json!("success"))
    );
    let samples = log["samples"].as_array().unwrap();
    assert_eq!(
        samples.len() as u64,
        log["results"]["total_samples"].as_u64().unwrap()
    );
    let epochs: Vec<&Value> = samples.iter().map(|sample| &sample["epoch"]).collect();
    assert!(epochs.contains(&&json!(1)) && epochs.contains(&&json!(2)));
    let scored = samples
        .iter()
        .filter(|sample| sample["metadata"]["outcome"] == "answered");
    for sample in scored {
        for rule in ["financial_equivalence", "exact_match", "numerical_match"] {
            let score = &sample["scores"][rule];
            assert!(score["value"] == "C" || score["value"] == "I", "{sample}");
            assert!(score["explanation"].is_string());
        }
    }
    let rate = &log["results"]["scores"][0];
    assert_eq!(rate["name"], "financial_equivalence");
    assert!(rate["metrics"]["ci95_low"]["value"].is_number());
    let text = place.read("model.json");
    assert!(!text.contains("sk-"), "no key");
    let refused = place.run("report last --inspect log.eval");
    refused.fails(2, &["must end in .json"]);
    // The viewer lists files whose names begin with a time.
    std::fs::create_dir(place.path("logs")).unwrap();
    place.run("report last --inspect logs").succeeds();
    let listed = std::fs::read_dir(place.path("logs")).unwrap();
    let names: Vec<_> = listed.map(|entry| entry.unwrap().file_name()).collect();
    let name = names[0].to_str().unwrap();
    let pattern = r"^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\+00-00_convfinqa_[0-9a-f-]{13}\.json$";
    assert!(regex::Regex::new(pattern).unwrap().is_match(name), "{name}");
}

/// A later request of an agent repeats the earlier ones with its replies.
#[test]
fn a_revised_question_has_each_message_once() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| {
        let number = answer_to(&question_of(request));
        if is_critic(request) {
            let is_right = request.user().contains(&format!("\"{number}\""));
            return Reply::chat(if is_right {
                "ALL_OK"
            } else {
                r#"{"findings": [{"where": "answer", "problem": "it is too large.", "fix": "take one off."}]}"#
            });
        }
        let conversation = request.conversation();
        let replies = conversation.iter().filter(|(role, _)| role == "assistant");
        let replies = u32::try_from(replies.count()).unwrap();
        let analysis = json!({"evidence": [], "program": null, "steps": ["read it off"],
            "answer": (number + 2 - replies).to_string(), "unit": "number"});
        Reply::chat(&analysis.to_string())
    });
    let asked = "-q -n 1 --critic llm --max-rounds 3";
    place.chat(&server, asked).succeeds();
    place.run("report last --inspect log.json").succeeds();
    let log = place.json("log.json");
    let messages = log["samples"][0]["messages"].as_array().unwrap();
    let told: Vec<String> = messages
        .iter()
        .map(|message| {
            let [agent, role] = [&message["metadata"]["agent"], &message["role"]];
            format!("{} {}", agent.as_str().unwrap(), role.as_str().unwrap())
        })
        .collect();
    let expected = [
        "analyst system", "analyst user", "analyst assistant", "critic system", "critic user",
        "critic assistant", "analyst user", "analyst assistant", "critic user", "critic assistant",
        "analyst user", "analyst assistant", "critic user", "critic assistant",
    ];
    assert_eq!(told, expected);
    for at in [6, 10] {
        let criticism = messages[at]["content"].as_str().unwrap();
        assert!(criticism.contains("it is too large"), "{criticism}");
    }
}

/// With the real package; `tests/python/setup.sh` installs it.
mod needs_python {
    use super::*;
    use crate::support::python::program;

    #[test]
    #[ignore = "needs .venv/inspect"]
    fn inspect_reads_runs_of_three_kinds() {
        let place = Workplace::new();
        three_logs(&place);
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = std::process::Command::new(program("inspect", "python"))
            .arg(root.join("tests/python/inspect_log.py"))
            .args(["embedded.json", "model.json", "episodes.json"])
            .current_dir(place.folder.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&read.stderr);
        assert!(read.status.success(), "{stderr}");
        let stdout = String::from_utf8(read.stdout).unwrap();
        let found: Vec<Value> = stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let [embedded, model, episodes] = &*found else {
            panic!("three logs, not {stdout}");
        };
        for log in &found {
            assert_eq!(
                (&log["version"], &log["status"]),
                (&json!(2), &json!("success"))
            );
            assert_eq!(log["is_stable"], true);
        }
        assert_eq!(embedded["sample"]["roles"], json!(["user", "assistant"]));
        assert_eq!(model["sample"]["agents"], json!(["analyst", "critic"]));
        assert!(model["tokens"].as_u64() > Some(0), "{model}");
        let accuracy = &model["scores"]["financial_equivalence"]["accuracy"];
        assert!(accuracy.is_number(), "{model}");
        let tools = episodes["sample"]["tool_calls"].as_array().unwrap();
        assert_eq!(tools.last().unwrap(), "submit_answer");
        assert!(episodes["sample"]["scores"]["reward"].is_number());
        assert!(episodes["scores"]["reward"]["mean"].is_number());
    }
}
