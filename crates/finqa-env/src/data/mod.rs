//! The environment's data: companies, their tables, and the questions about them.
//!
//! A directory in OpenEnv's layout is read once into an immutable [`Catalog`] that all sessions
//! share. `catalog` puts together what the other files read: `questions` and `splits`; tables, of
//! which `frame` reads the JSON, `typed` infers the column types and `timestamp` reads the dates;
//! and `info`, the text of `get_table_info`. `hub` downloads the published benchmark into such a
//! directory, and `note` tells whether `env build` wrote one.

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
