//! The address and the token of an environment's server.

use reqwest::Url;
use secrecy::SecretString;

use finqa_core::net::is_loopback;
use finqa_core::secrets::shown_address;

use super::RemoteError;

/// The address of an environment's server, and the token for it.
#[derive(Clone, Debug)]
pub struct Address {
    /// `http://…/ws` or `https://…/ws`, without a user name. The query may contain a key, so people
    /// are shown [`Address::shown`] instead.
    pub(super) url: Url,
    pub(super) token: Option<SecretString>,
}

impl Address {
    /// Reads an address such as `http://host:8000`, `https://host/path` or `ws://host`. Appends
    /// `/ws` if it is missing.
    ///
    /// # Errors
    /// [`RemoteError::Address`] for a text that is not such an address, and for a token that would
    /// be sent unencrypted to another machine, unless `allow_http` is set.
    pub fn new(
        text: &str,
        token: Option<SecretString>,
        allow_http: bool,
    ) -> Result<Self, RemoteError> {
        let wrong = |reason: &str| RemoteError::Address {
            url: shown_address(text),
            reason: reason.to_owned(),
        };
        // A WebSocket begins as an HTTP request, which the HTTP client sends.
        let spelled = match text.trim().split_once("://") {
            Some(("ws" | "http", rest)) => format!("http://{rest}"),
            Some(("wss" | "https", rest)) => format!("https://{rest}"),
            _ => return Err(wrong("it does not begin with http:// or https://")),
        };
        let mut url = Url::parse(&spelled).map_err(|error| wrong(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(RemoteError::Address {
                // Only the host, because a user name may come with a password.
                url: url.host_str().unwrap_or_default().to_owned(),
                reason: "it holds a user name; give the server's token with --token".to_owned(),
            });
        }
        let path = url.path().trim_end_matches('/').trim_end_matches("/ws");
        let path = format!("{path}/ws");
        url.set_path(&path);
        url.set_fragment(None);
        let address = Self { url, token };
        let open = address.url.scheme() == "http" && !address.is_loopback();
        if address.token.is_some() && open && !allow_http {
            return Err(wrong(
                "the token would be sent unencrypted: use https://, or set CONVFINQA_ALLOW_HTTP=true",
            ));
        }
        Ok(address)
    }

    /// The address for people, without secrets.
    pub fn shown(&self) -> String {
        let shown = shown_address(self.url.as_str());
        let shown = shown.trim_end_matches("/ws");
        shown.trim_end_matches('/').to_owned()
    }

    pub(super) fn is_loopback(&self) -> bool {
        self.url.host_str().is_some_and(is_loopback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_written_in_several_ways() {
        for (text, url) in [
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000/ws"),
            (" ws://127.0.0.1:8000/ws/ ", "http://127.0.0.1:8000/ws"),
            ("https://host.example/env", "https://host.example/env/ws"),
            (
                "wss://host.example/ws?key=1", "https://host.example/ws?key=1",
            ),
        ] {
            let address = Address::new(text, None, false).unwrap();
            assert_eq!(address.url.as_str(), url);
            assert!(!address.shown().contains("/ws"), "{}", address.shown());
            assert!(!address.shown().contains("key"), "{}", address.shown());
        }
        for text in [
            "127.0.0.1:8000", "ftp://host", "http://", "", "http://user:word@host",
        ] {
            let error = Address::new(text, None, false).unwrap_err();
            assert!(matches!(error, RemoteError::Address { .. }), "{text}");
            assert!(!error.to_string().contains("word"), "{error}");
        }
    }

    #[test]
    fn a_token_goes_over_http_to_another_machine_only_if_that_is_allowed() {
        for (url, token, allow, passes) in [
            ("http://env:8000", true, false, false),
            ("http://env:8000", false, false, true),
            ("http://env:8000", true, true, true),
            ("https://env:8000", true, false, true),
            ("ws://127.0.0.1:8000", true, false, true),
        ] {
            let token = token.then(|| "t".to_owned().into());
            let read = Address::new(url, token, allow);
            assert_eq!(read.is_ok(), passes, "{url}");
            let named = |error: RemoteError| error.to_string().contains("CONVFINQA_ALLOW_HTTP");
            assert!(read.err().is_none_or(named), "{url}");
        }
    }
}
