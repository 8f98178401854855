//! Reads a question, its cues and the turns before it, and makes the plans that can answer it.
//!
//! Reading order: `wording` reads the text, with `operation_words` and `mention`; `conversation`
//! reads the earlier turns. `plan` has the types of a plan, `slot_scorer` says what a slot asks of
//! a fact and scores facts, with `slot_words` and `feature_values`. `plan_question` combines these
//! for the modules that make plans.
//!
//! These modules are, in order of importance for a turn: `sketch_plans` makes a plan of each likely
//! sketch; `proposal` guesses shape and sketch of the program from the words. `by_words` makes
//! plans by the words of the question. `follow_up` and `arithmetic` make those for other
//! follow-ups, and for calculations with numbers.
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
pub(super) mod operation_words;
pub(super) mod plan;
pub(super) mod plan_question;
pub(super) mod proposal;
pub(super) mod sketch_plans;
pub(super) mod slot_scorer;
pub(super) mod slot_words;
pub(super) mod wording;
