//! The FinQA environment: financial tables, four tools, a reward.
//!
//! [`data`] holds the tables and questions, [`tools`] reads them, [`reward`]
//! grades an answer, [`episode`] is the state machine of one session. What
//! travels over a wire is built on top of these and is not known to them.

pub mod data;
pub mod episode;
pub mod reward;
pub mod tools;
