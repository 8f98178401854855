//! An answer as FE sees it: a number as written, yes or no, or some other word.

use finqa_core::number::{Scale, Value, last_digit, read, rounds_to, same};

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenNumber {
    /// As written: 14.1 for `14.1%`.
    pub value: f64,
    /// One unit of the last significant decimal: 0.1 for `14.10`.
    pub unit: f64,
    /// Followed by a percent sign.
    pub percent: bool,
    /// The scale word, if any.
    pub scale: Option<Scale>,
}

impl WrittenNumber {
    /// With the scale word multiplied out.
    pub(crate) fn scaled(&self) -> Self {
        let factor = self.scale.map_or(1.0, Scale::factor);
        Self {
            value: self.value * factor,
            unit: self.unit * factor,
            percent: self.percent,
            scale: None,
        }
    }
}

/// An answer as FE sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    Number(WrittenNumber),
    /// Yes (true) or no.
    YesNo(bool),
    /// Anything else, trimmed; empty for no answer.
    Word(String),
}

impl Quantity {
    /// Reads a printed answer.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some(yes) = yes_or_no(text) {
            return Self::YesNo(yes);
        }
        match read(text) {
            Some(reading) => Self::Number(WrittenNumber {
                value: reading.value,
                unit: last_digit(reading.significant_decimals),
                percent: reading.percent,
                scale: reading.scale,
            }),
            None => Self::Word(text.to_owned()),
        }
    }

    /// A value, such as `exe_ans`: its decimals are those of its shortest form.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Number(x) => Self::Number(WrittenNumber {
                value: *x,
                unit: last_digit(shortest_decimals(*x)),
                percent: false,
                scale: None,
            }),
            Value::Text(word) => Self::parse(word),
        }
    }

    /// A printed answer with its digits restored from the unrounded value it
    /// was printed from; the printed answer's sign of percent and scale word
    /// stay. A value that does not print so wins: it is the executed program.
    pub(crate) fn sharpened(printed: &str, value: &Value) -> Self {
        let Value::Number(exact) = value else {
            return Self::of(value);
        };
        if let Self::Number(written) = Self::parse(printed) {
            for x in [*exact, exact * 100.0] {
                if rounds_to(x, written.value, written.unit) {
                    return Self::Number(WrittenNumber {
                        value: x,
                        ..written
                    });
                }
            }
        }
        Self::of(value)
    }
}

/// True if two golds as written are equal: `14.10%` and `14.1%` are.
pub(crate) fn same_gold(a: &str, b: &str) -> bool {
    match (Quantity::parse(a), Quantity::parse(b)) {
        (Quantity::Number(a), Quantity::Number(b)) => {
            same(a.value, b.value) && a.percent == b.percent
        }
        (a, b) => a == b,
    }
}

/// `yes`, `No.`, `yes, because…`; not `no. of shares`.
fn yes_or_no(text: &str) -> Option<bool> {
    let word_end = text
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(text.len());
    let (word, rest) = text.split_at_checked(word_end)?;
    let alone = rest.trim_matches(['.', '!']).is_empty() || rest.starts_with([',', ';', ':']);
    if !alone {
        return None;
    }
    match word {
        _ if word.eq_ignore_ascii_case("yes") => Some(true),
        _ if word.eq_ignore_ascii_case("no") => Some(false),
        _ => None,
    }
}

fn shortest_decimals(x: f64) -> u32 {
    let printed = x.to_string();
    let decimals = printed.split_once('.').map_or(0, |(_, d)| d.len());
    u32::try_from(decimals).unwrap_or(300)
}
