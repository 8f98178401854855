//! Two agents answer financial questions over a report page of text and tables.
//! An **analyst** writes evidence, a program and an answer; a **critic** accepts it
//! or sends it back. Each number says which rule scored it, on which data.
//!
//! A [`Run`] asks the questions of a [`Dataset`] as its [`Settings`] say, and its
//! results hold the [`Scorecard`] and, in the journal, a [`Row`] per question:
//!
//! ```
//! use convfinqa::{Run, RunContext, Settings};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let mut settings = Settings::default(); // the embedded analyst: no key, no download
//! settings.questions.data_path = Some("sample".to_owned());
//! settings.run.output = folder.path().to_owned();
//!
//! let run = Run::start(&settings, RunContext::default()).await?;
//! let results = run.finish().await?;
//! println!("{}", results.summary.scores);
//! # assert_eq!(results.summary.scores.questions, 58);
//! # Ok(())
//! # }
//! ```
//!
//! A [`Solver`] answers one [`Question`]; the pair of agents is one, and asks a
//! [`ChatModel`]. `docs/architecture.md` says where everything else is. What is not
//! documented here may change in any version.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub use finqa_agents::llm::ChatModel;
pub use finqa_agents::solve::Solver;
pub use finqa_core::question::Question;
pub use finqa_journal::settings::Settings;
pub use finqa_score::dataset::Dataset;
pub use finqa_score::score::{Row, Scorecard};
pub use pipeline::{Run, RunContext, RunResults};

#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod env_build;
mod episodes;
#[doc(hidden)]
pub mod improve;
#[doc(hidden)]
pub mod pipeline;
