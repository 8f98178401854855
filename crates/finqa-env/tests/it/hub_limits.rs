//! Hubs that list or send more than the benchmark can have.

use serde_json::json;
use wiremock::ResponseTemplate;

use crate::download::{answer_at, failed};
use crate::support::hub::{TABLE, at, entry, hub};

/// As much was fetched as a hub would send.
#[tokio::test]
async fn a_hub_cannot_fill_memory_or_disk() {
    let named = |at: usize, size: u64| {
        let path = format!("input_companies/acme/{at}.json");
        json!({"type": "file", "path": path, "oid": "x", "size": size})
    };
    let sums = vec![named(0, 1 << 25); 40];
    for (files, words) in [
        (vec![named(0, 3 << 30)], "acme/0.json with 3221225472 bytes"),
        (sums, "bytes are more than 1073741824"),
    ] {
        let (server, dir) = (hub(files).await, tempfile::tempdir().unwrap());
        let error = failed(&server, dir.path()).await;
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[tokio::test]
async fn a_file_is_fetched_no_further_than_the_listing_says() {
    let mut lie = entry(TABLE);
    lie["path"] = json!("input_companies/acme/other.json");
    lie["size"] = json!(10);
    let (server, dir) = (hub(vec![lie]).await, tempfile::tempdir().unwrap());
    let body = ResponseTemplate::new(200).set_body_bytes(vec![b'x'; 100_000]);
    answer_at(&server, &at("input_companies/acme/other.json"), body).await;
    let error = failed(&server, dir.path()).await;
    assert!(
        error.to_string().contains("larger than 10 bytes"),
        "{error}"
    );
    assert!(!error.is_network());
    let folder = dir.path().join("input_companies/acme");
    assert!(!folder.join("other.json").exists() && !folder.join("other.json.part").exists());
}
