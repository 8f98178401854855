//! The agents that answer questions about financial reports: an analyst and its critic over chat
//! models, the embedded analyst, which needs no model, and an agent that uses tools.
//!
//! What comes in: a [`Question`](finqa_core::question::Question) with its page and the earlier
//! turns, a [`ChatModel`](llm::ChatModel) unless the embedded analyst answers, and settings.
//!
//! What goes out: a [`Solution`](pair::Solution), which has the answer or says why there is none,
//! and every model call with its cost. A failure that is not the question's own is an
//! [`Interruption`](pair::Interruption): the question has no outcome yet, and is asked again.
//!
//! Whatever answers questions implements [`Solver`](pair::Solver), and a run knows nothing else
//! about it. The modules, in the order in which to read them:
//!
//! - [`pair`]: the solver with an analyst and a critic, its checks and its second opinion;
//! - [`prompt`]: what a model is shown of a question;
//! - [`parse`]: from a model's text to a typed answer or verdict;
//! - [`graph`]: the state machine that the two agents run on, which knows nothing about finance;
//! - [`solve`]: the solver that plays a question as an episode in an environment with tools;
//! - [`llm`]: from a request to a reply or a typed failure, with limits, budget, stored replies and
//!   batches;
//! - [`telemetry`]: attributes on the spans of all of these.
//!
//! Gold is a type of the package `finqa-score`, so nothing here can name it.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod graph;
pub mod llm;
pub mod pair;
pub mod parse;
pub mod prompt;
pub mod solve;
pub mod telemetry;
