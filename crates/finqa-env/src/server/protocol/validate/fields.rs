//! The fields of an object, read by a table in pydantic's lax mode: `"7"` and `7.0` are
//! integers, `1.5` is not. All faults are collected, because pydantic lists all of them and
//! serde stops at the first.

use finqa_core::text::head;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::issue::RequestIssue;
use crate::python;

/// Name, type and presence of a field.
pub(super) struct Field(
    pub(super) &'static str,
    pub(super) FieldType,
    pub(super) Presence,
);

/// What a field may be.
#[derive(Clone, Copy)]
pub(super) enum FieldType {
    Any,
    Text,
    /// A text of at most 255 characters; an empty one is none.
    ShortText,
    /// One text and no other.
    Literal(&'static str),
    Object,
    /// An object, or a JSON text of one, as some models write arguments.
    ObjectOrJson,
    Integer,
    /// An integer of at least 0; one beyond 64 bits counts as the largest.
    Natural,
    /// A seed of any type; what is no integer is none.
    LaxSeed,
    /// A number above 0.
    Positive,
    /// A text or an integer, as they are.
    JsonRpcId,
}

/// Whether a field must be there.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Presence {
    Required,
    /// Where the other field has a value.
    RequiredWith(&'static str),
    /// It may be absent or null.
    Optional,
    /// It may be absent.
    NotNull,
}

/// What becomes of other fields, and where faults are.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Others are ignored; faults are located under `body`, and name no page of pydantic's.
    Body,
    Open,
    /// Others are faults.
    Closed,
}

/// The fields of a request.
pub(crate) struct RequestShape(&'static [Field], Place);

impl RequestShape {
    pub(super) const fn body(fields: &'static [Field]) -> Self {
        Self(fields, Place::Body)
    }

    pub(super) const fn open(fields: &'static [Field]) -> Self {
        Self(fields, Place::Open)
    }

    pub(super) const fn closed(fields: &'static [Field]) -> Self {
        Self(fields, Place::Closed)
    }
}

/// Reads the fields of a request; all that is wrong with them otherwise.
pub(crate) fn read<T: DeserializeOwned>(
    data: &Map<String, Value>,
    RequestShape(fields, place): &RequestShape,
) -> Result<T, Vec<RequestIssue>> {
    let (mut values, mut issues) = (Map::new(), Vec::new());
    let given = |name: &str| data.get(name).filter(|value| !value.is_null());
    for Field(name, kind, presence) in *fields {
        let may_be_null = !matches!(presence, Presence::Required | Presence::NotNull);
        match data.get(*name) {
            Some(value) if value.is_null() && may_be_null => {}
            Some(value) => match convert(name, *kind, value) {
                Ok(value) => drop(values.insert((*name).to_owned(), value)),
                Err(found) => issues.extend(found),
            },
            None => {
                let is_required = match presence {
                    Presence::RequiredWith(other) => given(other).is_some(),
                    presence => *presence == Presence::Required,
                };
                let whole = is_required.then(|| Value::Object(data.clone()));
                issues.extend(
                    whole.map(|it| RequestIssue::new("missing", name, "Field required", &it)),
                );
            }
        }
    }
    if *place == Place::Closed {
        let known = |key: &str| fields.iter().any(|field| field.0 == key);
        let others = data.iter().filter(|(key, _)| !known(key));
        // Enough to see what is wrong; a message may hold a million of them.
        issues.extend(others.take(20).map(|(key, value)| {
            let message = "Extra inputs are not permitted";
            RequestIssue::new("extra_forbidden", head(key, 200), message, value)
        }));
    }
    for issue in &mut issues {
        match place {
            Place::Body => issue.loc.insert(0, "body".into()),
            Place::Open | Place::Closed => issue.url = Some(python::fault_page(issue.kind)),
        }
    }
    if !issues.is_empty() {
        return Err(issues);
    }
    // The types of a table are those of its structure.
    let bug = |error: serde_json::Error| {
        let message = error.to_string();
        vec![RequestIssue::new(
            "value_error",
            "body",
            message,
            &Value::Null,
        )]
    };
    serde_json::from_value(Value::Object(values)).map_err(bug)
}

fn convert(name: &str, kind: FieldType, value: &Value) -> Result<Value, Vec<RequestIssue>> {
    let fault = |kind, message: &str, ctx: Option<Value>| {
        let mut issue = RequestIssue::new(kind, name, message.to_owned(), value);
        issue.ctx = ctx;
        vec![issue]
    };
    let plain = |(kind, message): LaxFault| fault(kind, message, None);
    match (kind, value) {
        (FieldType::Any, _)
        | (FieldType::Text | FieldType::JsonRpcId, Value::String(_))
        | (FieldType::Object, Value::Object(_)) => Ok(value.clone()),
        (FieldType::Text, _) => Err(plain(STRING)),
        (FieldType::ShortText, Value::String(text)) if text.chars().nth(255).is_some() => {
            let message = "String should have at most 255 characters";
            let ctx = json!({"max_length": 255});
            Err(fault("string_too_long", message, Some(ctx)))
        }
        (FieldType::ShortText, Value::String(text)) if text.is_empty() => Ok(Value::Null),
        (FieldType::ShortText, _) => convert(name, FieldType::Text, value),
        (FieldType::Literal(wanted), _) if value == wanted => Ok(value.clone()),
        (FieldType::Literal(wanted), _) => {
            let message = format!("Input should be '{wanted}'");
            let ctx = json!({"expected": format!("'{wanted}'")});
            Err(fault("literal_error", &message, Some(ctx)))
        }
        (FieldType::ObjectOrJson, Value::String(text)) => match python::parse_json(text) {
            Ok(read) => convert(name, FieldType::Object, &read),
            Err(wrong) => {
                let message = format!("Invalid JSON: {wrong}");
                let ctx = json!({"error": wrong.to_string()});
                Err(fault("json_invalid", &message, Some(ctx)))
            }
        },
        (FieldType::ObjectOrJson, Value::Object(_)) => Ok(value.clone()),
        (FieldType::Object | FieldType::ObjectOrJson, _) => Err(plain(OBJECT)),
        (FieldType::Integer, _) => {
            let number = integer(value).map_err(plain)?;
            let most = if number < 0 { i64::MIN } else { i64::MAX };
            Ok(i64::try_from(number).unwrap_or(most).into())
        }
        (FieldType::Natural, _) => match integer(value).map_err(plain)? {
            0.. => Ok(seed(value)),
            _ => {
                let message = "Input should be greater than or equal to 0";
                Err(fault("greater_than_equal", message, Some(json!({"ge": 0}))))
            }
        },
        (FieldType::LaxSeed, _) => Ok(seed(value)),
        (FieldType::Positive, _) => match number(value).map_err(plain)? {
            number if number > 0.0 => Ok(number.into()),
            _ => {
                let message = "Input should be greater than 0";
                Err(fault("greater_than", message, Some(json!({"gt": 0.0}))))
            }
        },
        (FieldType::JsonRpcId, _) if value.is_i64() || value.is_u64() => Ok(value.clone()),
        // One fault for each type that it could have.
        (FieldType::JsonRpcId, _) => {
            let faults = [
                ("str", STRING),
                ("int", integer(value).err().unwrap_or(INTEGER)),
            ];
            let issues = faults.into_iter().flat_map(|(branch, wrong)| {
                let mut issues = plain(wrong);
                issues.iter_mut().for_each(|it| it.loc.push(branch.into()));
                issues
            });
            Err(issues.collect())
        }
    }
}

fn seed(value: &Value) -> Value {
    integer(value).map_or(Value::Null, |number| {
        u64::try_from(number.unsigned_abs())
            .unwrap_or(u64::MAX)
            .into()
    })
}

type LaxFault = (&'static str, &'static str);

const STRING: LaxFault = ("string_type", "Input should be a valid string");
const OBJECT: LaxFault = ("dict_type", "Input should be a valid dictionary");
const INTEGER: LaxFault = ("int_type", "Input should be a valid integer");
const NUMBER: LaxFault = ("float_type", "Input should be a valid number");
const INTEGER_TEXT: LaxFault = (
    "int_parsing",
    "Input should be a valid integer, unable to parse string as an integer",
);
const NUMBER_TEXT: LaxFault = (
    "float_parsing",
    "Input should be a valid number, unable to parse string as a number",
);
const FRACTION: LaxFault = (
    "int_from_float",
    "Input should be a valid integer, got a number with a fractional part",
);
const INFINITE: LaxFault = ("finite_number", "Input should be a finite number");

fn integer(value: &Value) -> Result<i128, LaxFault> {
    match value {
        Value::Bool(flag) => Ok(i128::from(*flag)),
        Value::Number(n) => match (n.as_i128(), n.as_f64().unwrap_or(f64::NAN)) {
            (Some(whole), _) => Ok(whole),
            (None, float) if !float.is_finite() => Err(INFINITE),
            (None, float) if float.fract() != 0.0 => Err(FRACTION),
            #[allow(
                clippy::cast_possible_truncation,
                reason = "a finite whole double; the cast saturates beyond 128 bits"
            )]
            (None, float) => Ok(float as i128),
        },
        Value::String(text) => {
            let text = text.trim();
            let (whole, zeros) = text.split_once('.').unwrap_or((text, ""));
            let is_whole = zeros.bytes().all(|b| b == b'0');
            let is_grouped = !whole.starts_with('_') && !whole.ends_with('_');
            let digits = (is_whole && is_grouped && !whole.contains("__"))
                .then(|| whole.replace('_', "").parse().ok());
            digits.flatten().ok_or(INTEGER_TEXT)
        }
        _ => Err(INTEGER),
    }
}

fn number(value: &Value) -> Result<f64, LaxFault> {
    match value {
        Value::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Value::Number(n) => n.as_f64().ok_or(NUMBER),
        Value::String(text) => text.trim().parse().map_err(|_| NUMBER_TEXT),
        _ => Err(NUMBER),
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
        assert_eq!(integer(&value).map_err(|(kind, _)| kind), wanted, "{value}");
    }
}
