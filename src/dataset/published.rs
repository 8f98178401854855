//! The published location of ConvFinQA.

use finqa_core::fetch::{DownloadOptions, PublishedFile};

/// The folder in which the files are put and looked for, unless another one is named.
pub(crate) const DATA_FOLDER: &str = "data";
/// The file that is read where no other one is named.
pub(super) const TRAIN: &str = "train.json";

/// The archive of the authors' repository (MIT licence), as of its last change.
pub fn published() -> DownloadOptions {
    let archive = PublishedFile::new(
        "data.zip",
        Some("bde03381e2d9ef0043796f2722f7a87633887358"),
        true,
    );
    DownloadOptions {
        files: vec![
            PublishedFile::new(
                TRAIN,
                Some("b46e80ca7648c5a5488bd0e0523960e64cbc4439"),
                true,
            ),
            PublishedFile::new(
                "dev.json",
                Some("d87047dfac2a1aa84ca2a6412f91ec2bccfae101"),
                true,
            ),
            PublishedFile::new("test_private.json", None, true),
        ],
        ..DownloadOptions::new(
            "https://raw.githubusercontent.com/czyssrs/ConvFinQA/main".to_owned(),
            archive,
        )
    }
}
