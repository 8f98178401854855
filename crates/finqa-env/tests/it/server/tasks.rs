//! Tasks by index: the routes that list them, and resets that start one.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Socket, get, options, post, start};
use crate::tools::fixture;

const SPLITS: [&str; 3] = ["train", "validation", "test"];

/// The tasks of a split.
async fn listed(server: &crate::support::running::RunningServer, split: &str) -> Vec<Value> {
    let body = json!({"split": split}).to_string();
    let (status, answer) = post(server, "/finqa_env/tasks", &body).await;
    assert_eq!((status, &answer["env_name"]), (200, &json!("finqa_env")));
    answer["tasks"].as_array().expect("tasks").clone()
}

#[tokio::test]
async fn every_question_is_a_task_of_one_split() {
    let server = start(options()).await;
    let splits = json!([
        {"name": "train", "type": "train"},
        {"name": "validation", "type": "validation"},
        {"name": "test", "type": "test"},
    ]);
    assert_eq!(get(&server, "/finqa_env/splits").await, (200, splits));
    let mut asked = Vec::new();
    for split in SPLITS {
        let tasks = listed(&server, split).await;
        assert!(!tasks.is_empty(), "{split}");
        let body = json!({"split": split}).to_string();
        let count = post(&server, "/finqa_env/num_tasks", &body).await;
        assert_eq!(count, (200, json!({"num_tasks": tasks.len()})));
        for (index, task) in tasks.iter().enumerate() {
            let keys: Vec<&String> = task.as_object().expect("a task").keys().collect();
            let wanted = [
                "id", "split", "index", "question_id", "company", "question", "group",
            ];
            assert_eq!(keys, wanted, "nothing that gives the answer away");
            assert_eq!(task["id"], format!("{split}-{index}"));
            let body = json!({"split": split, "index": index}).to_string();
            let one = post(&server, "/FinQA_Env/task", &body).await;
            assert_eq!(one, (200, json!({"task": task})));
            asked.push(task["question_id"].as_str().expect("an id").to_owned());
        }
    }
    asked.sort();
    let mut all: Vec<String> = fixture().questions().iter().map(|q| q.id.clone()).collect();
    all.sort();
    assert_eq!(asked, all);
    server.stop().await;
}

#[tokio::test]
async fn a_range_is_a_python_slice() {
    let server = start(options()).await;
    let tasks = listed(&server, "train").await;
    let count = tasks.len();
    assert!(count > 3);
    for (start, stop, wanted) in [
        (json!(1), json!(3), &tasks[1..3]),
        (json!(null), json!(2), &tasks[..2]),
        (json!(-2), json!(null), &tasks[count - 2..]),
        (json!(3), json!(1), &[][..]),
        (json!(-9999), json!(9999), &tasks[..]),
        (json!(2), json!("1e9"), &[][..]),
    ] {
        let body = json!({"split": "train", "start": start, "stop": stop}).to_string();
        let (status, answer) = post(&server, "/finqa_env/task_range", &body).await;
        if stop == "1e9" {
            assert_eq!(answer["detail"][0]["type"], "int_parsing", "{answer}");
            continue;
        }
        assert_eq!((status, &answer["tasks"]), (200, &json!(wanted)), "{body}");
    }
    server.stop().await;
}

/// The rollouts of a group must all start from the same question.
#[tokio::test]
async fn a_reset_asks_the_task_of_an_index() {
    let server = start(options()).await;
    for split in SPLITS {
        for task in listed(&server, split).await {
            let data = json!({"split": split, "index": task["index"]});
            let mut one = Socket::open(&server, "/ws").await;
            let mut other = Socket::open(&server, "/ws").await;
            other.reset(json!({"seed": 3})).await;
            for socket in [&mut one, &mut other] {
                let reset = socket.ask(json!({"type": "reset", "data": data})).await;
                let asked = &reset["data"]["metadata"];
                assert_eq!(asked["question"], task["question"], "{split}");
                let state = socket.state().await;
                assert_eq!(state["question_id"], task["question_id"]);
            }
            let (status, reset) = post(&server, "/reset", &data.to_string()).await;
            assert_eq!(
                (status, &reset["metadata"]["question"]),
                (200, &task["question"])
            );
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_split_without_an_index_deals_its_own_questions_in_a_seeded_order() {
    let server = start(options()).await;
    let tasks = listed(&server, "train").await;
    let mut orders = Vec::new();
    for _ in 0..2 {
        let mut socket = Socket::open(&server, "/ws").await;
        let mut order = Vec::new();
        let mut data = json!({"split": "train", "seed": 11});
        for _ in &tasks {
            let reset = socket.reset(data).await;
            order.push(reset["data"]["metadata"]["question"].to_string());
            data = json!({"split": "train"});
        }
        orders.push(order);
    }
    assert_eq!(orders[0], orders[1]);
    let dealt: BTreeSet<String> = orders.concat().into_iter().collect();
    let wanted = tasks.iter().map(|task| task["question"].to_string());
    assert_eq!(dealt, wanted.collect());
    server.stop().await;
}

#[tokio::test]
async fn a_task_that_does_not_exist_is_refused_and_the_session_continues() {
    let server = start(options()).await;
    let bad_index = json!({"detail": "Invalid task index"});
    let unknown = json!({"detail": "unknown split 'dev': the splits are train, validation, test"});
    for (data, answer) in [
        (json!({"split": "train", "index": -1}), &bad_index),
        (json!({"split": "train", "index": 10_000}), &bad_index),
        (json!({"split": "train", "index": 1e30}), &bad_index),
        (json!({"split": "dev", "index": 0}), &unknown),
        (json!({"split": "dev"}), &unknown),
    ] {
        let body = data.to_string();
        if data.get("index").is_some() {
            let task = post(&server, "/finqa_env/task", &body).await;
            assert_eq!(task, (400, answer.clone()), "{body}");
        }
        assert_eq!(
            post(&server, "/reset", &body).await,
            (400, answer.clone()),
            "{body}"
        );
        let mut socket = Socket::open(&server, "/ws").await;
        socket.reset(json!({"episode_id": "mine"})).await;
        let refused = socket.ask(json!({"type": "reset", "data": data})).await;
        let wanted = json!({"message": answer["detail"], "code": "EXECUTION_ERROR"});
        assert_eq!(refused, json!({"type": "error", "data": wanted}));
        let state = socket.state().await;
        assert_eq!(state["episode_id"], "mine", "the episode continues: {body}");
    }
    for (path, body, place) in [
        ("/reset", r#"{"index": 1}"#, "split"),
        ("/finqa_env/task", r#"{"split": "train"}"#, "index"),
        ("/finqa_env/tasks", "{}", "split"),
        ("/finqa_env/task_range", r#"{"start": 1}"#, "split"),
    ] {
        let (status, answer) = post(&server, path, body).await;
        let issue = &answer["detail"][0];
        assert_eq!((status, &issue["type"]), (422, &json!("missing")), "{path}");
        assert_eq!(issue["loc"], json!(["body", place]));
    }
    let mut socket = Socket::open(&server, "/ws").await;
    let refused = socket.reset(json!({"index": 1})).await;
    assert_eq!(refused["data"]["code"], "VALIDATION_ERROR");
    assert_eq!(refused["data"]["errors"][0]["loc"], json!(["split"]));
    let other = json!({"detail": "unknown environment 'other'"});
    let body = r#"{"split": "train", "index": 0}"#;
    assert_eq!(post(&server, "/other/task", body).await, (404, other));
    server.stop().await;
}
