//! The outcome of a question: whether it has an answer, and if not, why. The agents set it, and the
//! scores count it.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The outcome of a question. Every outcome except [`Outcome::Answered`] counts as wrong in the
/// accuracy over all questions. Summaries list the outcomes in this order.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// The question has an answer, right or wrong.
    Answered,
    /// The answer was withheld because of `--min-confidence`, `--max-error` or `--second-opinion
    /// require`, or because `ask` is not sure of it.
    Abstained,
    /// The provider's content filter stopped the prompt or the reply.
    ContentFilter,
    /// The model refused to answer.
    Refusal,
    /// The reply was cut off at the output limit.
    Truncated,
    /// The reply could not be parsed. One request was repeated, and its reply could not be parsed
    /// either.
    ParseFailure,
    /// The provider failed on every attempt.
    ProviderError,
    /// The episode reached its limit of tool calls, or the model's context was full.
    BudgetStop,
}

impl Outcome {
    /// The name used in files: `answered`, `content_filter`, …
    pub fn name(self) -> &'static str {
        self.into()
    }
}
