//! The address of the published ConvFinQA files, and the hashes that verify a download.

use crate::options::{DownloadOptions, PublishedFile};

/// The archive of the authors' repository (MIT licence), as of their last change to it.
pub fn published() -> DownloadOptions {
    const BLOBS: [(&str, Option<&str>); 3] = [
        (
            "train.json",
            Some("b46e80ca7648c5a5488bd0e0523960e64cbc4439"),
        ),
        ("dev.json", Some("d87047dfac2a1aa84ca2a6412f91ec2bccfae101")),
        // Not verified by itself: it comes from the archive, which is verified.
        ("test_private.json", None),
    ];
    let blob = "bde03381e2d9ef0043796f2722f7a87633887358";
    DownloadOptions {
        files: BLOBS
            .map(|(name, blob)| PublishedFile::new(name, blob))
            .into(),
        ..DownloadOptions::new(
            "https://raw.githubusercontent.com/czyssrs/ConvFinQA/main".to_owned(),
            PublishedFile::new("data.zip", Some(blob)),
        )
    }
}
