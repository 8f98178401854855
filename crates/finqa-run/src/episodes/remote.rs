//! A session on a server over a WebSocket, with the messages of `OpenEnv`'s `/ws`.
//!
//! It sends only messages that every version of the server answers: `reset`, `step`, `state` and
//! `close`. `state` is needed because openenv-core 0.2.3 shows the question only in its answer. A
//! separate task reads the socket, so that pings are answered while a model thinks.

use std::time::{Duration, Instant};

use futures::stream::{SplitSink, SplitStream};
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

/// Timeout of connecting, as in OpenEnv's public client.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of an answer, as in OpenEnv's public client.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout of closing a session. Set by hand: our server closes it anyway when the socket ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Maximum bytes of a message from a server. The longest honest message contains a result of two
/// megabytes twice, as JSON within JSON.
const MAX_MESSAGE_BYTES: usize = 8 << 20;
/// Maximum number of messages that wait to be read. A server answers one request at a time.
const MAX_WAITING: usize = 2;
/// Number of characters to keep of an error's text or of a gold answer, because the journal stores
/// them. Set by hand.
const MAX_ERROR_CHARS: usize = 2_000;

/// A session on a server, with a socket of its own.
pub(super) struct RemoteSession {
    url: String,
    pub(super) opened: Instant,
    /// The token, which is removed from answers that repeat it.
    token: Option<SecretString>,
    to: SplitSink<Socket, Message>,
    from: mpsc::Receiver<Result<String, String>>,
    task: JoinHandle<()>,
}

impl Drop for RemoteSession {
    fn drop(&mut self) {
        // Dropping the handle alone would leave the task running.
        self.task.abort();
    }
}

impl RemoteSession {
    /// Connects to a server, and checks that it speaks the protocol and has a free session.
    pub(crate) async fn open(address: &Address) -> Result<Self, RemoteError> {
        let url = address.shown();
        let opened = Instant::now();
        // Twice, because the client's own timeout of connecting is as long, and the handshake
        // follows.
        let socket = tokio::time::timeout(CONNECT_TIMEOUT * 2, connect(address))
            .await
            .map_err(|_| RemoteError::Unreachable {
                url: url.clone(),
                reason: "no answer in time".to_owned(),
            })??;
        let (to, arriving) = socket.split();
        let (incoming, from) = mpsc::channel(MAX_WAITING);
        let task = tokio::spawn(receive(arriving, incoming));
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

    /// Begins an episode and returns its question. A state without question and company is an
    /// error.
    pub(crate) async fn reset(&mut self, data: &Value) -> Result<EpisodeQuestion, RemoteError> {
        self.ask(json!({"type": "reset", "data": data})).await?;
        // openenv-core 0.2.3 does not send the question in its answer to a reset, but only in the
        // state.
        let state = self.state().await?;
        let text = |key: &str| state.get(key).and_then(Value::as_str).map(str::to_owned);
        match (text("current_question"), text("current_company")) {
            (Some(question), Some(_)) if question.trim().is_empty() => {
                Err(self.protocol("its `state` has no question after a reset"))
            }
            (Some(question), Some(company)) => Ok(EpisodeQuestion {
                // An id may be missing; the text then identifies the question.
                id: text("question_id").unwrap_or_default(),
                text: question,
                company,
            }),
            _ => Err(self.protocol("its `state` holds no current_question and current_company")),
        }
    }

    /// Plays one step. If the server refuses the call (wrong arguments, or a failed execution), the
    /// refusal is the result of the step. An error ends the session.
    pub(crate) async fn step(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<StepReply, RemoteError> {
        let action = json!({"type": "call_tool", "tool_name": tool, "arguments": arguments});
        let data = match self.ask(json!({"type": "step", "data": action})).await {
            Ok(data) => data,
            // These errors are about the agent's call and do not end the session, so the agent gets
            // them as the result of its step.
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

    /// Closes the session as the protocol prescribes, so that the server frees its slot and logs no
    /// error.
    pub(crate) async fn close(mut self) {
        let end = async {
            let close = Message::text(json!({"type": "close"}).to_string());
            // An error means that the connection has ended already.
            let _ = self.to.send(close).await;
            // Wait until the server ends the connection.
            while let Some(Ok(_)) = self.from.recv().await {}
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, end).await;
    }

    /// The right answer of the episode; empty if the server does not reveal it.
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

    /// Reads the server's reply to a step.
    ///
    /// # Errors
    /// The reply has no observation, no `done`, or a reward that is not a number.
    fn read_step(&self, data: &Value) -> Result<StepReply, RemoteError> {
        let seen = data.get("observation").and_then(Value::as_object);
        let seen =
            seen.ok_or_else(|| self.protocol("a step was answered without an observation"))?;
        let done = data.get("done").and_then(Value::as_bool);
        let done = done.ok_or_else(|| self.protocol("a step was answered without `done`"))?;
        let reward = data.get("reward").filter(|reward| !reward.is_null());
        let number = |reward: &Value| {
            let number = reward.as_f64();
            number.ok_or_else(|| self.protocol("a reward is not a number"))
        };
        let reward = reward.map(number).transpose()?;
        let error = seen.get("error").filter(|error| !error.is_null());
        let error = error.map(|error| {
            let text = |key: &str| error.get(key).and_then(Value::as_str);
            let message = text("message").map_or_else(|| error.to_string(), str::to_owned);
            let kind = cut(text("error_type").unwrap_or_default());
            (kind, cut(&message))
        });
        let result = seen.get("result").filter(|result| !result.is_null());
        let metadata = [data.get("metadata"), seen.get("metadata")];
        let mut metadata = metadata.into_iter().flatten();
        let truth = metadata.find_map(|metadata| metadata.get("ground_truth")?.as_str());
        Ok(StepReply {
            text: result.map(text_of),
            error,
            reward,
            done,
            ground_truth: truth.map(cut),
        })
    }

    /// Sends a message and returns the `data` of its answer.
    async fn ask(&mut self, message: Value) -> Result<Value, RemoteError> {
        let asked = message.get("type").and_then(Value::as_str);
        let asked = asked.unwrap_or_default();
        // An error here is ignored, because a closing socket may still deliver the reason.
        let _ = self.to.send(Message::text(message.to_string())).await;
        let received = tokio::time::timeout(ANSWER_TIMEOUT, self.from.recv()).await;
        let reason = match received {
            Ok(Some(Ok(text))) => return self.read_answer(asked, &text),
            Ok(Some(Err(reason))) => reason,
            Ok(None) => "the server closed it".to_owned(),
            Err(_) => {
                let seconds = ANSWER_TIMEOUT.as_secs();
                format!("no answer to `{asked}` in {seconds} s")
            }
        };
        let url = self.url.clone();
        Err(RemoteError::Lost { url, reason })
    }

    /// The `data` in the answer to a message of the type `asked`.
    fn read_answer(&self, asked: &str, text: &str) -> Result<Value, RemoteError> {
        let mut answer: Value = serde_json::from_str(text)
            .map_err(|_| self.protocol("it sent a message that is not JSON"))?;
        if let Some(token) = &self.token {
            redact_json(&mut answer, &[token.expose_secret()]);
        }
        let kind = answer.get("type").and_then(Value::as_str);
        let kind = cut(kind.unwrap_or_default());
        let data = answer.get_mut("data").map(Value::take);
        let data = data.ok_or_else(|| self.protocol("an answer has no `data`"))?;
        match (kind.as_str(), asked) {
            ("state", "state") | ("observation", "reset" | "step") => Ok(data),
            ("error", _) => {
                let text = |key: &str| {
                    let text = data.get(key).and_then(Value::as_str);
                    cut(text.unwrap_or_default())
                };
                let (url, code, message) = (self.url.clone(), text("code"), text("message"));
                Err(match code.as_str() {
                    "CAPACITY_REACHED" => RemoteError::Full { url, message },
                    _ => RemoteError::Answer { url, code, message },
                })
            }
            _ => Err(self.protocol(&format!("`{asked}` was answered with `{kind}`"))),
        }
    }

    fn protocol(&self, reason: &str) -> RemoteError {
        RemoteError::Protocol {
            url: self.url.clone(),
            reason: reason.to_owned(),
        }
    }
}

/// The text of a tool's result, which each version of the server has at another place. A result
/// without a text is returned as JSON.
fn text_of(result: &Value) -> String {
    let places = [
        "", "/data", "/content/0/text", "/structured_content/result", "/structuredContent/result",
    ];
    let mut texts = places
        .iter()
        .filter_map(|path| result.pointer(path)?.as_str());
    texts
        .next()
        .map_or_else(|| result.to_string(), str::to_owned)
}

/// The beginning of a text, for errors and gold answers.
fn cut(text: &str) -> String {
    text::cut(text, MAX_ERROR_CHARS, "…")
}

type Socket = WebSocketStream<reqwest::Upgraded>;

/// Connects by an HTTP request, which a status of 101 upgrades to a WebSocket.
async fn connect(address: &Address) -> Result<Socket, RemoteError> {
    let url = || address.shown();
    let unreachable = |reason: String| RemoteError::Unreachable { url: url(), reason };
    let failed = |error: reqwest::Error| unreachable(innermost(&error.without_url()).to_string());
    let client = llm::upgrade_client(address.is_loopback())
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
    let answer = request.send().await.map_err(failed)?;
    let status = answer.status().as_u16();
    if status != 101 {
        let hint = match status {
            401 | 403 => "; it may require a token: --token, or FINQA_TOKEN",
            404 | 405 | 426 => {
                "; check that it is an OpenEnv server and that the address is complete"
            }
            _ => "",
        };
        return Err(RemoteError::Refused {
            url: url(),
            status,
            hint,
        });
    }
    let accepted = answer.headers().get("sec-websocket-accept");
    if accepted.is_none_or(|accepted| *accepted != derive_accept_key(key.as_bytes())) {
        return Err(RemoteError::Protocol {
            url: url(),
            reason: "its WebSocket handshake is wrong".to_owned(),
        });
    }
    let stream = answer.upgrade().await.map_err(failed)?;
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    Ok(WebSocketStream::from_raw_socket(stream, Role::Client, Some(limits)).await)
}

/// Passes on the texts that arrive until either side closes. Reading the socket also answers pings.
async fn receive(
    mut arriving: SplitStream<Socket>,
    incoming: mpsc::Sender<Result<String, String>>,
) {
    while let Some(message) = arriving.next().await {
        let text = match message {
            Ok(Message::Text(text)) => Ok(text.as_str().to_owned()),
            Ok(_) => continue,
            Err(error) => Err(error.to_string()),
        };
        if incoming.send(text).await.is_err() {
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
