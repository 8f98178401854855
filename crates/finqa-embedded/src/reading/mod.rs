//! Reading a page: its words, and every number in its table and its prose.

pub(super) mod fact;
pub(super) mod facts;
pub(super) mod outflow;
pub(super) mod prose;
pub(super) mod similarity;
pub(super) mod text;
pub(super) mod vocabulary;
pub(super) mod words;
