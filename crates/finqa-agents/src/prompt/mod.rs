//! Renders the prompts of analyst and critic: what a model is shown of a question.
//!
//! [`Prompts`] holds the templates of `prompts/*.j2`, which are embedded in the program; files of
//! the same name in a folder can replace them. An undefined variable is an error, which is found
//! when a folder's templates are loaded. Nothing is escaped: a page's braces, quotes and `&` reach
//! the model unchanged.
//!
//! Long text that does not change comes first (conventions, then the page), changing text last
//! (earlier turns, the question, the analysis). A provider's prefix cache then serves all rounds
//! and turns about one page.
//!
//! A prompt cannot contain gold, because a [`Question`](finqa_core::question::Question) has none.

mod error;
mod templates;
mod view;

pub use error::PromptError;
pub use templates::Prompts;
pub use view::{CriticView, Prompt};
