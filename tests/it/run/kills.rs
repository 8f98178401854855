//! A run that is killed continues where it was, and ends with the same rows.

use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;

use convfinqa::run::Journal;
use finqa_agents::llm::ChatMessage;
use finqa_agents::pair::Call;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::support::agents::scripted_as;
use crate::support::cli::{CommandExt, Row, Workplace};
use crate::support::fault_server::{FaultServer, Request};

const CONCURRENCY: usize = 4;

/// A server that takes 20 ms a call.
fn server() -> FaultServer {
    FaultServer::start(|request| {
        scripted_as(request, relative_change).after(Duration::from_millis(20))
    })
}

/// A number such as a relative change is: of many digits. About every sixth of
/// them comes back from JSON with another last digit unless it is read exactly.
fn relative_change(number: u32) -> String {
    if number.is_multiple_of(5) {
        "-0.9648174455288453".to_owned()
    } else {
        (f64::from(number) / 66_536.0 - 1.0).to_string()
    }
}

fn start(place: &Workplace, server: &FaultServer, more: &str) -> Command {
    let line = format!("--n 30 -j {CONCURRENCY} --mode conversations {more}");
    place.chat_command(server, &line)
}

/// How often each prompt was sent, or is kept: several conversations begin alike.
type Counts = HashMap<String, usize>;

fn counts(prompts: impl Iterator<Item = String>) -> Counts {
    let mut counts = Counts::new();
    for prompt in prompts {
        *counts.entry(prompt).or_default() += 1;
    }
    counts
}

fn sent(requests: &[Request]) -> Counts {
    counts(requests.iter().map(messages))
}

/// A copy of the only run's journal, if it has begun: reading the journal itself would
/// tidy up what the kill has left.
fn journal(place: &Workplace) -> Option<(tempfile::TempDir, Journal)> {
    let runs = std::fs::read_dir(place.path("output/runs")).ok()?;
    let mut folders: Vec<_> = runs
        .map(|run| run.unwrap().path())
        .filter(|folder| folder.join("journal.sqlite").is_file())
        .collect();
    assert!(folders.len() <= 1, "a resumed run is no new one");
    let (folder, copy) = (folders.pop()?, tempfile::tempdir().unwrap());
    for name in ["journal.sqlite", "journal.sqlite-wal"] {
        if folder.join(name).is_file() {
            std::fs::copy(folder.join(name), copy.path().join(name)).unwrap();
        }
    }
    let journal = Journal::read(&copy.path().join("journal.sqlite")).unwrap();
    Some((copy, journal))
}

/// The prompt of every call with a reply that the journal holds.
fn replied(journal: &Journal) -> Counts {
    let mut calls: Vec<Call> = Vec::new();
    calls.extend(journal.open_calls().unwrap().into_values().flatten());
    journal
        .for_each_row(|row| calls.extend(row.solution.calls))
        .unwrap();
    let replied = calls.iter().filter(|call| call.reply.is_some());
    counts(replied.map(|call| serde_json::to_string(&call.messages).unwrap()))
}

fn messages(request: &Request) -> String {
    let messages: Vec<ChatMessage> =
        serde_json::from_value(request.body["messages"].clone()).unwrap();
    serde_json::to_string(&messages).unwrap()
}

/// What a run that was never killed sends, and its rows.
struct Undisturbed {
    prompts: Counts,
    rows: Vec<Row>,
}

/// Runs one run to its end, killing its process up to `kills` times at moments drawn from
/// `moments`; says how often it was killed.
fn run_killed(moments: &mut ChaCha8Rng, kills: usize, undisturbed: &Undisturbed) -> usize {
    let place = Workplace::new();
    let server = server();
    let mut killed = 0;
    loop {
        let before = server.count();
        let found = journal(&place);
        let kept = found.as_ref().map(|(_, journal)| replied(journal));
        let kept = kept.unwrap_or_default();
        let answered = found
            .as_ref()
            .map(|(_, journal)| journal.is_complete().unwrap());
        drop(found);
        let more = answered.map_or("", |_| "--resume last");
        let mut child = start(&place, &server, more).begin();
        if killed < kills {
            // From before its first call to after its files are written.
            let milliseconds = 30 + u64::from(moments.next_u32() % 900);
            std::thread::sleep(Duration::from_millis(milliseconds));
            child.kill().unwrap();
        }
        let ended = child.wait().unwrap().code();
        // A call that the journal holds is not made again.
        for (prompt, again) in sent(&server.requests()[before..]) {
            let held = kept.get(&prompt).copied().unwrap_or_default();
            // A prompt that differs in a digit of the history would be a new one.
            let needed = undisturbed.prompts.get(&prompt).copied();
            let needed = needed.expect("a prompt that is sent only after a kill");
            let is_so = again + held <= needed;
            assert!(is_so, "{again} + {held} of {needed}: {prompt}");
        }
        match ended {
            Some(0) => break,
            // It was finished before, its files included: there is nothing to resume.
            Some(2) if answered == Some(true) => break,
            None => killed += 1,
            other => panic!("ended with {other:?}"),
        }
    }
    assert_eq!(place.unmeasured_rows(), undisturbed.rows);
    let repeated = server.count() - undisturbed.prompts.values().sum::<usize>();
    let most = CONCURRENCY * killed;
    assert!(repeated <= most, "{repeated} after {killed}");
    killed
}

/// Kills runs `kills` times in all.
fn kill(kills: usize) {
    let place = Workplace::new();
    let server = server();
    start(&place, &server, "").ran().succeeds();
    let undisturbed = Undisturbed {
        prompts: sent(&server.requests()),
        rows: place.unmeasured_rows(),
    };
    let mut moments = ChaCha8Rng::seed_from_u64(7);
    let mut killed = 0;
    while killed < kills {
        killed += run_killed(&mut moments, kills - killed, &undisturbed);
    }
}

#[test]
fn a_run_killed_at_5_points_ends_with_the_rows_of_one_that_was_not() {
    kill(5);
}

#[test]
#[ignore = "needs 4 minutes"]
fn needs_time_runs_killed_at_200_points_end_with_the_rows_of_one_that_was_not() {
    kill(200);
}
