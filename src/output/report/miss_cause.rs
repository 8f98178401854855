//! Why an answer is wrong, as the report shows it.

use serde::Serialize;

use crate::analysis::Miss;

/// The cause of a wrong answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissCause {
    pub cause: String,
    /// The evidence for it, in one line.
    pub detail: String,
}

impl From<Miss> for MissCause {
    fn from(miss: Miss) -> Self {
        Self {
            cause: miss.cause.name().to_owned(),
            detail: miss.detail,
        }
    }
}
