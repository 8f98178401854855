//! Limits of cost and time, as settings.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use finqa_agents::llm::{BudgetLimits, Dollars};

/// Limits of cost and time.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Budget")]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// End the run with code 7 before its cost can exceed this many US dollars; to continue, resume it with a higher limit
    #[arg(long, value_name = "USD", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Dollars>,
    /// End the run with code 7 after this much time, e.g. 90s or 2h30m, once the requests in flight have finished; resuming the run restarts the clock
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_time: Option<TimeLimit>,
    /// End the run with code 5 after this much time without an answer of a server that has answered before
    #[arg(
        long,
        value_name = "TIME",
        default_value = "10m",
        allow_negative_numbers = true
    )]
    pub give_up_after: TimeLimit,
    /// JSON file of prices, which take precedence over the built-in ones
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<PathBuf>,
}

finqa_core::options::declared_defaults!(BudgetSettings);

impl BudgetSettings {
    pub fn limits(&self) -> BudgetLimits {
        BudgetLimits {
            cost: self.max_cost.map(|dollars| dollars.0),
            time: self.max_time.map(|limit| limit.0),
        }
    }
}

/// A duration that the user writes with its unit, such as `30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeLimit(Duration);

impl From<TimeLimit> for Duration {
    fn from(limit: TimeLimit) -> Self {
        limit.0
    }
}

impl FromStr for TimeLimit {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let time: Result<SignedDuration, _> = text.trim().parse();
        let time = time.map_err(|_| "write a time with its unit, such as 90s, 30m or 2h30m")?;
        match Duration::try_from(time) {
            Ok(time) if !time.is_zero() => Ok(Self(time)),
            _ => Err("it must be longer than 0"),
        }
    }
}

impl TryFrom<String> for TimeLimit {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TimeLimit> for String {
    fn from(limit: TimeLimit) -> Self {
        limit.to_string()
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A limit is read as a signed duration, so it fits one, and the default is never used.
        let time = SignedDuration::try_from(self.0).unwrap_or(SignedDuration::MAX);
        write!(f, "{time:#}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_a_unit() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), ("2h30m", 9000), ("1h 5m", 3900)] {
            let limit: TimeLimit = text.parse().unwrap();
            assert_eq!(limit.0.as_secs(), seconds, "{text}");
            assert_eq!(limit.to_string().parse(), Ok(limit), "{limit}");
        }
        for text in ["", "90", "0s", "-5m", "NaN", "1e400", "abc", "5 parsecs"] {
            assert!(text.parse::<TimeLimit>().is_err(), "{text}");
        }
    }
}
