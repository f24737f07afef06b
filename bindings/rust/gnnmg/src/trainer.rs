//! Trainers: the whole loop over one or many ranks.

use crate::array::Element;
use crate::callback::{settle, Outcome, Slot};
use crate::error::Result;
use crate::handle::{Handle, Token};
use crate::raw::{block, call, check, millis, path, pointer, ready, Field, FOREVER, NODES};
use crate::tensor::{release, Tensor};
use crate::{
    ffi, CheckpointConfig, Comm, Dataset, EpochInfo, ErrorKind, MemoryInfo, Metrics, Model,
    Optimizer, Part, ProgressInfo, RankInfo, Record, Sampler, TrainerConfig,
};
use std::ffi::c_void;
use std::path::Path;
use std::ptr::{null, null_mut, NonNull};
use std::slice::{from_raw_parts, from_raw_parts_mut};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// The whole loop: order, sampling, gradients, updates, evaluation, the best weights kept. Each
/// rank has a thread, a replica of the model and a loader of its own; the graph and the features
/// are there once.
///
/// A trainer owns its model, so that nobody reads the weights while they are trained;
/// [`Trainer::into_model`] gives it back. Dropping a trainer cancels training that runs.
#[derive(Debug)]
pub struct Trainer {
    handle: Handle<ffi::gnnmg_trainer>,
    model: Model,
    sampling: Option<Slot>,
    epochs: Slot,
    losses: Slot,
}

impl Trainer {
    /// A trainer of the ranks of this process. Refuses objects that do not suit each other: widths,
    /// number of layers against the sampler's, labels, an empty training part. Without a sampler each
    /// layer draws 10 neighbors; of a data set of many graphs whole graphs are read.
    #[doc(alias = "gnnmg_trainer_create")]
    pub fn new<'a>(
        model: Model,
        dataset: &Dataset,
        sampler: impl Into<Option<&'a Sampler>>,
        config: &TrainerConfig,
    ) -> Result<Self> {
        Self::create(model, dataset, sampler.into(), None, config)
    }

    /// A trainer of one model over all processes of a communicator, each of which makes one. The
    /// world is the sum of all `num_ranks`. All processes make the same calls in the same order, of
    /// those that start, wait, step, evaluate, embed, save or load. One trainer of a communicator
    /// works at a time; another is [`Busy`](crate::ErrorKind::Busy).
    #[doc(alias = "gnnmg_trainer_create")]
    pub fn with_comm<'a>(
        model: Model,
        dataset: &Dataset,
        sampler: impl Into<Option<&'a Sampler>>,
        comm: &Comm,
        config: &TrainerConfig,
    ) -> Result<Self> {
        Self::create(model, dataset, sampler.into(), Some(comm), config)
    }

    fn create(
        model: Model,
        dataset: &Dataset,
        sampler: Option<&Sampler>,
        comm: Option<&Comm>,
        config: &TrainerConfig,
    ) -> Result<Self> {
        let (settings, mut token) = (config.settings.text()?, null_mut());
        check(call!(gnnmg_trainer_create(
            model.handle.get(),
            dataset.handle.get(),
            sampler.map_or(null_mut(), |sampler| sampler.handle.get()),
            comm.map_or(null_mut(), |comm| comm.handle.get()),
            null(),
            settings.as_ptr(),
            &mut token
        )))?;
        let sampling = sampler.and_then(|sampler| sampler.slot.clone());
        let epochs = Slot::default();
        Ok(Trainer { handle: Handle::new(token), model, sampling, epochs, losses: Slot::default() })
    }

    /// The model. While training runs its weights are [`Busy`](crate::ErrorKind::Busy).
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model, to be changed between two calls.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// A copy of the model as of the last step that is done; see [`TrainerHandle::snapshot`].
    #[doc(alias = "gnnmg_trainer_snapshot")]
    pub fn snapshot(&self) -> Result<Model> {
        self.remote().snapshot()
    }

    /// Ends the trainer, cancels its work, and gives the model back.
    #[doc(alias = "gnnmg_trainer_get_model")]
    pub fn into_model(self) -> Result<Model> {
        let mut token = null_mut();
        check(call!(gnnmg_trainer_get_model(self.handle.get(), &mut token)))?;
        Ok(Model { handle: Handle::new(token) })
    }

    /// Has the trainer write its figures, epoch by epoch, to a file or folder from its next start
    /// on; with `None` no longer.
    #[doc(alias = "gnnmg_trainer_set_record")]
    pub fn set_record<'a>(
        &mut self,
        record: Record,
        to: impl Into<Option<&'a Path>>,
    ) -> Result<()> {
        let to = to.into().map(path).transpose()?;
        check(call!(gnnmg_trainer_set_record(self.handle.get(), record.into_raw(), pointer(&to))))
    }

    /// Has the trainer write checkpoints to a folder from its next start on: after so many steps or
    /// seconds, where neither is asked for after each epoch, and when training ends or is stopped;
    /// with `None` no more of them.
    #[doc(alias = "gnnmg_trainer_set_checkpoints")]
    pub fn set_checkpoints<'a>(
        &mut self,
        folder: impl Into<Option<&'a Path>>,
        config: &CheckpointConfig,
    ) -> Result<()> {
        let folder = folder.into().map(path).transpose()?;
        let trainer = self.handle.get();
        check(call!(gnnmg_trainer_set_checkpoints(trainer, pointer(&folder), &config.raw)))
    }

    /// Writes a checkpoint now, between two steps, to a folder that does not exist.
    #[doc(alias = "gnnmg_trainer_save")]
    pub fn save(&mut self, path: impl AsRef<Path>) -> Result<()> {
        block(|| self.save_within(path.as_ref(), FOREVER))
    }

    /// The same with a time limit; another call with an equal path continues the wait.
    #[doc(alias = "gnnmg_trainer_save")]
    pub fn save_timeout(&mut self, path: impl AsRef<Path>, timeout: Duration) -> Result<Poll<()>> {
        self.save_within(path.as_ref(), millis(timeout))
    }

    fn save_within(&mut self, to: &Path, timeout_ms: i64) -> Result<Poll<()>> {
        let to = path(to)?;
        let status = call!(gnnmg_trainer_save(self.handle.get(), to.as_ptr(), timeout_ms));
        self.ready(status, || Ok(()))
    }

    /// Continues from a checkpoint, or from the newest whole one of a folder, in the middle of an
    /// epoch if need be: with the same bits on the same number of ranks, with the same mini-batches
    /// and steps on another. All or nothing.
    #[doc(alias = "gnnmg_trainer_load")]
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<()> {
        block(|| self.load_within(path.as_ref(), FOREVER))
    }

    /// The same with a time limit; another call with an equal path continues the wait.
    #[doc(alias = "gnnmg_trainer_load")]
    pub fn load_timeout(&mut self, path: impl AsRef<Path>, timeout: Duration) -> Result<Poll<()>> {
        self.load_within(path.as_ref(), millis(timeout))
    }

    fn load_within(&mut self, from: &Path, timeout_ms: i64) -> Result<Poll<()>> {
        let from = path(from)?;
        let status = call!(gnnmg_trainer_load(self.handle.get(), from.as_ptr(), timeout_ms));
        self.ready(status, || Ok(()))
    }

    /// The trainer's optimizer, whose state can be saved and loaded between two calls of the
    /// trainer's; load the matching weights into [`model_mut`](Self::model_mut). In a job of several
    /// processes all save or load, and the first one writes or reads.
    #[doc(alias = "gnnmg_trainer_get_optimizer")]
    pub fn optimizer(&mut self) -> Result<Optimizer> {
        let mut made = null_mut();
        check(call!(gnnmg_trainer_get_optimizer(self.handle.get(), &mut made)))?;
        Ok(Optimizer::of_trainer(made))
    }

    /// Trains the remaining epochs and calls a closure after each. The closure may return a
    /// `Result`, whose error ends training as the source of an error
    /// [`Callback`](crate::ErrorKind::Callback); its panic goes on here.
    ///
    /// Ends early after [`TrainerHandle::stop`], and as an error after [`TrainerHandle::cancel`].
    /// After an error the model holds the last step that the first rank finished, and another run
    /// continues from there.
    #[doc(alias = "gnnmg_trainer_run")]
    pub fn run<F, O>(&mut self, mut on_epoch: F) -> Result<()>
    where
        F: FnMut(&EpochInfo) -> O + Send,
        O: Outcome,
    {
        let slot = Slot::default();
        let mut call = |epoch: &EpochInfo| slot.run(|| on_epoch(epoch));
        let target = Arc::new(Mutex::new(Some(Borrowed::new(&mut call))));
        // The library keeps the cell, which is emptied before the closure goes out of scope.
        let user_data = Box::into_raw(Box::new(Arc::clone(&target)));
        let emptied = Emptied(&target);
        let status = call!(gnnmg_trainer_run(
            self.handle.get(),
            Some(on_borrowed),
            user_data.cast(),
            Some(release::<Arc<Mutex<Option<Borrowed>>>>)
        ));
        let result = check(status);
        drop(emptied);
        settle(result, &[self.sampling.as_ref(), Some(&slot), Some(&self.losses)])
    }

    /// Replaces the loss of training by a closure, which runs once a mini-batch, one call at a time,
    /// on a thread that waits for the trainer. Evaluations use the loss of the settings. `T` is the
    /// model's type. The trainer works on the CPU, and has not trained or evaluated yet; all
    /// processes set a closure, or none.
    #[doc(alias = "gnnmg_trainer_set_loss")]
    pub fn set_loss<T, F, O>(&mut self, loss: F) -> Result<()>
    where
        T: Real,
        F: FnMut(&mut LossBatch<'_, T>) -> O + Send + 'static,
        O: Outcome,
    {
        let owned = Owned { function: Mutex::new(loss), slot: self.losses.clone() };
        check(call!(gnnmg_trainer_set_loss(
            self.handle.get(),
            Some(on_loss::<T, F, O>),
            Box::into_raw(Box::new(owned)).cast(),
            Some(release::<Owned<F>>)
        )))
    }

    /// Sets the learning rate; see [`TrainerHandle::set_learning_rate`].
    #[doc(alias = "gnnmg_trainer_set_learning_rate")]
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<()> {
        self.remote().set_learning_rate(rate)
    }

    /// Starts the ranks on the remaining epochs, and returns at once; call [`Trainer::wait`] next.
    /// The closure is like that of [`Trainer::run`] and runs on a waiting thread.
    #[doc(alias = "gnnmg_trainer_start")]
    pub fn start<F, O>(&mut self, on_epoch: F) -> Result<()>
    where
        F: FnMut(&EpochInfo) -> O + Send + 'static,
        O: Outcome,
    {
        let slot = Slot::default();
        let owned = Owned { function: Mutex::new(on_epoch), slot: slot.clone() };
        check(call!(gnnmg_trainer_start(
            self.handle.get(),
            Some(on_owned::<F, O>),
            Box::into_raw(Box::new(owned)).cast(),
            Some(release::<Owned<F>>)
        )))?;
        self.epochs = slot; // drops failures of earlier work
        Ok(())
    }

    /// Waits for the end of training that was started, and runs closures meanwhile.
    #[doc(alias = "gnnmg_trainer_wait")]
    pub fn wait(&mut self) -> Result<()> {
        block(|| self.wait_within(FOREVER))
    }

    /// The same with a time limit.
    #[doc(alias = "gnnmg_trainer_wait")]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<Poll<()>> {
        self.wait_within(millis(timeout))
    }

    fn wait_within(&mut self, timeout_ms: i64) -> Result<Poll<()>> {
        let status = call!(gnnmg_trainer_wait(self.handle.get(), timeout_ms));
        self.ready(status, || Ok(()))
    }

    /// One step on all ranks, the validation included where one is due: its exact loss, or `None`
    /// after the last step of the last epoch.
    #[doc(alias = "gnnmg_trainer_step")]
    pub fn step(&mut self) -> Result<Option<f64>> {
        block(|| self.step_within(FOREVER))
    }

    /// The same with a time limit; another call continues the wait.
    #[doc(alias = "gnnmg_trainer_step")]
    pub fn step_timeout(&mut self, timeout: Duration) -> Result<Poll<Option<f64>>> {
        self.step_within(millis(timeout))
    }

    fn step_within(&mut self, timeout_ms: i64) -> Result<Poll<Option<f64>>> {
        let mut loss = 0.0;
        let status = call!(gnnmg_trainer_step(self.handle.get(), &mut loss, timeout_ms));
        self.ready(status, || Ok(Some(loss).filter(|_| status != ffi::GNNMG_END)))
    }

    /// Exact metrics over a part of the split, on all ranks.
    #[doc(alias = "gnnmg_trainer_evaluate")]
    pub fn evaluate(&mut self, part: Part) -> Result<Metrics> {
        block(|| self.evaluate_within(part, null_mut(), FOREVER))
    }

    /// [`Trainer::evaluate`] with the confusion matrix of [`Model::confusion`].
    #[doc(alias = "gnnmg_trainer_evaluate")]
    pub fn confusion(&mut self, part: Part) -> Result<(Metrics, Tensor)> {
        let mut out = null_mut();
        let metrics = block(|| self.evaluate_within(part, &mut out, FOREVER))?;
        Ok((metrics, Tensor::take(out)?))
    }

    /// The same with a time limit; another call with the same part continues the wait.
    #[doc(alias = "gnnmg_trainer_evaluate")]
    pub fn evaluate_timeout(&mut self, part: Part, timeout: Duration) -> Result<Poll<Metrics>> {
        self.evaluate_within(part, null_mut(), millis(timeout))
    }

    fn evaluate_within(
        &mut self,
        part: Part,
        confusion: *mut *mut ffi::gnnmg_tensor,
        timeout_ms: i64,
    ) -> Result<Poll<Metrics>> {
        let (trainer, part, mut raw) = (self.handle.get(), part.into_raw(), Metrics::empty());
        let status = call!(gnnmg_trainer_evaluate(trainer, part, &mut raw, confusion, timeout_ms));
        self.ready(status, || Ok(Metrics::read(&raw)))
    }

    /// The result for every node, \[nodes, columns\], with full neighborhoods, computed by all
    /// ranks.
    #[doc(alias = "gnnmg_trainer_embed")]
    pub fn embed(&mut self) -> Result<Tensor> {
        block(|| self.embed_within(FOREVER))
    }

    /// The same with a time limit; another call continues the wait.
    #[doc(alias = "gnnmg_trainer_embed")]
    pub fn embed_timeout(&mut self, timeout: Duration) -> Result<Poll<Tensor>> {
        self.embed_within(millis(timeout))
    }

    fn embed_within(&mut self, timeout_ms: i64) -> Result<Poll<Tensor>> {
        let (trainer, mut out) = (self.handle.get(), null_mut());
        let status = call!(gnnmg_trainer_embed(trainer, NODES, null(), &mut out, timeout_ms));
        self.ready(status, || Tensor::take(out))
    }

    /// [`Trainer::embed`] straight into a `.npy` file, which appears whole or not at all.
    #[doc(alias = "gnnmg_trainer_embed")]
    pub fn embed_to_file(&mut self, path: impl AsRef<Path>) -> Result<()> {
        block(|| self.embed_to_file_within(path.as_ref(), FOREVER))
    }

    /// The same with a time limit; another call with an equal path continues the wait.
    #[doc(alias = "gnnmg_trainer_embed")]
    pub fn embed_to_file_timeout(
        &mut self,
        path: impl AsRef<Path>,
        timeout: Duration,
    ) -> Result<Poll<()>> {
        self.embed_to_file_within(path.as_ref(), millis(timeout))
    }

    fn embed_to_file_within(&mut self, to: &Path, timeout_ms: i64) -> Result<Poll<()>> {
        let (trainer, file) = (self.handle.get(), path(to)?);
        let (to, rows) = (file.as_ptr(), null_mut());
        let status = call!(gnnmg_trainer_embed(trainer, NODES, to, rows, timeout_ms));
        self.ready(status, || Ok(()))
    }

    /// Current position of the training.
    #[doc(alias = "gnnmg_trainer_progress")]
    pub fn progress(&self) -> Result<ProgressInfo> {
        self.remote().progress()
    }

    /// Times of one of this process's ranks, counted from 0, and the bytes that its GPU has read
    /// over the bus: in the current epoch, or, before its first step is done, in the previous one.
    #[doc(alias = "gnnmg_trainer_get_rank_info")]
    pub fn rank_info(&self, index: usize) -> Result<RankInfo> {
        let mut raw = RankInfo::empty();
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        check(call!(gnnmg_trainer_get_rank_info(self.handle.get(), index, &mut raw)))?;
        Ok(RankInfo::read(&raw))
    }

    /// The same of all ranks of this process, in their order.
    #[doc(alias = "gnnmg_trainer_get_rank_info")]
    pub fn ranks(&self) -> Result<Vec<RankInfo>> {
        let ranks = (0..).map(|index| self.rank_info(index));
        ranks
            .take_while(|rank| !matches!(rank, Err(error) if error.kind() == ErrorKind::NotFound))
            .collect()
    }

    /// The largest need of the training on a GPU with `gpu_bytes` of memory, which need not exist;
    /// `None`: with the free memory of the first rank's GPU.
    #[doc(alias = "gnnmg_trainer_get_memory_info")]
    pub fn memory_info(&self, gpu_bytes: Option<usize>) -> Result<MemoryInfo> {
        let mut raw = MemoryInfo::empty();
        check(call!(gnnmg_trainer_get_memory_info(
            self.handle.get(),
            gpu_bytes.unwrap_or(0),
            &mut raw
        )))?;
        Ok(MemoryInfo::read(&raw))
    }

    /// A handle for other threads, valid also after the trainer is dropped.
    ///
    /// ```
    /// # fn main() -> gnnmg::Result<()> {
    /// # use gnnmg::*;
    /// # let context = Context::new()?;
    /// # let planted = PlantedConfig::new().num_nodes(500);
    /// # let graph = Graph::planted(&context, &planted)?;
    /// # let mut data = Dataset::from_graph(&graph, "x", "y", Task::Multiclass, 0)?;
    /// # data.add_random_split("random", &SplitConfig::new())?;
    /// # let sampler = Sampler::new(&graph, &SamplerConfig::new())?;
    /// # let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(8))?;
    /// let for_ever = TrainerConfig::new().num_epochs(1_000_000);
    /// let mut trainer = Trainer::new(model, &data, &sampler, &for_ever)?;
    /// let remote = trainer.remote();
    /// let watcher = std::thread::spawn(move || {
    ///     while remote.progress()?.epoch == 0 {
    ///         std::thread::sleep(std::time::Duration::from_millis(5));
    ///     }
    ///     remote.cancel();
    ///     Ok::<(), gnnmg::Error>(())
    /// });
    /// let error = trainer.run(|_| ()).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Cancelled);
    /// watcher.join().unwrap()
    /// # }
    /// ```
    pub fn remote(&self) -> TrainerHandle {
        TrainerHandle { token: self.handle.token() }
    }

    fn settle<T>(&self, result: Result<T>) -> Result<T> {
        settle(result, &[self.sampling.as_ref(), Some(&self.epochs), Some(&self.losses)])
    }

    fn ready<T>(
        &self,
        status: ffi::gnnmg_status,
        value: impl FnOnce() -> Result<T>,
    ) -> Result<Poll<T>> {
        self.settle(ready(status, value))
    }
}

/// A trainer seen from other threads. It does not keep the trainer alive.
#[derive(Clone, Copy)]
pub struct TrainerHandle {
    token: Token<ffi::gnnmg_trainer>,
}

impl TrainerHandle {
    /// Current position of the training.
    #[doc(alias = "gnnmg_trainer_progress")]
    pub fn progress(&self) -> Result<ProgressInfo> {
        let mut raw = ProgressInfo::empty();
        check(call!(gnnmg_trainer_progress(self.token.0, &mut raw)))?;
        Ok(ProgressInfo::read(&raw))
    }

    /// A copy of the model as of the last step that is done, also while training runs and in its
    /// closure; running statistics of batch norms belong to it. Of a training on GPUs it is the
    /// last state in main memory: of the end of an epoch, before the closure, or of a checkpoint.
    #[doc(alias = "gnnmg_trainer_snapshot")]
    pub fn snapshot(&self) -> Result<Model> {
        let mut token = null_mut();
        check(call!(gnnmg_trainer_snapshot(self.token.0, &mut token)))?;
        Ok(Model { handle: Handle::new(token) })
    }

    /// Sets the learning rate, in place of that of the settings and their schedule, from the next
    /// epoch or the next step on; also in the closure of a run. All ranks use it; several processes
    /// that set different rates end with [`Mismatch`](crate::ErrorKind::Mismatch). Checkpoints keep
    /// it, those at the end of an epoch as it was before the closure.
    #[doc(alias = "gnnmg_trainer_set_learning_rate")]
    pub fn set_learning_rate(&self, rate: f64) -> Result<()> {
        check(call!(gnnmg_trainer_set_learning_rate(self.token.0, rate)))
    }

    /// Asks for an orderly end: all ranks, of all processes, end after the same step, waits return
    /// `Ok`, and another start continues from there.
    #[doc(alias = "gnnmg_trainer_stop")]
    pub fn stop(&self) {
        call!(gnnmg_trainer_stop(self.token.0))
    }

    /// Ends the trainer's work at once; the waiting call returns
    /// [`Cancelled`](crate::ErrorKind::Cancelled), on other processes
    /// [`Aborted`](crate::ErrorKind::Aborted). Another start continues from the last step.
    #[doc(alias = "gnnmg_trainer_cancel")]
    pub fn cancel(&self) {
        call!(gnnmg_trainer_cancel(self.token.0))
    }
}

/// A closure of a caller that waits, without its lifetime.
struct Borrowed(NonNull<dyn FnMut(&EpochInfo) -> i32 + Send>);

// The pointer's target may be sent.
unsafe impl Send for Borrowed {}

impl Borrowed {
    fn new<'a>(function: &'a mut (dyn FnMut(&EpochInfo) -> i32 + Send + 'a)) -> Self {
        let function: NonNull<dyn FnMut(&EpochInfo) -> i32 + Send + 'a> = function.into();
        // The lifetime only: Trainer::run empties the cell before it ends.
        Borrowed(unsafe {
            std::mem::transmute::<
                NonNull<dyn FnMut(&EpochInfo) -> i32 + Send + 'a>,
                NonNull<dyn FnMut(&EpochInfo) -> i32 + Send + 'static>,
            >(function)
        })
    }
}

/// Empties the cell, once no call of the closure runs.
struct Emptied<'a>(&'a Mutex<Option<Borrowed>>);

impl Drop for Emptied<'_> {
    fn drop(&mut self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

unsafe extern "C" fn on_borrowed(
    epoch: *const ffi::gnnmg_epoch_info,
    user_data: *mut c_void,
) -> i32 {
    // The library passes the registered pointer, and a struct that lives as long as the call.
    let (cell, epoch) = unsafe { (&*user_data.cast::<Arc<Mutex<Option<Borrowed>>>>(), &*epoch) };
    let mut cell = cell.lock().unwrap_or_else(PoisonError::into_inner);
    match cell.as_mut() {
        // The function exists while the cell is full, and the cell is locked.
        Some(function) => unsafe { function.0.as_mut()(&EpochInfo::read(epoch)) },
        None => 1,
    }
}

struct Owned<F> {
    function: Mutex<F>,
    slot: Slot,
}

unsafe extern "C" fn on_owned<F, O>(
    epoch: *const ffi::gnnmg_epoch_info,
    user_data: *mut c_void,
) -> i32
where
    F: FnMut(&EpochInfo) -> O,
    O: Outcome,
{
    // The library passes the registered pointer, as in on_borrowed().
    let (owned, epoch) = unsafe { (&*user_data.cast::<Owned<F>>(), &*epoch) };
    owned.slot.run(|| {
        let mut function = owned.function.lock().unwrap_or_else(PoisonError::into_inner);
        function(&EpochInfo::read(epoch))
    })
}

/// The types that a loss can have: those of models.
pub trait Real: Element {}
impl Real for f32 {}
impl Real for f64 {}

/// A mini-batch whose loss a closure computes; slices are row by row.
#[derive(Debug)]
pub struct LossBatch<'a, T> {
    /// Ids of the rows: nodes or graphs.
    pub seeds: &'a [i64],
    /// Outputs of the model.
    pub columns: usize,
    /// A row for each seed.
    pub logits: &'a [T],
    /// Labels, -1 for none, if they are classes.
    pub classes: Option<&'a [i64]>,
    /// Labels of other tasks, NaN for none.
    pub targets: Option<&'a [T]>,
    /// Weights of the labels, in their shape; 0 without a label.
    pub weights: &'a [f64],
    /// Gradient of `loss` with respect to the logits, which the closure sets; 0 before the call.
    pub gradient: &'a mut [T],
    /// The sum of the weighted losses of the rows, which the closure sets.
    pub loss: f64,
    /// Divides loss and gradient, added up over all mini-batches of a step on all ranks; the sum of
    /// `weights` before the call.
    pub weight: f64,
}

unsafe extern "C" fn on_loss<T, F, O>(
    batch: *mut ffi::gnnmg_loss_batch,
    user_data: *mut c_void,
) -> i32
where
    T: Real,
    F: FnMut(&mut LossBatch<'_, T>) -> O,
    O: Outcome,
{
    // The library passes the registered pointer, and a struct that lives as long as the call.
    let (owned, given) = unsafe { (&*user_data.cast::<Owned<F>>(), &mut *batch) };
    if given.dtype != T::DATA_TYPE.into_raw() {
        return owned.slot.run(|| Err::<(), _>("the closure's type is not the model's"));
    }
    let (rows, columns) = (given.num_rows as usize, given.num_columns as usize);
    let of_classes = !given.classes.is_null();
    let labels = if of_classes { rows } else { rows * columns };
    // The arrays have these lengths, and the gradient is nobody else's during the call.
    let mut own = unsafe {
        LossBatch {
            seeds: from_raw_parts(given.seeds, rows),
            columns,
            logits: from_raw_parts(given.logits.cast::<T>(), rows * columns),
            classes: of_classes.then(|| from_raw_parts(given.classes, rows)),
            targets: (!of_classes).then(|| from_raw_parts(given.targets.cast::<T>(), labels)),
            weights: from_raw_parts(given.weights, labels),
            gradient: from_raw_parts_mut(given.gradient.cast::<T>(), rows * columns),
            loss: 0.0,
            weight: given.weight,
        }
    };
    let answer = owned.slot.run(|| {
        let mut function = owned.function.lock().unwrap_or_else(PoisonError::into_inner);
        function(&mut own)
    });
    (given.loss, given.weight) = (own.loss, own.weight);
    answer
}
