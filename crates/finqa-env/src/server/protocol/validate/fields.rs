//! The fields of an object, read one by one in pydantic's lax mode. All faults
//! are collected, because pydantic lists all of them and serde stops at the first.

use std::borrow::Cow;

use finqa_core::text::head;
use serde_json::{Map, Value, json};

use super::issue::RequestIssue;
use crate::python;

pub(super) struct FieldReader<'a> {
    data: &'a Map<String, Value>,
    pub(super) issues: Vec<RequestIssue>,
}

type LaxFault = (&'static str, &'static str);

impl<'a> FieldReader<'a> {
    pub(crate) fn new(data: &'a Map<String, Value>) -> Self {
        Self {
            data,
            issues: Vec::new(),
        }
    }

    /// The value, or the faults with pydantic's addresses.
    pub(crate) fn finish<T>(mut self, read: T) -> Result<T, Vec<RequestIssue>> {
        for issue in &mut self.issues {
            issue.url = Some(issue.documentation());
        }
        self.result(read)
    }

    /// The value of a request's body, or the faults, located under `body`.
    pub(crate) fn finish_body<T>(mut self, read: T) -> Result<T, Vec<RequestIssue>> {
        for issue in &mut self.issues {
            issue.loc.insert(0, "body".into());
        }
        self.result(read)
    }

    fn result<T>(self, read: T) -> Result<T, Vec<RequestIssue>> {
        if self.issues.is_empty() {
            Ok(read)
        } else {
            Err(self.issues)
        }
    }

    pub(crate) fn report(
        &mut self,
        kind: &'static str,
        field: &str,
        msg: impl Into<Cow<'static, str>>,
        input: &Value,
        ctx: Option<Value>,
    ) {
        let mut issue = RequestIssue::new(kind, field, msg, input);
        issue.ctx = ctx;
        self.issues.push(issue);
    }

    pub(crate) fn get(&self, field: &str) -> Option<&'a Value> {
        self.data.get(field)
    }

    pub(crate) fn required(&mut self, field: &str) -> Option<&'a Value> {
        let found = self.data.get(field);
        if found.is_none() {
            let whole = Value::Object(self.data.clone());
            self.report("missing", field, "Field required", &whole, None);
        }
        found
    }

    /// A value other than null.
    pub(crate) fn optional(&self, field: &str) -> Option<&'a Value> {
        self.data.get(field).filter(|value| !value.is_null())
    }

    pub(crate) fn string(&mut self, field: &str, value: Option<&Value>) -> String {
        match value {
            Some(Value::String(text)) => return text.clone(),
            Some(other) => {
                let message = "Input should be a valid string";
                self.report("string_type", field, message, other, None);
            }
            None => {}
        }
        String::new()
    }

    /// A text of at most 255 characters; `None` for an empty one.
    pub(crate) fn short_text(&mut self, field: &str) -> Option<String> {
        let value = self.optional(field);
        let text = self.string(field, value);
        if let Some(value) = value
            && text.chars().nth(255).is_some()
        {
            let message = "String should have at most 255 characters";
            let ctx = Some(json!({"max_length": 255}));
            self.report("string_too_long", field, message, value, ctx);
        }
        Some(text).filter(|text| !text.is_empty())
    }

    pub(crate) fn object(&mut self, field: &str, value: Option<&Value>) -> Map<String, Value> {
        match value {
            Some(Value::Object(map)) => return map.clone(),
            Some(other) => {
                let message = "Input should be a valid dictionary";
                self.report("dict_type", field, message, other, None);
            }
            None => {}
        }
        Map::new()
    }

    /// An object, or a JSON text of one, as some models write arguments.
    pub(crate) fn object_or_text(&mut self, field: &str) -> Map<String, Value> {
        let value = self.get(field);
        let Some(Value::String(text)) = value else {
            return self.object(field, value);
        };
        match python::parse_json(text) {
            Ok(read) => self.object(field, Some(&read)),
            Err(fault) => {
                let message = format!("Invalid JSON: {fault}");
                let ctx = Some(json!({"error": fault.to_string()}));
                self.report(
                    "json_invalid",
                    field,
                    message,
                    &Value::from(text.as_str()),
                    ctx,
                );
                Map::new()
            }
        }
    }

    /// One text and no other.
    pub(crate) fn literal(&mut self, field: &str, wanted: &str, value: Option<&Value>) {
        if let Some(other) = value
            && other.as_str() != Some(wanted)
        {
            let message = format!("Input should be '{wanted}'");
            let ctx = Some(json!({"expected": format!("'{wanted}'")}));
            self.report("literal_error", field, message, other, ctx);
        }
    }

    pub(crate) fn integer(&mut self, field: &str, value: Option<&Value>) -> Option<i128> {
        self.lax(field, value?, integer)
    }

    /// An integer of at least 0; one beyond 64 bits counts as the largest.
    pub(crate) fn natural(&mut self, field: &str) -> Option<u64> {
        let value = self.optional(field)?;
        let number = self.lax(field, value, integer)?;
        if number < 0 {
            let message = "Input should be greater than or equal to 0";
            let ctx = Some(json!({"ge": 0}));
            self.report("greater_than_equal", field, message, value, ctx);
        }
        Some(u64::try_from(number).unwrap_or(u64::MAX))
    }

    /// A number above 0.
    pub(crate) fn positive(&mut self, field: &str) -> Option<f64> {
        let value = self.optional(field)?;
        let number = self.lax(field, value, number)?;
        if number.is_nan() || number <= 0.0 {
            let message = "Input should be greater than 0";
            let ctx = Some(json!({"gt": 0.0}));
            self.report("greater_than", field, message, value, ctx);
        }
        Some(number)
    }

    fn lax<T>(
        &mut self,
        field: &str,
        value: &Value,
        read: fn(&Value) -> Result<T, LaxFault>,
    ) -> Option<T> {
        read(value)
            .map_err(|(kind, message)| self.report(kind, field, message, value, None))
            .ok()
    }

    pub(crate) fn refuse_others(&mut self, known: &[&str]) {
        let others = self.data.iter();
        let others = others.filter(|(key, _)| !known.contains(&key.as_str()));
        // Enough to see what is wrong; a message may hold a million of them.
        for (key, value) in others.take(20) {
            let message = "Extra inputs are not permitted";
            self.report("extra_forbidden", head(key, 200), message, value, None);
        }
    }
}

const INT_PARSING: LaxFault = (
    "int_parsing",
    "Input should be a valid integer, unable to parse string as an integer",
);

pub(super) fn integer(value: &Value) -> Result<i128, LaxFault> {
    match value {
        Value::Bool(flag) => Ok(i128::from(*flag)),
        Value::Number(n) => {
            if let Some(whole) = n.as_i128() {
                return Ok(whole);
            }
            let float = n.as_f64().unwrap_or(f64::NAN);
            if !float.is_finite() {
                return Err(("finite_number", "Input should be a finite number"));
            }
            if float.fract() != 0.0 {
                return Err((
                    "int_from_float",
                    "Input should be a valid integer, got a number with a fractional part",
                ));
            }
            #[allow(
                clippy::cast_possible_truncation,
                reason = "a finite whole double; the cast saturates beyond 128 bits"
            )]
            Ok(float as i128)
        }
        Value::String(text) => {
            let trimmed = text.trim();
            let whole = match trimmed.split_once('.') {
                Some((whole, zeros)) if !whole.is_empty() && zeros.bytes().all(|b| b == b'0') => {
                    whole
                }
                Some(_) => return Err(INT_PARSING),
                None => trimmed,
            };
            let lone = !whole.starts_with('_') && !whole.ends_with('_') && !whole.contains("__");
            if !lone {
                return Err(INT_PARSING);
            }
            whole.replace('_', "").parse().map_err(|_| INT_PARSING)
        }
        _ => Err(("int_type", "Input should be a valid integer")),
    }
}

fn number(value: &Value) -> Result<f64, LaxFault> {
    match value {
        Value::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Value::Number(n) => n
            .as_f64()
            .ok_or(("float_type", "Input should be a valid number")),
        Value::String(text) => text.trim().parse().map_err(|_| {
            (
                "float_parsing",
                "Input should be a valid number, unable to parse string as a number",
            )
        }),
        _ => Err(("float_type", "Input should be a valid number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!("7"), Ok(7))]
    #[case(json!(" 7.00 "), Ok(7))]
    #[case(json!(7.0), Ok(7))]
    #[case(json!(true), Ok(1))]
    #[case(json!("1_000"), Ok(1000))]
    #[case(json!(1.5), Err("int_from_float"))]
    #[case(json!("x"), Err("int_parsing"))]
    #[case(json!("1__0"), Err("int_parsing"))]
    #[case(json!([]), Err("int_type"))]
    fn integers_are_read_in_lax_mode(#[case] value: Value, #[case] wanted: Result<i128, &str>) {
        assert_eq!(integer(&value).map_err(|(kind, _)| kind), wanted, "{value}");
    }
}
