//! A hub on this machine that lists and serves the fixture as the benchmark.
//! The root package's tests of `convfinqa env download` include this file.

use std::sync::LazyLock;
use std::time::Duration;

use finqa_env::data::HubOptions;
use serde_json::{Value, json};
use sha2::Digest as _;

use super::fault_server::{FaultServer, Reply};
use super::file_server::{blob, file, serve};

pub const QUESTIONS: &str = "benchmark_questions/finqa.csv";
pub const METADATA: &str = "input_companies/tables_cleaned_all_companies.json";
pub const TABLE: &str = "input_companies/acme/us_gaap_IncomeStatement.json";
/// A file of 100,000 bytes that the hub has but does not list.
pub const OTHER: &str = "input_companies/acme/other.json";
pub const REVISION: &str = "/api/datasets/snorkelai/finqa-data/revision/main?blobs=true";

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
    json!({"rfilename": file, "blobId": blob(&bytes), "size": bytes.len()})
}

/// A reply whose connection ends before the whole file is sent.
pub fn cut_off(name: &str) -> Reply {
    file(&bytes(name)).cut_off()
}

/// A hub that lists one large file, files that are not part of the benchmark, and the entries in
/// `listed`. Each reply in `before` answers one request for its file or path.
pub fn hub(listed: Vec<Value>, before: &[(&str, Reply)]) -> FaultServer {
    let large: String = sha2::Sha256::digest(bytes(METADATA))
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    let large = json!({"sha256": large, "size": bytes(METADATA).len(), "pointerSize": 132});
    let mut files = vec![
        json!({"rfilename": "README.md", "blobId": "x", "size": 1}),
        entry(QUESTIONS),
        json!({"rfilename": METADATA, "blobId": "pointer", "size": 1, "lfs": large}),
        entry(TABLE),
        json!({"rfilename": "input_companies/acme/x.txt", "blobId": "x", "size": 1}),
    ];
    files.extend(listed);
    let revision = json!({"sha": "c0ffee", "siblings": files});
    let mut served = vec![
        (REVISION.to_owned(), revision.to_string().into_bytes()),
        (at(OTHER), vec![b'x'; 100_000]),
    ];
    served.extend([QUESTIONS, METADATA, TABLE].map(|file| (at(file), bytes(file))));
    let before = before.iter().map(|(file, reply)| {
        if file.starts_with('/') {
            ((*file).to_owned(), reply.clone())
        } else {
            (at(file), reply.clone())
        }
    });
    serve(served, before)
}

pub fn options(server: &FaultServer) -> HubOptions {
    HubOptions {
        hub: server.url(),
        attempts: 2,
        first_pause: Duration::from_millis(1),
        ..HubOptions::default()
    }
}

/// One client for all tests, because making one takes long. It keeps no connection open, because
/// each test has its own runtime.
pub fn client() -> reqwest::Client {
    static CLIENT: LazyLock<reqwest::Client> = LazyLock::new(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy();
        client.pool_max_idle_per_host(0).build().unwrap()
    });
    CLIENT.clone()
}

pub fn at(file: &str) -> String {
    format!("/datasets/snorkelai/finqa-data/resolve/c0ffee/{file}")
}
