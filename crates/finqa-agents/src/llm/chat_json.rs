//! Conversations and tools in the JSON of chat completions, for files that
//! others read: trainers take the `messages` and `tools` of this form.

use serde_json::Value;

use super::protocol::{SystemRole, message, tool};
use super::types::{ChatMessage, ToolSpec};

/// The messages as a chat-completions request lists them; a tool call's arguments are
/// the text that the model wrote.
pub fn messages_json(messages: &[ChatMessage]) -> Vec<Value> {
    let messages = messages.iter();
    messages.map(|it| message(it, SystemRole::System)).collect()
}

/// The tools as a chat-completions request lists them.
pub fn tools_json(tools: &[ToolSpec]) -> Vec<Value> {
    tools.iter().map(tool).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::ToolCall;
    use serde_json::json;

    #[test]
    fn a_conversation_is_written_as_it_is_sent() {
        let mut called = ChatMessage::assistant("");
        called.tool_calls.push(ToolCall {
            id: "c1".into(),
            name: "look".into(),
            arguments: "{\"at\":1}".into(),
        });
        let written = messages_json(&[
            ChatMessage::system("s"),
            called,
            ChatMessage::tool("c1", "seen"),
        ]);
        assert_eq!(
            json!(written),
            json!([
                {"role": "system", "content": "s"},
                {"role": "assistant", "content": null, "tool_calls": [{"id": "c1",
                    "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}}]},
                {"role": "tool", "content": "seen", "tool_call_id": "c1"},
            ])
        );
    }
}
