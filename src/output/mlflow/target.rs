//! The address and the credentials of a tracking server.

use base64::Engine as _;
use percent_encoding::percent_decode_str;
use reqwest::RequestBuilder;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use finqa_core::net::is_loopback;
use finqa_core::secrets::{redact, redact_json, shown_address};

use super::error::MlflowError;

/// As whom the server is asked; never shown, never written.
#[derive(Clone, Debug, Default)]
pub enum Credentials {
    /// No credentials.
    #[default]
    None,
    /// `MLFLOW_TRACKING_TOKEN`.
    Token(SecretString),
    /// `MLFLOW_TRACKING_USERNAME` and `MLFLOW_TRACKING_PASSWORD`.
    Basic {
        user: SecretString,
        password: SecretString,
    },
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
    pub credentials: Credentials,
    /// The base of links to the server: [`Self::uri`], unless people reach it at another
    /// address.
    links: String,
}

impl TrackingTarget {
    /// Reads the address of a tracking server. A user and password in it are
    /// used as the credentials, unless there are others.
    pub fn new(uri: &str, experiment: &str, credentials: Credentials) -> Result<Self, MlflowError> {
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
        let credentials = match (credentials, url.username(), url.password()) {
            (Credentials::None, user, password) if !user.is_empty() || password.is_some() => {
                Credentials::Basic {
                    user: decoded(user).into(),
                    password: decoded(password.unwrap_or_default()).into(),
                }
            }
            (given, _, _) => given,
        };
        if url.query().is_some() || url.fragment().is_some() {
            return Err(error(
                "it holds a query string or fragment; give a key in MLFLOW_TRACKING_TOKEN",
            ));
        }
        let _ = url.set_username("");
        let _ = url.set_password(None);
        if let Credentials::Token(token) = &credentials
            && HeaderValue::from_str(token.expose_secret().trim()).is_err()
        {
            return Err(MlflowError::Credentials {
                variable: "MLFLOW_TRACKING_TOKEN",
            });
        }
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
    pub fn with_links(mut self, rule: &str) -> Result<Self, MlflowError> {
        let address = |text: &str| {
            Self::new(text, "", Credentials::None)
                .map(|target| target.uri)
                .map_err(|_| MlflowError::Links)
        };
        let (server, seen_at) = rule.split_once('=').ok_or(MlflowError::Links)?;
        let (server, seen_at) = (address(server)?, address(seen_at)?);
        if server == self.uri {
            self.links = shown_address(&seen_at);
        }
        Ok(self)
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

    /// True if credentials would go unencrypted to another machine.
    pub(crate) fn is_exposed(&self) -> bool {
        !matches!(self.credentials, Credentials::None)
            && self.uri.starts_with("http://")
            && !self.is_loopback()
    }

    /// A server's words without what it was sent and repeats.
    pub(super) fn redact(&self, text: &str) -> String {
        let secrets = self.secrets();
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        redact(text, &secrets).into_owned()
    }

    /// Applies [`Self::redact`] to every string of a JSON value.
    pub(super) fn redact_json(&self, value: &mut serde_json::Value) {
        let secrets = self.secrets();
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        redact_json(value, &secrets);
    }

    fn secrets(&self) -> Vec<String> {
        match &self.credentials {
            Credentials::None => Vec::new(),
            Credentials::Token(token) => vec![token.expose_secret().trim().to_owned()],
            Credentials::Basic { user, password } => {
                let pair = format!("{}:{}", user.expose_secret(), password.expose_secret());
                vec![
                    base64::prelude::BASE64_STANDARD.encode(pair),
                    password.expose_secret().to_owned(),
                ]
            }
        }
    }

    pub(super) fn authorize(&self, request: RequestBuilder) -> RequestBuilder {
        match &self.credentials {
            Credentials::None => request,
            Credentials::Token(token) => request.bearer_auth(token.expose_secret().trim()),
            Credentials::Basic { user, password } => {
                request.basic_auth(user.expose_secret(), Some(password.expose_secret()))
            }
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
        let target =
            TrackingTarget::new("http://me:s%40crt@h:5000/x/", "e", Credentials::None).unwrap();
        assert_eq!(target.uri, "http://h:5000/x");
        let Credentials::Basic { user, password } = &target.credentials else {
            panic!("no credentials");
        };
        assert_eq!(user.expose_secret(), "me");
        assert_eq!(password.expose_secret(), "s@crt");
        assert!(!format!("{target:?}").contains("crt"));
    }

    #[test]
    fn links_begin_with_the_address_by_which_people_reach_the_server() {
        let page = |uri: &str, rule: &str| {
            let target = TrackingTarget::new(uri, "e", Credentials::None).unwrap();
            target.with_links(rule).map(|target| target.page("1", "r"))
        };
        let rule = "http://mlflow:5000/=http://localhost:5001/";
        assert_eq!(
            page("http://mlflow:5000", rule).unwrap(),
            "http://localhost:5001/#/experiments/1/runs/r"
        );
        assert_eq!(
            page("https://elsewhere.example/ml", rule).unwrap(),
            "https://elsewhere.example/ml/#/experiments/1/runs/r",
            "a rule for another server"
        );
        for rule in [
            "http://localhost:5001", "mlflow=localhost", "a=http://b", "",
        ] {
            let error = page("http://mlflow:5000", rule).unwrap_err();
            assert!(matches!(error, MlflowError::Links), "{rule}: {error}");
        }
    }

    #[test]
    fn what_is_not_a_server_is_reported_without_its_password() {
        for uri in [
            "ftp://me:s3cr@h", "databricks", "sqlite:///x.db", "", "/tmp",
        ] {
            let error = TrackingTarget::new(uri, "e", Credentials::None).unwrap_err();
            assert!(matches!(error, MlflowError::Address { .. }), "{error}");
            assert!(!error.to_string().contains("s3cr"), "{error}");
        }
        let token = Credentials::Token("a\nb".to_owned().into());
        let error = TrackingTarget::new("http://h", "e", token).unwrap_err();
        assert!(error.to_string().contains("MLFLOW_TRACKING_TOKEN"));
    }

    #[test]
    fn loopback_is_known() {
        for (uri, loopback) in [
            ("http://127.0.0.1:5000", true),
            ("http://localhost", true),
            ("http://mlflow.localhost:5000", true),
            ("http://[::1]:5000", true),
            ("http://mlflow:5000", false),
            ("https://10.0.0.1", false),
        ] {
            let target = TrackingTarget::new(uri, "e", Credentials::None).unwrap();
            assert_eq!(target.is_loopback(), loopback, "{uri}");
        }
    }
}
