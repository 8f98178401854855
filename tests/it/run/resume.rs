//! A run that is killed goes on where it was, and comes to the same rows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use convfinqa::pipeline::{Run, RunContext};
use convfinqa::run::{Event, HistoryMode, Journal, Mode, Plan, Scheduler, Status};
use finqa_agents::agents::{Backend, Pair, PairOptions};
use finqa_agents::models::{Limits, Stop};

use crate::support::agents::{question_of, scripted, scripted_as};
use crate::support::cli::{Ran, Workplace};
use crate::support::fault_server::FaultServer;
use crate::support::in_process::refused;

const ARGUMENTS: &[&str] = &[
    "--model",
    "scripted",
    "--data-path",
    "sample",
    "--n",
    "30",
    "-j",
    "4",
    "--mode",
    "conversations",
];

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

/// What a server was asked, each request once.
fn bodies(server: &FaultServer) -> HashSet<String> {
    let requests = server.requests();
    requests.iter().map(|sent| sent.body.to_string()).collect()
}

fn rows_without_latency(place: &Workplace) -> Vec<HashMap<String, String>> {
    let mut rows = place.rows("output/output.csv");
    for row in &mut rows {
        row.remove("latency");
    }
    rows
}

/// Runs that have a journal: one that is killed before has asked nothing.
fn begun(place: &Workplace) -> usize {
    let folders = std::fs::read_dir(place.path("output/runs"));
    folders
        .into_iter()
        .flatten()
        .filter(|folder| {
            let folder = folder.as_ref().unwrap().path();
            folder.join("journal.sqlite").is_file()
        })
        .count()
}

/// Such a folder was once taken for a run, and every later `--resume` failed on it.
#[test]
fn a_run_killed_before_it_began_is_in_nobodys_way() {
    let place = Workplace::new();
    for (run, file) in [("0", "config.toml"), ("f", "journal.sqlite.new")] {
        std::fs::create_dir_all(place.path(&format!("output/runs/{run}"))).unwrap();
        place.write(&format!("output/runs/{run}/{file}"), "");
    }
    place.run(&["--resume"]).fails(2, &["no unfinished run"]);
    place.run(&["report", "last"]).fails(2, &["no such run"]);
    place.run(&["--data-path", "sample", "--n", "2"]).succeeds();
    place.run(&["report", "last"]).succeeds();
}

#[test]
fn a_run_killed_at_20_points_comes_to_the_rows_of_one_that_was_not() {
    let undisturbed = Workplace::new();
    let calm = server();
    undisturbed.answer(&format!(
        "model = 'scripted'\nbase_url = '{}'\nn = 30\nconcurrency = 4\nmode = 'conversations'",
        calm.base_url()
    ));

    let place = Workplace::new();
    let server = server();
    let url = server.base_url();
    let mut kills = 0;
    let mut answered: HashSet<String> = HashSet::new();
    let mut pause = 97;
    loop {
        let before = server.count();
        let mut command = place.command();
        command.args(ARGUMENTS).args(["--base-url", &url]);
        if begun(&place) > 0 {
            command.arg("--resume");
        }
        let mut child = command
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        if kills < 20 {
            // Uneven pauses, so that every stage of a call is hit.
            pause = (pause * 31 + 17) % 190;
            std::thread::sleep(Duration::from_millis(60 + pause));
            child.kill().unwrap();
        }
        let status = child.wait().unwrap();
        // An answered question is not asked again.
        let asked = server.requests().split_off(before);
        for request in &asked {
            let key = request.body.to_string();
            assert!(
                !answered.contains(&key),
                "asked again: {}",
                question_of(request)
            );
        }
        if kills == 20 {
            assert_eq!(status.code(), Some(0));
            break;
        }
        kills += 1;
        if begun(&place) == 0 {
            continue;
        }
        assert_eq!(begun(&place), 1, "a resumed run is no new one");
        let journal = Journal::open(&place.run_folder().join("journal.sqlite")).unwrap();
        if journal.status().unwrap() == Status::Complete {
            break;
        }
        let mut done = HashSet::new();
        journal
            .for_each_row(|row| {
                done.insert((row.key.id.clone(), row.key.part.clone()));
                for call in &row.solution.calls {
                    done.insert((
                        String::new(),
                        serde_json::to_string(&call.messages).unwrap(),
                    ));
                }
            })
            .unwrap();
        answered = server
            .requests()
            .iter()
            .filter(|request| {
                let messages: Vec<finqa_agents::models::ChatMessage> =
                    serde_json::from_value(request.body["messages"].clone()).unwrap();
                done.contains(&(String::new(), serde_json::to_string(&messages).unwrap()))
            })
            .map(|request| request.body.to_string())
            .collect();
    }
    assert!(kills >= 3, "killed {kills} times");
    // A prompt that differs in a digit of the history would be paid for anew.
    let unknown: Vec<_> = bodies(&server)
        .difference(&bodies(&calm))
        .cloned()
        .collect();
    assert!(unknown.is_empty(), "asked only after a kill: {unknown:?}");
    if Journal::open(&place.run_folder().join("journal.sqlite"))
        .unwrap()
        .status()
        .unwrap()
        == Status::Complete
        && !place.path("output/output.csv").exists()
    {
        // Killed between the last answer and the files: they are made from the journal.
        let run = place
            .run_folder()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        Ran::of(
            place
                .command()
                .args(ARGUMENTS)
                .args(["--base-url", &url, "--resume", &run]),
        )
        .succeeds();
    }
    assert_eq!(
        rows_without_latency(&place).len(),
        rows_without_latency(&undisturbed).len()
    );
    for (killed, calm) in rows_without_latency(&place)
        .into_iter()
        .zip(rows_without_latency(&undisturbed))
    {
        assert_eq!(killed, calm);
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_finishes_what_is_in_flight_and_leaves_a_resumable_run() {
    let place = Workplace::new();
    let server = server();
    let url = server.base_url();
    let mut command = place.command();
    command
        .args(ARGUMENTS)
        .args(["--base-url", &url])
        .stderr(std::process::Stdio::null());
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    while server.count() < 12 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(interrupt.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let asked = server.count();
    let journal = Journal::open(&place.run_folder().join("journal.sqlite")).unwrap();
    let mut kept: Vec<_> = journal.open_calls().unwrap().into_values().collect();
    journal
        .for_each_row(|row| kept.push(row.solution.calls))
        .unwrap();
    let replies = kept.iter().flatten().filter(|call| call.reply.is_some());
    assert_eq!(replies.count(), asked, "each request in flight is finished");
    let partial = place.rows("output/output.csv").len();
    assert!(partial > 0, "what there is, is written");
    Ran::of(
        place
            .command()
            .args(ARGUMENTS)
            .args(["--base-url", &url, "--resume"]),
    )
    .succeeds();
    assert!(place.rows("output/output.csv").len() > partial);
    assert!(server.count() > asked);
}

#[test]
fn a_changed_model_prompt_or_selection_is_refused_on_resume() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let started = format!("base_url = '{url}'\nn = 3\nmodel = 'a'");
    let run = place.answer(&started).summary.run.id;
    for (given, change) in [
        ("n = 3\nmodel = 'b'", "--model was a, now b"),
        ("n = 4\nmodel = 'a'", "--n was 3, now 4"),
        ("n = 3\nmax_rounds = 1", "--max-rounds was 3, now 1"),
    ] {
        refused(place.resume(&run, given), &["cannot be resumed", change]);
    }
    let before = server.count();
    place.resume(&run, &started).unwrap();
    assert_eq!(server.count(), before, "nothing is asked again");
    refused(place.resume("last", &started), &["no unfinished run"]);
}

/// No file may grow beyond 200 KB, as on a disk that is nearly full.
#[cfg(target_os = "linux")]
#[test]
fn a_run_that_finds_the_disk_full_says_so_and_goes_on_when_there_is_room() {
    let place = Workplace::new();
    let mut command = std::process::Command::new("/bin/bash");
    // The signal would end it before it can say anything.
    let limited = "trap '' XFSZ; ulimit -f 200; exec \"$0\" --data-path sample";
    command.args(["-c", limited, env!("CARGO_BIN_EXE_convfinqa")]);
    command.current_dir(place.path("")).env_clear();
    let stopped = Ran::of(&mut command);
    stopped.fails(
        2,
        &["the run stopped", "--resume continues", "journal.sqlite"],
    );
    let kept = Journal::open(&place.run_folder().join("journal.sqlite")).unwrap();
    let mut answered = 0;
    kept.for_each_row(|_| answered += 1).unwrap();
    drop(kept);
    assert!(answered > 0, "nothing was kept");
    place.run(&["--resume"]).succeeds();
    let summary = place.summary();
    assert_eq!(
        summary["run"]["total"],
        place.rows("output/output.csv").len()
    );
}

/// A journal of thousands of questions holds hundreds of megabytes of prompts.
#[tokio::test]
async fn a_resume_does_not_read_what_was_sent_and_replied() {
    let place = Workplace::new();
    let server = FaultServer::start(scripted);
    let url = server.base_url();
    let given = format!("model = 'm'\nn = 3\nmode = 'conversations'\nbase_url = '{url}'");
    let settings = place.settings(&given);
    let mut run = Run::start(&settings, RunContext::default()).await.unwrap();
    while run.next().await.is_some() {}
    run.finish().await.unwrap();
    let path = place.run_folder().join("journal.sqlite");
    let mut kept = Vec::new();
    Journal::read(&path)
        .unwrap()
        .for_each_row(|row| kept.push(row))
        .unwrap();
    let dataset = convfinqa::dataset::sample().unwrap();
    let dataset = dataset.pick(&[0, 1, 2]);
    let scheduler = Scheduler {
        plan: Plan::new(&dataset, Mode::Conversations, HistoryMode::Own, 1).unwrap(),
        solver: Arc::new(Pair::new(&PairOptions::new(Backend::Offline)).unwrap()),
        dealer: None,
        concurrency: 1,
        limits: Limits::default(),
        price: Arc::new(|_| None),
        stop: Stop::default(),
    };
    let (events, mut received) = tokio::sync::mpsc::channel(8);
    let run = tokio::spawn(scheduler.run(Journal::open(&path).unwrap(), events));
    let mut told = Vec::new();
    while let Some(event) = received.recv().await {
        if let Event::Answered { row, resumed } = event {
            assert!(resumed, "nothing is asked");
            told.push(row);
        }
    }
    run.await.unwrap().unwrap();
    assert_eq!(told.len(), kept.len());
    for (told, kept) in told.iter().zip(&kept) {
        assert_eq!(told.solution.calls.len(), kept.solution.calls.len());
        assert_eq!(told.solution.tokens(), kept.solution.tokens());
        assert_eq!(told.solution.answer, kept.solution.answer);
        for call in &told.solution.calls {
            assert!(call.messages.is_empty());
            assert_eq!(call.reply.as_ref().unwrap().content, "");
        }
    }
}
