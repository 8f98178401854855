//! Delivery: what a collector does never touches the run, and the file is
//! whole whatever happens.

use std::collections::HashSet;
use std::time::Duration;

use crate::support::agents::scripted;
use crate::support::cli::{CommandExt, Ran, Workplace, wait_until};
use crate::support::fault_server::{FaultServer, Reply};
use crate::support::traces::{collector, received, written};

fn offline(place: &Workplace, collector: &str, variables: &[(&str, &str)], more: &str) -> Ran {
    let variables = [&[("OTEL_EXPORTER_OTLP_ENDPOINT", collector)], variables].concat();
    place.run_with(&format!("--data-path sample --n 8 {more}"), &variables)
}

#[test]
fn a_collector_that_fails_is_reported_once_and_costs_no_answer() {
    // Nothing listens on port 9, and the system gives it to no other test.
    let dead = "http://127.0.0.1:9".to_owned();
    let broken = FaultServer::start(|_| Reply::plain(500, "on fire"));
    let gone = FaultServer::start(|_| Reply::new(404, "text/html", "<html>what?</html>"));
    let silent = FaultServer::start(|_| Reply::hang());
    for (address, reason) in [
        (dead, "refused"),
        (broken.url(), "status 500"),
        (gone.url(), "status 404"),
        (silent.url(), "no answer in time"),
    ] {
        let place = Workplace::new();
        let ran = offline(&place, &address, &[], "");
        let lines = ran.succeeds().stderr.lines();
        let told: Vec<_> = lines.filter(|line| line.starts_with("traces: ")).collect();
        assert_eq!(told.len(), 1, "{reason}: {}", ran.stderr);
        let named = told[0].contains(&address) && told[0].contains(reason);
        assert!(named, "{told:?}");
        let rows = place.rows("output/output.csv").len();
        assert_eq!(written(&place).len(), rows, "the file has all");
    }
}

#[test]
fn what_is_written_and_sent_is_what_was_asked_for() {
    for (with_collector, more, variable, is_written, is_sent) in [
        (false, "", "", false, false),
        (false, "--traces on", "", true, false),
        (true, "--traces off", "", false, true),
        (true, "", "OTEL_SDK_DISABLED=true", false, false),
        (true, "", "OTEL_TRACES_EXPORTER=none", false, false),
    ] {
        let (place, receiver) = (Workplace::new(), collector());
        let address = if with_collector {
            receiver.url()
        } else {
            String::new()
        };
        let variables = variable.split_once('=');
        offline(&place, &address, variables.as_slice(), more).succeeds();
        let file = place.run_folder().join("traces.jsonl");
        assert_eq!(file.exists(), is_written, "{more} {variable}");
        let sent = !received(&receiver).is_empty();
        assert_eq!(sent, is_sent, "{more} {variable}");
    }
}

#[test]
fn the_standard_variables_are_obeyed() {
    let (place, receiver) = (Workplace::new(), collector());
    let traces = format!("{}/v1/traces", receiver.url());
    let variables = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=finance,x-key=a%20b"),
        ("OTEL_SERVICE_NAME", "mine"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=ci"),
    ];
    let elsewhere = "http://127.0.0.1:9/elsewhere";
    offline(&place, elsewhere, &variables, "").succeeds();
    let request = &receiver.requests()[0];
    assert_eq!(request.header("x-team"), Some("finance"));
    assert_eq!(request.header("x-key"), Some("a b"));
    let spans = received(&receiver);
    assert_eq!(spans[0].service["service.name"], "mine");
    assert_eq!(spans[0].service["deployment.environment.name"], "ci");
}

#[test]
fn an_invalid_address_is_one_line() {
    let place = Workplace::new();
    let ran = offline(&place, "not an address", &[], "");
    ran.fails(2, &["OTEL_EXPORTER_OTLP_ENDPOINT", "not an address"]);
    assert!(!place.path("output").exists(), "nothing is begun");
}

#[test]
fn a_killed_run_leaves_whole_traces_and_continues_after_a_cut_one() {
    let place = Workplace::new();
    let model = FaultServer::start(|request| scripted(request).after(Duration::from_millis(20)));
    let line = "--n 30 -j 4 --traces on";
    let mut child = place.chat_command(&model, line).begin();
    wait_until(|| model.count() >= 40);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = written(&place);
    assert!(!before.is_empty(), "traces are written as questions end");

    let file = place.run_folder().join("traces.jsonl");
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str(r#"{"resourceSpans":[{"resource":{"attri"#);
    std::fs::write(&file, text).unwrap();
    assert_eq!(written(&place).len(), before.len(), "a cut line is left");

    place.run("--resume --traces on").succeeds();
    let lines = written(&place);
    let mut traced = HashSet::new();
    for line in &lines {
        let roots: Vec<_> = line.iter().filter(|span| span.parent.is_empty()).collect();
        assert_eq!(roots.len(), 1, "a line is one whole trace");
        let part = roots[0].text("convfinqa.question.part").to_owned();
        traced.insert((roots[0].text("convfinqa.question.id").to_owned(), part));
    }
    // Of the four in flight a kill may take the trace and leave the row.
    let rows = place.rows("output/output.csv").len();
    assert!(traced.len() + 4 >= rows, "{} of {rows}", traced.len());
}
