//! Reading a question: its cues, the turns before it, and the plans that may answer it.

pub(super) mod arithmetic;
pub(super) mod asked;
pub(super) mod follow;
pub(super) mod mention;
pub(super) mod plan;
pub(super) mod refer;
pub(super) mod slots;
pub(super) mod state;
pub(super) mod templates;
