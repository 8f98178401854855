//! Reads a question, its cues and the turns before it, and makes the plans that can answer it.
//!
//! The modules in the order of the steps in docs/embedded-analyst.md: `wording` reads the text,
//! with `mention` and `reading::cues`. `conversation` reads the earlier turns, and `plan_question`
//! has what they, the question and the page say. `proposal` guesses the shape and the sketch of the
//! program. `follow_up`, `by_words`, `sketch_plans` and `arithmetic` make plans (`plan`). What a
//! slot asks for, and how well a fact fits, is in `slot_scorer`, `slot_words` and `feature_values`.
//!
//! Unless a comment says otherwise, the priors, thresholds, factors and limits in this folder are
//! set by hand, and no measurement of a single one is recorded. The trainer prints the accuracy of
//! all together (docs/embedded-analyst.md, "Training"). A prior is a feature of the choice, and the
//! factors in `slot_scorer` and `slot_words` are parts of features, so other ones need new weights.

pub(super) mod arithmetic;
pub(super) mod by_words;
pub(super) mod conversation;
pub(super) mod feature_values;
pub(super) mod follow_up;
pub(super) mod mention;
pub(super) mod plan;
pub(super) mod plan_question;
pub(super) mod proposal;
pub(super) mod sketch_plans;
pub(super) mod slot_scorer;
pub(super) mod slot_words;
pub(super) mod wording;
