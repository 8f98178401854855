//! SQL functions that are added to `SQLite`, or that replace its functions.
//!
//! The bundled `SQLite` lacks the math functions that OpenEnv's `SQLite` has. Text functions are
//! replaced because `SQLite`'s own can take more than linear time within a single instruction,
//! which no time limit interrupts. The replacements check the sizes of the arguments and then call
//! the original.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::f64::consts::{LN_2, LN_10, PI};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, Result};

use super::limits::CallBudget;

type UnaryFunction = (&'static str, fn(f64) -> f64);

const UNARY: [UnaryFunction; 21] = [
    ("acos", f64::acos),
    ("acosh", f64::acosh),
    ("asin", f64::asin),
    ("asinh", f64::asinh),
    ("atan", f64::atan),
    ("atanh", f64::atanh),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("degrees", f64::to_degrees),
    ("exp", f64::exp),
    ("ln", ln),
    ("log", log10),
    ("log10", log10),
    ("log2", |x| ln(x) / LN_2),
    ("radians", f64::to_radians),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
    ("pi", |_| PI),
];

/// Functions that return an integer unchanged.
const ROUNDERS: [UnaryFunction; 4] = [
    ("ceil", f64::ceil),
    ("ceiling", f64::ceil),
    ("floor", f64::floor),
    ("trunc", f64::trunc),
];

type BinaryFunction = (&'static str, fn(f64, f64) -> f64);

const BINARY: [BinaryFunction; 5] = [
    ("atan2", f64::atan2),
    // As in SQLite, the result for a base of at most 1 is NULL.
    ("log", |base, x| match ln(base) {
        divisor if divisor > 0.0 => ln(x) / divisor,
        _ => f64::NAN,
    }),
    ("mod", |a, b| a % b),
    ("pow", f64::powf),
    ("power", f64::powf),
];

/// The natural logarithm. For zero and negative numbers it returns NaN, which becomes NULL.
fn ln(x: f64) -> f64 {
    if x > 0.0 { x.ln() } else { f64::NAN }
}

/// The decimal logarithm by division, as in `SQLite` 3.40, where `log10(1000)` is just below 3.
fn log10(x: f64) -> f64 {
    ln(x) / LN_10
}

/// Registers the functions of this file and the collation `NOCASE` for a database. `budget` is the
/// budget of the database's current query.
pub(super) fn register(connection: &Connection, budget: &CallBudget) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    for (name, f) in UNARY {
        let arguments = if name == "pi" { 0 } else { 1 };
        connection.create_scalar_function(name, arguments, flags, move |c| {
            // Only `pi` has no argument, and it ignores this one.
            if c.is_empty() {
                return Ok(finite(f(0.0)));
            }
            Ok(number(c, 0).map_or(Value::Null, |x| finite(f(x))))
        })?;
    }
    for (name, f) in ROUNDERS {
        connection.create_scalar_function(name, 1, flags, move |c| {
            Ok(match numeric(c, 0) {
                Value::Real(x) => finite(f(x)),
                other => other,
            })
        })?;
    }
    for (name, f) in BINARY {
        connection.create_scalar_function(name, 2, flags, move |c| {
            let (a, b) = (number(c, 0), number(c, 1));
            Ok(a.zip(b).map_or(Value::Null, |(a, b)| finite(f(a, b))))
        })?;
    }
    let largest = budget.value_bytes();
    for (name, flags) in [
        ("printf", flags),
        ("format", flags),
        // The result may depend on the current time, so the function is not deterministic.
        (
            "strftime",
            FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS,
        ),
    ] {
        let watch = budget.clone();
        connection.create_scalar_function(name, -1, flags, move |c| {
            watch.check()?;
            formatted(c, name, largest)
        })?;
    }
    for (name, arguments) in PRODUCTS {
        let watch = budget.clone();
        connection.create_scalar_function(name, arguments, flags, move |c| {
            watch.check()?;
            compared(c, name, largest)
        })?;
    }
    let watch = budget.clone();
    connection.create_collation("NOCASE", move |a, b| {
        // A sort is a single instruction, which the progress handler cannot interrupt. After the
        // time is over, the query fails at the end of the sort anyway, so any order will do.
        if watch.is_over() {
            return Ordering::Equal;
        }
        let folded = |text: &str| {
            text.bytes()
                .map(|b| b.to_ascii_lowercase())
                .collect::<Vec<_>>()
        };
        folded(a).cmp(&folded(b))
    })
}

/// Maximum length of a format in bytes. Each conversion in it can produce a text of the maximum
/// length of a value, so a format must not contain many. Set by hand.
const FORMAT_BYTES: usize = 512;
/// Maximum number of arguments of a function with a format; others may have 100 (`database`). Set
/// by hand.
const FORMAT_ARGUMENTS: usize = 64;

/// Functions whose time may be proportional to the product of the lengths of their first two
/// arguments, each with its number of arguments.
const PRODUCTS: [(&str, i32); 8] = [
    ("like", 2),
    ("like", 3),
    ("glob", 2),
    ("trim", 2),
    ("ltrim", 2),
    ("rtrim", 2),
    ("instr", 2),
    ("replace", 3),
];
/// Maximum of the product of these lengths. That many steps take about two milliseconds.
const PRODUCT_BYTES: usize = 1 << 20;
/// Maximum length in bytes of a pattern of LIKE and GLOB, because the time of a match can be the
/// product of the lengths of pattern and text. Set by hand.
const PATTERN_BYTES: i32 = 256;

thread_local! {
    /// A connection on which `SQLite`'s own functions are not replaced. There is one per thread,
    /// because a `Connection` is not `Sync`.
    static PLAIN: OnceCell<Connection> = const { OnceCell::new() };
}

/// Calls `SQLite`'s own function `name` if the format is short enough.
fn formatted(c: &Context<'_>, name: &str, largest: usize) -> Result<Value> {
    if c.is_empty() {
        return Ok(Value::Null);
    }
    let format = match c.get_raw(0) {
        ValueRef::Text(text) | ValueRef::Blob(text) => text.len(),
        _ => 0,
    };
    if format > FORMAT_BYTES || c.len() > FORMAT_ARGUMENTS {
        let message = format!(
            "{name} takes a format of {FORMAT_BYTES} bytes and {FORMAT_ARGUMENTS} arguments at most"
        );
        return Err(Error::UserFunctionError(message.into()));
    }
    let given = (0..c.len()).map(|at| ToSqlOutput::Borrowed(c.get_raw(at)));
    original(name, given, c.len(), largest)
}

/// Calls `SQLite`'s own function `name` if its first two arguments are short enough. The error
/// messages are those of `SQLite`'s own limits.
fn compared(c: &Context<'_>, name: &str, largest: usize) -> Result<Value> {
    let bytes = |at| match c.get_raw(at) {
        ValueRef::Text(text) | ValueRef::Blob(text) => text.len(),
        _ => 0,
    };
    if bytes(0).saturating_mul(bytes(1)) > PRODUCT_BYTES {
        let message = match name {
            "like" | "glob" => "LIKE or GLOB pattern too complex",
            _ => "string or blob too big",
        };
        return Err(Error::UserFunctionError(message.into()));
    }
    let given = (0..c.len()).map(|at| match c.get_raw(at) {
        // These functions work on texts, and the bundled SQLite converts a real to a different
        // text.
        ValueRef::Real(x) => ToSqlOutput::Owned(Value::Text(real_text(x))),
        other => ToSqlOutput::Borrowed(other),
    });
    original(name, given, c.len(), largest)
}

/// The result of `SQLite`'s own function `name`. It runs on a connection on which the function is
/// not replaced.
fn original<'a>(
    name: &str,
    given: impl Iterator<Item = ToSqlOutput<'a>>,
    count: usize,
    largest: usize,
) -> Result<Value> {
    let marks = vec!["?"; count].join(",");
    PLAIN.with(|plain| {
        let plain = match plain.get() {
            Some(plain) => plain,
            None => {
                let opened = Connection::open_in_memory()?;
                let longest = Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH;
                opened.set_limit(longest, PATTERN_BYTES)?;
                plain.get_or_init(|| opened)
            }
        };
        let limit = i32::try_from(largest).unwrap_or(i32::MAX);
        // Set for each call, because the databases of a thread have different limits.
        plain.set_limit(Limit::SQLITE_LIMIT_LENGTH, limit)?;
        let mut statement = plain.prepare_cached(&format!("SELECT {name}({marks})"))?;
        for (at, value) in given.enumerate() {
            statement.raw_bind_parameter(at + 1, value)?;
        }
        let mut rows = statement.raw_query();
        let row = rows.next()?.ok_or(Error::QueryReturnedNoRows)?;
        Ok(match row.get_ref(0)? {
            ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
            other => other.try_into().unwrap_or(Value::Null),
        })
    })
}

/// A number as `SQLite` stores it: NaN becomes NULL, and an infinity is not changed.
fn finite(x: f64) -> Value {
    if x.is_nan() {
        Value::Null
    } else {
        Value::Real(x)
    }
}

/// The argument if it is a number or the text of a number, and otherwise NULL. A text of digits
/// only is an integer if it fits into 64 bits.
fn numeric(c: &Context<'_>, at: usize) -> Value {
    match c.get_raw(at) {
        ValueRef::Integer(i) => Value::Integer(i),
        ValueRef::Real(x) => Value::Real(x),
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text.trim_ascii());
            // Rust also reads `inf` and `nan`, which SQLite does not read as numbers.
            let plain = text
                .bytes()
                .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
            let integer = text.parse().map(Value::Integer);
            match integer.or_else(|_| text.parse().map(Value::Real)) {
                Ok(value) if plain => value,
                _ => Value::Null,
            }
        }
        ValueRef::Null | ValueRef::Blob(_) => Value::Null,
    }
}

/// The argument as a number; `None` if it is neither a number nor the text of one.
fn number(c: &Context<'_>, at: usize) -> Option<f64> {
    match numeric(c, at) {
        // SQLite rounds a large integer to a double too.
        Value::Integer(i) => Some(i as f64),
        Value::Real(x) => Some(x),
        _ => None,
    }
}

/// A real as text in the format `%!.15g`: 15 digits, and always a decimal point. OpenEnv's `SQLite`
/// (3.40) converts a real like this, while the bundled one writes 17 digits.
fn real_text(x: f64) -> String {
    if x == 0.0 {
        return "0.0".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{x:.14e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    // Rust writes the exponent as an integer, so the default is never used.
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..15).contains(&exponent) {
        let digits = with_point(digits.trim_end_matches('0'));
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    // From 0 to 18, because the exponent is in the range above.
    let decimals = usize::try_from(14 - exponent).unwrap_or(0);
    let fixed = format!("{x:.decimals$}");
    if fixed.contains('.') {
        with_point(fixed.trim_end_matches('0'))
    } else {
        with_point(&fixed)
    }
}

fn with_point(digits: &str) -> String {
    match digits.split_once('.') {
        None => format!("{digits}.0"),
        Some((_, "")) => format!("{digits}0"),
        Some(_) => digits.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn formatted(x: f64) -> Option<String> {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .query_row("SELECT printf('%!.15g', ?)", [x], |row| row.get(0))
            .unwrap()
    }

    /// The values are those of `SQLite` 3.40.1 built with its math functions.
    #[test]
    #[allow(clippy::approx_constant, reason = "as printed by SQLite")]
    fn math_functions_return_what_sqlites_return() {
        use Value::{Integer, Null, Real};
        let connection = Connection::open_in_memory().unwrap();
        register(&connection, &CallBudget::new(1 << 20)).unwrap();
        for (expression, expected) in [
            ("ln(0)", Null),
            ("ln(-1)", Null),
            ("log(0)", Null),
            ("log(1000)", Real(2.9999999999999996)),
            ("log10(1000)", Real(2.9999999999999996)),
            ("log2(8)", Real(3.0)),
            ("log(0.5, 4)", Null),
            ("log(2, 8)", Real(3.0)),
            ("log(0, 8)", Null),
            ("log(2, null)", Null),
            ("log('2', '8')", Real(3.0)),
            ("log(2, 'x')", Null),
            ("ceil('5')", Integer(5)),
            ("ceil('5.5')", Real(6.0)),
            ("ceil('5x')", Null),
            ("ceil(-1.5)", Real(-1.0)),
            ("floor('-7.5')", Real(-8.0)),
            ("trunc('-7.5')", Real(-7.0)),
            ("ceil('99999999999999999999')", Real(1e+20)),
            ("ceil('1e2')", Real(100.0)),
            ("ceil('')", Null),
            ("ceil(x'35')", Null),
            ("sqrt('4')", Real(2.0)),
            ("exp(1000)", Real(f64::INFINITY)),
            ("pow(0,-1)", Real(f64::INFINITY)),
            ("power('2','3')", Real(8.0)),
            ("mod(7,0)", Null),
            ("mod(-7,3)", Real(-1.0)),
            ("atan2(1,0)", Real(1.5707963267948966)),
            ("acos(2)", Null),
            ("degrees(3)", Real(171.88733853924697)),
            ("radians(90)", Real(1.5707963267948966)),
            ("pi()", Real(3.141592653589793)),
            ("asinh(1)", Real(0.881373587019543)),
            ("atanh(1)", Real(f64::INFINITY)),
            ("sqrt('inf')", Null),
            ("sqrt('1e400')", Real(f64::INFINITY)),
            ("sqrt('- 9')", Null),
            ("sqrt('1,000')", Null),
        ] {
            let got: Value = connection
                .query_row(&format!("SELECT {expression}"), [], |row| row.get(0))
                .unwrap();
            let near = match (&got, &expected) {
                (Real(got), Real(expected)) => {
                    got == expected || (got - expected).abs() <= 4.0 * f64::EPSILON * expected.abs()
                }
                _ => got == expected,
            };
            assert!(near, "{expression}: {got:?} instead of {expected:?}");
        }
    }

    #[test]
    fn plain_reals_are_cast_to_fifteen_digits() {
        for x in [
            0.0,
            1.0,
            -2.5,
            0.1 + 0.2,
            1e15,
            1e14,
            123_456.75,
            1e-5,
            1e-4,
            1e300,
            f64::INFINITY,
            4000.0,
        ] {
            assert_eq!(Some(real_text(x)), formatted(x), "{x}");
        }
    }

    proptest! {
        #[test]
        fn reals_are_cast_to_fifteen_digits(x in -1e12_f64..1e12, scale in -10_i32..10) {
            let x = (x * 100.0).round() / 100.0 * 10_f64.powi(scale);
            prop_assert_eq!(Some(real_text(x)), formatted(x));
        }
    }
}
