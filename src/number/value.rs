//! The value of a program or an answer.

use serde::{Deserialize, Serialize};

/// What a program or an answer comes to: a number, or a word (`yes`, `no`,
/// `n/a`). The dataset files `exe_ans` as either.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number; a share or a percent is a fraction unless its program says otherwise.
    Number(f64),
    /// `yes`, `no`, or whatever word the data file holds.
    Text(String),
}

impl Value {
    /// The number, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Text(_) => None,
        }
    }

    /// `Some(true)` for yes, `Some(false)` for no (any case), else `None`.
    #[must_use]
    pub fn yes_no(&self) -> Option<bool> {
        match self {
            Self::Text(word) if word.trim().eq_ignore_ascii_case("yes") => Some(true),
            Self::Text(word) if word.trim().eq_ignore_ascii_case("no") => Some(false),
            _ => None,
        }
    }
}

impl std::fmt::Display for Value {
    /// A number in its shortest exact form (`206588`, `0.14136`), a word as it is.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Text(word) => f.write_str(word),
        }
    }
}

/// Rounds to 5 decimals as Python's `round(x, 5)` does: correctly, on the
/// binary value. The official evaluator rounds every result so.
#[must_use]
pub fn round5(x: f64) -> f64 {
    format!("{x:.5}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round5_is_correct_on_the_binary_value() {
        // 0.000155 is stored below its decimal form; `(x * 1e5).round() / 1e5` gives 0.00016.
        assert_eq!(round5(0.000_155), 0.00015);
        assert_eq!(round5(1.0 / 3.0), 0.33333);
        assert_eq!(round5(-0.133_966_2), -0.13397);
    }

    #[test]
    fn values_read_from_json_of_either_kind() {
        assert_eq!(
            serde_json::from_str::<Value>("5").unwrap(),
            Value::Number(5.0)
        );
        assert_eq!(
            serde_json::from_str::<Value>("\"yes\"").unwrap().yes_no(),
            Some(true)
        );
    }
}
