//! A hub on this machine that lists and serves the fixture as the benchmark.
//! The root package's tests of `convfinqa env download` include this file.

use std::time::Duration;

use finqa_env::data::HubOptions;
use serde_json::{Value, json};
use sha1::Digest as _;
use wiremock::matchers::{method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::file_server::{Act, FileServer, blob};

pub const QUESTIONS: &str = "benchmark_questions/finqa.csv";
pub const METADATA: &str = "input_companies/tables_cleaned_all_companies.json";
pub const TABLE: &str = "input_companies/acme/us_gaap_IncomeStatement.json";

pub fn bytes(file: &str) -> Vec<u8> {
    macro_rules! data {
        ($file:literal) => {
            include_bytes!(concat!("../../fixtures/finqa-env/data/", $file)).to_vec()
        };
    }
    match file {
        QUESTIONS => data!("benchmark_questions/finqa.csv"),
        METADATA => data!("input_companies/tables_cleaned_all_companies.json"),
        TABLE => data!("input_companies/acme/us_gaap_IncomeStatement.json"),
        _ => panic!("the hub has no {file}"),
    }
}

pub fn entry(file: &str) -> Value {
    let bytes = bytes(file);
    json!({"type": "file", "path": file, "oid": blob(&bytes), "size": bytes.len()})
}

/// A hub with two pages of listing, one large file, and files nobody wants.
pub async fn hub(mut changed: Vec<Value>) -> MockServer {
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

pub fn options(server: &MockServer) -> HubOptions {
    options_at(server.uri())
}

pub fn options_at(hub: String) -> HubOptions {
    HubOptions {
        hub,
        attempts: 2,
        first_pause: Duration::from_millis(1),
        ..HubOptions::default()
    }
}

pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// A hub that cuts, lies and stalls as configured, with one page and no large file.
pub async fn faulty(acts: &[(&str, Act)]) -> FileServer {
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

pub const FILES: [&str; 3] = [QUESTIONS, METADATA, TABLE];

pub fn at(file: &str) -> String {
    format!("/datasets/snorkelai/finqa-data/resolve/c0ffee/{file}")
}
