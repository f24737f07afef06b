//! The context, its options, and its messages.

use crate::error::Result;
use crate::handle::{Handle, Token};
use crate::raw::{
    block, borrowed, call, check, done, length, millis, more, read_text, text, Field, FOREVER,
};
use crate::{ffi, ContextConfig, ContextInfo, LogLevel};
use std::time::{Duration, SystemTime};

/// The version of the library that runs, as (major, minor, patch).
pub fn version() -> (u32, u32, u32) {
    let number = call!(gnnmg_version()).unsigned_abs();
    (number / 10_000, number / 100 % 100, number % 100)
}

/// The origin of all other objects: threads, memory limit, options, messages. Contexts share
/// nothing, and objects of two contexts do not mix.
#[derive(Debug)]
pub struct Context {
    pub(crate) handle: Handle<ffi::gnnmg_context>,
}

impl Context {
    /// A context with the defaults.
    #[doc(alias = "gnnmg_context_create")]
    pub fn new() -> Result<Self> {
        Self::with_config(&ContextConfig::new())
    }

    /// A context.
    #[doc(alias = "gnnmg_context_create")]
    pub fn with_config(config: &ContextConfig) -> Result<Self> {
        let mut token = std::ptr::null_mut();
        check(call!(gnnmg_context_create(ffi::GNNMG_VERSION as i32, &config.raw, &mut token)))?;
        Ok(Context { handle: Handle::new(token) })
    }

    /// Facts about it.
    #[doc(alias = "gnnmg_context_get_info")]
    pub fn info(&self) -> Result<ContextInfo> {
        let mut raw = ContextInfo::empty();
        check(call!(gnnmg_context_get_info(self.handle.get(), &mut raw)))?;
        Ok(ContextInfo::read(&raw))
    }

    /// Sets one of the rare knobs; [`settings`]`("context")` lists them.
    #[doc(alias = "gnnmg_context_set_option")]
    pub fn set_option(&self, key: &str, value: &str) -> Result<()> {
        let (key, value) = (text("key", key)?, text("value", value)?);
        let context = self.handle.get();
        check(call!(gnnmg_context_set_option(context, key.as_ptr(), value.as_ptr())))
    }

    /// The value of an option.
    #[doc(alias = "gnnmg_context_get_option")]
    pub fn option(&self, key: &str) -> Result<String> {
        let key = text("key", key)?;
        let context = self.handle.get();
        let value = read_text(|to, capacity, needed| {
            call!(gnnmg_context_get_option(context, key.as_ptr(), to, capacity, needed))
        })?;
        Ok(value.unwrap_or_default())
    }

    /// The messages that wait in the queue, oldest first; each is taken out of it.
    #[doc(alias = "gnnmg_log_next")]
    pub fn messages(&self) -> Messages<'_> {
        Messages { context: self }
    }

    /// Lends this thread to closures of samplers, so that they run on more than the threads that
    /// wait: until the context is dropped, or an error
    /// [`Cancelled`](crate::ErrorKind::Cancelled) after [`ContextHandle::cancel`].
    #[doc(alias = "gnnmg_context_lend")]
    pub fn lend(&self) -> Result<()> {
        self.remote().lend()
    }

    /// The same with a time limit.
    #[doc(alias = "gnnmg_context_lend")]
    pub fn lend_for(&self, time: Duration) -> Result<()> {
        self.remote().lend_for(time)
    }

    /// A handle for other threads, valid also after the context is dropped.
    pub fn remote(&self) -> ContextHandle {
        ContextHandle { token: self.handle.token() }
    }
}

/// A context seen from other threads. It does not keep the context alive.
#[derive(Clone, Copy)]
pub struct ContextHandle {
    token: Token<ffi::gnnmg_context>,
}

impl ContextHandle {
    /// Cancels work of the context itself: data sets being opened or saved, evaluation and
    /// embedding of models, jobs being joined, threads lent. Those calls end with
    /// [`Cancelled`](crate::ErrorKind::Cancelled); if process 0 gives up joining, the others get
    /// [`Aborted`](crate::ErrorKind::Aborted).
    #[doc(alias = "gnnmg_context_cancel")]
    pub fn cancel(&self) {
        call!(gnnmg_context_cancel(self.token.0))
    }

    /// Does [`Context::lend`].
    pub fn lend(&self) -> Result<()> {
        block(|| done(call!(gnnmg_context_lend(self.token.0, FOREVER))))
    }

    /// Does [`Context::lend_for`].
    pub fn lend_for(&self, time: Duration) -> Result<()> {
        check(call!(gnnmg_context_lend(self.token.0, millis(time))))
    }
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// Severity of the message.
    pub level: LogLevel,
    /// Time of the message.
    pub time: SystemTime,
    /// Messages lost before this one because the queue was full.
    pub dropped_before: usize,
    /// Text of the message.
    pub text: String,
}

/// See [`Context::messages`].
#[derive(Debug)]
pub struct Messages<'context> {
    context: &'context Context,
}

impl Iterator for Messages<'_> {
    type Item = Message;

    /// No message comes where reading one fails, as in a fork of the process.
    fn next(&mut self) -> Option<Message> {
        let mut info = unsafe { std::mem::zeroed::<ffi::gnnmg_log_info>() };
        info.struct_size = std::mem::size_of_val(&info) as u32;
        let context = self.context.handle.get();
        let text = read_text(|to, capacity, needed| {
            call!(gnnmg_log_next(context, &mut info, to, capacity, needed))
        });
        let since = Duration::from_nanos(u64::try_from(info.unix_time_ns).unwrap_or(0));
        Some(Message {
            text: text.ok()??,
            level: LogLevel::from_raw(info.level),
            time: SystemTime::UNIX_EPOCH + since,
            dropped_before: Field::from_raw(info.dropped_before),
        })
    }
}

/// A setting; see [`settings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingInfo {
    /// Name of the setting.
    pub name: &'static str,
    /// "flag", "integer", "number", "choice", "text", or "integers" and "choices" for lists.
    pub kind: &'static str,
    /// Value if it is not given.
    pub default: &'static str,
    /// Range or choices.
    pub values: &'static str,
    /// Effect, one line or more.
    pub help: &'static str,
}

/// The settings of a subject, such as "model", "trainer" or "context" (those of
/// [`Context::set_option`]). Programs can make their options from them, and pass them on with the
/// method `set` of a builder.
///
/// ```
/// # fn main() -> gnnmg::Result<()> {
/// let heads = gnnmg::settings("model")?.into_iter().find(|setting| setting.name == "heads");
/// assert_eq!(heads.unwrap().default, "1");
/// # Ok(())
/// # }
/// ```
#[doc(alias = "gnnmg_setting_get_info")]
pub fn settings(subject: &str) -> Result<Vec<SettingInfo>> {
    let (subject, mut list) = (text("subject", subject)?, Vec::new());
    loop {
        let mut raw = unsafe { std::mem::zeroed::<ffi::gnnmg_setting_info>() };
        raw.struct_size = std::mem::size_of_val(&raw) as u32;
        let (subject, at) = (subject.as_ptr(), length(&list));
        if !more(call!(gnnmg_setting_get_info(subject, at, &mut raw)))? {
            return Ok(list);
        }
        // Constants of the library, which is never unloaded.
        let constant = |text| borrowed::<()>(&(), text);
        list.push(SettingInfo {
            name: constant(raw.name)?,
            kind: constant(raw.type_)?,
            default: constant(raw.default_value)?,
            values: constant(raw.values)?,
            help: constant(raw.help)?,
        });
    }
}
