//! Downloads of the benchmark from a hub on this machine.

use std::path::Path;

use finqa_env::data::{Catalog, HubError, HubEvent, download};
use serde_json::json;

use crate::support::fault_server::{FaultServer, Reply};
use crate::support::file_server::requests_for;
use crate::support::hub::{
    METADATA, OTHER, REVISION, TABLE, at, bytes, client, cut_off, entry, hub, options,
};

#[tokio::test]
async fn a_download_is_a_data_directory_and_is_not_repeated() {
    let (server, dir) = (hub(vec![], &[]), tempfile::tempdir().unwrap());
    let (fetched, events) = fetch(&server, dir.path()).await;
    assert_eq!(fetched.unwrap(), "c0ffee");
    assert!(matches!(&events[0], HubEvent::Listed { files: 3, .. }));
    assert_eq!(events.len(), 4);
    assert_eq!(Catalog::load(dir.path()).unwrap().questions().len(), 12);
    assert!(!dir.path().join("README.md").exists());

    // A damaged file is fetched again; the others are not. The other request is for the listing.
    std::fs::write(dir.path().join(TABLE), "damaged").unwrap();
    let before = server.count();
    download(&client(), dir.path(), &options(&server), &|_| {})
        .await
        .unwrap();
    assert_eq!(server.count(), before + 1 + 1);
    assert_eq!(std::fs::read(dir.path().join(TABLE)).unwrap(), bytes(TABLE));
}

#[tokio::test]
async fn a_file_that_is_not_the_published_one_is_refused() {
    for large in [
        None,
        Some(json!({"sha256": "0".repeat(64), "size": 100_000})),
    ] {
        let mut wrong = entry(TABLE);
        wrong["rfilename"] = json!(OTHER);
        wrong["size"] = json!(100_000);
        wrong["lfs"] = json!(large);
        let (server, dir) = (hub(vec![wrong], &[]), tempfile::tempdir().unwrap());
        let error = fetch(&server, dir.path()).await.0.unwrap_err();
        assert!(
            matches!(error, HubError::File(_)) && !error.is_network(),
            "{error}"
        );
        assert!(!dir.path().join(OTHER).exists());
    }
}

/// Downloads, and returns the events as well.
async fn fetch(hub: &FaultServer, folder: &Path) -> (Result<String, HubError>, Vec<HubEvent>) {
    let events = parking_lot::Mutex::new(Vec::new());
    let note = |event| events.lock().push(event);
    let fetched = download(&client(), folder, &options(hub), &note).await;
    (fetched, events.into_inner())
}

/// The first call gives up on a file; the next one fetches it and keeps the others.
#[tokio::test]
async fn a_file_is_tried_again_and_the_next_call_continues() {
    let acts = [
        (METADATA, cut_off(METADATA)),
        (METADATA, Reply::plain(503, "")),
        (METADATA, cut_off(METADATA)),
    ];
    let (hub, dir) = (hub(vec![], &acts), tempfile::tempdir().unwrap());
    let (given_up, events) = fetch(&hub, dir.path()).await;
    assert!(given_up.unwrap_err().is_network());
    let retried =
        |event: &&HubEvent| matches!(event, HubEvent::Retrying(line) if line.starts_with(METADATA));
    assert_eq!(events.iter().filter(retried).count(), 1);
    assert!(
        !dir.path().join(METADATA).exists(),
        "no file of that name before it is whole"
    );
    fetch(&hub, dir.path()).await.0.unwrap();
    assert_eq!(requests_for(&hub, &at(METADATA)), 4);
    let before = hub.count();
    fetch(&hub, dir.path()).await.0.unwrap();
    assert_eq!(hub.count(), before + 1, "only the list is asked again");
}

#[tokio::test]
async fn a_listing_that_fails_is_asked_again_and_one_that_is_none_is_named() {
    let passing = hub(vec![], &[(REVISION, Reply::plain(503, ""))]);
    let dir = tempfile::tempdir().unwrap();
    fetch(&passing, dir.path()).await.0.unwrap();
    let lying = hub(vec![], &[(REVISION, Reply::plain(200, "no list"))]);
    let dir = tempfile::tempdir().unwrap();
    let error = fetch(&lying, dir.path()).await.0.unwrap_err();
    assert!(matches!(error, HubError::Listing { .. }), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// A listing that is too large is refused, and a file is not read past its listed size.
#[tokio::test]
async fn a_hub_cannot_fill_the_disk() {
    let file = |size: u64| {
        let mut file = entry(TABLE);
        file["rfilename"] = json!(OTHER);
        file["size"] = json!(size);
        file
    };
    for (size, words) in [
        (3 << 30, "bytes are more than 1073741824"),
        (10, "larger than 10 bytes"),
    ] {
        let (server, dir) = (hub(vec![file(size)], &[]), tempfile::tempdir().unwrap());
        let error = fetch(&server, dir.path()).await.0.unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        let folder = dir.path().join("input_companies/acme");
        assert!(!folder.join("other.json").exists() && !folder.join("other.json.part").exists());
    }
}
