//! The benchmark's download, against a hub on this machine.

use std::path::Path;
use std::time::Duration;

use convfinqa::env::data::{Catalog, HubError, HubEvent, HubOptions, download};
use serde_json::{Value, json};
use sha1::Digest as _;
use wiremock::matchers::{method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

const QUESTIONS: &str = "benchmark_questions/finqa.csv";
const METADATA: &str = "input_companies/tables_cleaned_all_companies.json";
const TABLE: &str = "input_companies/acme/us_gaap_IncomeStatement.json";

fn bytes(file: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/finqa-env/data");
    std::fs::read(root.join(file)).unwrap()
}

fn blob(bytes: &[u8]) -> String {
    let mut hasher = sha1::Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()));
    hasher.update(bytes);
    hasher
        .finalize()
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

fn entry(file: &str) -> Value {
    let bytes = bytes(file);
    json!({"type": "file", "path": file, "oid": blob(&bytes), "size": bytes.len()})
}

/// A hub with two pages of listing, one large file, and files nobody wants.
async fn hub(mut changed: Vec<Value>) -> MockServer {
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
        json!({"type": "file", "path": METADATA, "oid": "pointer", "size": 1, "lfs": {"oid": large, "size": 1}}),
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

fn options(server: &MockServer) -> HubOptions {
    HubOptions {
        hub: server.uri(),
        attempts: 2,
        first_pause: Duration::from_millis(1),
        ..HubOptions::default()
    }
}

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

#[tokio::test]
async fn a_download_is_a_data_directory_and_is_not_repeated() {
    let (server, dir) = (hub(Vec::new()).await, tempfile::tempdir().unwrap());
    let mut events = Vec::new();
    let commit = download(&client(), dir.path(), &options(&server), &mut |e| {
        events.push(e)
    })
    .await;
    assert_eq!(commit.unwrap(), "c0ffee");
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
