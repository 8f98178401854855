//! A local server with the Batch APIs of OpenAI, Azure and Anthropic. It can fail on purpose.
//!
//! It answers each request of a batch like the live server of the same test, but in reversed order,
//! and answers no request outside of a batch.

use std::collections::{HashMap, HashSet};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::fault_server::{FaultServer, Reply, Request, spoken};

/// The end of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Complete,
    /// The batch is in progress for this many requests for its state.
    After(usize),
    /// The batch is in progress forever.
    Never,
    /// No request was answered.
    WithoutOutput,
    /// This many requests fail with a server error.
    PartlyFailed(usize),
    /// The batch expires after this many requests.
    Expired(usize),
    /// The batch is cancelled by another party after this many requests.
    Cancelled(usize),
    Refused,
    /// The batch is refused if it has more requests than this.
    AtMost(usize),
}

/// A submitted batch.
#[derive(Debug, Clone)]
pub struct SubmittedBatch {
    pub id: String,
    /// The API key with which the batch was submitted.
    key: String,
    path: String,
    metadata: Value,
    /// `custom_id` and body of each request.
    pub requests: Vec<(String, Value)>,
    pub ending: Ending,
    asked: usize,
}

/// The action of the server on the process that sends it requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blow {
    /// The process is killed before a request is handled.
    Before,
    /// The process is killed after a request was handled, but before the reply is sent.
    After,
    /// The process is asked to end, and the request is answered.
    Terminate,
}

type Answer = dyn Fn(&Request) -> Reply + Send + Sync;
type Endings = dyn Fn(usize) -> Ending + Send + Sync;
type Intercept = dyn FnMut(&Request) -> Option<Reply> + Send + Sync;
type Edit = dyn Fn(&str, &mut Vec<String>) + Send + Sync;

struct State {
    files: HashMap<String, Vec<u8>>,
    batches: Vec<SubmittedBatch>,
    answer: Box<Answer>,
    endings: Box<Endings>,
    /// The process to kill, the number of requests until then, and the kind of kill.
    victim: Option<(Child, usize, Blow)>,
    /// If it returns a reply, that reply is sent instead of the API's.
    intercept: Box<Intercept>,
    /// Changes the lines of the results of a batch.
    edit: Box<Edit>,
    /// Changes the description of a batch.
    edit_state: Box<dyn Fn(&mut Value) + Send + Sync>,
    /// The number of replies to submissions that will still be lost.
    lost_replies: usize,
    seen: Vec<String>,
}

pub struct BatchServer {
    pub http: FaultServer,
    state: Arc<Mutex<State>>,
}

impl BatchServer {
    /// Starts a server that answers requests with `answer`. The n-th batch ends as the n-th of
    /// `endings` says.
    pub fn start(
        answer: impl Fn(&Request) -> Reply + Send + Sync + 'static,
        endings: impl Fn(usize) -> Ending + Send + Sync + 'static,
    ) -> Self {
        let state = Arc::new(Mutex::new(State {
            files: HashMap::new(),
            batches: Vec::new(),
            answer: Box::new(answer),
            endings: Box::new(endings),
            victim: None,
            intercept: Box::new(|_| None),
            edit: Box::new(|_, _| {}),
            edit_state: Box::new(|_| {}),
            lost_replies: 0,
            seen: Vec::new(),
        }));
        let shared = Arc::clone(&state);
        let http = FaultServer::start(move |request| shared.lock().unwrap().handle(request));
        Self { http, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn batches(&self) -> Vec<SubmittedBatch> {
        self.state().batches.clone()
    }

    /// Method and path of each request.
    pub fn seen(&self) -> Vec<String> {
        self.state().seen.clone()
    }

    /// How often each request was submitted.
    pub fn submissions(&self) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for batch in &self.state().batches {
            for (id, _) in &batch.requests {
                *counts.entry(id.clone()).or_default() += 1;
            }
        }
        counts
    }

    /// From now on, a reply of `intercept` replaces the API's reply. `intercept` must not send
    /// requests to this server, whose state is locked during the call.
    pub fn intercept(
        &self,
        intercept: impl FnMut(&Request) -> Option<Reply> + Send + Sync + 'static,
    ) {
        self.state().intercept = Box::new(intercept);
    }

    /// From now on, `edit` changes the lines of the results of the batch with this id.
    pub fn edit_results(&self, edit: impl Fn(&str, &mut Vec<String>) + Send + Sync + 'static) {
        self.state().edit = Box::new(edit);
    }

    /// From now on, `edit` changes the descriptions of batches.
    pub fn edit_states(&self, edit: impl Fn(&mut Value) + Send + Sync + 'static) {
        self.state().edit_state = Box::new(edit);
    }

    /// Adds a batch of another run, with this API key and number of requests.
    pub fn add_foreign(&self, key: &str, count: usize, ending: Ending) {
        let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user",
            "content": [{"type": "text", "text": "Question: whose?"}]}]});
        let requests = (0..count).map(|at| (format!("foreign-{at}"), body.clone()));
        let mut state = self.state();
        let id = format!("foreign_{}", state.batches.len());
        state.batches.push(SubmittedBatch {
            id,
            key: key.to_owned(),
            path: "/v1/messages".to_owned(),
            metadata: Value::Null,
            requests: requests.collect(),
            ending,
            asked: 0,
        });
    }

    pub fn lose_replies(&self, count: usize) {
        self.state().lost_replies = count;
    }

    /// From now on, batches end in this way, including batches that were already submitted.
    pub fn end_as(&self, ending: Ending) {
        let mut state = self.state();
        state.endings = Box::new(move |_| ending);
        for batch in &mut state.batches {
            batch.ending = ending;
        }
    }

    /// Kills `child` at its `at`-th request from now on, and waits for its end. Returns the exit
    /// code if it ended before.
    pub fn kill_at(&self, child: Child, at: usize, blow: Blow) -> Option<i32> {
        let id = child.id();
        self.state().victim = Some((child, at, blow));
        loop {
            std::thread::sleep(std::time::Duration::from_millis(5));
            let mut state = self.state();
            let (child, _, blow) = state.victim.as_mut().unwrap();
            assert_eq!(child.id(), id);
            if let Some(status) = child.try_wait().unwrap() {
                // A process that was asked to end exits with the code for an interruption.
                let code = match (*blow, status.code()) {
                    (Blow::Terminate, Some(130)) => None,
                    (_, code) => code,
                };
                state.victim = None;
                return code;
            }
        }
    }
}

impl State {
    fn handle(&mut self, request: &Request) -> Reply {
        self.seen
            .push(format!("{} {}", request.method, request.path));
        let struck = self.victim.as_mut().and_then(|(_, at, blow)| {
            *at = at.wrapping_sub(1);
            (*at == 0).then_some(*blow)
        });
        let kill = |state: &mut Self| state.victim.as_mut().unwrap().0.kill().unwrap();
        if struck == Some(Blow::Before) {
            kill(self);
            return Reply::reset();
        }
        if struck == Some(Blow::Terminate) {
            let process = self.victim.as_ref().unwrap().0.id().to_string();
            let asked = Command::new("kill").args(["-TERM", &process]).status();
            assert!(asked.unwrap().success());
        }
        let intercepted = (self.intercept)(request);
        let reply = intercepted.unwrap_or_else(|| self.reply(request));
        if struck == Some(Blow::After) {
            kill(self);
            return Reply::reset();
        }
        reply
    }

    fn reply(&mut self, request: &Request) -> Reply {
        let path = request
            .path
            .trim_start_matches("/v1")
            .trim_start_matches("/openai");
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let key = request.key().unwrap_or_default().to_owned();
        match (request.method.as_str(), parts.as_slice()) {
            ("POST", ["files"]) => {
                let id = format!("file-{}", self.files.len());
                self.files.insert(id.clone(), uploaded(&request.raw));
                Reply::json(200, &json!({"id": id, "object": "file"}))
            }
            ("GET", ["files", id, "content"]) => match self.files.get(*id) {
                Some(file) => Reply::new(200, "application/octet-stream", file.clone()),
                None => not_found(),
            },
            ("POST", ["batches"]) => {
                let file = request.body["input_file_id"].as_str().unwrap();
                let path = request.body["endpoint"].as_str().unwrap();
                let lines = String::from_utf8(self.files[file].clone()).unwrap();
                let lines = lines.lines().map(|line| {
                    let line: Value = serde_json::from_str(line).unwrap();
                    assert_eq!(
                        (&line["method"], &line["url"]),
                        (&json!("POST"), &json!(path))
                    );
                    line
                });
                let requests = requests(lines, "body");
                self.create(key, path, &request.body["metadata"], requests)
            }
            ("POST", ["messages", "batches"]) => {
                let lines = request.body["requests"].as_array().unwrap();
                let requests = requests(lines.iter().cloned(), "params");
                self.create(key, "/v1/messages", &Value::Null, requests)
            }
            ("GET", ["batches"] | ["messages", "batches"]) => {
                let own = self.batches.iter().filter(|batch| batch.key == key);
                let own: Vec<Value> = own.rev().map(SubmittedBatch::described).collect();
                let list = json!({"object": "list", "data": own, "has_more": false});
                Reply::json(200, &list)
            }
            ("GET", ["messages", "batches", id, "results"]) => {
                let batch = self.batches.iter().find(|batch| batch.id == *id).unwrap();
                let lines = self.results(batch).into_iter();
                let mut lines: Vec<String> = lines.map(|line| line.to_string()).collect();
                (self.edit)(&batch.id, &mut lines);
                Reply::new(200, "application/x-jsonl", lines.join("\n"))
            }
            ("GET", ["batches", id] | ["messages", "batches", id]) => {
                let mut batches = self.batches.iter();
                let at = batches.position(|it| it.id == *id && it.key == key);
                at.map_or_else(not_found, |at| self.described(at))
            }
            // Requests outside of a batch are answered live, because some tests need that.
            _ => (self.answer)(request),
        }
    }

    fn create(
        &mut self,
        key: String,
        path: &str,
        metadata: &Value,
        requests: Vec<(String, Value)>,
    ) -> Reply {
        let number = self.batches.len();
        let ids: HashSet<&String> = requests.iter().map(|(id, _)| id).collect();
        assert_eq!(ids.len(), requests.len(), "each custom_id once");
        self.batches.push(SubmittedBatch {
            id: format!("batch_{number}"),
            key,
            path: path.to_owned(),
            metadata: metadata.clone(),
            requests,
            ending: (self.endings)(number),
            asked: 0,
        });
        if self.lost_replies > 0 {
            self.lost_replies -= 1;
            return Reply::reset();
        }
        Reply::json(200, &self.batches[number].described())
    }

    /// The current description of the batch, with its files.
    fn described(&mut self, at: usize) -> Reply {
        self.batches[at].asked += 1;
        let batch = self.batches[at].clone();
        let mut described = batch.described();
        let is_over = ["completed", "expired", "cancelled"].contains(&batch.status());
        if is_over && !batch.is_anthropic() {
            let results = self.results(&batch).into_iter();
            let (good, bad): (Vec<Value>, Vec<Value>) =
                results.partition(|line| line["error"].is_null());
            for (name, lines) in [("output_file_id", good), ("error_file_id", bad)] {
                if lines.is_empty() || batch.ending == Ending::WithoutOutput {
                    continue;
                }
                let mut lines: Vec<String> = lines.iter().map(Value::to_string).collect();
                (self.edit)(&batch.id, &mut lines);
                let id = format!("file-{}-{name}", batch.id);
                self.files.insert(id.clone(), lines.join("\n").into_bytes());
                described[name] = json!(id);
            }
        }
        (self.edit_state)(&mut described);
        Reply::json(200, &described)
    }

    /// The results of all requests, the last one first.
    fn results(&self, batch: &SubmittedBatch) -> Vec<Value> {
        let results = batch.requests.iter().enumerate().rev();
        let results = results.map(|(at, (id, body))| {
            let (done, word) = match batch.ending {
                Ending::Expired(done) => (at < done, "expired"),
                Ending::Cancelled(done) => (at < done, "canceled"),
                _ => (true, ""),
            };
            let fails = matches!(batch.ending, Ending::PartlyFailed(count) if at < count);
            let request = Request::of(&batch.path, body.clone());
            let (status, body) = if fails {
                let reply = Reply::error(500, "server_error", "The server had an error");
                spoken(&request, reply)
            } else {
                spoken(&request, (self.answer)(&request))
            };
            if batch.is_anthropic() {
                let result = match (done, status) {
                    (false, _) => json!({"type": word}),
                    (true, 200) => json!({"type": "succeeded", "message": body}),
                    (true, _) => json!({"type": "errored", "error": body}),
                };
                return json!({"custom_id": id, "result": result});
            }
            if !done {
                let code = format!("batch_{}", word.replace("canceled", "cancelled"));
                let error = json!({"code": code, "message": "This request was not executed."});
                return json!({"id": "batch_req", "custom_id": id, "response": null, "error": error});
            }
            let response = json!({"status_code": status, "request_id": "req_1", "body": body});
            // Azure writes lines without an id.
            json!({"custom_id": id, "response": response, "error": null})
        });
        results.collect()
    }
}

impl SubmittedBatch {
    fn is_anthropic(&self) -> bool {
        self.path.ends_with("/messages")
    }

    fn status(&self) -> &'static str {
        let over = self.requests.len();
        match self.ending {
            Ending::After(polls) if self.asked <= polls => "in_progress",
            Ending::Never => "in_progress",
            Ending::Expired(_) => "expired",
            Ending::Cancelled(_) => "cancelled",
            Ending::Refused => "failed",
            Ending::AtMost(most) if over > most => "failed",
            _ => "completed",
        }
    }

    fn described(&self) -> Value {
        let total = self.requests.len();
        let status = self.status();
        let running = status == "in_progress";
        if self.is_anthropic() {
            let (processing, succeeded) = if running { (total, 0) } else { (0, total) };
            return json!({
                "id": self.id, "type": "message_batch",
                "processing_status": if running { "in_progress" } else { "ended" },
                "created_at": "2999-01-01T00:00:00Z",
                "request_counts": {"processing": processing, "succeeded": succeeded,
                    "errored": 0, "canceled": 0, "expired": 0},
                "results_url": "http://192.0.2.1/never-asked",
            });
        }
        let (code, message) = match self.ending {
            Ending::AtMost(_) => (
                "token_limit_exceeded", "Enqueued token limit reached for m.",
            ),
            _ => ("invalid_request", "The file is not what it should be."),
        };
        let fault = json!({"code": code, "message": message, "param": null, "line": null});
        let faults = match status {
            "failed" => json!({"object": "list", "data": [fault]}),
            _ => Value::Null,
        };
        let answered = match self.ending {
            _ if running => 0,
            Ending::WithoutOutput => 0,
            Ending::Expired(done) | Ending::Cancelled(done) => done.min(total),
            _ => total,
        };
        json!({
            "id": self.id, "object": "batch", "endpoint": self.path, "errors": faults,
            "input_file_id": "file-0", "completion_window": "24h", "status": status,
            "output_file_id": null, "error_file_id": null, "created_at": 1,
            "request_counts": {"total": total, "completed": answered, "failed": 0},
            "metadata": self.metadata,
        })
    }
}

/// `custom_id` and body of each line.
fn requests(lines: impl Iterator<Item = Value>, body: &str) -> Vec<(String, Value)> {
    let request = |line: Value| {
        (
            line["custom_id"].as_str().unwrap().to_owned(),
            line[body].clone(),
        )
    };
    lines.map(request).collect()
}

fn not_found() -> Reply {
    Reply::error(404, "not_found", "No batch found with that id.")
}

/// The content of the file in an uploaded form.
fn uploaded(form: &[u8]) -> Vec<u8> {
    let find = |part: &[u8], from: usize| {
        let found = form[from..].windows(part.len()).position(|it| it == part);
        found.map(|at| from + at)
    };
    let head = find(b"name=\"file\"", 0).unwrap();
    let begin = find(b"\r\n\r\n", head).unwrap() + 4;
    let end = find(b"\r\n--", begin).unwrap();
    form[begin..end].to_vec()
}
