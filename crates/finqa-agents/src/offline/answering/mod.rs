//! Answering: facts are put into plans, and one of the resulting programs is chosen.

pub(super) mod choice;
pub(super) mod confidence;
pub(super) mod describe;
pub(super) mod fill;
pub(super) mod scale;
pub(super) mod solve;
pub(super) mod variants;
