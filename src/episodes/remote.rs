//! A session behind a WebSocket, in the messages of `OpenEnv`'s `/ws`.
//!
//! Only what every generation of servers answers is asked: `reset`, `step` and
//! `state` (the only place where core 0.2.3 shows the question). A task of its
//! own reads the socket, so that pings are answered while a model thinks.

use std::time::{Duration, Instant};

use futures::{SinkExt, StreamExt};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::RemoteError;
use super::address::Address;
use finqa_agents::llm;
use finqa_agents::solve::{EpisodeQuestion, StepReply};
use finqa_core::error::innermost;
use finqa_core::secrets::redact_json;
use finqa_core::text;

/// Timeout of the connection, as in the public client.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of ending a session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Largest message of a server, in bytes. Its longest honest one holds a result
/// of two megabytes twice, as JSON within JSON.
const MAX_MESSAGE_BYTES: usize = 8 << 20;
/// Messages of a server that wait to be read: it answers one at a time.
const MAX_WAITING: usize = 2;
/// What is kept of the text of an error or of the truth, in characters.
const MAX_ERROR_CHARS: usize = 2_000;

/// One socket, which is one session.
pub(super) struct RemoteSession {
    url: String,
    pub(super) opened: Instant,
    /// The token, to redact if the server repeats it.
    token: Option<SecretString>,
    to: mpsc::Sender<String>,
    from: mpsc::Receiver<Result<String, String>>,
    task: JoinHandle<()>,
}

impl Drop for RemoteSession {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RemoteSession {
    /// Connects, and checks that the server speaks the protocol and has a free session.
    pub(crate) async fn open(address: &Address) -> Result<Self, RemoteError> {
        let url = address.shown();
        let opened = Instant::now();
        let socket = tokio::time::timeout(CONNECT_TIMEOUT * 2, connect(address))
            .await
            .map_err(|_| RemoteError::Unreachable {
                url: url.clone(),
                reason: "no answer in time".to_owned(),
            })??;
        let (to, outgoing) = mpsc::channel(4);
        let (incoming, from) = mpsc::channel(MAX_WAITING);
        let task = tokio::spawn(converse(socket, outgoing, incoming));
        let mut remote = Self {
            url,
            opened,
            token: address.token.clone(),
            to,
            from,
            task,
        };
        remote.state().await?;
        Ok(remote)
    }

    pub(crate) async fn reset(&mut self, data: &Value) -> Result<EpisodeQuestion, RemoteError> {
        self.ask(json!({"type": "reset", "data": data})).await?;
        // The reset reply of core 0.2.3 does not hold the question; the state does.
        let state = self.state().await?;
        let text = |key: &str| state.get(key).and_then(Value::as_str).map(str::to_owned);
        let (Some(question), Some(company)) = (text("current_question"), text("current_company"))
        else {
            return Err(self.protocol("its `state` holds no current_question and current_company"));
        };
        if question.trim().is_empty() {
            return Err(self.protocol("its `state` has no question after a reset"));
        }
        Ok(EpisodeQuestion {
            id: text("question_id").unwrap_or_default(),
            text: question,
            company,
        })
    }

    pub(crate) async fn step(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<StepReply, RemoteError> {
        let action = json!({"type": "call_tool", "tool_name": tool, "arguments": arguments});
        let data = match self.ask(json!({"type": "step", "data": action})).await {
            Ok(data) => data,
            // The session lives on: what was wrong is for the one who called.
            Err(RemoteError::Answer { code, message, .. })
                if ["EXECUTION_ERROR", "VALIDATION_ERROR", "INVALID_JSON"]
                    .contains(&code.as_str()) =>
            {
                return Ok(StepReply::refused(&code, message));
            }
            Err(error) => return Err(error),
        };
        self.read_step(&data)
    }

    /// Ends the session in order, so that the server's slot is free and nothing
    /// is in its log.
    pub(crate) async fn close(mut self) {
        let end = async {
            let _ = self.to.send(json!({"type": "close"}).to_string()).await;
            while let Some(Ok(_)) = self.from.recv().await {}
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, end).await;
    }

    pub(crate) async fn ground_truth(&mut self) -> Result<String, RemoteError> {
        let state = self.state().await?;
        let truth = state.get("ground_truth").and_then(Value::as_str);
        Ok(cut(truth.unwrap_or_default()))
    }

    async fn state(&mut self) -> Result<Map<String, Value>, RemoteError> {
        match self.ask(json!({"type": "state"})).await? {
            Value::Object(state) => Ok(state),
            _ => Err(self.protocol("its `state` is not an object")),
        }
    }

    fn read_step(&self, data: &Value) -> Result<StepReply, RemoteError> {
        let seen = data
            .get("observation")
            .and_then(Value::as_object)
            .ok_or_else(|| self.protocol("a step was answered without an observation"))?;
        let done = data
            .get("done")
            .and_then(Value::as_bool)
            .ok_or_else(|| self.protocol("a step was answered without `done`"))?;
        let reward = match data.get("reward") {
            None | Some(Value::Null) => None,
            Some(reward) => Some(
                reward
                    .as_f64()
                    .ok_or_else(|| self.protocol("a reward is not a number"))?,
            ),
        };
        let error = seen.get("error").filter(|error| !error.is_null());
        let error = error.map(|error| {
            let text = |key: &str| error.get(key).and_then(Value::as_str);
            let message = text("message").map_or_else(|| error.to_string(), str::to_owned);
            let kind = cut(text("error_type").unwrap_or_default());
            (kind, cut(&message))
        });
        let result = seen.get("result").filter(|result| !result.is_null());
        let metadata = [data.get("metadata"), seen.get("metadata")];
        let ground_truth = metadata
            .into_iter()
            .flatten()
            .find_map(|metadata| metadata.get("ground_truth")?.as_str());
        Ok(StepReply {
            text: result.map(text_of),
            error,
            reward,
            done,
            ground_truth: ground_truth.map(cut),
        })
    }

    /// Sends a message; gives the `data` of its answer.
    async fn ask(&mut self, message: Value) -> Result<Value, RemoteError> {
        let asked = message
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        // A socket that is closing may still hold the reason.
        let _ = self.to.send(message.to_string()).await;
        let received = tokio::time::timeout(ANSWER_TIMEOUT, self.from.recv()).await;
        let lost = |reason: String| RemoteError::Lost {
            url: self.url.clone(),
            reason,
        };
        let text = match received {
            Ok(Some(Ok(text))) => text,
            Ok(Some(Err(reason))) => return Err(lost(reason)),
            Ok(None) => return Err(lost("the server closed it".to_owned())),
            Err(_) => {
                let seconds = ANSWER_TIMEOUT.as_secs();
                return Err(lost(format!("no answer to `{asked}` in {seconds} s")));
            }
        };
        let mut answer: Value = serde_json::from_str(&text)
            .map_err(|_| self.protocol("it sent a message that is not JSON"))?;
        if let Some(token) = &self.token {
            redact_json(&mut answer, &[token.expose_secret()]);
        }
        let kind = answer.get("type").and_then(Value::as_str);
        let kind = cut(kind.unwrap_or_default());
        let data = answer.get_mut("data").map(Value::take);
        let data = data.ok_or_else(|| self.protocol("an answer has no `data`"))?;
        if kind == "error" {
            return Err(self.error_of(&data));
        }
        let wanted = if asked == "state" {
            "state"
        } else {
            "observation"
        };
        if kind == wanted {
            Ok(data)
        } else {
            Err(self.protocol(&format!("`{asked}` was answered with `{kind}`")))
        }
    }

    fn error_of(&self, data: &Value) -> RemoteError {
        let text = |key: &str| {
            let text = data.get(key).and_then(Value::as_str);
            cut(text.unwrap_or_default())
        };
        let (url, code, message) = (self.url.clone(), text("code"), text("message"));
        if code == "CAPACITY_REACHED" {
            RemoteError::Full { url, message }
        } else {
            RemoteError::Answer { url, code, message }
        }
    }

    fn protocol(&self, reason: &str) -> RemoteError {
        RemoteError::Protocol {
            url: self.url.clone(),
            reason: reason.to_owned(),
        }
    }
}

/// A tool's text, wherever this generation of servers puts it.
fn text_of(result: &Value) -> String {
    [
        "/data", "/content/0/text", "/structured_content/result", "/structuredContent/result",
    ]
    .into_iter()
    .find_map(|path| result.pointer(path)?.as_str())
    .map_or_else(
        || {
            result
                .as_str()
                .map_or_else(|| result.to_string(), str::to_owned)
        },
        str::to_owned,
    )
}

/// The beginning of a text of an error.
fn cut(text: &str) -> String {
    text::cut(text, MAX_ERROR_CHARS, "…")
}

type Socket = WebSocketStream<reqwest::Upgraded>;

async fn connect(address: &Address) -> Result<Socket, RemoteError> {
    let shown = address.shown();
    let unreachable = |reason: String| RemoteError::Unreachable {
        url: shown.clone(),
        reason,
    };
    let client = llm::upgrade_client(CONNECT_TIMEOUT, address.is_loopback())
        .map_err(|error| unreachable(error.to_string()))?;
    let key = generate_key();
    let mut request = client
        .get(address.url.clone())
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", &key);
    if let Some(token) = &address.token {
        request = request.bearer_auth(token.expose_secret());
    }
    let answer = request
        .send()
        .await
        .map_err(|error| unreachable(innermost(&error.without_url()).to_string()))?;
    let status = answer.status().as_u16();
    if status != 101 {
        return Err(RemoteError::Refused {
            url: shown,
            status,
            hint: match status {
                401 | 403 => "; it may require a token: --token, or FINQA_TOKEN",
                404 | 405 | 426 => {
                    "; check that it is an OpenEnv server and that the address is complete"
                }
                _ => "",
            },
        });
    }
    let accepted = answer.headers().get("sec-websocket-accept");
    if accepted
        .is_none_or(|accepted| accepted.as_bytes() != derive_accept_key(key.as_bytes()).as_bytes())
    {
        return Err(RemoteError::Protocol {
            url: shown,
            reason: "its WebSocket handshake is wrong".to_owned(),
        });
    }
    let stream = answer
        .upgrade()
        .await
        .map_err(|error| unreachable(innermost(&error.without_url()).to_string()))?;
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    Ok(WebSocketStream::from_raw_socket(stream, Role::Client, Some(limits)).await)
}

/// Sends what is to be sent and hands on what arrives, until either side ends.
async fn converse(
    mut socket: Socket,
    mut outgoing: mpsc::Receiver<String>,
    incoming: mpsc::Sender<Result<String, String>>,
) {
    loop {
        let end = tokio::select! {
            text = outgoing.recv() => match text {
                None => return,
                Some(text) => socket.send(Message::text(text)).await.err().map(|e| e.to_string()),
            },
            message = socket.next() => match message {
                None | Some(Ok(Message::Close(_))) => Some("the server closed it".to_owned()),
                Some(Err(error)) => Some(error.to_string()),
                Some(Ok(Message::Text(text))) => {
                    if incoming.send(Ok(text.as_str().to_owned())).await.is_err() {
                        return;
                    }
                    None
                }
                // Pings are answered by the socket itself.
                Some(Ok(_)) => None,
            },
        };
        if let Some(reason) = end {
            // What the server said before it closed is read before this.
            while let Some(Ok(message)) = socket.next().await {
                if let Message::Text(text) = message {
                    let _ = incoming.send(Ok(text.as_str().to_owned())).await;
                }
            }
            let _ = incoming.send(Err(reason)).await;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tools_text_is_found_in_every_generation() {
        for result in [
            json!({"data": "x", "content": []}),
            json!({"content": [{"type": "text", "text": "x"}]}),
            json!({"structured_content": {"result": "x"}}),
            json!("x"),
        ] {
            assert_eq!(text_of(&result), "x");
        }
    }
}
