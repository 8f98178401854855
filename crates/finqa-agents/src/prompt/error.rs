//! The errors of reading and rendering templates.

use std::path::PathBuf;

use finqa_core::error::{Kind, Kinded};
use thiserror::Error;

/// The reason why templates cannot be used. Each message is one line that begins with the file or
/// folder.
#[derive(Debug, Error)]
pub enum PromptError {
    #[error("{}: cannot read the templates: {source}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A file that would not replace anything, because no template has its name.
    #[error("{}: no template has this name; the templates are {known} (a name starting with `_` may be included)", path.display())]
    Unknown { path: PathBuf, known: String },
    /// A template that cannot be parsed or rendered; `reason` names the template and the line.
    #[error("{}: {reason}", folder.display())]
    Template { folder: PathBuf, reason: String },
}

/// The user names the folder of templates; a test renders the built-in ones.
impl Kinded for PromptError {
    fn kind(&self) -> Kind {
        Kind::Usage
    }
}
