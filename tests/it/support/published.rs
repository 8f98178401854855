//! Published records of ConvFinQA: ten in the repository, and the published files, which are not
//! part of it.
//!
//! A test that needs the published files is ignored and has `needs_data` in its path;
//! `tests/run.sh` runs it if the files are there.

use std::path::{Path, PathBuf};

use finqa_score::dataset::{Dataset, Source, load};

/// A file with ten of the records in `train_first100.json`, which are from the training set.
pub const TEN: &str = "train_10.json";

/// The path of a published file. `CONVFINQA_REQUIRE_DATA` names the folder of the files; without
/// it, or if it is `1`, the folder is `../shared/data`.
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

/// The path of a file of records.
#[track_caller]
pub fn records_file(name: &str) -> PathBuf {
    if name == TEN {
        return Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/convfinqa")
            .join(TEN);
    }
    file(&format!("convfinqa/{name}"))
}

/// The records of a file.
#[track_caller]
pub fn records(name: &str) -> Dataset {
    load(&Source::Path(records_file(name))).unwrap()
}
