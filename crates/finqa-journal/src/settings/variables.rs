//! Environment variables, which the command line passes to the library. The library itself does
//! not read the environment.

use std::sync::Arc;

use finqa_agents::llm::settings::ALLOW_HTTP;

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks up environment variables, such as the keys of providers and the addresses of servers.
#[derive(Clone)]
pub struct Variables(Arc<Lookup>);

impl Variables {
    /// An environment without variables.
    pub fn none() -> Self {
        Self::new(|_| None)
    }

    /// An environment in which `value` returns the value of a variable by its name.
    pub fn new(value: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(value))
    }

    /// The value of a variable; an empty one is unset.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).filter(|value| !value.trim().is_empty())
    }

    /// True if keys and tokens may be sent over http:// to other machines.
    pub fn allows_http(&self) -> bool {
        self.get(ALLOW_HTTP)
            .is_some_and(|value| value.trim() == "true")
    }
}
