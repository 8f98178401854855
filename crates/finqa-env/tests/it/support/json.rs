//! Checks of JSON values.

use serde_json::Value;

/// Fails the test unless a JSON object has these fields; it may have others.
#[track_caller]
pub fn has(object: &Value, fields: Value) {
    let fields = fields.as_object().expect("an object");
    for (name, expected) in fields {
        let field = &object[name];
        match expected {
            Value::Object(_) => has(field, expected.clone()),
            expected => assert_eq!(field, expected, "{name} of {object}"),
        }
    }
}
