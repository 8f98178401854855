//! The benchmark's download, against a hub on this machine.

use std::path::Path;
use std::time::Duration;

use finqa_env::data::{Catalog, HubError, HubEvent, HubOptions, download};
use serde_json::{Value, json};
use wiremock::matchers::{method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::file_server::{Act, FileServer};
use crate::support::hub::{
    FILES, METADATA, QUESTIONS, TABLE, at, bytes, client, entry, faulty, hub, options, options_at,
};

/// Why a download fails.
pub async fn failed(server: &MockServer, folder: &Path) -> HubError {
    let options = options(server);
    let fetched = download(&client(), folder, &options, &mut |_| {}).await;
    fetched.unwrap_err()
}

/// From now on the server gives this answer at `place`.
pub async fn answer_at(server: &MockServer, place: &str, answer: ResponseTemplate) {
    let asked = Mock::given(method("GET")).and(path(place.to_owned()));
    asked.respond_with(answer).mount(server).await;
}

#[tokio::test]
async fn a_download_is_a_data_directory_and_is_not_repeated() {
    let (server, dir) = (hub(Vec::new()).await, tempfile::tempdir().unwrap());
    let mut events = Vec::new();
    let fetched = download(&client(), dir.path(), &options(&server), &mut |e| {
        events.push(e)
    })
    .await;
    assert_eq!(fetched.unwrap(), "c0ffee");
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
        let body = ResponseTemplate::new(200).set_body_string("{}");
        answer_at(&server, &at("input_companies/acme/other.json"), body).await;
        let error = failed(&server, dir.path()).await;
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
    let error = failed(&server, dir.path()).await;
    assert!(matches!(error, HubError::NotTheBenchmark { .. }), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn an_address_that_is_not_a_hub_is_a_network_error() {
    let (server, dir) = (MockServer::start().await, tempfile::tempdir().unwrap());
    let error = failed(&server, dir.path()).await;
    assert!(
        error.is_network() && error.to_string().contains("404"),
        "{error}"
    );
}

async fn fetch(hub: &FileServer, folder: &Path) -> (Result<String, HubError>, Vec<HubEvent>) {
    let mut events = Vec::new();
    let options = HubOptions {
        attempts: 3,
        read_timeout: Duration::from_millis(300),
        ..options_at(hub.url.clone())
    };
    let fetched = download(&client(), folder, &options, &mut |e| events.push(e)).await;
    (fetched, events)
}

/// The next call continues what one could not finish.
#[tokio::test]
async fn a_file_is_tried_again_and_the_next_call_continues() {
    let acts = [
        (METADATA, Act::Cut(100)),
        (METADATA, Act::Status("503 Busy")),
        (METADATA, Act::Silent),
        (METADATA, Act::Cut(50)),
    ];
    let (hub, dir) = (faulty(&acts).await, tempfile::tempdir().unwrap());
    let (given_up, events) = fetch(&hub, dir.path()).await;
    assert!(given_up.unwrap_err().is_network());
    assert!(
        !dir.path().join(METADATA).exists(),
        "no file of that name before it is whole"
    );
    let retries = events
        .iter()
        .filter(|event| matches!(event, HubEvent::Retrying { path, .. } if path == METADATA));
    assert_eq!(retries.count(), 2);
    let (fetched, _) = fetch(&hub, dir.path()).await;
    fetched.unwrap();
    assert_eq!(hub.requests_for(&at(METADATA)), 5);
    assert_eq!(
        std::fs::read(dir.path().join(METADATA)).unwrap(),
        bytes(METADATA)
    );
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

#[tokio::test]
async fn a_listing_is_asked_again_when_the_hub_says_so() {
    let (server, dir) = (MockServer::start().await, tempfile::tempdir().unwrap());
    Mock::given(method("GET"))
        .respond_with(ResponseTemplate::new(503).insert_header("retry-after", "0"))
        .mount(&server)
        .await;
    let mut pauses = Vec::new();
    let mut note = |event| {
        if let HubEvent::Retrying { pause, .. } = event {
            pauses.push(pause);
        }
    };
    let error = download(&client(), dir.path(), &options(&server), &mut note)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("status 503"), "{error}");
    assert_eq!(pauses, [Duration::ZERO]);
}

/// A mirror passes the hub's own links on, or they would be followed past it or
/// the rest of the listing be left out.
#[tokio::test]
async fn the_next_page_comes_from_the_mirror() {
    let server = MockServer::start().await;
    let tree = "/api/datasets/snorkelai/finqa-data/tree/c0ffee";
    let revision = "/api/datasets/snorkelai/finqa-data/revision/main";
    let commit = ResponseTemplate::new(200).set_body_json(json!({"sha": "c0ffee"}));
    answer_at(&server, revision, commit.clone()).await;
    let page = |entries: Value, link: &str| {
        ResponseTemplate::new(200)
            .insert_header("link", link)
            .set_body_json(entries)
    };
    let next = format!("<https://hub.invalid{tree}?recursive=true&cursor=2>; rel=\"next\"");
    let get = || Mock::given(method("GET")).and(path(tree));
    get()
        .and(query_param_is_missing("cursor"))
        .respond_with(page(json!([entry(QUESTIONS), entry(METADATA)]), &next))
        .mount(&server)
        .await;
    get()
        .and(query_param("cursor", "2"))
        .respond_with(page(json!([entry(TABLE)]), ""))
        .mount(&server)
        .await;
    for file in FILES {
        let body = ResponseTemplate::new(200).set_body_bytes(bytes(file));
        answer_at(&server, &at(file), body).await;
    }
    let dir = tempfile::tempdir().unwrap();
    download(&client(), dir.path(), &options(&server), &mut |_| {})
        .await
        .unwrap();
    assert!(dir.path().join(TABLE).exists());

    let elsewhere = MockServer::start().await;
    answer_at(&elsewhere, revision, commit).await;
    let other = "<http://x.invalid/other>; rel=\"next\"";
    answer_at(&elsewhere, tree, page(json!([entry(QUESTIONS)]), other)).await;
    let dir = tempfile::tempdir().unwrap();
    let error = download(&client(), dir.path(), &options(&elsewhere), &mut |_| {})
        .await
        .unwrap_err();
    assert!(error.to_string().contains("another listing"), "{error}");
}
