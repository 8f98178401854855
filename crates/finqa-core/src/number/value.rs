//! Defines the value of a program or an answer.

use serde::{Deserialize, Serialize};

/// The value of a program or an answer: a number, or a word (`yes`, `no`, `n/a`). The dataset's
/// `exe_ans` may be either.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number. A percentage is a fraction, unless its program computes in percent.
    Number(f64),
    /// `yes`, `no`, or another word from the data file.
    Text(String),
}

impl Value {
    /// The number; `None` for a word.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Text(_) => None,
        }
    }

    /// `Some(true)` for yes, `Some(false)` for no (in upper or lower case), and otherwise `None`.
    pub fn yes_no(&self) -> Option<bool> {
        match self {
            Self::Text(word) if word.trim().eq_ignore_ascii_case("yes") => Some(true),
            Self::Text(word) if word.trim().eq_ignore_ascii_case("no") => Some(false),
            _ => None,
        }
    }
}

impl std::fmt::Display for Value {
    /// Prints a number in its shortest exact form (`206588`, `0.14136`), and a word unchanged.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Text(word) => f.write_str(word),
        }
    }
}

/// Rounds to 5 decimals like Python's `round(x, 5)`, which rounds the exact binary value correctly.
/// The official evaluator rounds every result this way.
pub fn round5(x: f64) -> f64 {
    let shifted = x * 1e5;
    let whole = shifted.round();
    // Below 1e9, the error of the product is less than 1e-6. Unless the product is close to a half,
    // it therefore rounds to the right integer, and the quotient of two exact numbers is rounded
    // correctly. All other numbers, about one in 50,000, are printed and parsed, which is exact but
    // slow.
    let from_half = ((shifted - whole).abs() - 0.5).abs();
    if shifted.abs() < 1e9 && from_half > 1e-5 {
        whole / 1e5
    } else {
        format!("{x:.5}").parse().unwrap_or(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round5_is_correct_on_the_binary_value() {
        // The double nearest to 0.000155 is slightly smaller than 0.000155, so the plain
        // `(x * 1e5).round() / 1e5` returns 0.00016.
        assert_eq!(round5(0.000_155), 0.00015);
        assert_eq!(round5(1.0 / 3.0), 0.33333);
        assert_eq!(round5(-0.133_966_2), -0.13397);
    }

    /// The fast path and the printed result have the same bits.
    #[test]
    fn round5_is_what_is_printed() {
        let printed = |x: f64| format!("{x:.5}").parse::<f64>().unwrap();
        let mut seed = 1_u64;
        let check = |x: f64| {
            for x in [x, -x] {
                assert_eq!(round5(x).to_bits(), printed(x).to_bits(), "{x:e}");
            }
        };
        for _ in 0..200_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let fraction = (seed >> 11) as f64 / (1_u64 << 53) as f64;
            // Numbers of every magnitude, and numbers at a half, just below it and just above it.
            let size = 10f64.powi(i32::try_from(seed % 24).unwrap() - 8);
            let half = ((fraction * 1e6).floor() + 0.5) / 1e5;
            let around = [half, half.next_up(), half.next_down()];
            for x in [fraction * size].into_iter().chain(around) {
                check(x);
            }
        }
        for x in [
            0.0,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            9_999.999_995,
        ] {
            check(x);
        }
        assert!(round5(f64::NAN).is_nan());
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

    #[test]
    fn a_number_that_went_through_json_is_the_same_number() {
        // A parser that accepts an error of one ULP reads the first number as `…52`.
        for x in [
            -0.964_817_445_528_845_3,
            0.1 + 0.2,
            1.0 / 3.0,
            5e-324,
            f64::MAX,
        ] {
            let json = serde_json::to_string(&Value::Number(x)).unwrap();
            let read = serde_json::from_str::<Value>(&json).unwrap();
            assert_eq!(read.number().map(f64::to_bits), Some(x.to_bits()), "{json}");
        }
    }
}
