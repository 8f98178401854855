//! Environment variables. The command line passes them in, because the library itself does not read
//! the environment.

use std::sync::Arc;

use finqa_agents::llm::settings::ALLOW_HTTP;

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks up environment variables, such as keys of providers and addresses of servers.
#[derive(Clone)]
pub struct Variables(Arc<Lookup>);

impl Variables {
    /// An environment without variables.
    pub fn none() -> Self {
        Self::new(|_| None)
    }

    /// An environment in which `value` returns a variable's value for its name.
    pub fn new(value: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(value))
    }

    /// The value of a variable; `None` if it is unset or blank.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }

    /// True if the user allows keys and tokens to be sent to other machines over http://.
    pub fn allows_http(&self) -> bool {
        self.get(ALLOW_HTTP)
            .is_some_and(|value| value.trim() == "true")
    }
}
