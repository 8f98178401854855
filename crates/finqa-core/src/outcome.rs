//! How asking a question ended: part of the vocabulary that `agents` write
//! and `score` counts, so it is defined alongside the question.

use serde::{Deserialize, Serialize};

/// How asking a question ended. Everything but [`Outcome::Answered`] counts
/// against accuracy over all questions and is listed by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// Every outcome, in the order in which they are listed.
    pub const ALL: [Self; 8] = [
        Self::Answered,
        Self::Abstained,
        Self::ContentFilter,
        Self::Refusal,
        Self::Truncated,
        Self::ParseFailure,
        Self::ProviderError,
        Self::BudgetStop,
    ];

    /// The name in files: `answered`, `content_filter`, …
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Abstained => "abstained",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
            Self::Truncated => "truncated",
            Self::ParseFailure => "parse_failure",
            Self::ProviderError => "provider_error",
            Self::BudgetStop => "budget_stop",
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
