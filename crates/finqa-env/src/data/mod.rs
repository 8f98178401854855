//! The environment's data: companies, their tables, and the questions about them.
//!
//! A directory in OpenEnv's layout is read once into an immutable [`Catalog`], which all sessions
//! share. `catalog` combines the results of the other files. `questions` and `splits` read the
//! questions. For tables, `frame` reads the JSON, `typed` infers the column types and `timestamp`
//! reads the dates. `info` builds the text of `get_table_info`. `hub` downloads the published
//! benchmark into such a directory, and `note` tells whether `env build` wrote a directory.

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

pub(crate) use catalog::table_name;
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
