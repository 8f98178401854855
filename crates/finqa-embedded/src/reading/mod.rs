//! Reads a page: its words, and every number in its table and its sentences.
//!
//! Reading order: `text` splits texts into stemmed tokens; `vocabulary` numbers the words; `words`
//! has lists of stop words and synonyms; `cues` has the phrases that ask for operations;
//! `similarity` compares meanings; `fact` has the types of a page that was read; `facts` and
//! `prose` read it; `outflow` recognises rows of payments and losses.
//!
//! The distances in tokens, the lengths of words and the tolerances in this folder are set by hand.
//! They decide which facts there are and which features these have, so the weights depend on them.

pub(super) mod cues;
pub(super) mod fact;
pub(super) mod facts;
pub(super) mod outflow;
pub(super) mod prose;
pub(super) mod similarity;
pub(super) mod text;
pub(super) mod vocabulary;
pub(super) mod words;
