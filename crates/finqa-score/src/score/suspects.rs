//! The checked-in list of golds that are wrong, undecidable or truncated. Scores without these
//! questions are printed on a second line ("without k suspect golds"), in addition to the scores
//! over all questions.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::dataset::QuestionKey;

use super::ScoreError;

const LIST: &str = include_str!("../../../../data/suspect_golds.json");

/// A gold that cannot be trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suspect {
    #[serde(flatten)]
    pub key: QuestionKey,
    /// The kind of defect: `wrong_row`, `years_swapped`, `sign`, `truncated`, `ill_posed`,
    /// `doubtful`, …
    pub rule: String,
    /// The reason, in our own words.
    pub reason: String,
}

static SUSPECTS: LazyLock<HashMap<QuestionKey, Suspect>> = LazyLock::new(|| {
    // The list is part of the program and a test reads it, so no error occurs.
    let all = suspects().unwrap_or_default();
    all.into_iter().map(|s| (s.key.clone(), s)).collect()
});

/// The whole list, in its order.
///
/// # Errors
/// None in practice, because the list is built into the program and a test reads it.
pub fn suspects() -> Result<Vec<Suspect>, ScoreError> {
    serde_json::from_str(LIST).map_err(ScoreError::Suspects)
}

/// The entry of this question in the list; `None` if its gold is not suspect.
pub fn suspect(key: &QuestionKey) -> Option<&'static Suspect> {
    SUSPECTS.get(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_parses_and_names_each_question_once() {
        let all = suspects().unwrap();
        assert_eq!(all.len(), SUSPECTS.len());
        assert!(
            all.iter()
                .all(|s| !s.reason.is_empty() && !s.rule.is_empty())
        );
        assert!(suspect(&all[0].key).is_some());
    }
}
