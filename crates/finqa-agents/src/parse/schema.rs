//! JSON schemas of replies, for providers that can enforce them. They use only the strict subset:
//! every member is required, other members are not allowed, and there are no formats.

use serde_json::{Value, json};

use super::unit::NAMES;

/// The schema of an analyst's reply.
pub fn analysis_schema() -> Value {
    let text = |description: &str| json!({"type": "string", "description": description});
    strict(json!({
        "steps": {"type": "array", "items": {"type": "string"}, "description": "the reasoning, one short line a step"},
        "evidence": {
            "type": "array",
            "description": "every figure used",
            "items": strict(json!({
                "id": text("where it stands: r6c1, t3 or h1"),
                "literal": text("the figure exactly as written there"),
            })),
        },
        "program": {"type": ["string", "null"], "description": "the calculation in the program language; a single figure where nothing is computed"},
        "unit": {"type": "string", "enum": NAMES},
        "label": text("what the value is, in a few words"),
        "confidence": {"type": "number", "description": "0 to 1"},
        "answer": text("the answer as printed"),
    }))
}

/// The schema of a critic's reply. The verdict comes before the findings, as in text, because a
/// small model that must begin with a list of findings writes findings even if there are none.
pub(crate) fn verdict_schema() -> Value {
    strict(json!({
        "verdict": {"type": "string", "enum": ["ALL_OK", "REVISE"]},
        "findings": {
            "type": "array",
            "description": "empty if the verdict is ALL_OK",
            "items": strict(json!({
                "where": {"type": "string", "description": "the step, literal or evidence id"},
                "problem": {"type": "string"},
                "fix": {"type": "string"},
            })),
        },
    }))
}

/// The schema of an object that must have all of these properties and no others.
fn strict(properties: Value) -> Value {
    let required: Vec<String> = properties
        .as_object()
        .map(|members| members.keys().cloned().collect())
        .unwrap_or_default();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_is_strict() {
        fn check(value: &Value) {
            if value.get("type") == Some(&json!("object")) {
                assert_eq!(value["additionalProperties"], json!(false));
                let keys: Vec<&String> = value["properties"].as_object().unwrap().keys().collect();
                assert_eq!(json!(keys), value["required"]);
            }
            match value {
                Value::Object(map) => map.values().for_each(check),
                Value::Array(items) => items.iter().for_each(check),
                _ => {}
            }
        }
        check(&analysis_schema());
        check(&verdict_schema());
    }
}
