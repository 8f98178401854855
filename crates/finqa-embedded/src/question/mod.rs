//! Reading a question: its cues, the turns before it, and the plans that may answer it.

pub(super) mod alone;
pub(super) mod arithmetic;
pub(super) mod conversation;
pub(super) mod follow_up;
pub(super) mod mention;
pub(super) mod operation_words;
pub(super) mod plan;
pub(super) mod plan_question;
pub(super) mod proposal;
pub(super) mod reference;
pub(super) mod slot_words;
pub(super) mod slots;
pub(super) mod wording;
