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
//! No gold of the asked question can come in: a [`Question`](finqa_core::question::Question) has
//! none, and worked examples are those of [`OtherCompanies`].

mod error;
mod examples;
mod templates;
mod view;

pub use error::PromptError;
pub use examples::{ExampleStore, OtherCompanies, WorkedExample};
pub use templates::Prompts;
pub use view::{CriticView, Prompt, Rendering};
