//! Published records of ConvFinQA: ten in the repository, and the whole files,
//! which are not part of it.
//!
//! A test on whole files is ignored and has `needs_data` in its path;
//! `tests/run.sh` runs it where the files are.

use std::path::{Path, PathBuf};

use convfinqa::dataset::{Dataset, Source, load};

/// Ten records of the training set, among those in `train_first100.json`.
pub const TEN: &str = "train_10.json";

/// A published file. `CONVFINQA_REQUIRE_DATA` names their folder, unless it is `1`.
#[track_caller]
pub fn file(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = match std::env::var("CONVFINQA_REQUIRE_DATA") {
        Ok(folder) if folder != "1" => PathBuf::from(folder),
        _ => root.join("../shared/data"),
    };
    let path = folder.join(name);
    assert!(
        path.is_file(),
        "this test needs {}; CONVFINQA_REQUIRE_DATA names the folder of the published files",
        path.display()
    );
    path
}

/// A file of records.
#[track_caller]
pub fn records_file(name: &str) -> PathBuf {
    if name == TEN {
        return Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/convfinqa")
            .join(TEN);
    }
    file(&format!("convfinqa/{name}"))
}

/// Its records.
#[track_caller]
pub fn records(name: &str) -> Dataset {
    load(&Source::Path(records_file(name))).unwrap()
}
