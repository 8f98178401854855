//! Classifies errors by what is at fault, and finds the causes of an error.

use std::error::Error;

/// The party at fault for an error. It decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This program.
    Bug,
    /// The options, or an output that cannot be written.
    Usage,
    /// Data that cannot be read, or that do not have what was asked for.
    Data,
    /// A server that cannot be reached or refuses the request.
    Provider,
}

/// An error that is shown to a user.
pub trait Kinded: Error {
    /// The party at fault.
    fn kind(&self) -> Kind;
}

/// The innermost cause of an error, or the error itself if it has no cause. The innermost cause
/// says what happened, while the layers above it often only repeat an address, which may contain a
/// password.
pub fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    causes(error).last().unwrap_or(error)
}

/// The causes behind an error, outermost first, without the error itself.
pub fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    let mut next = error.source();
    std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    })
}
