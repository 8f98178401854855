//! The address and the credentials of a tracking server.

use base64::Engine as _;
use percent_encoding::{percent_decode_str, utf8_percent_encode};
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use finqa_core::net::is_loopback;
use finqa_core::secrets::{redact_json, shown_address};

use super::error::MlflowError;

/// As whom the server is asked; never shown, never written.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The value of `Authorization`.
    header: HeaderValue,
    /// What a server may repeat of it.
    secrets: Vec<SecretString>,
}

impl Credentials {
    /// Those of `MLFLOW_TRACKING_TOKEN`.
    pub fn token(token: &str) -> Result<Self, MlflowError> {
        let token = token.trim();
        Self::new(&format!("Bearer {token}"), &[token])
    }

    /// Those of `MLFLOW_TRACKING_USERNAME` and `MLFLOW_TRACKING_PASSWORD`.
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
    /// `http://host:port`, with a path if the server has one; no user, no
    /// password, no slash at the end. Its path may hold a key.
    pub(super) uri: String,
    /// The address without secrets, for display and files.
    pub shown: String,
    pub experiment: String,
    credentials: Option<Credentials>,
    /// The base of links to the server: [`Self::uri`], unless people reach it at another
    /// address.
    links: String,
}

impl TrackingTarget {
    /// Reads the address of a tracking server. A user and password in it are
    /// used as the credentials, unless there are others.
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
        let mut url = reqwest::Url::parse(uri).map_err(|_| {
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
        let credentials = match (credentials, url.username(), url.password()) {
            (None, user, password) if !user.is_empty() || password.is_some() => {
                let password = decoded(password.unwrap_or_default());
                Some(Credentials::basic(&decoded(user), &password)?)
            }
            (given, _, _) => given,
        };
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let uri = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self {
            links: shown_address(&uri),
            shown: shown_address(&uri),
            uri,
            experiment: experiment.trim().to_owned(),
            credentials,
        })
    }

    /// Sets the address at which people reach this server: `rule` is `SERVER=ADDRESS`. A
    /// rule for another server changes nothing.
    #[must_use]
    pub fn with_links(mut self, rule: &str) -> Self {
        if let Some((server, seen_at)) = rule.split_once('=')
            && server.trim().trim_end_matches('/') == self.uri
        {
            self.links = shown_address(seen_at.trim().trim_end_matches('/'));
        }
        self
    }

    /// True if the server is on this machine, so that no proxy is used.
    pub(crate) fn is_loopback(&self) -> bool {
        let url = reqwest::Url::parse(&self.uri).ok();
        url.is_some_and(|url| url.host_str().is_some_and(is_loopback))
    }

    /// The address of a run's page.
    pub fn page(&self, experiment_id: &str, run_id: &str) -> String {
        format!("{}/#/experiments/{experiment_id}/runs/{run_id}", self.links)
    }

    /// The path under this server of a run's files; `None` if it does not serve them.
    pub(super) fn proxy_path(&self, artifact_uri: &str) -> Option<String> {
        const API: &str = "/api/2.0/mlflow-artifacts/artifacts";
        let root = if let Some(rest) = artifact_uri.strip_prefix("mlflow-artifacts:") {
            // With a host in it (mlflow-artifacts://host/path) the same server is meant.
            match rest.strip_prefix("//") {
                Some(with_host) => with_host.split_once('/').map_or("", |(_, path)| path),
                None => rest,
            }
        } else {
            artifact_uri.strip_prefix(&self.uri)?.strip_prefix(API)?
        };
        let segments = root.split('/').filter(|part| !part.is_empty());
        let encoded = |part| utf8_percent_encode(part, crate::output::SEGMENT).to_string();
        let path: Vec<_> = segments.map(encoded).collect();
        Some(format!("{API}/{}", path.join("/")))
    }

    /// True if credentials would go unencrypted to another machine.
    pub(crate) fn is_exposed(&self) -> bool {
        self.credentials.is_some() && self.uri.starts_with("http://") && !self.is_loopback()
    }

    /// The value of `Authorization`, if there are credentials.
    pub(super) fn authorization(&self) -> Option<HeaderValue> {
        let credentials = self.credentials.as_ref();
        credentials.map(|credentials| credentials.header.clone())
    }

    /// Removes what the server was sent, and may repeat, from every string of a reply.
    pub(super) fn redact(&self, reply: &mut serde_json::Value) {
        if let Some(credentials) = &self.credentials {
            let secrets = credentials.secrets.iter();
            let secrets: Vec<&str> = secrets.map(ExposeSecret::expose_secret).collect();
            redact_json(reply, &secrets);
        }
    }
}

/// Percent-encoded text as it was before.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_the_address_is_used_and_not_kept() {
        let target = TrackingTarget::new("http://me:s%40crt@h:5000/x/", "e", None).unwrap();
        assert_eq!(target.uri, "http://h:5000/x");
        let header = target.authorization().unwrap();
        assert_eq!(header.to_str().unwrap(), "Basic bWU6c0BjcnQ=");
        assert!(!format!("{target:?}").contains("crt"));
    }

    #[test]
    fn links_begin_with_the_address_by_which_people_reach_the_server() {
        let page = |uri: &str, rule: &str| {
            let target = TrackingTarget::new(uri, "e", None).unwrap();
            target.with_links(rule).page("1", "r")
        };
        let rule = "http://mlflow:5000/=http://localhost:5001/";
        assert_eq!(
            page("http://mlflow:5000", rule),
            "http://localhost:5001/#/experiments/1/runs/r"
        );
        assert_eq!(
            page("https://elsewhere.example/ml", rule),
            "https://elsewhere.example/ml/#/experiments/1/runs/r",
            "a rule for another server"
        );
    }

    #[test]
    fn what_is_not_a_server_is_reported_without_its_password() {
        for uri in [
            "ftp://me:s3cr@h", "databricks", "sqlite:///x.db", "", "/tmp",
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
        let target = TrackingTarget::new("http://h:5000", "e", None).unwrap();
        let path = |artifact_uri| target.proxy_path(artifact_uri);
        let expected = Some("/api/2.0/mlflow-artifacts/artifacts/1/abc/a%20b".to_owned());
        assert_eq!(path("mlflow-artifacts:/1/abc/a b"), expected);
        assert_eq!(path("mlflow-artifacts://h:5000/1/abc/a b"), expected);
        assert_eq!(
            path("http://h:5000/api/2.0/mlflow-artifacts/artifacts/1/abc/a b"),
            expected
        );
        for elsewhere in ["s3://bucket/1/abc", "/mlruns/1/abc", "file:///mlruns/1", ""] {
            assert_eq!(path(elsewhere), None, "{elsewhere}");
        }
    }
}
