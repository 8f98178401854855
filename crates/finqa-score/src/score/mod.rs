//! Applies every scoring rule. No number is shown without the name of its rule.
//!
//! The rules are pure functions: [`exact_match`], [`numeric_match`] with its [`floor()`], the
//! official [`execution_accuracy`] and `program_accuracy`, and [`financial_equivalence`], which
//! states a reason. A [`Row`] is one question with its answer or outcome, and [`Row::with_scores`]
//! applies every rule to it. [`Scorecard::of`] sums up rows; each rate has its number of questions
//! and a 95 % interval clustered by report page. [`files`] reads predictions from disk.
//!
//! Nothing here asks a model or explains why an answer is wrong (`analysis` does that).
//! `docs/scoring.md` describes each rule in words.

mod card;
mod conversation;
mod diagnostic;
mod epochs;
mod equivalence;
mod error;
pub mod files;
mod floor;
mod matching;
mod printed;
mod quantity;
mod row;
mod rule;
mod rules;
mod suspects;
mod tally;
mod unread;

pub use card::{RuleRates, Scorecard};
pub(crate) use diagnostic::Diagnostic;
pub use epochs::EpochCard;
pub use equivalence::{FeVerdict, financial_equivalence};
pub use error::ScoreError;
pub use floor::{LabelFloor, floor};
pub use matching::{FeContext, FeReason};
pub use printed::{PrintedDefect, check_printed, contradicting_value};
pub use quantity::{Quantity, same_gold};
pub(crate) use row::name_hash;
pub use row::{Effort, PredictionCells, Row, Scores, Stamp, score};
pub use rule::Rule;
pub use rules::{exact_match, execution_accuracy, numeric_match, plain_answer, program_execution};
pub(crate) use suspects::Suspect;
pub use suspects::{suspect, suspects};
pub use tally::ScoreTally;
pub use unread::{UnreadGold, unread_answers, unread_values};
