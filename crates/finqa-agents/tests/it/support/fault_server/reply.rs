//! The server's replies, and the ways to deliver them.

use std::time::Duration;

use serde_json::{Value, json};

/// The way in which an answer is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    Whole,
    /// Half of the announced body, followed by the end of the connection.
    CutOff,
    /// A reset of the connection before any byte.
    Reset,
    /// No answer. The connection stays open.
    Hang,
}

/// A reply of the server.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) delay: Duration,
    pub(super) delivery: Delivery,
}

impl Reply {
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".into(), content_type.into())],
            body: body.into(),
            delay: Duration::ZERO,
            delivery: Delivery::Whole,
        }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub fn plain(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain", text)
    }

    /// A complete answer with this text.
    pub fn chat(content: &str) -> Self {
        Self::json(200, &completion(content, "stop"))
    }

    /// A reply that calls these tools, each with its arguments as text.
    pub fn tool_calls(calls: &[(&str, String)]) -> Self {
        let mut body = completion("", "tool_calls");
        let calls: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(at, (name, arguments))| {
                json!({"id": format!("call_{at}"), "type": "function",
                    "function": {"name": name, "arguments": arguments}})
            })
            .collect();
        body["choices"][0]["message"]["content"] = Value::Null;
        body["choices"][0]["message"]["tool_calls"] = Value::Array(calls);
        Self::json(200, &body)
    }

    /// An error in OpenAI's form.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        let error = json!({"error": {
            "message": message, "type": "error", "param": null, "code": code}});
        Self::json(status, &error)
    }

    /// A 400 that refuses a parameter by name.
    pub fn unsupported(parameter: &str, message: &str) -> Self {
        let error = json!({"error": {
            "message": message, "type": "invalid_request_error",
            "param": parameter, "code": "unsupported_parameter"}});
        Self::json(400, &error)
    }

    /// Azure's refusal of a prompt by its filter.
    pub fn content_filter() -> Self {
        let error = json!({"error": {
            "message": "The response was filtered due to the prompt triggering content management policy.",
            "type": null, "param": "prompt", "code": "content_filter", "status": 400,
            "innererror": {"code": "ResponsibleAIPolicyViolation"}}});
        Self::json(400, &error)
    }

    /// The same answer with this usage; without usage for `null`.
    pub fn with_usage(mut self, usage: Value) -> Self {
        let mut body: Value = serde_json::from_slice(&self.body).unwrap();
        body["usage"] = usage;
        self.body = body.to_string().into();
        self
    }

    pub fn reset() -> Self {
        Self {
            delivery: Delivery::Reset,
            ..Self::plain(200, "")
        }
    }

    pub fn hang() -> Self {
        Self {
            delivery: Delivery::Hang,
            ..Self::plain(200, "")
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    pub fn cut_off(mut self) -> Self {
        self.delivery = Delivery::CutOff;
        self
    }

    /// The first half of the body, sent as if it were the whole body.
    pub fn truncated(mut self) -> Self {
        self.body.truncate(self.body.len() / 2);
        self
    }
}

/// A chat completion, with a usage that depends on the length of the text.
pub fn completion(content: &str, finish: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "served-model",
        "choices": [{"index": 0, "finish_reason": finish,
            "message": {"role": "assistant", "content": content, "refusal": null}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": content.len(),
            "total_tokens": 100 + content.len(),
            "prompt_tokens_details": {"cached_tokens": 40}},
    })
}
