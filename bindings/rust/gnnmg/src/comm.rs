//! Communicators: collective operations of ranks.

use crate::array::{AsArray, AsArrayMut, Lent};
use crate::error::{Error, Result};
use crate::handle::{Handle, Token};
use crate::raw::{block, call, check, index, millis, path, pointer, ready, text, Field, FOREVER};
use crate::{ffi, CommConfig, Context, Reduce};
use std::path::Path;
use std::ptr::null_mut;
use std::task::Poll;
use std::time::Duration;

/// Meeting point of the processes of a job, for [`Comm::join`]. [`CommConfig`] has port and
/// numbers.
#[derive(Debug, Clone, Copy, Default)]
#[must_use]
pub struct Meeting<'a> {
    host: Option<&'a str>,
    interface: Option<&'a str>,
    token_file: Option<&'a Path>,
}

impl<'a> Meeting<'a> {
    /// On this machine, without a token.
    pub fn new() -> Self {
        Self::default()
    }

    /// Name or address of process 0's machine. "127.0.0.1".
    pub fn host(mut self, host: &'a str) -> Self {
        self.host = Some(host);
        self
    }

    /// Network interface whose address this process uses. The one that leads to process 0.
    pub fn interface(mut self, interface: &'a str) -> Self {
        self.interface = Some(interface);
        self
    }

    /// File of the job's secret, 32 to 1024 bytes, of mode 0600. None.
    pub fn token_file(mut self, file: &'a Path) -> Self {
        self.token_file = Some(file);
        self
    }
}

/// One rank's end of a communicator. All ranks call the same operations in the same order. Results
/// are copied out on success only. After a failure other than
/// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) or [`Busy`](crate::ErrorKind::Busy) a
/// communicator is spent: every later call is [`Aborted`](crate::ErrorKind::Aborted) with the first
/// cause.
///
/// Dropping one without [`Comm::shutdown`] is an abort: operations of the other ranks end.
///
/// ```
/// # fn main() -> gnnmg::Result<()> {
/// use gnnmg::{Comm, CommConfig, Context, Reduce};
///
/// let context = Context::new()?;
/// let ends = Comm::group(&context, 2, &CommConfig::new())?;
/// let threads = ends.into_iter().map(|mut comm| {
///     std::thread::spawn(move || -> gnnmg::Result<f32> {
///         let mut sum = comm.rank()? as f32 + 1.0;
///         comm.all_reduce(&mut sum, Reduce::Sum)?;
///         comm.shutdown()?;
///         Ok(sum)
///     })
/// });
/// for thread in threads.collect::<Vec<_>>() {
///     assert_eq!(thread.join().unwrap()?, 3.0);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Comm {
    pub(crate) handle: Handle<ffi::gnnmg_comm>,
}

impl Comm {
    /// A communicator among threads of this process, for custom loops: one end per rank, each to
    /// be used by one thread.
    #[doc(alias = "gnnmg_comm_create_group")]
    pub fn group(context: &Context, world_size: usize, config: &CommConfig) -> Result<Vec<Self>> {
        // The library writes as many as it accepts, 1024 at most, or an error.
        let mut tokens = vec![null_mut(); world_size.clamp(1, 1024)];
        check(call!(gnnmg_comm_create_group(
            context.handle.get(),
            world_size.into_raw(),
            &config.raw,
            tokens.as_mut_ptr()
        )))?;
        Ok(tokens.into_iter().map(|token| Comm { handle: Handle::new(token) }).collect())
    }

    /// Joins a job of many processes, which meet at process 0's host and port; one rank per process.
    #[doc(alias = "gnnmg_comm_create")]
    pub fn join(context: &Context, meeting: &Meeting<'_>, config: &CommConfig) -> Result<Self> {
        block(|| Self::join_within(context, meeting, config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_comm_create")]
    pub fn join_timeout(
        context: &Context,
        meeting: &Meeting<'_>,
        config: &CommConfig,
        timeout: Duration,
    ) -> Result<Poll<Self>> {
        Self::join_within(context, meeting, config, millis(timeout))
    }

    fn join_within(
        context: &Context,
        meeting: &Meeting<'_>,
        config: &CommConfig,
        timeout_ms: i64,
    ) -> Result<Poll<Self>> {
        let host = meeting.host.map(|host| text("host", host)).transpose()?;
        let interface = meeting.interface.map(|name| text("interface", name)).transpose()?;
        let token_file = meeting.token_file.map(path).transpose()?;
        let mut token = null_mut();
        let status = call!(gnnmg_comm_create(
            context.handle.get(),
            pointer(&host),
            pointer(&interface),
            pointer(&token_file),
            &config.raw,
            &mut token,
            timeout_ms
        ));
        ready(status, || Ok(Comm { handle: Handle::new(token) }))
    }

    /// Joins the job that a launcher has started (torchrun, Open MPI, Slurm, or whatever sets RANK,
    /// WORLD_SIZE, MASTER_ADDR and MASTER_PORT), with GNNMG_TOKEN_FILE and GNNMG_INTERFACE.
    #[doc(alias = "gnnmg_comm_create_from_env")]
    pub fn from_env(context: &Context, config: &CommConfig) -> Result<Self> {
        block(|| Self::from_env_within(context, config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_comm_create_from_env")]
    pub fn from_env_timeout(
        context: &Context,
        config: &CommConfig,
        timeout: Duration,
    ) -> Result<Poll<Self>> {
        Self::from_env_within(context, config, millis(timeout))
    }

    fn from_env_within(
        context: &Context,
        config: &CommConfig,
        timeout_ms: i64,
    ) -> Result<Poll<Self>> {
        let (context, mut token) = (context.handle.get(), null_mut());
        let status =
            call!(gnnmg_comm_create_from_env(context, &config.raw, &mut token, timeout_ms));
        ready(status, || Ok(Comm { handle: Handle::new(token) }))
    }

    /// This end's rank.
    #[doc(alias = "gnnmg_comm_rank")]
    pub fn rank(&self) -> Result<usize> {
        let mut rank = 0;
        check(call!(gnnmg_comm_rank(self.handle.get(), &mut rank)))?;
        Ok(Field::from_raw(rank))
    }

    /// Number of ranks.
    #[doc(alias = "gnnmg_comm_world_size")]
    pub fn world_size(&self) -> Result<usize> {
        let mut size = 0;
        check(call!(gnnmg_comm_world_size(self.handle.get(), &mut size)))?;
        Ok(Field::from_raw(size))
    }

    /// Reduces the arrays of all ranks, element by element; every rank gets the same result. They
    /// have one shape and type.
    #[doc(alias = "gnnmg_comm_all_reduce")]
    pub fn all_reduce<A: AsArrayMut + ?Sized>(
        &mut self,
        values: &mut A,
        operation: Reduce,
    ) -> Result<()> {
        block(|| self.all_reduce_within(values, operation, FOREVER))
    }

    /// The same with a time limit; another call with the same array continues the wait.
    #[doc(alias = "gnnmg_comm_all_reduce")]
    pub fn all_reduce_timeout<A: AsArrayMut + ?Sized>(
        &mut self,
        values: &mut A,
        operation: Reduce,
        timeout: Duration,
    ) -> Result<Poll<()>> {
        self.all_reduce_within(values, operation, millis(timeout))
    }

    fn all_reduce_within<A: AsArrayMut + ?Sized>(
        &mut self,
        values: &mut A,
        operation: Reduce,
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        let (comm, tensor) = (self.handle.get(), values.lend_mut()?.tensor()?);
        let operation = operation.into_raw();
        let status = call!(gnnmg_comm_all_reduce(comm, tensor.get(), operation, timeout_ms));
        ready(status, || Ok(()))
    }

    /// Copies one rank's array to all. They have one shape and type.
    #[doc(alias = "gnnmg_comm_broadcast")]
    pub fn broadcast<A: AsArrayMut + ?Sized>(&mut self, values: &mut A, root: usize) -> Result<()> {
        block(|| self.broadcast_within(values, root, FOREVER))
    }

    /// The same with a time limit; another call with the same array continues the wait.
    #[doc(alias = "gnnmg_comm_broadcast")]
    pub fn broadcast_timeout<A: AsArrayMut + ?Sized>(
        &mut self,
        values: &mut A,
        root: usize,
        timeout: Duration,
    ) -> Result<Poll<()>> {
        self.broadcast_within(values, root, millis(timeout))
    }

    fn broadcast_within<A: AsArrayMut + ?Sized>(
        &mut self,
        values: &mut A,
        root: usize,
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        let (comm, tensor) = (self.handle.get(), values.lend_mut()?.tensor()?);
        let status = call!(gnnmg_comm_broadcast(comm, tensor.get(), index(root), timeout_ms));
        ready(status, || Ok(()))
    }

    /// Gives every rank the arrays of all, by rank. Sizes may differ between ranks; each of
    /// `outputs` has the shape and type of that rank's input.
    #[doc(alias = "gnnmg_comm_all_gather")]
    pub fn all_gather<A: AsArray + ?Sized, B: AsArrayMut>(
        &mut self,
        input: &A,
        outputs: &mut [B],
    ) -> Result<()> {
        block(|| self.all_gather_within(input, outputs, FOREVER))
    }

    /// The same with a time limit; another call with the same arrays continues the wait.
    #[doc(alias = "gnnmg_comm_all_gather")]
    pub fn all_gather_timeout<A: AsArray + ?Sized, B: AsArrayMut>(
        &mut self,
        input: &A,
        outputs: &mut [B],
        timeout: Duration,
    ) -> Result<Poll<()>> {
        self.all_gather_within(input, outputs, millis(timeout))
    }

    fn all_gather_within<A: AsArray + ?Sized, B: AsArrayMut>(
        &mut self,
        input: &A,
        outputs: &mut [B],
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        let input = input.lend()?.tensor()?;
        let outputs = self.lend_all("outputs", outputs)?;
        let to: Vec<_> = outputs.iter().map(Lent::get).collect();
        let comm = self.handle.get();
        let status = call!(gnnmg_comm_all_gather(comm, input.get(), to.as_ptr(), timeout_ms));
        ready(status, || Ok(()))
    }

    /// Sends each rank an array and gets one from each. Sizes may differ; each of `outputs` has the
    /// shape and type of the array that its rank sends.
    #[doc(alias = "gnnmg_comm_all_to_all")]
    pub fn all_to_all<A: AsArray, B: AsArrayMut>(
        &mut self,
        inputs: &[A],
        outputs: &mut [B],
    ) -> Result<()> {
        block(|| self.all_to_all_within(inputs, outputs, FOREVER))
    }

    /// The same with a time limit; another call with the same arrays continues the wait.
    #[doc(alias = "gnnmg_comm_all_to_all")]
    pub fn all_to_all_timeout<A: AsArray, B: AsArrayMut>(
        &mut self,
        inputs: &[A],
        outputs: &mut [B],
        timeout: Duration,
    ) -> Result<Poll<()>> {
        self.all_to_all_within(inputs, outputs, millis(timeout))
    }

    fn all_to_all_within<A: AsArray, B: AsArrayMut>(
        &mut self,
        inputs: &[A],
        outputs: &mut [B],
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        self.expect_one_a_rank("inputs", inputs.len())?;
        let inputs = inputs.iter().map(|input| input.lend()?.tensor());
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let outputs = self.lend_all("outputs", outputs)?;
        let from: Vec<_> = inputs.iter().map(|input| input.get().cast_const()).collect();
        let to: Vec<_> = outputs.iter().map(Lent::get).collect();
        let comm = self.handle.get();
        let status = call!(gnnmg_comm_all_to_all(comm, from.as_ptr(), to.as_ptr(), timeout_ms));
        ready(status, || Ok(()))
    }

    fn lend_all<B: AsArrayMut>(&self, name: &str, arrays: &mut [B]) -> Result<Vec<Lent>> {
        self.expect_one_a_rank(name, arrays.len())?;
        arrays.iter_mut().map(|array| array.lend_mut()?.tensor()).collect()
    }

    fn expect_one_a_rank(&self, name: &str, count: usize) -> Result<()> {
        let size = self.world_size()?;
        if count == size {
            return Ok(());
        }
        Err(Error::argument(format!("{name} has {count} arrays, expected {size}, one a rank")))
    }

    /// Returns when all ranks have called it.
    #[doc(alias = "gnnmg_comm_barrier")]
    pub fn barrier(&mut self) -> Result<()> {
        block(|| self.barrier_within(FOREVER))
    }

    /// The same with a time limit; another call continues the wait.
    #[doc(alias = "gnnmg_comm_barrier")]
    pub fn barrier_timeout(&mut self, timeout: Duration) -> Result<Poll<()>> {
        self.barrier_within(millis(timeout))
    }

    fn barrier_within(&mut self, timeout_ms: i64) -> Result<Poll<()>> {
        ready(call!(gnnmg_comm_barrier(self.handle.get(), timeout_ms)), || Ok(()))
    }

    /// The orderly end: waits until all ranks have called it. Afterwards the program may end at once.
    #[doc(alias = "gnnmg_comm_shutdown")]
    pub fn shutdown(mut self) -> Result<()> {
        block(|| self.shutdown_within(FOREVER))
    }

    /// The same with a time limit; another call continues the wait. Afterwards the communicator is
    /// of no more use.
    #[doc(alias = "gnnmg_comm_shutdown")]
    pub fn shutdown_timeout(&mut self, timeout: Duration) -> Result<Poll<()>> {
        self.shutdown_within(millis(timeout))
    }

    fn shutdown_within(&mut self, timeout_ms: i64) -> Result<Poll<()>> {
        ready(call!(gnnmg_comm_shutdown(self.handle.get(), timeout_ms)), || Ok(()))
    }

    /// A handle for other threads, valid also after the communicator is dropped.
    pub fn remote(&self) -> CommHandle {
        CommHandle { token: self.handle.token() }
    }
}

/// A communicator seen from other threads. It does not keep the communicator alive.
#[derive(Clone, Copy)]
pub struct CommHandle {
    token: Token<ffi::gnnmg_comm>,
}

impl CommHandle {
    /// Ends the running operation with [`Cancelled`](crate::ErrorKind::Cancelled) here and
    /// [`Aborted`](crate::ErrorKind::Aborted) on the other ranks, with a text that names this rank.
    /// The communicator is spent; among processes so is their job, with the trainers in it.
    #[doc(alias = "gnnmg_comm_cancel")]
    pub fn cancel(&self) {
        call!(gnnmg_comm_cancel(self.token.0))
    }
}
