//! Files of a run on the server.

use std::path::{Path, PathBuf};

use percent_encoding::utf8_percent_encode;

use super::error::MlflowError;

/// A file that the server gets.
#[derive(Clone, Debug)]
pub(crate) struct Artifact {
    /// Path among the run's files on the server.
    pub path: String,
    pub content: ArtifactContent,
}

/// The content of a file.
#[derive(Clone, Debug)]
pub(crate) enum ArtifactContent {
    /// In a file of the run's folder.
    File(PathBuf),
    /// Here.
    Text(String),
}

impl Artifact {
    pub(super) fn text(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            content: ArtifactContent::Text(text.into()),
        }
    }

    /// A file of the run's folder, if it is there.
    pub(super) fn file(folder: &Path, name: &str) -> Option<Self> {
        let file = folder.join(name);
        file.is_file().then(|| Self {
            path: name.to_owned(),
            content: ArtifactContent::File(file),
        })
    }

    /// blake3 of the content, hex.
    pub(super) fn hash(&self) -> Result<String, MlflowError> {
        let mut hasher = blake3::Hasher::new();
        match &self.content {
            ArtifactContent::Text(text) => {
                hasher.update(text.as_bytes());
            }
            ArtifactContent::File(path) => {
                let error = |source| MlflowError::File {
                    path: path.clone(),
                    source,
                };
                let file = std::fs::File::open(path).map_err(error)?;
                hasher.update_reader(file).map_err(error)?;
            }
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}

/// The server path of a run's files behind its artifact proxy; `None` if the server does
/// not serve them.
pub(super) fn proxy_path(uri: &str, artifact_uri: &str) -> Option<String> {
    const API: &str = "/api/2.0/mlflow-artifacts/artifacts";
    let root = if let Some(rest) = artifact_uri.strip_prefix("mlflow-artifacts:") {
        // With a host in it (mlflow-artifacts://host/path) the same server is meant.
        match rest.strip_prefix("//") {
            Some(with_host) => with_host.split_once('/').map_or("", |(_, path)| path),
            None => rest,
        }
    } else {
        artifact_uri.strip_prefix(uri)?.strip_prefix(API)?
    };
    let segments = root.split('/').filter(|part| !part.is_empty());
    let path: Vec<_> = segments.map(encoded).collect();
    Some(format!("{API}/{}", path.join("/")))
}

/// A path with everything encoded that an address cannot hold, slashes kept.
pub(super) fn encoded_path(path: &str) -> String {
    path.split('/').map(encoded).collect::<Vec<_>>().join("/")
}

fn encoded(segment: &str) -> String {
    utf8_percent_encode(segment, crate::output::SEGMENT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_proxied_place_has_a_path() {
        let uri = "http://h:5000";
        let path = |artifact_uri| proxy_path(uri, artifact_uri);
        let expected = Some("/api/2.0/mlflow-artifacts/artifacts/1/abc/artifacts".to_owned());
        assert_eq!(path("mlflow-artifacts:/1/abc/artifacts"), expected);
        assert_eq!(path("mlflow-artifacts://h:5000/1/abc/artifacts"), expected);
        assert_eq!(
            path("http://h:5000/api/2.0/mlflow-artifacts/artifacts/1/abc/artifacts"),
            expected
        );
        for elsewhere in ["s3://bucket/1/abc", "/mlruns/1/abc", "file:///mlruns/1", ""] {
            assert_eq!(path(elsewhere), None, "{elsewhere}");
        }
        assert_eq!(encoded_path("a b/é.txt"), "a%20b/%C3%A9.txt");
    }
}
