//! Published files that lie beside the repository: no part of it, and measured
//! only where they are at hand.

use std::path::{Path, PathBuf};

use convfinqa::dataset::{Dataset, Source, load};

/// A file in `../shared/data`; says so and gives `None` where it is missing.
pub fn beside(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data")
        .join(name);
    if path.is_file() {
        return Some(path);
    }
    println!("skipped: no {name} beside the repository");
    None
}

/// A file of records.
pub fn records_file(name: &str) -> Option<PathBuf> {
    beside(&format!("convfinqa/{name}"))
}

/// Its records.
pub fn published(name: &str) -> Option<Dataset> {
    Some(load(&Source::Path(records_file(name)?)).unwrap())
}
