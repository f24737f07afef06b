//! Handles: tokens that are freed when they are dropped.

use crate::ffi;
use crate::raw::call;
use std::fmt;

/// A kind of object.
pub(crate) trait Noun {
    fn free(token: *mut Self);
}

macro_rules! nouns {
    ($($noun:ident: $free:ident,)*) => {$(
        impl Noun for ffi::$noun {
            fn free(token: *mut Self) {
                call!($free(token))
            }
        }
    )*};
}
nouns! {
    gnnmg_context: gnnmg_context_free,
    gnnmg_graph: gnnmg_graph_free,
    gnnmg_dataset: gnnmg_dataset_free,
    gnnmg_sampler: gnnmg_sampler_free,
    gnnmg_loader: gnnmg_loader_free,
    gnnmg_batch: gnnmg_batch_free,
    gnnmg_model: gnnmg_model_free,
    gnnmg_optimizer: gnnmg_optimizer_free,
    gnnmg_comm: gnnmg_comm_free,
    gnnmg_trainer: gnnmg_trainer_free,
    gnnmg_server: gnnmg_server_free,
    gnnmg_predictor: gnnmg_predictor_free,
}

/// Owns a token.
pub(crate) struct Handle<T: Noun>(Token<T>);

impl<T: Noun> Handle<T> {
    pub fn new(token: *mut T) -> Self {
        Handle(Token(token))
    }

    pub fn get(&self) -> *mut T {
        self.0 .0
    }

    /// The same token without ownership, for calls that allow a stale one.
    pub fn token(&self) -> Token<T> {
        self.0
    }
}

impl<T: Noun> Drop for Handle<T> {
    fn drop(&mut self) {
        T::free(self.get());
    }
}

impl<T: Noun> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.get())
    }
}

/// A token that may be stale. The library looks tokens up and never follows them, and numbers are
/// not used again.
pub(crate) struct Token<T>(pub *mut T);

impl<T> Clone for Token<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Token<T> {}

// Tokens are numbers. The library answers calls that collide with an error, from whatever thread.
unsafe impl<T> Send for Token<T> {}
unsafe impl<T> Sync for Token<T> {}
