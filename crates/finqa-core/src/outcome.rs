//! The outcome of a question, which `agents` writes and `score` counts.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The outcome of a question. All but [`Outcome::Answered`] count against accuracy over all
/// questions and are listed by name, in this order.
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
    /// There is an answer, right or wrong.
    Answered,
    /// The agents chose not to answer (`--min-confidence`).
    Abstained,
    /// The provider's content filter stopped the prompt or the reply.
    ContentFilter,
    /// The model declined.
    Refusal,
    /// The reply was cut at the output limit.
    Truncated,
    /// The reply could not be read, not even after one re-ask.
    ParseFailure,
    /// The provider failed after all attempts.
    ProviderError,
    /// A limit on cost or time ended the question.
    BudgetStop,
}

impl Outcome {
    /// The name in files: `answered`, `content_filter`, …
    pub fn name(self) -> &'static str {
        self.into()
    }
}
