//! The error of all functions.

use crate::raw::{call, Field};
use crate::{ffi, ErrorKind};
use std::ffi::CStr;
use std::fmt;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: a kind for programs, one line for people, and further facts.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    text: String,
    rank: Option<usize>,
    os_error: Option<i32>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// The kind, for programs.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// One line that names the argument, file or array, the expected value, and the found one.
    pub fn message(&self) -> &str {
        &self.0.text
    }

    /// The rank that failed, where one did.
    pub fn rank(&self) -> Option<usize> {
        self.0.rank
    }

    /// The system's number for the error, where a call of the system failed.
    pub fn raw_os_error(&self) -> Option<i32> {
        self.0.os_error
    }

    /// The error of this thread's last call, which answered `status`.
    #[cold]
    pub(crate) fn last(status: ffi::gnnmg_status) -> Self {
        let mut info = unsafe { std::mem::zeroed::<ffi::gnnmg_error_info>() };
        info.struct_size = std::mem::size_of_val(&info) as u32;
        let known = call!(gnnmg_last_error_info(&mut info)) == ffi::GNNMG_OK;
        // The info has the start of it only.
        let text = unsafe { CStr::from_ptr(call!(gnnmg_last_error())) };
        Error(Box::new(Inner {
            kind: ErrorKind::from_raw(status),
            text: text.to_string_lossy().into_owned(),
            rank: usize::try_from(info.rank).ok().filter(|_| known),
            os_error: Some(info.system_error).filter(|&number| known && number != 0),
            source: None,
        }))
    }

    /// An argument error that this crate finds before the library does.
    #[cold]
    pub(crate) fn argument(text: String) -> Self {
        Self::new(ErrorKind::InvalidArgument, text)
    }

    #[cold]
    pub(crate) fn internal(text: &str) -> Self {
        Self::new(ErrorKind::Internal, text.to_string())
    }

    #[cold]
    pub(crate) fn new(kind: ErrorKind, text: String) -> Self {
        Error(Box::new(Inner { kind, text, rank: None, os_error: None, source: None }))
    }

    pub(crate) fn caused_by(mut self, source: Box<dyn std::error::Error + Send + Sync>) -> Self {
        self.0.source = Some(source);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.text.is_empty() {
            true => write!(f, "{}", self.0.kind),
            false => f.write_str(&self.0.text),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Error");
        out.field("kind", &self.0.kind).field("message", &self.0.text);
        if let Some(rank) = self.0.rank {
            out.field("rank", &rank);
        }
        if let Some(number) = self.0.os_error {
            out.field("os_error", &std::io::Error::from_raw_os_error(number));
        }
        if let Some(source) = &self.0.source {
            out.field("source", source);
        }
        out.finish()
    }
}

impl std::error::Error for Error {
    /// The closure's error, if a closure ended the work.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as _)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A constant that is always valid.
        let name = unsafe { CStr::from_ptr(call!(gnnmg_status_name((*self).into_raw()))) };
        f.write_str(&name.to_string_lossy())
    }
}
