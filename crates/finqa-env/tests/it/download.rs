//! The benchmark's download, against a hub on this machine.

use std::path::Path;

use finqa_env::data::{Catalog, HubError, HubEvent, download};
use serde_json::{Value, json};
use wiremock::matchers::{method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::file_server::Act;
use crate::support::hub::{
    FILES, METADATA, QUESTIONS, TABLE, at, bytes, client, entry, faulty, hub, options, options_at,
};

/// Why a download fails.
async fn failed(server: &MockServer, folder: &Path) -> HubError {
    let options = options(server);
    let fetched = download(&client(), folder, &options, &|_| {}).await;
    fetched.unwrap_err()
}

/// From now on the server gives this answer at `place`.
async fn answer_at(server: &MockServer, place: &str, answer: ResponseTemplate) {
    let asked = Mock::given(method("GET")).and(path(place.to_owned()));
    asked.respond_with(answer).mount(server).await;
}

#[tokio::test]
async fn a_download_is_a_data_directory_and_is_not_repeated() {
    let (server, dir) = (hub(Vec::new()).await, tempfile::tempdir().unwrap());
    let (fetched, events) = fetch(server.uri(), dir.path()).await;
    assert_eq!(fetched.unwrap(), "c0ffee");
    assert!(matches!(&events[0], HubEvent::Listed { files: 3, .. }));
    assert_eq!(events.len(), 4);
    assert_eq!(Catalog::load(dir.path()).unwrap().questions().len(), 12);
    assert!(!dir.path().join("README.md").exists());

    // A damaged file is fetched again, the others are not.
    std::fs::write(dir.path().join(TABLE), "damaged").unwrap();
    let before = server.received_requests().await.unwrap().len();
    download(&client(), dir.path(), &options(&server), &|_| {})
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

/// Downloads; gives the events too.
async fn fetch(hub: String, folder: &Path) -> (Result<String, HubError>, Vec<HubEvent>) {
    let events = parking_lot::Mutex::new(Vec::new());
    let note = |event| events.lock().push(event);
    let fetched = download(&client(), folder, &options_at(hub), &note).await;
    (fetched, events.into_inner())
}

/// The next call continues what one could not finish.
#[tokio::test]
async fn a_file_is_tried_again_and_the_next_call_continues() {
    let acts = [
        (METADATA, Act::Cut(100)),
        (METADATA, Act::Status("503 Busy")),
        (METADATA, Act::Cut(50)),
    ];
    let (hub, dir) = (faulty(&acts).await, tempfile::tempdir().unwrap());
    let (given_up, events) = fetch(hub.url.clone(), dir.path()).await;
    assert!(given_up.unwrap_err().is_network());
    let retried =
        |event: &&HubEvent| matches!(event, HubEvent::Retrying(line) if line.starts_with(METADATA));
    assert_eq!(events.iter().filter(retried).count(), 1);
    assert!(
        !dir.path().join(METADATA).exists(),
        "no file of that name before it is whole"
    );
    fetch(hub.url.clone(), dir.path()).await.0.unwrap();
    assert_eq!(hub.requests_for(&at(METADATA)), 4);
    let before = hub.requests();
    fetch(hub.url.clone(), dir.path()).await.0.unwrap();
    assert_eq!(
        hub.requests(),
        before + 2,
        "only the listing is asked again"
    );
}

#[tokio::test]
async fn a_listing_that_fails_is_asked_again_and_one_that_is_none_is_named() {
    let revision = "/api/datasets/snorkelai/finqa-data/revision/main";
    let passing = faulty(&[(revision, Act::Status("503 Busy"))]).await;
    let dir = tempfile::tempdir().unwrap();
    fetch(passing.url, dir.path()).await.0.unwrap();
    let lying = faulty(&[(revision, Act::Lie)]).await;
    let dir = tempfile::tempdir().unwrap();
    let error = fetch(lying.url, dir.path()).await.0.unwrap_err();
    assert!(matches!(error, HubError::Listing { .. }), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A mirror passes the hub's own links on, or they would be followed past it or
/// the rest of the listing be left out.
#[tokio::test]
async fn the_next_page_comes_from_the_mirror() {
    let server = MockServer::start().await;
    let tree = "/api/datasets/snorkelai/finqa-data/tree/c0ffee";
    let revision = "/api/datasets/snorkelai/finqa-data/revision/main";
    let commit = ResponseTemplate::new(200).set_body_json(json!({"sha": "c0ffee"}));
    answer_at(&server, revision, commit).await;
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
    download(&client(), dir.path(), &options(&server), &|_| {})
        .await
        .unwrap();
    assert!(dir.path().join(TABLE).exists());
}

/// No more is fetched than a hub lists, and than the benchmark can have.
#[tokio::test]
async fn a_hub_cannot_fill_the_disk() {
    let file = |size: u64| {
        let mut file = entry(TABLE);
        file["path"] = json!("input_companies/acme/other.json");
        file["size"] = json!(size);
        file
    };
    for (size, words) in [
        (3 << 30, "bytes are more than 1073741824"),
        (10, "larger than 10 bytes"),
    ] {
        let (server, dir) = (hub(vec![file(size)]).await, tempfile::tempdir().unwrap());
        let body = ResponseTemplate::new(200).set_body_bytes(vec![b'x'; 100_000]);
        answer_at(&server, &at("input_companies/acme/other.json"), body).await;
        let error = failed(&server, dir.path()).await;
        assert!(error.to_string().contains(words), "{error}");
        let folder = dir.path().join("input_companies/acme");
        assert!(!folder.join("other.json").exists() && !folder.join("other.json.part").exists());
    }
}
