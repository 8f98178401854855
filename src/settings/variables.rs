//! Variables of the environment as the command line gives them to the library,
//! which reads no environment itself.

use std::sync::Arc;

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks variables up; keys to providers and addresses of servers come from here.
#[derive(Clone)]
pub struct Variables {
    value: Arc<Lookup>,
    is_from_file: fn(&str) -> bool,
}

impl Variables {
    /// No variable is set.
    pub fn none() -> Self {
        Self::new(|_| None)
    }

    /// Variables as `value` gives them.
    pub fn new(value: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self {
            value: Arc::new(value),
            is_from_file: |_| false,
        }
    }

    /// Adds `is_from_file`, which is true for variables set by a `.env` file: that file may
    /// come from someone else.
    #[must_use]
    pub(crate) fn with_file(self, is_from_file: fn(&str) -> bool) -> Self {
        Self {
            is_from_file,
            ..self
        }
    }

    /// The value of a variable; an empty one is unset.
    pub fn get(&self, name: &str) -> Option<String> {
        (self.value)(name).filter(|value| !value.trim().is_empty())
    }

    /// True if a `.env` file set the variable.
    pub(crate) fn is_from_file(&self, name: &str) -> bool {
        (self.is_from_file)(name)
    }
}
