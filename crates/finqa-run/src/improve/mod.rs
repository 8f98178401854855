//! The search for better prompts (`convfinqa improve`). A model proposes changes, and runs measure
//! whether one helps; `finqa_score::improve` decides.

mod error;
mod proposal;
mod search;

pub use error::SearchError;
pub use search::{PAGE, RULE, Search, SearchContext, SearchEvent, Watch};
