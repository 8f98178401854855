//! How a question ended: with an answer, or why it has none. The agents write it and the scores
//! count it.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// How a question ended. Every outcome except [`Outcome::Answered`] counts as wrong in the
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
    /// The agents chose not to answer (`--min-confidence`).
    Abstained,
    /// The provider's content filter stopped the prompt or the reply.
    ContentFilter,
    /// The model refused to answer.
    Refusal,
    /// The reply was cut off at the output limit.
    Truncated,
    /// The reply could not be parsed, and neither could the reply to one repeated request.
    ParseFailure,
    /// The provider failed on every attempt.
    ProviderError,
    /// A limit on cost or time ended the question.
    BudgetStop,
}

impl Outcome {
    /// The name used in files: `answered`, `content_filter`, …
    pub fn name(self) -> &'static str {
        self.into()
    }
}
