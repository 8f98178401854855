//! A hub on this machine that lists and serves the fixture as the benchmark.
//! The root package's tests of `convfinqa env download` include this file.

use std::time::Duration;

use finqa_env::data::HubOptions;
use serde_json::{Value, json};
use sha1::Digest as _;

use super::file_server::{Act, FileServer, blob};

pub const QUESTIONS: &str = "benchmark_questions/finqa.csv";
pub const METADATA: &str = "input_companies/tables_cleaned_all_companies.json";
pub const TABLE: &str = "input_companies/acme/us_gaap_IncomeStatement.json";
/// A file of 100,000 bytes, which the hub has and does not list.
pub const OTHER: &str = "input_companies/acme/other.json";
pub const REVISION: &str = "/api/datasets/snorkelai/finqa-data/revision/main";

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

/// The first page of the listing, and the link that names the second: the hub's own, as
/// a mirror passes it on.
pub const LISTING: &str = "/api/datasets/snorkelai/finqa-data/tree/c0ffee?recursive=true";
pub const NEXT: &str =
    "https://hub.invalid/api/datasets/snorkelai/finqa-data/tree/c0ffee?recursive=true&cursor=2";

/// A mirror of a hub with two pages of listing, one large file, and files nobody wants;
/// also listed are these entries. Each act is for one request of its file, or of its path.
pub async fn hub(mut listed: Vec<Value>, acts: &[(&str, Act)]) -> FileServer {
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
    second.append(&mut listed);
    let mut files = vec![
        (REVISION.to_owned(), br#"{"sha": "c0ffee"}"#.to_vec()),
        (LISTING.to_owned(), first.to_string().into_bytes()),
        (
            format!("{LISTING}&cursor=2"),
            Value::from(second).to_string().into_bytes(),
        ),
        (at(OTHER), vec![b'x'; 100_000]),
    ];
    files.extend([QUESTIONS, METADATA, TABLE].map(|file| (at(file), bytes(file))));
    let mut all = vec![(LISTING.to_owned(), Act::Next(NEXT)); 4];
    all.extend(acts.iter().map(|(file, act)| {
        let path = match file.starts_with('/') {
            true => (*file).to_owned(),
            false => at(file),
        };
        (path, act.clone())
    }));
    FileServer::start(
        files,
        all.iter().map(|(path, act)| (path.as_str(), act.clone())),
    )
    .await
}

pub fn options(server: &FileServer) -> HubOptions {
    HubOptions {
        hub: server.url.clone(),
        attempts: 2,
        first_pause: Duration::from_millis(1),
        ..HubOptions::default()
    }
}

pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}

pub fn at(file: &str) -> String {
    format!("/datasets/snorkelai/finqa-data/resolve/c0ffee/{file}")
}
