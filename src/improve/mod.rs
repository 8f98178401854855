//! Prompts improved on evidence: `convfinqa improve`.
//!
//! Pages are split once into propose, gate and sealed pages ([`PageSplit`]). A model sees the
//! causes of misses on propose pages and changes a template (`proposal`); what it adds is checked for
//! text of the data (`DataText`); each candidate is tested once on the gate pages and the
//! best of those that pass is measured on the sealed pages ([`Trial`]). The command runs the questions.

mod data_text;
mod proposal;
mod report;
mod split;
mod trial;

pub(crate) use data_text::DataText;
pub(crate) use proposal::{Proposal, Rejection, request, templates};
pub(crate) use report::{Candidate, Improvement, Power};
pub use split::PageSplit;
pub use trial::{CANDIDATES, Effect, LEVEL, Trial};
