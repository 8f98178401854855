//! Errors of templates.

use std::path::PathBuf;

use thiserror::Error;

/// A template that cannot be used. Each error is one line that names the folder.
#[derive(Debug, Error)]
pub enum PromptError {
    #[error("{}: cannot read the templates: {source}", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A file that overrides no template.
    #[error("{}: no template has this name; the templates are {known} (a name starting with `_` may be included)", path.display())]
    Unknown { path: PathBuf, known: String },
    /// The reason names the template and the line.
    #[error("{}: {reason}", folder.display())]
    Template { folder: PathBuf, reason: String },
}
