//! Hubs that list or send more than the benchmark can have.

use finqa_env::data::{HubLimits, HubOptions, download};
use serde_json::json;
use wiremock::ResponseTemplate;

use crate::download::{answer_at, failed};
use crate::support::hub::{TABLE, at, client, entry, hub, options};

/// A listing of 3 GB was read, and as much was fetched as a hub would send.
#[tokio::test]
async fn a_hub_cannot_fill_memory_or_disk() {
    let named = |at: usize, size: u64| {
        let path = format!("input_companies/acme/{at}.json");
        json!({"type": "file", "path": path, "oid": "x", "size": size})
    };
    let small = HubLimits {
        listing_bytes: 10_000,
        files: 20,
        ..HubLimits::default()
    };
    let long: Vec<_> = (0..200).map(|at| named(at, 1)).collect();
    let many: Vec<_> = (0..30).map(|at| named(at, 1)).collect();
    let sums = vec![named(0, 1 << 25); 40];
    for (files, limits, words) in [
        (long, small, "its listing is larger"),
        (many, small, "33 files are more than 20"),
        (
            vec![named(0, 3 << 30)],
            HubLimits::default(),
            "acme/0.json with 3221225472 bytes",
        ),
        (
            vec![named(0, u64::MAX); 2],
            HubLimits {
                file_bytes: u64::MAX,
                ..HubLimits::default()
            },
            "bytes are more than",
        ),
        (sums, HubLimits::default(), "bytes are more than 1073741824"),
    ] {
        let (server, dir) = (hub(files).await, tempfile::tempdir().unwrap());
        let options = HubOptions {
            limits,
            ..options(&server)
        };
        let error = download(&client(), dir.path(), &options, &mut |_| {})
            .await
            .unwrap_err();
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
