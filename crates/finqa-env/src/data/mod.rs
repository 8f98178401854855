//! The environment's data: companies, their tables, the questions about them.
//!
//! A directory in OpenEnv's layout is read once into an immutable
//! [`Catalog`] that all sessions share. It runs no query and grades nothing.

mod catalog;
mod error;
mod frame;
mod hub;
mod info;
mod note;
mod questions;
mod splits;
mod timestamp;
mod typed;

pub use catalog::{
    COMPANIES, Catalog, CatalogReport, CompanyTable, DataFiles, METADATA, QUESTIONS,
    QUESTIONS_FOLDER,
};
pub use error::EnvError;
pub use frame::FrameCell;
pub use hub::{HubError, HubEvent, HubOptions, NOTICE, download};
pub use note::{BuildNote, NOTE};
pub use questions::{EnvQuestion, bare_question};
pub use splits::TaskSplit;
pub use typed::{ColumnType, TypedColumn};
