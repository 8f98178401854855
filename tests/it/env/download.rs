//! The benchmark's download, against a hub on this machine.

use std::path::Path;
use std::time::Duration;

use finqa_env::data::{Catalog, Fetched, HubError, HubEvent, HubOptions, download};
use serde_json::{Value, json};
use sha1::Digest as _;
use wiremock::matchers::{method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::cli::{Ran, Workplace};
use crate::support::file_server::{Act, FileServer, blob};

const QUESTIONS: &str = "benchmark_questions/finqa.csv";
const METADATA: &str = "input_companies/tables_cleaned_all_companies.json";
pub(super) const TABLE: &str = "input_companies/acme/us_gaap_IncomeStatement.json";

fn bytes(file: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/finqa-env/data");
    std::fs::read(root.join(file)).unwrap()
}

pub(super) fn entry(file: &str) -> Value {
    let bytes = bytes(file);
    json!({"type": "file", "path": file, "oid": blob(&bytes), "size": bytes.len()})
}

/// A hub with two pages of listing, one large file, and files nobody wants.
pub(super) async fn hub(mut changed: Vec<Value>) -> MockServer {
    let server = MockServer::start().await;
    let get = |at: &str| Mock::given(method("GET")).and(path(at.to_owned()));
    get("/api/datasets/snorkelai/finqa-data/revision/main")
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"sha": "c0ffee"})))
        .mount(&server)
        .await;
    let large: String = sha2::Sha256::digest(bytes(METADATA))
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    let first = json!([
        {"type": "directory", "path": "input_companies", "oid": "x", "size": 0},
        {"type": "file", "path": "README.md", "oid": "x", "size": 1},
        entry(QUESTIONS),
    ]);
    let mut second = vec![
        json!({"type": "file", "path": METADATA, "oid": "pointer", "size": 1, "lfs": {"oid": large, "size": bytes(METADATA).len()}}),
        entry(TABLE),
        json!({"type": "file", "path": "input_companies/acme/x.txt", "oid": "x", "size": 1}),
    ];
    second.append(&mut changed);
    let tree = "/api/datasets/snorkelai/finqa-data/tree/c0ffee";
    let next = format!(
        "<{}{tree}?recursive=true&cursor=2>; rel=\"next\"",
        server.uri()
    );
    get(tree)
        .and(query_param_is_missing("cursor"))
        .respond_with(
            ResponseTemplate::new(200)
                .insert_header("link", next.as_str())
                .set_body_json(first),
        )
        .mount(&server)
        .await;
    get(tree)
        .and(query_param("cursor", "2"))
        .respond_with(ResponseTemplate::new(200).set_body_json(second))
        .mount(&server)
        .await;
    for file in [QUESTIONS, METADATA, TABLE] {
        get(&format!(
            "/datasets/snorkelai/finqa-data/resolve/c0ffee/{file}"
        ))
        .respond_with(ResponseTemplate::new(200).set_body_bytes(bytes(file)))
        .mount(&server)
        .await;
    }
    server
}

pub(super) fn options(server: &MockServer) -> HubOptions {
    options_at(server.uri())
}

fn options_at(hub: String) -> HubOptions {
    HubOptions {
        hub,
        attempts: 2,
        first_pause: Duration::from_millis(1),
        ..HubOptions::default()
    }
}

pub(super) fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn a_download_is_a_data_directory_and_is_not_repeated() {
    let (server, dir) = (hub(Vec::new()).await, tempfile::tempdir().unwrap());
    let mut events = Vec::new();
    let fetched = download(&client(), dir.path(), &options(&server), &mut |e| {
        events.push(e)
    })
    .await;
    assert_eq!(fetched.unwrap().commit, "c0ffee");
    assert!(matches!(&events[0], HubEvent::Listed { files: 3, .. }));
    assert_eq!(events.len(), 4);
    assert_eq!(Catalog::load(dir.path()).unwrap().questions().len(), 12);
    assert!(!dir.path().join("README.md").exists());

    // A damaged file is fetched again, the others are not.
    std::fs::write(dir.path().join(TABLE), "damaged").unwrap();
    let before = server.received_requests().await.unwrap().len();
    download(&client(), dir.path(), &options(&server), &mut |_| {})
        .await
        .unwrap();
    assert_eq!(
        server.received_requests().await.unwrap().len(),
        before + 3 + 1
    );
    assert_eq!(std::fs::read(dir.path().join(TABLE)).unwrap(), bytes(TABLE));
}

#[tokio::test]
async fn a_file_that_is_not_the_published_one_is_refused() {
    for kind in [json!({}), json!({"lfs": {"oid": "0".repeat(64)}})] {
        let mut wrong = entry(TABLE);
        wrong["path"] = json!("input_companies/acme/other.json");
        if let Some(large) = kind.get("lfs") {
            wrong["lfs"] = large.clone();
        }
        let (server, dir) = (hub(vec![wrong]).await, tempfile::tempdir().unwrap());
        Mock::given(method("GET"))
            .and(path(
                "/datasets/snorkelai/finqa-data/resolve/c0ffee/input_companies/acme/other.json",
            ))
            .respond_with(ResponseTemplate::new(200).set_body_string("{}"))
            .mount(&server)
            .await;
        let error = download(&client(), dir.path(), &options(&server), &mut |_| {})
            .await
            .unwrap_err();
        assert!(
            matches!(error, HubError::File(_)) && !error.is_network(),
            "{error}"
        );
        assert!(!dir.path().join("input_companies/acme/other.json").exists());
    }
}

#[tokio::test]
async fn a_listing_cannot_leave_the_folder() {
    let evil =
        json!({"type": "file", "path": "input_companies/../../evil.json", "oid": "x", "size": 1});
    let (server, dir) = (hub(vec![evil]).await, tempfile::tempdir().unwrap());
    let error = download(&client(), dir.path(), &options(&server), &mut |_| {})
        .await
        .unwrap_err();
    assert!(matches!(error, HubError::Path { .. }), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_hub_that_is_none_is_a_network_error() {
    let (server, dir) = (MockServer::start().await, tempfile::tempdir().unwrap());
    let error = download(&client(), dir.path(), &options(&server), &mut |_| {})
        .await
        .unwrap_err();
    assert!(
        error.is_network() && error.to_string().contains("404"),
        "{error}"
    );
}

/// A hub that cuts, lies and stalls as it is told; no page links, nothing large.
pub(super) async fn faulty(acts: &[(&str, Act)]) -> FileServer {
    let api = "/api/datasets/snorkelai/finqa-data";
    let listed: Vec<Value> = FILES.iter().map(|file| entry(file)).collect();
    let mut files = vec![
        (
            format!("{api}/revision/main"),
            br#"{"sha": "c0ffee"}"#.to_vec(),
        ),
        (
            format!("{api}/tree/c0ffee?recursive=true"),
            Value::from(listed).to_string().into_bytes(),
        ),
    ];
    files.extend(FILES.iter().map(|file| (at(file), bytes(file))));
    let acts: Vec<_> = acts
        .iter()
        .map(|(file, act)| {
            let path = if file.starts_with('/') {
                (*file).to_owned()
            } else {
                at(file)
            };
            (path, act.clone())
        })
        .collect();
    FileServer::start(
        files,
        acts.iter().map(|(path, act)| (path.as_str(), act.clone())),
    )
    .await
}

const FILES: [&str; 3] = [QUESTIONS, METADATA, TABLE];

fn at(file: &str) -> String {
    format!("/datasets/snorkelai/finqa-data/resolve/c0ffee/{file}")
}

async fn fetch(hub: &FileServer, folder: &Path) -> (Result<Fetched, HubError>, Vec<HubEvent>) {
    let mut events = Vec::new();
    let options = HubOptions {
        attempts: 3,
        read_timeout: Duration::from_millis(300),
        ..options_at(hub.url.clone())
    };
    let fetched = download(&client(), folder, &options, &mut |e| events.push(e)).await;
    (fetched, events)
}

#[tokio::test]
async fn a_file_that_is_cut_is_gone_on_with_where_it_broke() {
    let (hub, dir) = (
        faulty(&[
            (METADATA, Act::Cut(100)),
            (METADATA, Act::Status("503 Busy")),
            (METADATA, Act::Cut(50)),
            (METADATA, Act::Silent),
        ])
        .await,
        tempfile::tempdir().unwrap(),
    );
    let (fetched, events) = fetch(&hub, dir.path()).await;
    fetched.unwrap();
    assert_eq!(
        hub.ranges_of(&at(METADATA)),
        ["", "bytes=100-", "bytes=100-", "bytes=150-", "bytes=150-"]
    );
    assert_eq!(
        std::fs::read(dir.path().join(METADATA)).unwrap(),
        bytes(METADATA)
    );
    let retries = events
        .iter()
        .filter(|event| matches!(event, HubEvent::Retrying { path, .. } if path == METADATA));
    assert_eq!(retries.count(), 4);
}

/// What one call could not finish, the next goes on with.
#[tokio::test]
async fn a_download_that_was_given_up_is_resumed_by_the_next() {
    let acts = [(METADATA, Act::Cut(100))]
        .into_iter()
        .chain(vec![(METADATA, Act::Status("503 Busy")); 3])
        .collect::<Vec<_>>();
    let (hub, dir) = (faulty(&acts).await, tempfile::tempdir().unwrap());
    let (given_up, _) = fetch(&hub, dir.path()).await;
    assert!(given_up.unwrap_err().is_network());
    assert!(
        !dir.path().join(METADATA).exists(),
        "no file of that name before it is whole"
    );
    let (fetched, _) = fetch(&hub, dir.path()).await;
    assert_eq!(fetched.unwrap().unlisted, Vec::<String>::new());
    assert_eq!(hub.ranges_of(&at(METADATA)).last().unwrap(), "bytes=100-");
    let before = hub.requests();
    fetch(&hub, dir.path()).await.0.unwrap();
    assert_eq!(
        hub.requests(),
        before + 2,
        "only the listing is asked again"
    );
}

#[tokio::test]
async fn a_listing_that_stalls_or_lies_is_asked_again_or_named() {
    let revision = "/api/datasets/snorkelai/finqa-data/revision/main";
    let passing = faulty(&[(revision, Act::Status("503 Busy")), (revision, Act::Silent)]).await;
    let dir = tempfile::tempdir().unwrap();
    fetch(&passing, dir.path()).await.0.unwrap();
    let lying = faulty(&[(revision, Act::Lie)]).await;
    let dir = tempfile::tempdir().unwrap();
    let error = fetch(&lying, dir.path()).await.0.unwrap_err();
    assert!(matches!(error, HubError::Listing { .. }), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A mirror passes the hub's own links on, or they would be followed past it or
/// the rest of the listing be left out.
#[tokio::test]
async fn the_next_page_is_asked_of_the_mirror() {
    let server = MockServer::start().await;
    let get = |at: &str| Mock::given(method("GET")).and(path(at.to_owned()));
    let tree = "/api/datasets/snorkelai/finqa-data/tree/c0ffee";
    get("/api/datasets/snorkelai/finqa-data/revision/main")
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"sha": "c0ffee"})))
        .mount(&server)
        .await;
    let page = |entries: Value, link: &str| {
        ResponseTemplate::new(200)
            .insert_header("link", link)
            .set_body_json(entries)
    };
    let next = format!("<https://hub.invalid{tree}?recursive=true&cursor=2>; rel=\"next\"");
    get(tree)
        .and(query_param_is_missing("cursor"))
        .respond_with(page(json!([entry(QUESTIONS), entry(METADATA)]), &next))
        .mount(&server)
        .await;
    get(tree)
        .and(query_param("cursor", "2"))
        .respond_with(page(json!([entry(TABLE)]), ""))
        .mount(&server)
        .await;
    for file in FILES {
        get(&at(file))
            .respond_with(ResponseTemplate::new(200).set_body_bytes(bytes(file)))
            .mount(&server)
            .await;
    }
    let dir = tempfile::tempdir().unwrap();
    download(&client(), dir.path(), &options(&server), &mut |_| {})
        .await
        .unwrap();
    assert!(dir.path().join(TABLE).exists());

    let elsewhere = MockServer::start().await;
    Mock::given(path("/api/datasets/snorkelai/finqa-data/revision/main"))
        .respond_with(ResponseTemplate::new(200).set_body_json(json!({"sha": "c0ffee"})))
        .mount(&elsewhere)
        .await;
    Mock::given(path(tree))
        .respond_with(page(
            json!([entry(QUESTIONS)]),
            "<http://x.invalid/other>; rel=\"next\"",
        ))
        .mount(&elsewhere)
        .await;
    let dir = tempfile::tempdir().unwrap();
    let error = download(&client(), dir.path(), &options(&elsewhere), &mut |_| {})
        .await
        .unwrap_err();
    assert!(error.to_string().contains("another listing"), "{error}");
}

/// Runs the binary against a hub while this task's runtime serves it.
pub(super) async fn run(place: &Workplace, hub: &str, arguments: &[&str]) -> Ran {
    let mut command = place.command();
    command
        .args(["env", "download"])
        .args(arguments)
        .env("HF_ENDPOINT", hub);
    tokio::task::spawn_blocking(move || Ran::of(&mut command))
        .await
        .unwrap()
}

#[tokio::test]
async fn the_command_says_licence_and_purpose_and_what_is_there() {
    let (hub, place) = (faulty(&[(TABLE, Act::Cut(20))]).await, Workplace::new());
    let ran = run(&place, &hub.url, &[]).await;
    ran.succeeds();
    assert!(ran.stderr.contains("Apache-2.0"), "{}", ran.stderr);
    assert!(ran.stderr.contains("evaluation only"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("commit c0ffee: 3 files"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("IncomeStatement.json: error reading"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("; again in 1 s"), "{}", ran.stderr);
    let first = ran.stdout.lines().next().unwrap();
    assert_eq!(
        first,
        "data/finqa: 12 questions about 1 companies, 1 tables; commit c0ffee, every file verified"
    );
    // A table of an earlier commit is told of, for it would be served too.
    let stale = "data/finqa/input_companies/acme/old.json";
    place.write(stale, "{}");
    let again = run(&place, &hub.url, &["--to", "data/finqa"]).await;
    again.succeeds();
    assert!(
        again
            .stdout
            .contains("1 tables in it are not of this commit, such as acme/old.json")
    );
}

/// A hub keeps large files at other hosts, and sends the reader there.
#[tokio::test]
async fn a_file_that_is_kept_elsewhere_is_fetched_there() {
    let elsewhere = FileServer::start(vec![("/large".to_owned(), bytes(METADATA))], []).await;
    let moved: &'static str = format!("302 Found\r\nLocation: {}/large", elsewhere.url).leak();
    let (hub, place) = (
        faulty(&[(METADATA, Act::Status(moved))]).await,
        Workplace::new(),
    );
    run(&place, &hub.url, &[]).await.succeeds();
    assert_eq!(elsewhere.requests(), 1);
    assert!(place.path("data/finqa").join(METADATA).exists());
}

#[tokio::test]
async fn what_goes_wrong_is_one_line_and_its_exit_code() {
    let place = Workplace::new();
    let lying = faulty(&[(TABLE, Act::Lie)]).await;
    let ran = run(&place, &lying.url, &[]).await;
    ran.fails(
        3,
        &["us_gaap_IncomeStatement.json is not the published file"],
    );
    assert!(!place.path("data/finqa").join(TABLE).exists());

    let refusing = faulty(&[(TABLE, Act::Status("403 Forbidden"))]).await;
    run(&place, &refusing.url, &[])
        .await
        .fails(5, &["status 403"]);
    run(&place, &refusing.url, &["--revision", "nope"])
        .await
        .fails(5, &["revision/nope: status 404"]);
    run(&place, "nonsense", &[])
        .await
        .fails(5, &["nonsense/api"]);

    place
        .run(&["env", "build", "--from", "sample", "--out", "built"])
        .succeeds();
    let ran = run(&place, &lying.url, &["--to", "built"]).await;
    ran.fails(2, &["built holds an environment of `env build`"]);
    place.write("file", "");
    run(&place, &refusing.url, &["--to", "file"])
        .await
        .fails(3, &["file"]);
}
