//! The report of a run while it is in progress.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::support::agents::scripted;
use crate::support::browser::browse;
use crate::support::cli::{Workplace, wait_until};
use crate::support::fault_server::FaultServer;

/// A run whose model takes a second for each call.
struct SlowRun {
    place: Workplace,
    child: Child,
    _server: FaultServer,
}

impl SlowRun {
    /// Starts a run of this many records, and waits until its page is there.
    fn with_page(records: usize) -> (Self, PathBuf) {
        let place = Workplace::new();
        let server = FaultServer::start(|request| scripted(request).after(Duration::from_secs(1)));
        let line = format!("-n {records} -j 1 --critic off --second-opinion off");
        let mut command = place.chat_command(&server, &line);
        let piped = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = piped.spawn().unwrap();
        wait_until(|| place.path("output/runs").is_dir());
        wait_until(|| {
            std::fs::read_dir(place.path("output/runs"))
                .unwrap()
                .count()
                == 1
        });
        let mut folders = std::fs::read_dir(place.path("output/runs")).unwrap();
        let page = folders.next().unwrap().unwrap().path().join("report.html");
        wait_until(|| page.is_file());
        let run = Self {
            place,
            child,
            _server: server,
        };
        (run, page)
    }
}

impl Drop for SlowRun {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_report_of_a_run_in_progress_says_so_until_the_run_ends() {
    let (mut run, page) = SlowRun::with_page(10);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("id=\"live\"") && text.contains("<strong>In progress.</strong>"));
    assert!(text.contains("questions with an outcome; every figure below is over these"));
    assert!(
        !text.contains("Not complete."),
        "it is not said to be resumed"
    );
    // Neither the run nor the refusal of `report` named the page of a run in progress.
    let name = page.strip_prefix(run.place.folder.path()).unwrap();
    let so_far = format!("its report so far is {}", name.display());
    run.place.run("report").fails(2, &["is in use by", &so_far]);
    let mut told = String::new();
    let mut stderr = run.child.stderr.take().unwrap();
    stderr.read_to_string(&mut told).unwrap();
    let line = format!(
        "Report: {} (open it in a browser; it renews itself)\n",
        name.display()
    );
    assert!(told.contains(&line), "{told}");

    assert!(run.child.wait().unwrap().success());
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(!text.contains("id=\"live\""), "the end of the refresh");
    // The journal is one file, although the page's thread read it too.
    assert!(!page.with_file_name("journal.sqlite-wal").exists());
    assert_eq!(run.place.summary()["complete"], true);
}

#[test]
#[ignore = "needs Chromium"]
fn needs_browser_an_open_page_shows_the_newest_and_keeps_what_was_chosen() {
    let (_run, page) = SlowRun::with_page(22);
    browse("live_page.py", &page, &[]);
}
