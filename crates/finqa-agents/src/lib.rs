//! The agents that answer questions about financial reports: an analyst and its critic over chat
//! models, the embedded analyst, which needs no model, and an agent that uses tools.
//!
//! - **In:** a [`Question`](finqa_core::question::Question) with its page and the earlier turns, a
//!   [`ChatModel`](llm::ChatModel) unless the embedded analyst answers, and settings.
//! - **Out:** a [`Solution`](pair::Solution), which has the answer or the reason why there is none,
//!   and every model call with its cost. If the question itself is not at fault, the result is an
//!   [`Interruption`](pair::Interruption) instead: the question has no outcome yet and is asked
//!   again.
//!
//! Every way to answer questions implements [`Solver`](pair::Solver), which is all that a run knows
//! about it. The modules, in reading order:
//!
//! - [`pair`]: the solver with an analyst and a critic, its checks and its second opinion;
//! - [`prompt`]: the text about a question that a model is shown;
//! - [`parse`]: reads a model's text as a typed answer or verdict;
//! - [`graph`]: the state machine that the two agents run on, which knows nothing about finance;
//! - [`solve`]: the solver that plays a question as an episode in an environment with tools;
//! - [`llm`]: from a request to a reply or a typed failure, with limits, budget, stored replies and
//!   batches;
//! - [`telemetry`]: attributes on the spans that these modules create.
//!
//! Gold is a type of the package `finqa-score`, so the code here cannot use it.

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
