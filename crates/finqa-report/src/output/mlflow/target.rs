//! The address and the credentials of a tracking server.

use base64::Engine as _;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use finqa_core::net::is_loopback;
use finqa_core::secrets::{is_broken_key, redact_json, shown_address};

use super::error::MlflowError;

/// Credentials for a server. They are neither shown nor written to a file.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The value of the header `Authorization`.
    header: HeaderValue,
    /// Parts of the header that a server may repeat in a reply. They are removed there.
    secrets: Vec<SecretString>,
}

impl Credentials {
    /// The credentials for a token (`MLFLOW_TRACKING_TOKEN`).
    ///
    /// # Errors
    /// [`MlflowError::Credentials`] for characters that no token has.
    pub fn token(token: &str) -> Result<Self, MlflowError> {
        let token = token.trim();
        if is_broken_key(token) {
            return Err(MlflowError::Credentials);
        }
        Self::new(&format!("Bearer {token}"), &[token])
    }

    /// The credentials for a user and a password (`MLFLOW_TRACKING_USERNAME` and
    /// `MLFLOW_TRACKING_PASSWORD`).
    pub fn basic(user: &str, password: &str) -> Result<Self, MlflowError> {
        let pair = base64::prelude::BASE64_STANDARD.encode(format!("{user}:{password}"));
        Self::new(&format!("Basic {pair}"), &[&pair, password])
    }

    fn new(header: &str, secrets: &[&str]) -> Result<Self, MlflowError> {
        let header = HeaderValue::try_from(header);
        let mut header = header.map_err(|_| MlflowError::Credentials)?;
        header.set_sensitive(true);
        let secrets = secrets.iter().copied().map(SecretString::from).collect();
        Ok(Self { header, secrets })
    }
}

/// A tracking server and an experiment on it.
#[derive(Clone, Debug)]
pub struct TrackingTarget {
    /// `http://host:port`, followed by a path if the server has one. It has no user, password or
    /// final slash, but the path may contain a key.
    pub(super) uri: String,
    /// The address without secrets, for display and files.
    pub shown: String,
    pub experiment: String,
    credentials: Option<Credentials>,
}

impl TrackingTarget {
    /// Reads the address of a tracking server.
    ///
    /// # Errors
    /// [`MlflowError::Address`] for other schemes, and for an address with a user, a password, a
    /// query or a fragment.
    pub fn new(
        uri: &str,
        experiment: &str,
        credentials: Option<Credentials>,
    ) -> Result<Self, MlflowError> {
        let uri = uri.trim();
        let error = |reason| MlflowError::Address {
            uri: shown_address(uri),
            reason,
        };
        let url = reqwest::Url::parse(uri).map_err(|_| {
            error("not the address of an MLflow server; it is like http://127.0.0.1:5000")
        })?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(error(
                "runs are tracked by an MLflow server over http or https only; start one with `mlflow server`",
            ));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(error(
                "it holds a query string or fragment; give a key in MLFLOW_TRACKING_TOKEN",
            ));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(error(
                "it holds a user or password; put them in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
            ));
        }
        let uri = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self {
            shown: shown_address(&uri),
            uri,
            experiment: experiment.trim().to_owned(),
            credentials,
        })
    }

    /// True if the server is on this machine. It is then called without a proxy.
    pub fn is_loopback(&self) -> bool {
        let url = reqwest::Url::parse(&self.uri).ok();
        url.is_some_and(|url| url.host_str().is_some_and(is_loopback))
    }

    /// The address of a run's page.
    pub fn page(&self, experiment_id: &str, run_id: &str) -> String {
        format!("{}/#/experiments/{experiment_id}/runs/{run_id}", self.shown)
    }

    /// The path on this server for the files at `artifact_uri`. `None` if clients must write the
    /// files to another place themselves.
    pub(super) fn proxy_path(artifact_uri: &str) -> Option<String> {
        let root = artifact_uri.strip_prefix("mlflow-artifacts:")?;
        // A host in the URI (mlflow-artifacts://host/path) is ignored; the files go to this server.
        let path = match root.strip_prefix("//") {
            Some(with_host) => with_host.split_once('/').map_or("", |(_, path)| path),
            None => root.trim_start_matches('/'),
        };
        Some(format!("/api/2.0/mlflow-artifacts/artifacts/{path}"))
    }

    /// True if credentials would be sent unencrypted to another machine.
    pub fn is_exposed(&self) -> bool {
        self.credentials.is_some() && self.uri.starts_with("http://") && !self.is_loopback()
    }

    /// The value of `Authorization`, if there are credentials.
    pub(super) fn authorization(&self) -> Option<HeaderValue> {
        let credentials = self.credentials.as_ref();
        credentials.map(|credentials| credentials.header.clone())
    }

    /// Removes the credentials from every string of a reply, because a server may repeat them.
    pub(super) fn redact(&self, reply: &mut serde_json::Value) {
        if let Some(credentials) = &self.credentials {
            let secrets = credentials.secrets.iter();
            let secrets: Vec<&str> = secrets.map(ExposeSecret::expose_secret).collect();
            redact_json(reply, &secrets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_server_is_reported_without_its_password() {
        for uri in [
            "ftp://me:s3cr@h", "http://me:s3cr@h", "databricks", "sqlite:///x.db", "", "/tmp",
        ] {
            let error = TrackingTarget::new(uri, "e", None).unwrap_err();
            assert!(matches!(error, MlflowError::Address { .. }), "{error}");
            assert!(!error.to_string().contains("s3cr"), "{error}");
        }
        let error = Credentials::token("a\nb").unwrap_err();
        assert!(error.to_string().contains("MLFLOW_TRACKING_TOKEN"));
    }

    #[test]
    fn only_a_proxied_place_has_a_path() {
        for (uri, path) in [
            ("mlflow-artifacts:/1/abc", Some("1/abc")),
            ("mlflow-artifacts://h:5000/1/abc", Some("1/abc")),
            ("s3://bucket/1/abc", None),
            ("/mlruns/1/abc", None),
        ] {
            let path = path.map(|path| format!("/api/2.0/mlflow-artifacts/artifacts/{path}"));
            assert_eq!(TrackingTarget::proxy_path(uri), path, "{uri}");
        }
    }
}
