//! What can be wrong with templates.

use std::path::PathBuf;

use thiserror::Error;

/// A template that cannot be used. Each is one line that names the file.
#[derive(Debug, Error)]
pub enum PromptError {
    /// A folder or file that cannot be read.
    #[error("{}: cannot read the templates: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file that overrides nothing.
    #[error("{}: no template has this name; they are {known} (a name starting with `_` may be included)", path.display())]
    Unknown {
        /// Which.
        path: PathBuf,
        /// The names there are.
        known: String,
    },
    /// A template that does not parse, or uses something that is not there.
    #[error("{template}, line {line}: {reason}")]
    Template {
        /// The file, or the embedded template's name.
        template: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong, with the line quoted.
        reason: String,
    },
}
