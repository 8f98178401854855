//! Reads the arguments of tool calls, and calls that a model writes as text. Small models do that,
//! and so do servers that do not know a model's format of calls and pass them on as text. A reply
//! counts as calls if it ends in such calls, with nothing after them. They are then checked like
//! all other calls.

use serde_json::{Map, Value};

use crate::llm::{ToolCall, ToolSpec};

/// The tool that ends an episode.
pub(super) const SUBMIT: &str = "submit_answer";

/// Splits a reply into the text before the calls and the calls, whose ids are numbered from
/// `first`. `None` if the reply does not end in calls of known tools.
pub(super) fn calls(
    content: &str,
    first: usize,
    tools: &[ToolSpec],
) -> Option<(String, Vec<ToolCall>)> {
    let content = content.trim();
    let marks = ["<tool_call>", "```"].into_iter();
    let at = if content.starts_with('{') {
        0
    } else {
        marks.filter_map(|mark| content.find(mark)).min()?
    };
    let (thought, mut rest) = content.split_at_checked(at)?;
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let (inside, after) = block(rest)?;
        calls.push(call(inside.trim(), first + calls.len(), tools)?);
        rest = after.trim_start();
    }
    Some((thought.trim().to_owned(), calls))
}

/// The block at the start of a text (tagged, fenced, or bare JSON) without its marks, and the text
/// after the block. The last end mark may be missing. `None` if the text begins with none of the
/// three.
fn block(text: &str) -> Option<(&str, &str)> {
    if let Some(tagged) = text.strip_prefix("<tool_call>") {
        return Some(tagged.split_once("</tool_call>").unwrap_or((tagged, "")));
    }
    if let Some(fenced) = text.strip_prefix("```") {
        let fenced = fenced.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        return Some(fenced.split_once("```").unwrap_or((fenced, "")));
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    values.next()?.ok()?;
    text.split_at_checked(values.byte_offset())
}

/// Reads a call such as `{"name": "…", "arguments": {…}}`. It may be wrapped as in chat
/// completions, and `arguments` may be called `parameters`. `None` if the tool is unknown, or if
/// there are other fields.
fn call(text: &str, number: usize, tools: &[ToolSpec]) -> Option<ToolCall> {
    let value: Value = serde_json::from_str(text).ok()?;
    let fields = value.get("function").unwrap_or(&value).as_object()?;
    let name = fields.get("name")?.as_str()?;
    tools.iter().find(|tool| tool.name == name)?;
    let known = ["name", "arguments", "parameters", "id", "type"];
    if fields.keys().any(|key| !known.contains(&key.as_str())) {
        return None;
    }
    let arguments = fields.get("arguments").or_else(|| fields.get("parameters"));
    Some(ToolCall {
        id: format!("text-{number}"),
        name: name.to_owned(),
        arguments: match arguments {
            None => "{}".to_owned(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        },
    })
}

/// The arguments of a call as a JSON object. A submission must have a text as its `answer`, because
/// any other value would be graded as no answer. A number is converted to its text.
///
/// # Errors
/// Tells the model what is wrong with the arguments.
pub(super) fn arguments(call: &ToolCall) -> Result<Map<String, Value>, String> {
    let text = call.arguments.trim();
    let mut arguments = if text.is_empty() {
        Map::new()
    } else {
        let mut read = serde_json::from_str(text);
        // Some models write the object as a JSON string, some of them even twice.
        while let Ok(Value::String(inner)) = &read {
            read = serde_json::from_str(inner);
        }
        match read {
            Ok(Value::Object(map)) => map,
            Ok(_) => return Err("the arguments are not a JSON object".to_owned()),
            Err(error) => return Err(format!("the arguments are not JSON: {error}")),
        }
    };
    if call.name != SUBMIT {
        return Ok(arguments);
    }
    let answer = arguments.get_mut("answer");
    if let Some(answer @ Value::Number(_)) = answer {
        *answer = Value::String(answer.to_string());
    }
    if !arguments.get("answer").is_some_and(Value::is_string) {
        return Err("submit_answer takes one argument, `answer`, which is a text".to_owned());
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<ToolSpec> {
        let spec = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: Value::Null,
        };
        ["get_descriptions", "submit_answer"].map(spec).into()
    }

    fn read(content: &str) -> Option<Vec<(String, String)>> {
        let (_, calls) = calls(content, 0, &tools())?;
        let pair = |call: ToolCall| (call.name, call.arguments);
        Some(calls.into_iter().map(pair).collect())
    }

    #[test]
    fn arguments_that_are_an_object_as_a_text_are_that_object() {
        let object = r#"{"answer":"0.27"}"#;
        let text = Value::from(object).to_string();
        let twice = Value::from(text.as_str()).to_string();
        for written in [object.to_owned(), text, twice] {
            let call = ToolCall {
                id: String::new(),
                name: SUBMIT.to_owned(),
                arguments: written,
            };
            assert_eq!(arguments(&call).unwrap()["answer"], "0.27");
        }
    }

    #[test]
    fn a_reply_that_ends_in_calls_is_read_as_these_calls() {
        let submit = vec![(
            "submit_answer".to_owned(),
            r#"{"answer":"0.27"}"#.to_owned(),
        )];
        for text in [
            r#"{"name": "submit_answer", "arguments": {"answer": "0.27"}}"#,
            "```json\n{\"name\": \"submit_answer\", \"arguments\": {\"answer\": \"0.27\"}}\n```",
            "<tool_call>\n{\"name\": \"submit_answer\", \"parameters\": {\"answer\": \"0.27\"}}\n</tool_call>",
            "So I answer:\n```\n{\"name\": \"submit_answer\", \"arguments\": {\"answer\": \"0.27\"}}",
            r#"{"type": "function", "function": {"name": "submit_answer", "arguments": "{\"answer\":\"0.27\"}"}}"#,
        ] {
            assert_eq!(read(text).as_ref(), Some(&submit), "{text}");
        }
        let two = "I look.\n<tool_call>{\"name\": \"get_descriptions\"}</tool_call>\n\
                   <tool_call>{\"name\": \"get_descriptions\", \"arguments\": {}}</tool_call>";
        let (thought, found) = calls(two, 3, &tools()).unwrap();
        assert_eq!(thought, "I look.");
        assert_eq!(
            (found[0].id.as_str(), found[1].id.as_str()),
            ("text-3", "text-4")
        );
    }

    #[test]
    fn other_texts_are_not_calls() {
        for text in [
            "",
            "12.5%",
            "{}",
            r#"{"answer": "5"}"#,
            r#"{"name": "drop_table", "arguments": {}}"#,
            r#"{"name": "submit_answer", "arguments": {"answer": "5"}, "result": "right"}"#,
            r#"{"name": "submit_answer", "arguments": {"answer": "5"}} which is right"#,
            "```python\nprint(5)\n```",
            "```json\n{\"name\": \"submit_answer\", \"arguments\": {\"answer\"",
            "I would call submit_answer.",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn arguments_are_an_object_and_an_answer_is_a_text() {
        let read = |name: &str, text: &str| {
            arguments(&ToolCall {
                id: "c".into(),
                name: name.into(),
                arguments: text.into(),
            })
        };
        assert!(read("get_descriptions", "").unwrap().is_empty());
        assert!(read("anything", "{\"x\": 1}").is_ok());
        for text in ["[1]", "5", "{\"x\": ", "null", "company=acme"] {
            assert!(read("get_descriptions", text).is_err(), "{text}");
        }
        assert!(read("submit_answer", "{\"answer\": \"5%\"}").is_ok());
        let number = read("submit_answer", "{\"answer\": 5}").unwrap();
        assert_eq!(number["answer"], "5");
        for text in ["{}", "{\"answer\": null}"] {
            assert!(
                read("submit_answer", text)
                    .unwrap_err()
                    .contains("`answer`"),
                "{text}"
            );
        }
    }
}
