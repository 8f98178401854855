//! How a run ended, decided from what is known once nothing is asked any more.

use std::any::Any;
use std::thread;

use tokio::task::JoinError;

use finqa_agents::llm::BudgetLimit;
use finqa_agents::pair::RunFailure;

use super::event::Finish;
use super::journal::JournalError;

/// What is known of a run once nothing is asked any more.
#[derive(Clone)]
pub(super) struct RunEnding {
    /// The failure that stopped it.
    pub failure: Option<Finish>,
    /// Questions without an outcome.
    pub left: usize,
    /// The limit that stopped it.
    pub reached: Option<BudgetLimit>,
    /// The amount spent, for people.
    pub spent: Option<String>,
    pub interrupted: bool,
    /// A model has answered this process.
    pub has_answered: bool,
    /// The reason why questions have no outcome.
    pub reason: String,
}

impl RunEnding {
    /// The way the run ended, if its journal was `written`.
    ///
    /// # Errors
    /// The error that ended the journal.
    pub(super) fn finish(
        self,
        written: thread::Result<Result<(), JournalError>>,
    ) -> Result<Finish, JournalError> {
        match written {
            Err(panic) => return Ok(Finish::Bug(panic_message(&*panic))),
            Ok(written) => written?,
        }
        let (left, reason) = (self.left, self.reason);
        Ok(match self.failure {
            Some(bug @ Finish::Bug(_)) => bug,
            _ if left == 0 => Finish::Complete,
            Some(failure) => failure,
            None if let Some(limit) = self.reached => Finish::BudgetReached {
                limit,
                spent: self.spent,
                left,
            },
            None if self.interrupted => Finish::Interrupted,
            None if self.has_answered => Finish::Partial { left, reason },
            None => Finish::Fatal(RunFailure::from_provider(reason)),
        })
    }
}

/// The message of a task that panicked or was cancelled.
pub(super) fn join_error_message(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => panic_message(&*panic),
        Err(error) => error.to_string(),
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("without a message"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line takes away the cause that decided the line before.
    #[test]
    fn of_several_causes_the_first_decides_how_a_run_ended() {
        fn fatal(reason: &str) -> Finish {
            Finish::Fatal(RunFailure::from_provider(reason.to_owned()))
        }
        let bug = Finish::Bug("task".to_owned());
        let mut known = RunEnding {
            failure: Some(bug.clone()),
            left: 0,
            reached: Some(BudgetLimit::Cost),
            spent: None,
            interrupted: true,
            has_answered: true,
            reason: "late".to_owned(),
        };
        let panicked = known.clone().finish(Err(Box::new("full")));
        assert_eq!(panicked.unwrap(), Finish::Bug("panicked: full".to_owned()));
        let gone = JournalError::Empty { path: "j".into() };
        assert!(known.clone().finish(Ok(Err(gone))).is_err());
        let reached = Finish::BudgetReached {
            limit: BudgetLimit::Cost,
            spent: None,
            left: 2,
        };
        let partial = Finish::Partial {
            left: 2,
            reason: "late".to_owned(),
        };
        type Change = fn(&mut RunEnding);
        let cases: [(Change, Finish); 7] = [
            (|_| (), bug),
            (
                |known| known.failure = Some(fatal("down")),
                Finish::Complete,
            ),
            (|known| known.left = 2, fatal("down")),
            (|known| known.failure = None, reached),
            (|known| known.reached = None, Finish::Interrupted),
            (|known| known.interrupted = false, partial),
            (|known| known.has_answered = false, fatal("late")),
        ];
        for (change, finish) in cases {
            change(&mut known);
            assert_eq!(known.clone().finish(Ok(Ok(()))).unwrap(), finish);
        }
    }
}
