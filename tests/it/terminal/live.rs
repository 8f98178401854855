//! A run in a real terminal: the progress bar, and colours.

use std::time::Duration;

use crate::support::agents::scripted;
use crate::support::cli::{Workplace, words};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::screen::{Screen, in_terminal};

/// A run by a model that takes its time and fails at times, in a terminal.
fn live(place: &Workplace, more: &str, variables: &[(&str, &str)]) -> String {
    let model = FaultServer::start(|request| {
        let reply = match request.repeat == 0 && request.index % 5 == 0 {
            true => Reply::error(503, "x", "busy").header("retry-after-ms", "1"),
            false => scripted(request),
        };
        reply.after(Duration::from_millis(30))
    });
    let url = model.base_url();
    let line = format!("run --model m --base-url {url} -j 4 --data-path sample -n 12 {more}");
    in_terminal(place, 80, &words(&line), variables)
}

#[test]
fn the_progress_bar_does_not_tear_among_log_lines() {
    let place = Workplace::new();
    let written = live(&place, "--verbose --log text", &[]);
    assert!(written.contains('╸'), "there was a bar: {written:?}");
    let lines = Screen::of(&written, 80).text();
    let all = lines.join("\n");
    assert!(!all.contains(['╸', '━']), "some of the bar stayed:\n{all}");
    let rows = place.rows("output/output.csv");
    for row in &rows {
        let question = format!("  question:  {}", row["question"]);
        assert!(lines.contains(&question), "{question:?} is torn in\n{all}");
    }
    let logged = lines
        .iter()
        .filter(|line| line.contains("question answered"));
    let logged: Vec<_> = logged.collect();
    assert_eq!(logged.len(), rows.len(), "{all}");
    for line in logged {
        // A time first, a number last, and nothing between that is not this line's.
        assert!(line.starts_with("20") && line.matches(" INFO ").count() == 1);
        let last = line.rsplit('=').next().unwrap();
        assert!(last.parse::<f64>().is_ok(), "{line:?}");
    }
    assert!(lines.iter().any(|line| line.contains(" WARN ")), "{all}");
    assert!(
        lines.iter().any(|line| line.starts_with("Answers: ")),
        "{all}"
    );
}

#[test]
fn no_color_holds_for_the_bar_and_the_summary() {
    let colour = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for (variable, arguments, coloured) in [
        ("NOTHING", "", true),
        ("NO_COLOR", "", false),
        ("NOTHING", "--color never", false),
    ] {
        let place = Workplace::new();
        let written = live(&place, arguments, &[(variable, "1")]);
        assert!(written.contains('╸'), "{written}");
        assert_eq!(colour.is_match(&written), coloured, "{written:?}");
    }
}
