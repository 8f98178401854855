//! Renders the prompts of the analyst and the critic, which contain everything about a question
//! that a model is shown.
//!
//! [`Prompts`] contains the templates of `prompts/*.j2`, which are embedded in the program. Files
//! of the same name in a folder can replace them. An undefined variable is an error, which is found
//! when the templates of a folder are loaded. Nothing is escaped, so the braces, quotes and `&` of
//! a page reach the model unchanged.
//!
//! Long text that does not change comes first (conventions, then the page), and changing text last
//! (earlier turns, the question, the analysis). This lets a provider's prefix cache serve all
//! rounds and turns about a page.
//!
//! A prompt cannot contain gold, because a [`Question`](finqa_core::question::Question) has none.

mod error;
mod templates;
mod view;

pub use error::PromptError;
pub use templates::Prompts;
pub use view::{CriticView, Prompt};
