//! Runs that were interrupted, refused or short of disk space.

use std::time::Duration;

use crate::support::agents::scripted;
use crate::support::cli::{CommandExt, Workplace, signal, wait_until};
use crate::support::fault_server::FaultServer;

/// Such a folder was once considered a run, and every later `--resume` failed on it.
#[test]
fn a_run_killed_before_it_began_is_in_nobodys_way() {
    let place = Workplace::new();
    for (run, file) in [("0", "config.toml"), ("f", "journal.sqlite.new")] {
        std::fs::create_dir_all(place.path(&format!("output/runs/{run}"))).unwrap();
        place.write(&format!("output/runs/{run}/{file}"), "");
    }
    place.run("--resume").fails(2, &["no unfinished run"]);
    place.run("report last").fails(2, &["no whole run yet"]);
    place.run("--data-path sample --n 2").succeeds();
    place.run("report last").succeeds();
}

#[cfg(unix)]
#[test]
fn an_interrupt_finishes_what_is_in_flight_and_leaves_a_resumable_run() {
    let place = Workplace::new();
    let server = FaultServer::start(|request| scripted(request).after(Duration::from_millis(20)));
    let line = "--n 30 -j 4 --mode conversations";
    let mut child = place.chat_command(&server, line).begin();
    wait_until(|| server.count() >= 12);
    assert_eq!(signal(&mut child, "-INT"), Some(130));
    let asked = server.count();
    let journal = place.journal();
    let mut kept: Vec<_> = journal.open_calls().unwrap().into_values().collect();
    journal
        .for_each_row(|row| kept.push(row.solution.calls))
        .unwrap();
    let replies = kept.iter().flatten().filter(|call| call.reply.is_some());
    assert_eq!(replies.count(), asked, "each request in flight is finished");
    let partial = place.rows("output/output.csv").len();
    assert!(partial > 0, "what there is, is written");
    place.run("--resume").succeeds();
    assert!(place.rows("output/output.csv").len() > partial);
    assert!(server.count() > asked);
}

/// No file may grow beyond 200 KB, as on a disk that is nearly full.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_finds_the_disk_full_says_so_and_continues_when_there_is_space() {
    let place = Workplace::new();
    let mut command = std::process::Command::new("/bin/bash");
    // The signal would end it before it can say anything.
    let limited = "trap '' XFSZ; ulimit -f 200; exec \"$0\" --data-path sample";
    command.args(["-c", limited, env!("CARGO_BIN_EXE_convfinqa")]);
    command.current_dir(place.path("")).env_clear();
    let words = ["the run stopped", "--resume continues", "journal.sqlite"];
    command.ran().fails(2, &words);
    let kept = place.journal();
    assert!(kept.answered().unwrap() > 0, "nothing was kept");
    drop(kept);
    place.run("--resume").succeeds();
    let rows = place.rows("output/output.csv").len();
    assert_eq!(place.summary()["run"]["total"], rows);
}
