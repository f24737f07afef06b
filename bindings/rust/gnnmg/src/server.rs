//! Servers of parts of a graph.

use crate::error::Result;
use crate::handle::Handle;
use crate::raw::{block, call, check, length, millis, path, pointer, ready, text, FOREVER};
use crate::{ffi, Context, ServerConfig, ServerInfo};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::task::Poll;
use std::time::Duration;

/// Has parts of a graph for trainers on other machines, which
/// [`Dataset::open_served`](crate::Dataset::open_served) connects. It only reads: it keeps nothing
/// of a question, any server of a part may answer it, and trainers come and go. The program
/// gnnmg-server is made of the same code. Answers are given by threads of the library's own.
///
/// Dropping one without [`Server::shutdown`] gives up questions under way.
#[derive(Debug)]
pub struct Server {
    handle: Handle<ffi::gnnmg_server>,
}

impl Server {
    /// Opens parts of a folder that [`Dataset::save_parts`](crate::Dataset::save_parts) has written,
    /// to serve them; `None`: all. Features are mapped and read as they are asked for; edges are
    /// read into memory. The server does not listen yet.
    ///
    /// `address` is a host and a port, as in `10.0.0.7:7300` or `[::]:7300`; port 0 is a free one.
    /// `token_file` is the secret that clients must know, 32 to 1024 bytes in a file of mode 0600;
    /// `None` is for an address of this machine alone.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Range`](crate::ErrorKind::Range): there is no such part.
    /// - [`ErrorKind::Format`](crate::ErrorKind::Format),
    ///   [`ErrorKind::Checksum`](crate::ErrorKind::Checksum): the text names the file.
    #[doc(alias = "gnnmg_server_create")]
    pub fn open<'a, 'b>(
        context: &Context,
        folder: impl AsRef<Path>,
        parts: impl Into<Option<&'a [i32]>>,
        address: &str,
        token_file: impl Into<Option<&'b Path>>,
        config: &ServerConfig,
    ) -> Result<Self> {
        let (folder, parts, token) = (folder.as_ref(), parts.into(), token_file.into());
        block(|| Self::open_within(context, folder, parts, address, token, config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_server_create")]
    pub fn open_timeout<'a, 'b>(
        context: &Context,
        folder: impl AsRef<Path>,
        parts: impl Into<Option<&'a [i32]>>,
        address: &str,
        token_file: impl Into<Option<&'b Path>>,
        config: &ServerConfig,
        timeout: Duration,
    ) -> Result<Poll<Self>> {
        let (folder, parts, token) = (folder.as_ref(), parts.into(), token_file.into());
        Self::open_within(context, folder, parts, address, token, config, millis(timeout))
    }

    fn open_within(
        context: &Context,
        folder: &Path,
        parts: Option<&[i32]>,
        address: &str,
        token_file: Option<&Path>,
        config: &ServerConfig,
        timeout_ms: i64,
    ) -> Result<Poll<Self>> {
        let (folder, address) = (path(folder)?, text("address", address)?);
        let token_file = token_file.map(path).transpose()?;
        let (parts, count) = parts.map_or((null(), 0), |list| (list.as_ptr(), length(list)));
        let mut token = null_mut();
        let status = call!(gnnmg_server_create(
            context.handle.get(),
            folder.as_ptr(),
            parts,
            count,
            address.as_ptr(),
            pointer(&token_file),
            &config.raw,
            &mut token,
            timeout_ms
        ));
        ready(status, || Ok(Server { handle: Handle::new(token) }))
    }

    /// Encrypts all traffic and makes the server and its clients prove their identity by
    /// certificates. The arguments are PEM files: the server's certificate, its key, and the
    /// certificate that signs those of the clients. [`Server::start`] reads them; afterwards this
    /// is [`Busy`](crate::ErrorKind::Busy).
    #[doc(alias = "gnnmg_server_set_tls")]
    pub fn set_tls(
        &self,
        certificate: impl AsRef<Path>,
        key: impl AsRef<Path>,
        authority: impl AsRef<Path>,
    ) -> Result<()> {
        let (certificate, key) = (path(certificate.as_ref())?, path(key.as_ref())?);
        let authority = path(authority.as_ref())?;
        check(call!(gnnmg_server_set_tls(
            self.handle.get(),
            certificate.as_ptr(),
            key.as_ptr(),
            authority.as_ptr()
        )))
    }

    /// Begins to listen.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Dependency`](crate::ErrorKind::Dependency): gRPC is missing; the text names
    ///   the missing library.
    /// - [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): an address that other
    ///   machines reach, without a token file or with neither TLS nor `insecure`.
    /// - [`ErrorKind::Unavailable`](crate::ErrorKind::Unavailable): the address is not available.
    /// - [`ErrorKind::Auth`](crate::ErrorKind::Auth): others can read the token file.
    /// - [`ErrorKind::Busy`](crate::ErrorKind::Busy): it has already started.
    #[doc(alias = "gnnmg_server_start")]
    pub fn start(&self) -> Result<()> {
        check(call!(gnnmg_server_start(self.handle.get())))
    }

    /// State and counters of the server.
    #[doc(alias = "gnnmg_server_get_info")]
    pub fn info(&self) -> Result<ServerInfo> {
        let mut raw = ServerInfo::empty();
        check(call!(gnnmg_server_get_info(self.handle.get(), &mut raw)))?;
        Ok(ServerInfo::read(&raw))
    }

    /// The orderly end: takes no new questions and answers those that have come. Clients go on with
    /// other servers of the same parts. It cannot be started again.
    /// [`Timeout`](crate::ErrorKind::Timeout) when questions were given up after the time of
    /// [`ServerConfig::drain`].
    #[doc(alias = "gnnmg_server_shutdown")]
    pub fn shutdown(&self) -> Result<()> {
        block(|| self.shutdown_within(FOREVER))
    }

    /// The same with a time limit; another call continues the wait.
    #[doc(alias = "gnnmg_server_shutdown")]
    pub fn shutdown_timeout(&self, timeout: Duration) -> Result<Poll<()>> {
        self.shutdown_within(millis(timeout))
    }

    fn shutdown_within(&self, timeout_ms: i64) -> Result<Poll<()>> {
        ready(call!(gnnmg_server_shutdown(self.handle.get(), timeout_ms)), || Ok(()))
    }
}
