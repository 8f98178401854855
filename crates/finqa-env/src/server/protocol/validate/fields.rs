//! Reads the fields of an object by a table, as pydantic does in its lax mode: `"7"` and `7.0` are
//! integers, `1.5` is not. All faults are collected, because pydantic lists all of them; serde
//! stops at the first.

use finqa_core::text::head;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::issue::RequestIssue;
use crate::python;

/// Name, type and presence of a field.
pub(super) type Field = (&'static str, FieldType, Presence);

/// The values that a field may have.
#[derive(Clone, Copy)]
pub(super) enum FieldType {
    Any,
    Text,
    /// A text of at most 255 characters; an empty one counts as absent.
    ShortText,
    /// One text and no other.
    Literal(&'static str),
    Object,
    /// An object, or a JSON text of one, as some models write arguments.
    ObjectOrJson,
    Integer,
    /// An integer of at least 0; one beyond 64 bits counts as `u64::MAX`.
    Natural,
    /// Any value, for a seed. An integer counts without its sign; anything else counts as absent.
    LaxSeed,
    /// A number above 0.
    Positive,
    /// A text or an integer, kept as sent.
    JsonRpcId,
}

/// Whether a field must be there.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Presence {
    Required,
    /// It must be present if the other field has a value.
    RequiredWith(&'static str),
    /// It may be absent or null.
    Optional,
    /// It may be absent, but not null.
    NotNull,
}

/// What happens to fields that a table does not list, and how faults are located.
#[derive(PartialEq)]
pub(super) enum Rest {
    /// The body of an HTTP route: other fields are ignored, and a fault has a location that begins
    /// with `body`, but no `url`.
    Body,
    /// Other fields are ignored.
    Open,
    /// Other fields are faults.
    Closed,
}

/// The fields of a request, in the order in which pydantic reports their faults.
pub(crate) struct RequestShape(pub(super) Rest, pub(super) &'static [Field]);

/// Reads the fields of a request.
///
/// # Errors
/// Everything that is wrong with the fields.
pub(crate) fn read<T: DeserializeOwned>(
    data: &Map<String, Value>,
    RequestShape(place, fields): &RequestShape,
) -> Result<T, Vec<RequestIssue>> {
    let (mut values, mut issues) = (Map::new(), Vec::new());
    for (name, kind, presence) in *fields {
        let (is_required, may_be_null) = match presence {
            Presence::Required => (true, false),
            Presence::RequiredWith(other) => (data.get(*other).is_some_and(|v| !v.is_null()), true),
            Presence::Optional => (false, true),
            Presence::NotNull => (false, false),
        };
        match data.get(*name) {
            Some(Value::Null) if may_be_null => {}
            Some(value) => match convert(name, *kind, value) {
                Ok(value) => drop(values.insert((*name).to_owned(), value)),
                Err(found) => issues.extend(found),
            },
            None if is_required => {
                issues.push(RequestIssue::new("missing", name, &data.clone().into()));
            }
            None => {}
        }
    }
    if *place == Rest::Closed {
        let is_other = |key: &str| fields.iter().all(|(name, ..)| *name != key);
        let others = data.iter().filter(|(key, _)| is_other(key));
        // 20 are enough to see what is wrong; a message can have thousands of them.
        for (key, value) in others.take(20) {
            issues.push(RequestIssue::new("extra_forbidden", head(key, 200), value));
        }
    }
    for issue in &mut issues {
        match place {
            Rest::Body => issue.loc.insert(0, "body".into()),
            Rest::Open | Rest::Closed => issue.url = Some(python::fault_page(issue.kind)),
        }
    }
    if !issues.is_empty() {
        return Err(issues);
    }
    // This fails only if a table does not fit its structure, which is a bug.
    serde_json::from_value(values.into()).map_err(|bug| {
        let ctx = json!({"error": bug.to_string()});
        vec![RequestIssue::new("value_error", "body", &Value::Null).because(ctx)]
    })
}

fn convert(name: &str, kind: FieldType, value: &Value) -> Result<Value, Vec<RequestIssue>> {
    let fault = |kind| vec![RequestIssue::new(kind, name, value)];
    let because = |kind, ctx| vec![RequestIssue::new(kind, name, value).because(ctx)];
    match (kind, value) {
        (FieldType::ShortText, Value::String(text)) if text.chars().nth(255).is_some() => {
            Err(because("string_too_long", json!({"max_length": 255})))
        }
        (FieldType::ShortText, Value::String(text)) if text.is_empty() => Ok(Value::Null),
        (FieldType::Any, _)
        | (FieldType::Text | FieldType::ShortText | FieldType::JsonRpcId, Value::String(_))
        | (FieldType::Object | FieldType::ObjectOrJson, Value::Object(_)) => Ok(value.clone()),
        (FieldType::Text | FieldType::ShortText, _) => Err(fault("string_type")),
        (FieldType::Literal(wanted), _) if value == wanted => Ok(value.clone()),
        (FieldType::Literal(wanted), _) => Err(because(
            "literal_error",
            json!({"expected": format!("'{wanted}'")}),
        )),
        (FieldType::ObjectOrJson, Value::String(text)) => match python::parse_json(text) {
            Ok(read) => convert(name, FieldType::Object, &read),
            Err(wrong) => Err(because("json_invalid", json!({"error": wrong.to_string()}))),
        },
        (FieldType::Object | FieldType::ObjectOrJson, _) => Err(fault("dict_type")),
        (FieldType::Integer, _) => {
            let number = integer(value).map_err(fault)?;
            let most = if number < 0 { i64::MIN } else { i64::MAX };
            Ok(i64::try_from(number).unwrap_or(most).into())
        }
        (FieldType::Natural, _) => match integer(value).map_err(fault)? {
            0.. => Ok(seed(value)),
            _ => Err(because("greater_than_equal", json!({"ge": 0}))),
        },
        (FieldType::LaxSeed, _) => Ok(seed(value)),
        (FieldType::Positive, _) => match number(value).map_err(fault)? {
            number if number > 0.0 => Ok(number.into()),
            _ => Err(because("greater_than", json!({"gt": 0.0}))),
        },
        (FieldType::JsonRpcId, _) if value.is_i64() || value.is_u64() => Ok(value.clone()),
        // pydantic reports a fault for each type that an id may have.
        (FieldType::JsonRpcId, _) => {
            let integer = integer(value).err().unwrap_or("int_type");
            let mut issues = [fault("string_type"), fault(integer)].concat();
            let branches = issues.iter_mut().zip(["str", "int"]);
            branches.for_each(|(issue, branch)| issue.loc.push(branch.into()));
            Err(issues)
        }
    }
}

/// An integer without its sign, at most `u64::MAX`; null for any other value.
fn seed(value: &Value) -> Value {
    let size = integer(value).ok().map(i128::unsigned_abs);
    json!(size.map(|size| u64::try_from(size).unwrap_or(u64::MAX)))
}

/// The value as an integer, or pydantic's name of the fault.
fn integer(value: &Value) -> Result<i128, &'static str> {
    match value {
        Value::Bool(flag) => Ok(i128::from(*flag)),
        Value::Number(n) => match (n.as_i128(), n.as_f64().unwrap_or(f64::NAN)) {
            (Some(whole), _) => Ok(whole),
            (None, float) if float.fract() != 0.0 => Err("int_from_float"),
            #[allow(
                clippy::cast_possible_truncation,
                reason = "a whole double, as JSON has no other; it saturates beyond 128 bits"
            )]
            (None, float) => Ok(float as i128),
        },
        Value::String(text) => {
            let (whole, zeros) = text.trim().split_once('.').unwrap_or((text, ""));
            let is_whole = zeros.bytes().all(|b| b == b'0');
            let number = python::int(whole).filter(|_| is_whole);
            number.map(i128::from).ok_or("int_parsing")
        }
        _ => Err("int_type"),
    }
}

/// The value as a number, or pydantic's name of the fault.
fn number(value: &Value) -> Result<f64, &'static str> {
    match value {
        Value::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Value::Number(n) => n.as_f64().ok_or("float_type"),
        Value::String(text) => text.trim().parse().map_err(|_| "float_parsing"),
        _ => Err("float_type"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

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
        assert_eq!(integer(&value), wanted, "{value}");
    }
}
