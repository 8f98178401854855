//! Answering: facts fill the slots of plans, and one of the resulting programs is chosen.

pub(super) mod analyst;
pub(super) mod answer;
pub(super) mod candidates;
pub(super) mod confidence;
pub(super) mod description;
pub(super) mod doubt;
pub(super) mod filling;
pub(super) mod from_labels;
pub(super) mod scale;
pub(super) mod variants;
