//! Calls into C: function calls, conversion of their results, and the macros for enumerations,
//! settings and facts.

use crate::error::{Error, Result};
use crate::ffi;
use std::ffi::{c_char, CStr, CString};
use std::path::Path;
use std::task::Poll;
use std::time::Duration;

/// Calls a C function. Handles are tokens that the library looks up, so any value of one is sound;
/// pointers to arrays, texts and structs have to be valid while the call runs, and are, because
/// they are made from references in the statement of the call.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        #[cfg(gnnmg_reach)]
        $crate::reach::record(stringify!($function));
        #[allow(unused_unsafe)]
        unsafe { $crate::ffi::$function($($argument),*) }
    }};
}
pub(crate) use call;

/// Success, or the error of this thread.
pub(crate) fn check(status: ffi::gnnmg_status) -> Result<()> {
    if status >= 0 {
        Ok(())
    } else {
        Err(Error::last(status))
    }
}

/// True if there was one more.
pub(crate) fn more(status: ffi::gnnmg_status) -> Result<bool> {
    check(status).map(|()| status != ffi::GNNMG_END)
}

/// Ready once the work is done.
pub(crate) fn done(status: ffi::gnnmg_status) -> Result<Poll<()>> {
    check(status).map(|()| match status {
        ffi::GNNMG_PENDING => Poll::Pending,
        _ => Poll::Ready(()),
    })
}

/// Turns the answer of a call that fills `value` into one for a call with a deadline.
pub(crate) fn ready<T>(
    status: ffi::gnnmg_status,
    value: impl FnOnce() -> Result<T>,
) -> Result<Poll<T>> {
    match done(status)? {
        Poll::Pending => Ok(Poll::Pending),
        Poll::Ready(()) => value().map(Poll::Ready),
    }
}

/// Until the deadlines of the configuration.
pub(crate) const FOREVER: i64 = -1;

/// Waits for a call that may answer that it is not done yet.
pub(crate) fn block<T>(mut call: impl FnMut() -> Result<Poll<T>>) -> Result<T> {
    loop {
        if let Poll::Ready(value) = call()? {
            return Ok(value);
        }
    }
}

/// Whole milliseconds, rounded up.
pub(crate) fn millis(time: Duration) -> i64 {
    let up = time.as_nanos().div_ceil(1_000_000);
    i64::try_from(up).unwrap_or(i64::MAX)
}

/// A text for C, which cannot have a NUL inside.
pub(crate) fn text(name: &str, value: &str) -> Result<CString> {
    CString::new(value)
        .map_err(|_| Error::argument(format!("{name} is {value:?}, which has a NUL inside")))
}

pub(crate) fn path(path: &Path) -> Result<CString> {
    match path.to_str() {
        Some(value) => text("path", value),
        None => Err(Error::argument(format!("path {path:?} is not UTF-8"))),
    }
}

pub(crate) fn pointer(text: &Option<CString>) -> *const c_char {
    text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr())
}

/// A text that lives as long as the object `_owner` that it was asked of.
pub(crate) fn borrowed<T: ?Sized>(_owner: &T, text: *const c_char) -> Result<&str> {
    if text.is_null() {
        return Ok("");
    }
    // Not NULL, so a text that ends with a NUL and lives with its owner.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Error::internal("the library gave a text that is not UTF-8"))
}

/// Reads a text of unknown length by `(text, capacity, needed)`.
pub(crate) fn read_text(
    mut call: impl FnMut(*mut c_char, usize, *mut usize) -> ffi::gnnmg_status,
) -> Result<Option<String>> {
    let mut buffer = vec![0u8; 256];
    loop {
        let mut needed = 0;
        if !more(call(buffer.as_mut_ptr().cast(), buffer.len(), &mut needed))? {
            return Ok(None);
        }
        if needed <= buffer.len() {
            buffer.truncate(needed.saturating_sub(1));
            let text = String::from_utf8(buffer);
            return text
                .map(Some)
                .map_err(|_| Error::internal("the library gave a text that is not UTF-8"));
        }
        buffer.resize(needed, 0);
    }
}

/// A length as C counts; no array is longer than that.
pub(crate) fn length<T>(slice: &[T]) -> i64 {
    slice.len() as i64
}

/// Lists that have to be of one length, as C takes that length once.
pub(crate) fn equal_lengths(lists: &[(&str, usize)]) -> Result<()> {
    for pair in lists.windows(2) {
        let ((a, n), (b, m)) = (pair[0], pair[1]);
        if n != m {
            return Err(Error::argument(format!(
                "{a} has {n} entries and {b} {m}, expected equal"
            )));
        }
    }
    Ok(())
}

/// Conversion of a value of the safe layer to and from a struct of C. A value that C cannot hold
/// becomes its largest value, which the library refuses with a text.
pub(crate) trait Field<Raw>: Sized {
    fn into_raw(self) -> Raw;
    fn from_raw(raw: Raw) -> Self;
}

/// The value of a field of a struct that the library has filled.
pub(crate) trait FromField<Raw> {
    fn from_field(raw: &Raw) -> Self;
}
impl<Raw: Copy, T: Field<Raw>> FromField<Raw> for T {
    fn from_field(raw: &Raw) -> Self {
        T::from_raw(*raw)
    }
}

macro_rules! same {
    ($($ty:ty)*) => {$(
        impl Field<$ty> for $ty {
            fn into_raw(self) -> $ty { self }
            fn from_raw(raw: $ty) -> $ty { raw }
        }
    )*};
}
same! { i32 i64 u64 f64 usize }

macro_rules! count {
    ($($ty:ty)*) => {$(
        impl Field<$ty> for usize {
            fn into_raw(self) -> $ty { <$ty>::try_from(self).unwrap_or(<$ty>::MAX) }
            fn from_raw(raw: $ty) -> usize { usize::try_from(raw).unwrap_or(0) }
        }
    )*};
}
count! { i32 i64 }

impl Field<i32> for bool {
    fn into_raw(self) -> i32 {
        i32::from(self)
    }
    fn from_raw(raw: i32) -> bool {
        raw != 0
    }
}

impl Field<i64> for Duration {
    fn into_raw(self) -> i64 {
        millis(self)
    }
    fn from_raw(raw: i64) -> Duration {
        Duration::from_millis(u64::try_from(raw).unwrap_or(0))
    }
}

/// The node type and the edge type of objects that have one of each.
pub(crate) const NODES: i32 = 0;
pub(crate) const EDGES: i32 = 0;

/// An index of a type or a layer.
pub(crate) fn index(value: usize) -> i32 {
    value.into_raw()
}

macro_rules! enumeration {
    ($(#[$doc:meta])* pub enum $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $constant:ident,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A value that this version of the crate does not know.
            Other(i32),
        }

        impl $crate::raw::Field<i32> for $name {
            fn into_raw(self) -> i32 {
                match self {
                    $(Self::$variant => $crate::ffi::$constant,)*
                    Self::Other(value) => value,
                }
            }
            fn from_raw(raw: i32) -> Self {
                match raw {
                    $($crate::ffi::$constant => Self::$variant,)*
                    value => Self::Other(value),
                }
            }
        }

        impl From<$name> for i32 {
            /// The number that it has in C.
            fn from(value: $name) -> i32 {
                $crate::raw::Field::into_raw(value)
            }
        }

        impl From<i32> for $name {
            fn from(number: i32) -> $name {
                $crate::raw::Field::from_raw(number)
            }
        }
    };
}
pub(crate) use enumeration;

/// An enumeration whose values have words in texts of settings.
macro_rules! choice {
    ($(#[$doc:meta])* pub enum $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $constant:ident $word:literal,)*
    }) => {
        $crate::raw::enumeration! {
            $(#[$doc])*
            pub enum $name {
                $($(#[$variant_doc])* $variant = $constant,)*
            }
        }

        impl std::fmt::Display for $name {
            /// The word in settings, or the number of a value that has none.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant => f.write_str($word),)*
                    Self::Other(value) => value.fmt(f),
                }
            }
        }

        impl $crate::raw::Setting for $name {
            fn text(&self) -> String {
                self.to_string()
            }
        }
    };
}
pub(crate) use choice;

macro_rules! config {
    ($(#[$doc:meta])* pub struct $name:ident($raw:ident) {
        $($(#[$field_doc:meta])* $setter:ident => $field:ident: $ty:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone)]
        #[must_use]
        pub struct $name {
            pub(crate) raw: $crate::ffi::$raw,
        }

        impl $name {
            /// The defaults.
            pub fn new() -> Self {
                // In C, 0 is the default of every field.
                let mut raw = unsafe { std::mem::zeroed::<$crate::ffi::$raw>() };
                raw.struct_size = std::mem::size_of_val(&raw) as u32;
                Self { raw }
            }
            $(
                $(#[$field_doc])*
                pub fn $setter(mut self, value: $ty) -> Self {
                    self.raw.$field = $crate::raw::Field::into_raw(value);
                    self
                }
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($setter), &self.raw.$field))*
                    .finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use config;

/// A value in a text of settings.
pub(crate) trait Setting {
    fn text(&self) -> String;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Setting for $ty {
            fn text(&self) -> String { format!("{self:?}") }
        }
    )*};
}
numbers! { i64 u64 }

impl Setting for f64 {
    fn text(&self) -> String {
        let shortest = format!("{self:?}");
        shortest.strip_suffix(".0").map(str::to_string).unwrap_or(shortest)
    }
}

impl Setting for usize {
    fn text(&self) -> String {
        let number: i64 = (*self).into_raw();
        number.text()
    }
}

impl Setting for bool {
    fn text(&self) -> String {
        i32::from(*self).to_string()
    }
}

impl Setting for Duration {
    fn text(&self) -> String {
        millis(*self).to_string()
    }
}

impl Setting for &str {
    fn text(&self) -> String {
        format!("\"{}\"", self.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

impl<T: Setting> Setting for &[T] {
    fn text(&self) -> String {
        self.iter().map(T::text).collect::<Vec<_>>().join(",")
    }
}

/// Settings by name: those that are not left to the library.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct Settings(Vec<(String, String)>);

impl Settings {
    /// A setting without a value, such as an empty list, is left to the library again.
    pub fn set(&mut self, name: &str, value: impl Setting) {
        self.0.retain(|(known, _)| known != name);
        let value = value.text();
        if !matches!(value.as_str(), "" | "\"\"") {
            self.0.push((name.to_string(), value));
        }
    }

    pub fn text(&self) -> Result<CString> {
        text("settings", &self.to_string())
    }
}

impl std::fmt::Display for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={value}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

macro_rules! settings {
    ($(#[$doc:meta])* pub struct $name:ident {
        $($(#[$field_doc:meta])* $setter:ident($ty:ty) = $word:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq)]
        #[must_use]
        pub struct $name {
            pub(crate) settings: $crate::raw::Settings,
        }

        impl $name {
            /// The defaults.
            pub fn new() -> Self {
                Self::default()
            }
            $(
                $(#[$field_doc])*
                pub fn $setter(mut self, value: $ty) -> Self {
                    self.settings.set($word, value);
                    self
                }
            )*

            /// Any setting by the names that it and its value have in C, such as `"heads", "8"`;
            /// [`settings`](crate::settings) lists them.
            pub fn set(mut self, name: &str, value: &str) -> Self {
                self.settings.set(name, value);
                self
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.settings)
            }
        }
    };
}
pub(crate) use settings;

macro_rules! words {
    ($(#[$doc:meta])* pub enum $name:ident {
        $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }

        impl std::fmt::Display for $name {
            /// The word in settings.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $word,)*
                })
            }
        }

        impl $crate::raw::Setting for $name {
            fn text(&self) -> String {
                self.to_string()
            }
        }
    };
}
pub(crate) use words;

macro_rules! facts {
    ($(#[$doc:meta])* pub struct $name:ident($raw:ident) {
        $($(#[$field_doc:meta])* $field:ident: $ty:ty,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $ty,)*
        }

        impl $name {
            pub(crate) fn read(raw: &$crate::ffi::$raw) -> Self {
                Self { $($field: $crate::raw::FromField::from_field(&raw.$field),)* }
            }
        }

        impl $crate::raw::FromField<$crate::ffi::$raw> for $name {
            fn from_field(raw: &$crate::ffi::$raw) -> Self {
                Self::read(raw)
            }
        }
        impl $crate::raw::FromField<*const $crate::ffi::$raw> for Option<$name> {
            fn from_field(raw: &*const $crate::ffi::$raw) -> Self {
                // NULL, or a struct that is valid while the one around it is read.
                unsafe { raw.as_ref() }.map($name::read)
            }
        }
    };
}
pub(crate) use facts;

macro_rules! info {
    ($(#[$doc:meta])* pub struct $name:ident($raw:ident) { $($body:tt)* }) => {
        $crate::raw::facts! { $(#[$doc])* pub struct $name($raw) { $($body)* } }

        impl $name {
            /// A struct for C to fill.
            #[allow(dead_code)]
            pub(crate) fn empty() -> $crate::ffi::$raw {
                // All of its fields are numbers and pointers.
                let mut raw = unsafe { std::mem::zeroed::<$crate::ffi::$raw>() };
                raw.struct_size = std::mem::size_of_val(&raw) as u32;
                raw
            }
        }
    };
}
pub(crate) use info;
