//! Data sets in parts, of which this process has some, or none and asks servers.

use crate::error::Result;
use crate::handle::Handle;
use crate::raw::{block, call, millis, path, pointer, ready, text, FOREVER};
use crate::{Comm, Context, Dataset, OpenPartsConfig, ServedConfig};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::task::Poll;
use std::time::Duration;

impl Dataset {
    /// Opens this process's share of a folder that [`Dataset::save_parts`] has written: of P
    /// processes number p takes the parts p, p + P and so on. `comm` is the job of the processes
    /// that share the parts; with `None`, or a job of one, this process has all.
    ///
    /// Sampling from the data set, gathering its features and training on it work as with the
    /// whole: with the same settings mini-batches are equal to the bit, and so are weights if the
    /// trainer is deterministic, for any number of parts and processes. With [`Plan::Parts`]
    /// each process works on its own parts. Labels, splits and weights are in each process.
    ///
    /// All processes read the folder, on a file system that they share. Dense features stay on disk;
    /// the edges of all parts and sparse features are in memory.
    ///
    /// ```
    /// # fn main() -> gnnmg::Result<()> {
    /// use gnnmg::{Context, Dataset, Graph, PartsConfig, OpenPartsConfig, Task};
    ///
    /// let context = Context::new()?;
    /// let graph = Graph::from_coo(&context, 4, &[0i32, 1, 2, 3], &[1, 2, 3, 0])?;
    /// let data = Dataset::from_graph(&graph, None, None, Task::None, 0)?;
    /// let folder = std::env::temp_dir().join(format!("gnnmg-share-{}", std::process::id()));
    /// data.save_parts(&folder, None, &PartsConfig::new().edge_slack(2.0))?;
    /// let share = Dataset::open_parts(&context, None, &folder, &OpenPartsConfig::new())?;
    /// assert_eq!(share.parts_info()?.own_parts, 2);
    /// # std::fs::remove_dir_all(&folder).unwrap();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Unsupported`], later on, for calls that need the whole graph in one process:
    ///   transforms, saving, exported edges and outgoing edges; GCN with edge weights; exact results
    ///   of models with norms over the rows of all nodes or edges, LSTM aggregation, numbers of edges
    ///   that leave a node, or weights of single nodes ([`Evaluation::Sampled`] works).
    /// - [`ErrorKind::NotFound`]: there is no such folder, or nothing is in it.
    /// - [`ErrorKind::Format`], [`ErrorKind::Checksum`]: the text names the file, or other
    ///   contents of the folder.
    ///
    /// [`Plan::Parts`]: crate::Plan::Parts
    /// [`Evaluation::Sampled`]: crate::Evaluation::Sampled
    /// [`ErrorKind::Unsupported`]: crate::ErrorKind::Unsupported
    /// [`ErrorKind::NotFound`]: crate::ErrorKind::NotFound
    /// [`ErrorKind::Format`]: crate::ErrorKind::Format
    /// [`ErrorKind::Checksum`]: crate::ErrorKind::Checksum
    #[doc(alias = "gnnmg_dataset_open_parts")]
    pub fn open_parts<'a>(
        context: &Context,
        comm: impl Into<Option<&'a Comm>>,
        folder: impl AsRef<Path>,
        config: &OpenPartsConfig,
    ) -> Result<Self> {
        let comm = comm.into();
        block(|| Self::open_parts_within(context, comm, folder.as_ref(), config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_dataset_open_parts")]
    pub fn open_parts_timeout<'a>(
        context: &Context,
        comm: impl Into<Option<&'a Comm>>,
        folder: impl AsRef<Path>,
        config: &OpenPartsConfig,
        timeout: Duration,
    ) -> Result<Poll<Self>> {
        Self::open_parts_within(context, comm.into(), folder.as_ref(), config, millis(timeout))
    }

    fn open_parts_within(
        context: &Context,
        comm: Option<&Comm>,
        folder: &Path,
        config: &OpenPartsConfig,
        timeout_ms: i64,
    ) -> Result<Poll<Self>> {
        let (folder, mut token) = (path(folder)?, null_mut());
        let status = call!(gnnmg_dataset_open_parts(
            context.handle.get(),
            comm.map_or(null_mut(), |comm| comm.handle.get()),
            folder.as_ptr(),
            &config.raw,
            &mut token,
            timeout_ms
        ));
        ready(status, || Ok(Dataset { handle: Handle::new(token) }))
    }

    /// Opens a data set that graph servers have ([`Server`](crate::Server), or the program
    /// gnnmg-server), without a folder here. Servers keep nothing of a client, so clients come and
    /// go, and a server may be restarted, or another may stand in for it, in the middle of an epoch.
    /// The data set is as [`Dataset::open_parts`] says, with all rows elsewhere. It needs the
    /// plug-in `libgnnmg_grpc.so`.
    ///
    /// `addresses` are hosts and ports as in `graph-0:7300,graph-1:7300`, or a name that has many
    /// addresses. `token_file` has the servers' token; with `None` they ask for none.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Dependency`]: the plug-in or gRPC is missing.
    /// - [`ErrorKind::Unavailable`], [`ErrorKind::Timeout`]: the text names the parts that nobody
    ///   serves.
    /// - [`ErrorKind::Mismatch`]: servers have different data.
    /// - [`ErrorKind::Auth`]: the servers have another token.
    /// - [`ErrorKind::InvalidArgument`]: a server beyond this machine without TLS.
    ///
    /// [`ErrorKind::Dependency`]: crate::ErrorKind::Dependency
    /// [`ErrorKind::Unavailable`]: crate::ErrorKind::Unavailable
    /// [`ErrorKind::Timeout`]: crate::ErrorKind::Timeout
    /// [`ErrorKind::Mismatch`]: crate::ErrorKind::Mismatch
    /// [`ErrorKind::Auth`]: crate::ErrorKind::Auth
    /// [`ErrorKind::InvalidArgument`]: crate::ErrorKind::InvalidArgument
    #[doc(alias = "gnnmg_dataset_open_served")]
    pub fn open_served<'a>(
        context: &Context,
        addresses: &str,
        token_file: impl Into<Option<&'a Path>>,
        config: &ServedConfig,
    ) -> Result<Self> {
        let token_file = token_file.into();
        block(|| Self::served_within(context, addresses, token_file, config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_dataset_open_served")]
    pub fn open_served_timeout<'a>(
        context: &Context,
        addresses: &str,
        token_file: impl Into<Option<&'a Path>>,
        config: &ServedConfig,
        timeout: Duration,
    ) -> Result<Poll<Self>> {
        let (token_file, timeout_ms) = (token_file.into(), millis(timeout));
        Self::served_within(context, addresses, token_file, config, timeout_ms)
    }

    fn served_within(
        context: &Context,
        addresses: &str,
        token_file: Option<&Path>,
        config: &ServedConfig,
        timeout_ms: i64,
    ) -> Result<Poll<Self>> {
        let (addresses, settings) = (text("addresses", addresses)?, config.settings.text()?);
        let token_file = token_file.map(path).transpose()?;
        let mut token = null_mut();
        let status = call!(gnnmg_dataset_open_served(
            context.handle.get(),
            addresses.as_ptr(),
            pointer(&token_file),
            null(),
            settings.as_ptr(),
            &mut token,
            timeout_ms
        ));
        ready(status, || Ok(Dataset { handle: Handle::new(token) }))
    }
}
