//! Whether changed prompts help: the judging half of `convfinqa improve`.
//!
//! Pages are split once into propose, gate and sealed pages ([`PageSplit`]). What a proposal adds
//! is checked for text of the data ([`DataText`]); each candidate is tested once on the gate pages
//! and the best of those that pass is measured on the sealed pages ([`Trial`]).

mod data_text;
mod report;
mod split;
mod trial;

pub use data_text::DataText;
pub use report::{Candidate, Improvement, Power};
pub use split::PageSplit;
pub use trial::{CANDIDATES, Effect, LEVEL, Trial};
