//! Decides whether changed prompts help. This is the judging part of `convfinqa improve`.
//!
//! Pages are split once into propose, gate and sealed pages ([`PageSplit`]). A candidate, which is
//! a changed prompt, must not add text of the data ([`DataText`]). Each candidate is tested once on
//! the gate pages, and the best of those that pass is measured on the sealed pages ([`Trial`]).

mod data_text;
mod report;
mod split;
mod trial;

pub use data_text::DataText;
pub use report::{Candidate, Improvement, Power};
pub use split::PageSplit;
pub use trial::{CANDIDATES, Effect, LEVEL, Trial};
