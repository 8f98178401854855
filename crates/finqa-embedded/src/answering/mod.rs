//! Answers a question: facts fill the slots of its plans, and one of the resulting programs is
//! chosen.
//!
//! Reading order: `analyst` has the steps and `answer` their result. `filling` puts facts into
//! slots, `variants` and `scale` make variants of the programs, and `candidates` collects them for
//! `ranking`. `confidence` and `doubt` say how sure the answer is, `description` puts it into
//! words, and `from_labels` does so for answers from the labels of tables. `explain` records how an
//! answer is found.

pub(super) mod analyst;
pub(super) mod answer;
pub(super) mod candidates;
pub(super) mod confidence;
pub(super) mod description;
pub(super) mod doubt;
mod explain;
pub(super) mod filling;
pub(super) mod from_labels;
pub(super) mod scale;
pub(super) mod variants;
