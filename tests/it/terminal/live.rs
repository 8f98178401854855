//! A run in a real terminal: the progress bar, and colours.

use std::time::Duration;

use crate::support::agents::scripted;
use crate::support::cli::{Workplace, words};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::screen::in_terminal;

/// A run by a model that takes its time and fails at times, in a terminal.
fn live(place: &Workplace, more: &str, variables: &[(&str, &str)]) -> String {
    let model = FaultServer::start(|request| {
        let reply = if request.repeat == 0 && request.index % 5 == 0 {
            Reply::error(503, "x", "busy").header("retry-after-ms", "1")
        } else {
            scripted(request)
        };
        reply.after(Duration::from_millis(30))
    });
    let url = model.base_url();
    let line = format!("run --model m --base-url {url} -j 4 --data-path sample -n 12 {more}");
    in_terminal(place, 80, &words(&line), variables)
}

/// A line begins where a line ended or the bar was cleared, and no bar is left at the end.
#[test]
fn the_progress_bar_does_not_tear_among_log_lines() {
    let place = Workplace::new();
    let written = live(&place, "--verbose --log text", &[]);
    assert!(written.contains('╸'), "there was a bar: {written:?}");
    let clean = regex::Regex::new("(\n|\r|\u{1b}\\[[0-9;]*[AK])$").unwrap();
    let begins = |at: usize| at == 0 || clean.is_match(&written[..at]);
    let rows = place.rows("output/output.csv");
    for row in &rows {
        // Lines are broken at words, and 80 columns hold these.
        let start = row["question"].chars().take(20).collect::<String>();
        let start = start.rsplit_once(' ').unwrap().0;
        let key = format!("{} ({})\r\n  question: {start} ", row["id"], row["part"]);
        let at = written
            .find(&key)
            .unwrap_or_else(|| panic!("{key:?} is torn in {written:?}"));
        assert!(begins(at), "{key:?} follows the bar in {written:?}");
    }
    let logged = regex::Regex::new("20[0-9T:.-]+Z? +(INFO|WARN) [^\r\n]*").unwrap();
    let logged: Vec<_> = logged.find_iter(&written).collect();
    let answered = logged
        .iter()
        .filter(|line| line.as_str().contains("question answered"));
    assert_eq!(answered.count(), rows.len(), "{written:?}");
    assert!(logged.iter().any(|line| line.as_str().contains(" WARN ")));
    assert!(
        logged.iter().all(|line| begins(line.start())),
        "{written:?}"
    );
    let end = written.rfind('╸').unwrap();
    assert!(
        written[end..].contains("\u{1b}[2K"),
        "some of the bar stayed: {written:?}"
    );
}

#[test]
fn no_color_holds_for_the_bar_and_the_summary() {
    let colour = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for (variable, coloured) in [("NOTHING", true), ("NO_COLOR", false)] {
        let place = Workplace::new();
        let written = live(&place, "", &[(variable, "1")]);
        assert!(written.contains('╸'), "{written}");
        assert_eq!(colour.is_match(&written), coloured, "{written:?}");
    }
}
