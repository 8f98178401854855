//! The environment's data: companies, their tables, the questions about them.
//!
//! A directory in the reference's layout is read once into an immutable
//! [`Catalog`] that all sessions share. It runs no query and grades nothing.

mod catalog;
mod error;

pub use catalog::{Catalog, CheckReport, Company, EnvQuestion, Table};
pub use error::EnvError;
