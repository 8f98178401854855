//! Writes the report of a run while it is in progress, so that a browser can show it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use finqa_journal::run::{Journal, RunFolder, RunKind, SummaryBuilder};
use finqa_report::output::OutputError;
use finqa_report::output::report::{InProgress, Report};
use finqa_score::analysis::MissFinder;
use finqa_score::dataset::Dataset;

use super::run_context::{Notify, RunNotice};

/// Minimum time between two writes, and before the first one. Set by hand, like the others here.
const INTERVAL: Duration = Duration::from_secs(10);

/// Maximum time until the next write, unless writing alone takes more than a twentieth of it. A run
/// that waits for a slow server uses little CPU time, but its page should still show what is new.
const LATEST: Duration = Duration::from_secs(300);

/// Maximum time until the next write, however long a write takes, because an older page is of
/// little use.
const LONGEST: Duration = Duration::from_secs(3600);

/// The rest of the process must use at least this many times the CPU time of the page. The page
/// then takes at most a twentieth of all CPU time.
const OTHERS: u32 = 19;

/// The thread that writes the report of a run in progress. Dropping this stops the thread.
pub(super) struct LivePage {
    /// Dropped to stop the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    journal: PathBuf,
}

impl LivePage {
    /// Starts to write the report into the run's folder. `records` has the pages. Without them
    /// nothing is written for questions, because an earlier report may have the pages. `notify` is
    /// given the path of the report once it is there.
    pub(super) fn start(
        folder: &RunFolder,
        records: &Result<Arc<Dataset>, String>,
        notify: Notify,
    ) -> Self {
        let (stop, stopped) = channel::<()>();
        let (folder, records) = (folder.clone(), records.clone());
        let journal = folder.journal();
        // A thread of its own, because writing blocks, and because the CPU time of a thread can be
        // measured.
        let thread = std::thread::spawn(move || {
            let mut pace = Pace::new();
            let mut is_named = false;
            // Checks once a second whether a write is due. Dropping the sender ends the wait at
            // once.
            while stopped.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                if !pace.is_due() {
                    continue;
                }
                let begun = Instant::now();
                let records = records.as_deref().map_err(String::as_str);
                // An error is ignored: the page is written again later, or at the end of the run,
                // which reports the error.
                let is_written = write(&folder, records, begun).unwrap_or(false);
                pace.written(begun.elapsed(), thread_time());
                if is_written && !is_named {
                    is_named = true;
                    notify(RunNotice::Note(where_it_is(&folder)));
                }
            }
        });
        Self {
            stop: Some(stop),
            thread: Some(thread),
            journal,
        }
    }
}

impl Drop for LivePage {
    fn drop(&mut self) {
        // Ends the thread's wait, so it must come before the join.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // If the thread has panicked, the end of the run still writes the final page.
            let _ = thread.join();
        }
        // If the thread was reading the journal when the writer closed it, the log is still there.
        // Opening the journal for writing and closing it again merges the log.
        drop(Journal::open(&self.journal));
    }
}

/// Decides when the page is written again.
struct Pace {
    /// The end of the last write, or the start of the run.
    last: Instant,
    /// CPU time of this thread, which does nothing but write.
    spent: Duration,
    /// CPU time of the last write.
    cost: Duration,
    is_first: bool,
}

impl Pace {
    fn new() -> Self {
        Self {
            last: Instant::now(),
            spent: Duration::ZERO,
            cost: Duration::ZERO,
            is_first: true,
        }
    }

    /// True after the shortest wait, if the page is cheap enough or the longest wait is over. The
    /// first page needs only the wait.
    fn is_due(&self) -> bool {
        let rested = self.last.elapsed();
        // The next page has more questions, so it may cost twice as much as the last one.
        let is_cheap = || {
            let others = process_time().map(|all| all.saturating_sub(self.spent));
            // Without /proc, only the time that the last write took sets the pace.
            others.is_none_or(|others| others >= (self.spent + 2 * self.cost) * OTHERS)
        };
        rested >= (self.cost * OTHERS).clamp(INTERVAL, LONGEST)
            && (self.is_first || rested >= LATEST || is_cheap())
    }

    /// Counts a write that has just ended and took this time. `clock` is the CPU time of this
    /// thread. Without it, the time that has passed is used, which is an upper bound of the write's
    /// cost.
    fn written(&mut self, took: Duration, clock: Option<Duration>) {
        let spent = clock.unwrap_or(self.spent + took);
        (self.cost, self.spent) = (spent.saturating_sub(self.spent), spent);
        (self.last, self.is_first) = (Instant::now(), false);
    }
}

/// The CPU time of this thread; `None` on systems without /proc.
fn thread_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The CPU time of this process; `None` on systems without /proc.
fn process_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The process name may contain anything, so the fields are counted from its last parenthesis.
    // Times are in hundredths of a second on every Linux.
    let (_, fields) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    // From 0, fields 11 and 12 after the name are the user and the system time (proc(5)).
    let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

/// The longest time until the next write after a write of this cost.
fn longest_rest(cost: Duration) -> Duration {
    (cost * OTHERS).clamp(LATEST, LONGEST)
}

/// The line that names the report of a run in progress.
fn where_it_is(folder: &RunFolder) -> String {
    let page = folder.file(RunFolder::REPORT);
    let page = page.display();
    format!("Report: {page} (open it in a browser; it renews itself)")
}

/// Writes the report of the questions that have an outcome. `begun` is the start of this call.
/// Returns false if nothing was written, because the records are missing.
fn write(
    folder: &RunFolder,
    records: Result<&Dataset, &str>,
    begun: Instant,
) -> Result<bool, OutputError> {
    let journal = Journal::read(&folder.journal())?;
    let is_of_questions = journal.meta()?.kind() == RunKind::Questions;
    if is_of_questions && records.is_err() {
        return Ok(false);
    }
    let page = folder.file(RunFolder::REPORT);
    let mut report = Report::new(&page, records);
    let mut tally = SummaryBuilder::default();
    let mut causes = MissFinder::new(is_of_questions, records.ok());
    journal.try_for_each_row(|mut row| {
        let miss = causes.find(&mut row);
        tally.add(&row);
        report.add(&row, miss.as_ref())
    })?;
    let summary = tally.finish(&journal)?;
    // The page is still to be rendered, which takes at most about as long as the work so far. The
    // whole write therefore costs at most about twice that time.
    let rest = longest_rest(2 * begun.elapsed());
    report.in_progress(InProgress::now(rest)).write(&summary)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_due_after_ten_seconds_and_rests_for_nineteen_times_its_cost() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        for (seconds, cost, is_first, is_due) in [
            (9, 0, true, false),
            (10, 0, true, true),
            (18, 1, true, false),
            (19, 1, true, true),
            // The page's CPU time is more than a twentieth of the process's.
            (200, 1, false, false),
            (300, 1, false, true),
            (3599, 1000, true, false),
            (3600, 1000, true, true),
        ] {
            let pace = Pace {
                last: ago(seconds).unwrap(),
                spent: Duration::from_secs(100_000 * u64::from(!is_first)),
                cost: Duration::from_secs(cost),
                is_first,
            };
            assert_eq!(pace.is_due(), is_due, "{seconds} {cost} {is_first}");
        }
    }

    #[test]
    fn a_write_costs_its_own_time_without_the_rest_before_it() {
        let seconds = Duration::from_secs;
        // Once with the thread's CPU time and once without.
        for clocks in [[Some(seconds(2)), Some(seconds(5))], [None, None]] {
            let mut pace = Pace {
                last: Instant::now().checked_sub(seconds(2000)).unwrap(),
                ..Pace::new()
            };
            pace.written(seconds(2), clocks[0]);
            assert_eq!((pace.cost, pace.spent), (seconds(2), seconds(2)));
            assert!(!pace.is_first && pace.last.elapsed() < seconds(100));
            pace.last = Instant::now().checked_sub(seconds(2000)).unwrap();
            pace.written(seconds(3), clocks[1]);
            assert_eq!((pace.cost, pace.spent), (seconds(3), seconds(5)));
        }
    }

    #[test]
    fn the_page_promises_the_next_one_no_sooner_than_it_is_due() {
        let seconds = Duration::from_secs;
        for (cost, rest) in [(0, 300), (10, 300), (20, 380), (1000, 3600)] {
            assert_eq!(longest_rest(seconds(cost)), seconds(rest));
            let pace = Pace {
                last: Instant::now().checked_sub(seconds(rest)).unwrap(),
                spent: seconds(1_000_000),
                cost: seconds(cost),
                is_first: false,
            };
            assert!(pace.is_due(), "{cost}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cpu_times_are_read() {
        let before = thread_time().unwrap();
        let busy = (0..3_000_000_u64).fold(0, |sum: u64, n| sum ^ n.wrapping_mul(sum | 1));
        assert_ne!(busy, 1);
        assert!(thread_time().unwrap() > before);
        assert!(process_time().is_some());
    }
}
