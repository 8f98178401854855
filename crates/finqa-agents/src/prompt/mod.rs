//! Templates, strict; the one place that decides what a model is shown.
//!
//! A [`Prompts`] holds the templates of `prompts/*.j2`, embedded, or overridden by files of
//! the same name in a folder. Templates are strict (an undefined variable is an error, found
//! when they are loaded) and escape nothing: a page's braces, quotes and `&` reach the model
//! unchanged.
//!
//! Long and stable text comes first (conventions, then the page), changing text last
//! (earlier turns, the question, the analysis), so that a provider's prefix cache serves
//! rounds and turns over one page.
//!
//! No gold can come in: a [`Question`](finqa_core::question::Question) has none.

mod error;
mod templates;
mod view;

pub use error::PromptError;
pub use templates::Prompts;
pub use view::{CriticView, Prompt};
