//! Reads an answer as financial equivalence (FE) compares it: a number as written, yes or no, or
//! another word.

use finqa_core::number::{
    NumberReading, Scale, Value, answer, last_digit, python_float, rounds_to, same, yes_or_no,
};

/// A number as it is written in an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenNumber {
    /// As written: 14.1 for `14.1%`, 0.25 for `25 bps`.
    pub value: f64,
    /// One unit of the last significant decimal: 0.1 for `14.10`.
    pub unit: f64,
    /// True if it has a percent sign or is in basis points.
    pub percent: bool,
    /// True if it is in basis points, each a hundredth of a percent.
    pub basis_points: bool,
    /// True if its sign is a word ("a loss of"). The word may only repeat the question.
    pub loss: bool,
    /// The scale word, if any.
    pub scale: Option<Scale>,
}

impl WrittenNumber {
    /// The number with `value` and `unit` multiplied by the scale word, and without the word.
    pub fn scaled(&self) -> Self {
        let factor = self.scale.map_or(1.0, Scale::factor);
        Self {
            value: self.value * factor,
            unit: self.unit * factor,
            scale: None,
            ..*self
        }
    }
}

impl From<NumberReading> for WrittenNumber {
    fn from(reading: NumberReading) -> Self {
        // 100 basis points are one percent.
        let whole = if reading.basis_points { 100.0 } else { 1.0 };
        // A lakh or a crore is always applied, because no caption of the dataset is in them.
        let (power, scale) = match reading.scale {
            Some(Scale::Lakh) => (2, Some(Scale::Thousand)),
            Some(Scale::Crore) => (1, Some(Scale::Million)),
            scale => (0, scale),
        };
        let decimals = reading.significant_decimals.saturating_sub(power);
        Self {
            value: reading.value * f64::from(10_u32.pow(power)) / whole,
            unit: last_digit(decimals) / whole,
            percent: reading.percent || reading.basis_points,
            basis_points: reading.basis_points,
            loss: reading.loss,
            scale,
        }
    }
}

/// An answer as FE compares it.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    Number(WrittenNumber),
    /// Yes (true) or no.
    YesNo(bool),
    /// Any other text, trimmed. It is empty for a missing answer and for `nan` and `inf`, so that
    /// these are equal to nothing.
    Word(String),
}

impl Quantity {
    /// Reads a printed answer: as yes or no, else as a number, else as a word.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Some(yes) = yes_or_no(text) {
            return Self::YesNo(yes);
        }
        match answer(text) {
            Ok(reading) => Self::Number(reading.into()),
            Err(_) if python_float(text).is_some_and(|x| !x.is_finite()) => {
                Self::Word(String::new())
            }
            Err(_) => Self::Word(text.to_owned()),
        }
    }

    /// Reads a value, such as `exe_ans`. The decimals of a number are those of its shortest decimal
    /// form.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Number(x) if !x.is_finite() => Self::Word(String::new()),
            Value::Number(x) => Self::Number(WrittenNumber {
                value: *x,
                unit: last_digit(shortest_decimals(*x)),
                percent: false,
                basis_points: false,
                loss: false,
                scale: None,
            }),
            Value::Text(word) => Self::parse(word),
        }
    }

    /// A printed answer with all digits of the value from which it was printed. It keeps its
    /// percent sign and scale word. If the value does not round to the printed answer, the value
    /// alone is returned, because it is the result of the program.
    pub(crate) fn sharpened(printed: &str, value: &Value) -> Self {
        let Value::Number(exact) = value else {
            return Self::of(value);
        };
        if let Self::Number(written) = Self::parse(printed) {
            // A percentage is printed as 100 times its value.
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

/// True if two written golds are equal: `14.10%` equals `14.1%`.
pub fn same_gold(a: &str, b: &str) -> bool {
    match (Quantity::parse(a), Quantity::parse(b)) {
        (Quantity::Number(a), Quantity::Number(b)) => {
            same(a.value, b.value) && a.percent == b.percent
        }
        (a, b) => a == b,
    }
}

fn shortest_decimals(x: f64) -> u32 {
    let printed = x.to_string();
    let decimals = printed.split_once('.').map_or(0, |(_, d)| d.len());
    // Never falls back to 300, because the number of decimals of a printed `f64` fits into a `u32`.
    u32::try_from(decimals).unwrap_or(300)
}
