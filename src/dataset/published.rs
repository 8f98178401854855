//! Where ConvFinQA is published.

use finqa_core::fetch::{DownloadOptions, Published};

/// The archive of the authors' repository (MIT licence), as of its last change.
#[must_use]
pub fn published() -> DownloadOptions {
    let archive = Published::new(
        "data.zip",
        Some("bde03381e2d9ef0043796f2722f7a87633887358"),
        true,
    );
    DownloadOptions {
        files: vec![
            Published::new(
                "train.json",
                Some("b46e80ca7648c5a5488bd0e0523960e64cbc4439"),
                true,
            ),
            Published::new(
                "dev.json",
                Some("d87047dfac2a1aa84ca2a6412f91ec2bccfae101"),
                true,
            ),
            Published::new("test_private.json", None, true),
            Published::new("train_turn.json", None, false),
            Published::new("dev_turn.json", None, false),
            Published::new("test_turn_private.json", None, false),
        ],
        ..DownloadOptions::new(
            "https://raw.githubusercontent.com/czyssrs/ConvFinQA/main".to_owned(),
            archive,
        )
    }
}
