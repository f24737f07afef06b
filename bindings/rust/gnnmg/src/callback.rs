//! Closures that the library calls: their results, and the way of a panic or an error from the
//! thread of the closure to the waiting call.

use crate::error::{Error, Result};
use crate::ErrorKind;
use std::any::Any;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The result of a closure: nothing, or a `Result` whose error ends the work and becomes the
/// [source](std::error::Error::source) of the waiting call's error.
pub trait Outcome {
    #[doc(hidden)]
    fn into_result(self) -> std::result::Result<(), Cause>;
}

impl Outcome for () {
    fn into_result(self) -> std::result::Result<(), Cause> {
        Ok(())
    }
}

impl<E: Into<Cause>> Outcome for std::result::Result<(), E> {
    fn into_result(self) -> std::result::Result<(), Cause> {
        self.map_err(Into::into)
    }
}

enum Failure {
    Panic(Box<dyn Any + Send>),
    Error(Cause),
}

/// Keeps the failure of a closure.
#[derive(Clone, Default)]
pub(crate) struct Slot(Arc<Place>);

#[derive(Default)]
struct Place(Mutex<Option<Failure>>);

impl Slot {
    /// Runs a closure and returns C's result: 0, or 1 to end the work.
    pub fn run<O: Outcome>(&self, closure: impl FnOnce() -> O) -> i32 {
        let failure = match catch_unwind(AssertUnwindSafe(|| closure().into_result())) {
            Ok(Ok(())) => return 0,
            Ok(Err(cause)) => Failure::Error(cause),
            Err(payload) => Failure::Panic(payload),
        };
        // The last one counts: an older one may be of work without a waiting call.
        let older = self.0.swap(Some(failure));
        contained(|| drop(older));
        1
    }
}

impl Place {
    fn swap(&self, failure: Option<Failure>) -> Option<Failure> {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *place, failure)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let last = self.swap(None);
        contained(|| drop(last));
    }
}

/// Runs a caller's destructor where a panic must not propagate: in a call from C, or in another
/// destructor. The panic's payload is dropped, or leaked if dropping it panics too.
pub(crate) fn contained(destructor: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(destructor)) {
        if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(another);
        }
    }
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("closure")
    }
}

/// The result of a call that waited: where a closure has ended the work, its panic goes on here,
/// and its error becomes the source of the call's.
pub(crate) fn settle<T>(result: Result<T>, slots: &[Option<&Slot>]) -> Result<T> {
    let error = match result {
        Err(error) if error.kind() == ErrorKind::Callback => error,
        other => return other,
    };
    match slots.iter().flatten().find_map(|slot| slot.0.swap(None)) {
        Some(Failure::Panic(payload)) => resume_unwind(payload),
        Some(Failure::Error(cause)) => Err(error.caused_by(cause)),
        None => Err::<T, Error>(error),
    }
}
