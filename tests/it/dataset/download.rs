//! The download against a server on this machine that cuts, lies and stalls.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use finqa_fetch::{DownloadError, DownloadEvent, DownloadOptions, PublishedFile, download};
use tempfile::TempDir;

use crate::support::fault_server::Reply;
use crate::support::file_server::{blob, file, requests_for, serve};

/// The archive's path on the server.
const PLACE: &str = "/data.zip";

fn client() -> reqwest::Client {
    // An error means that one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .build()
        .unwrap()
}

/// An archive of invented files, too varied to shrink to nothing.
fn archive(names: &[&str]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in names {
        zip.start_file(*name, zip::write::SimpleFileOptions::default())
            .unwrap();
        zip.write_all(content(name).as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn content(name: &str) -> String {
    let name = name.strip_prefix("data/").unwrap_or(name);
    (0..400_u64)
        .map(|n| format!("{name} {}\n", n.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
        .collect()
}

const NAMES: [&str; 4] = [
    "__MACOSX/data/train.json", "data/train.json", "data/dev.json", "data/other.json",
];

struct Case {
    folder: TempDir,
    options: DownloadOptions,
    body: Vec<u8>,
}

fn case(names: &[&str]) -> Case {
    let body = archive(names);
    let published = |name: &str| {
        let blob = blob(content(name).as_bytes());
        PublishedFile::new(name, Some(&blob))
    };
    Case {
        folder: tempfile::tempdir().unwrap(),
        options: DownloadOptions {
            archive: PublishedFile::new("data.zip", Some(&blob(&body))),
            files: vec![published("train.json"), published("dev.json")],
            attempts: 3,
            first_pause: Duration::ZERO,
            longest_pause: Duration::ZERO,
            read_timeout: Duration::from_millis(300),
            ..finqa_fetch::published()
        },
        body,
    }
}

struct Done {
    result: Result<Vec<PathBuf>, DownloadError>,
    events: Vec<DownloadEvent>,
    requests: usize,
}

impl Case {
    async fn run(&self, before: &[Reply]) -> Done {
        let before = before.iter().map(|reply| (PLACE.to_owned(), reply.clone()));
        let server = serve(vec![(PLACE.to_owned(), self.body.clone())], before);
        let done = self.run_at(server.url()).await;
        let requests = requests_for(&server, PLACE);
        Done { requests, ..done }
    }

    async fn run_at(&self, base_url: String) -> Done {
        let options = DownloadOptions {
            base_url,
            ..self.options.clone()
        };
        let mut events = Vec::new();
        let result = download(&client(), self.path(), &options, &mut |event| {
            events.push(event);
        })
        .await;
        Done {
            result,
            events,
            requests: 0,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn assert_unpacked(&self) {
        assert_eq!(self.names(), ["dev.json", "train.json"]);
        for name in self.names() {
            let found = std::fs::read_to_string(self.path().join(&name)).unwrap();
            assert_eq!(found, content(&name), "{name}");
        }
    }
}

fn line(done: Done) -> String {
    let error = done.result.unwrap_err();
    let mut line = error.to_string();
    if let Some(cause) = std::error::Error::source(&error) {
        line = format!("{line}: {cause}");
    }
    assert!(!line.contains('\n'), "{line}");
    line
}

#[tokio::test]
async fn the_archive_is_fetched_verified_and_unpacked() {
    let case = case(&NAMES);
    let done = case.run(&[]).await;
    assert_eq!(done.result.unwrap().len(), 2);
    case.assert_unpacked();
    assert_eq!(done.requests, 1);
    let total = case.body.len() as u64;
    assert!(done.events.contains(&DownloadEvent::Received {
        bytes: total,
        total: Some(total)
    }));
    let again = case.run(&[]).await;
    assert_eq!(again.events, []);
    assert_eq!(again.result.unwrap().len(), 2);
    assert_eq!(again.requests, 0);
    // A file that was changed is fetched again.
    std::fs::write(case.path().join("dev.json"), "[]").unwrap();
    case.run(&[]).await.result.unwrap();
    case.assert_unpacked();
}

#[tokio::test]
async fn a_download_that_breaks_is_tried_again_a_few_times() {
    let case = case(&NAMES);
    let done = case.run(&[file(&case.body).cut_off(), Reply::hang()]).await;
    done.result.unwrap();
    assert_eq!(done.requests, 3);
    case.assert_unpacked();
    std::fs::remove_file(case.path().join("train.json")).unwrap();
    let done = case.run(&vec![Reply::plain(503, ""); 9]).await;
    assert_eq!(done.requests, 3);
    assert!(done.result.as_ref().unwrap_err().is_network());
    let text = line(done);
    assert!(text.contains("after 3 tries: status 503"), "{text}");
}

#[tokio::test]
async fn an_archive_that_was_put_there_is_used_if_it_is_the_published_one() {
    for (bytes, requests) in [(case(&NAMES).body, 0), (vec![b'x'; 200], 1)] {
        let case = case(&NAMES);
        std::fs::write(case.path().join("data.zip"), bytes).unwrap();
        let done = case.run(&[]).await;
        done.result.unwrap();
        assert_eq!(done.requests, requests);
        std::fs::remove_file(case.path().join("data.zip")).unwrap();
        case.assert_unpacked();
    }
}

#[tokio::test]
async fn the_pause_is_what_the_server_asks_for_in_seconds_or_as_a_date() {
    let mut case = case(&NAMES);
    case.options.longest_pause = Duration::from_millis(300);
    let done = case
        .run(&[
            Reply::plain(503, "").header("retry-after", "0.25"),
            Reply::plain(429, "")
                .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
                .header("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT"),
        ])
        .await;
    done.result.unwrap();
    let pauses = done.events.iter().filter_map(|event| match event {
        DownloadEvent::Retrying { pause, .. } => Some(pause.as_millis()),
        _ => None,
    });
    assert_eq!(pauses.collect::<Vec<_>>(), [250, 300]);
}

#[tokio::test]
async fn other_bytes_than_the_published_ones_are_not_kept() {
    let mut case = case(&NAMES);
    case.body[40] ^= 1;
    let done = case.run(&[]).await;
    assert_eq!(done.requests, 1);
    assert!(!done.result.as_ref().unwrap_err().is_network());
    let text = line(done);
    assert!(
        text.contains("is not the published file (git blob"),
        "{text}"
    );
    assert!(case.names().is_empty());
}

#[tokio::test]
async fn what_is_not_an_archive_or_lacks_a_file_is_named() {
    let short = case(&["data/train.json"]);
    let mut none = case(&NAMES);
    none.body = b"<html>not a zip</html>".to_vec();
    none.options.archive.blob = None;
    for (case, expected) in [
        (short, "it has no dev.json, only data/train.json"),
        (none, "EOCD"),
    ] {
        let text = line(case.run(&[]).await);
        assert!(text.contains("cannot be unpacked"), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn final_answers_are_not_asked_again() {
    let case = case(&NAMES);
    for (status, expected) in [
        (404, "status 404: the file does not exist"),
        (
            403,
            "the server refused the request with status 403: access is denied",
        ),
        (
            410,
            "status 410: the server does not serve it; check the address",
        ),
        (302, "redirects to http://elsewhere.invalid/x"),
    ] {
        let refused = Reply::plain(status, "").header("location", "http://elsewhere.invalid/x");
        let done = case.run(&vec![refused; 5]).await;
        assert_eq!(done.requests, 1);
        let text = line(done);
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_dead_host_and_a_bad_address_are_named() {
    let case = case(&NAMES);
    // Nothing listens on port 9, and the system gives it to no other test.
    let dead = "http://127.0.0.1:9".to_owned();
    for (url, expected) in [
        (dead, "after 3 tries"),
        ("nonsense".to_owned(), "not the address"),
    ] {
        let done = case.run_at(url).await;
        let text = line(done);
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_named() {
    let case = case(&NAMES);
    let blocked = case.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let result = download(&client(), &blocked, &case.options, &mut |_| {}).await;
    let text = result.unwrap_err().to_string();
    assert!(text.starts_with("cannot write"), "{text}");
}
