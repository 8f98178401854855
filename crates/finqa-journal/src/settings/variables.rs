//! Variables of the environment as the command line gives them to the library,
//! which reads no environment itself.

use std::sync::Arc;

use finqa_agents::llm::settings::ALLOW_HTTP;

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks variables up; keys to providers and addresses of servers come from here.
#[derive(Clone)]
pub struct Variables(Arc<Lookup>);

impl Variables {
    /// No variable is set.
    pub fn none() -> Self {
        Self::new(|_| None)
    }

    /// Variables as `value` gives them.
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
