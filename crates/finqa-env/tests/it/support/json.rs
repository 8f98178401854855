//! What a test says of a JSON value.

use serde_json::Value;

/// A JSON object has these fields, among others.
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
