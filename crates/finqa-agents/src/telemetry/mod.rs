//! The attributes that agents and models record on `tracing` spans, by the names in
//! [`attributes`]. Nothing is recorded, and nothing is formatted, unless a subscriber is
//! installed; prompts and replies are content and only recorded on request ([`Content`],
//! `set_content`).

pub mod attributes;
mod record;

pub use record::{Content, count, fail, if_content, message, set, word};
pub(crate) use record::{set_content, set_list, set_output, set_question, wants_content};
