//! Reads a page: its words, and every number in its table and its sentences.
//!
//! Reading order: `text` splits texts into stemmed tokens; `vocabulary` and `words` number the
//! words and know their synonyms; `similarity` compares their meanings; `fact` has the types of a
//! page that was read; `facts` and `prose` read them, and `outflow` knows rows of payments.

pub(super) mod fact;
pub(super) mod facts;
pub(super) mod outflow;
pub(super) mod prose;
pub(super) mod similarity;
pub(super) mod text;
pub(super) mod vocabulary;
pub(super) mod words;
