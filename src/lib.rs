//! Two agents answer financial questions about a report page of text and tables. An **analyst**
//! writes evidence, a program and an answer; a **critic** accepts the answer or sends it back.
//! Every score names its rule and its data.
//!
//! A [`Run`] takes [`Settings`] and asks the questions of a [`Dataset`]. Its results have the
//! [`Scorecard`] and, in the journal, a [`Row`] for each question:
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
//! A [`Session`] asks questions about a document of your own, and says which answers it doubts:
//!
//! ```
//! use convfinqa::Session;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("report.md");
//! std::fs::write(&file, "| | 2018 | 2017 |\n|---|---|---|\n| revenue | 120 | 100 |\n")?;
//!
//! let mut session = Session::open(&file)?;
//! let asked = session.ask("what was revenue in 2018?").await?;
//! let answer = asked.and_then(|asked| asked.solution.answer);
//! println!("{:?}", answer.as_ref().map(|answer| (&answer.printed, &answer.doubt)));
//! # assert_eq!(answer.map(|answer| answer.printed), Some("120".to_owned()));
//! # Ok(())
//! # }
//! ```
//!
//! The answers of another program can be scored like those of a run:
//!
//! ```
//! use convfinqa::{Scorecard, read_predictions, rescore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("answers.csv");
//! std::fs::write(&file, "id,question,ground_truth,prediction\nr,margin?,14.1%,14.1\n")?;
//!
//! let scores = Scorecard::of(&rescore(read_predictions(&file)?, None)?);
//! println!("{scores}");
//! # assert_eq!(scores.questions, 1);
//! # Ok(())
//! # }
//! ```
//!
//! A [`Solver`] answers one [`Question`]. The two agents together are one solver, which calls a
//! [`ChatModel`]. `docs/architecture.md` says where everything else is. The packages below this one
//! may change in any version.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub use finqa_agents::llm::ChatModel;
pub use finqa_agents::pair::Solver;
pub use finqa_ask::{AskError, Asked, Session};
pub use finqa_core::question::Question;
pub use finqa_journal::settings::Settings;
pub use finqa_run::pipeline::{Run, RunContext, RunResults};
pub use finqa_score::dataset::{Dataset, Source, load};
pub use finqa_score::score::files::{read_predictions, rescore};
pub use finqa_score::score::{Row, Scorecard};

/// The command line, which the binary, its man pages and its tests share.
pub mod cli;
