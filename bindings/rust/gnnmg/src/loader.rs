//! Loaders: the mini-batches of an epoch, made ahead on threads of the library.

use crate::batch::Batch;
use crate::callback::{settle, Slot};
use crate::error::Result;
use crate::handle::{Handle, Token};
use crate::raw::{block, call, check, length, millis, Field, FOREVER, NODES};
use crate::{ffi, Dataset, LoaderConfig, LoaderInfo, Sampler};
use std::iter::FusedIterator;
use std::ptr::{null, null_mut};
use std::task::Poll;
use std::time::Duration;

/// The mini-batches of an epoch, their seeds and order: a plan that all ranks derive from the same
/// numbers.
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
/// use ndarray::{ArrayView1, ArrayView2};
///
/// let mut loader = Loader::new(&data, &sampler, &LoaderConfig::new().batch_size(64))?;
/// for batch in loader.epoch() {
///     let batch = batch?;
///     let (features, labels) = (batch.features()?, batch.labels()?);
///     let x: ArrayView2<f32> = features.view()?; // in the batch's memory
///     let y: ArrayView1<i64> = labels.view()?;
///     assert!(x.nrows() >= y.len());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Loader {
    handle: Handle<ffi::gnnmg_loader>,
    slot: Option<Slot>,
}

impl Loader {
    /// A loader of a part of the data set's split.
    #[doc(alias = "gnnmg_loader_create")]
    pub fn new(dataset: &Dataset, sampler: &Sampler, config: &LoaderConfig) -> Result<Self> {
        let (settings, mut token) = (config.settings.text()?, null_mut());
        check(call!(gnnmg_loader_create(
            dataset.handle.get(),
            sampler.handle.get(),
            null(),
            settings.as_ptr(),
            &mut token
        )))?;
        Ok(Loader { handle: Handle::new(token), slot: sampler.slot.clone() })
    }

    /// A loader of given seeds, with features and labels of the data set if there is one; `part` of
    /// the settings does not count.
    #[doc(alias = "gnnmg_loader_create_from_seeds")]
    pub fn from_seeds<'a>(
        dataset: impl Into<Option<&'a Dataset>>,
        sampler: &Sampler,
        seeds: &[i64],
        config: &LoaderConfig,
    ) -> Result<Self> {
        let (settings, mut token) = (config.settings.text()?, null_mut());
        check(call!(gnnmg_loader_create_from_seeds(
            dataset.into().map_or(null_mut(), |dataset| dataset.handle.get()),
            sampler.handle.get(),
            NODES,
            seeds.as_ptr(),
            length(seeds),
            null(),
            null(),
            settings.as_ptr(),
            &mut token
        )))?;
        Ok(Loader { handle: Handle::new(token), slot: sampler.slot.clone() })
    }

    /// Facts about the epoch that the next mini-batch belongs to.
    #[doc(alias = "gnnmg_loader_get_info")]
    pub fn info(&self) -> Result<LoaderInfo> {
        let mut raw = LoaderInfo::empty();
        check(call!(gnnmg_loader_get_info(self.handle.get(), &mut raw)))?;
        Ok(LoaderInfo::read(&raw))
    }

    /// Goes to a step of an epoch; mini-batches in flight are dropped. Also the way on after an
    /// error or [`LoaderHandle::cancel`].
    #[doc(alias = "gnnmg_loader_start")]
    pub fn start(&mut self, epoch: usize, step: usize) -> Result<()> {
        check(call!(gnnmg_loader_start(self.handle.get(), epoch.into_raw(), step.into_raw())))
    }

    /// The mini-batches of this rank that are left of the epoch, in plan order. The one after the
    /// last begins the next epoch: make another iterator for it. After an error there are no more.
    pub fn epoch(&mut self) -> Epoch<'_> {
        Epoch { loader: self, ended: false }
    }

    /// The next mini-batch of this rank; `None` once at the end of each epoch.
    #[doc(alias = "gnnmg_loader_next")]
    pub fn next_batch(&mut self) -> Result<Option<Batch>> {
        block(|| self.next_within(FOREVER))
    }

    /// The same with a time limit.
    #[doc(alias = "gnnmg_loader_next")]
    pub fn next_batch_timeout(&mut self, timeout: Duration) -> Result<Poll<Option<Batch>>> {
        self.next_within(millis(timeout))
    }

    fn next_within(&mut self, timeout_ms: i64) -> Result<Poll<Option<Batch>>> {
        let mut token = null_mut();
        let status = call!(gnnmg_loader_next(self.handle.get(), &mut token, timeout_ms));
        settle(check(status), &[self.slot.as_ref()])?;
        Ok(match status {
            ffi::GNNMG_PENDING => Poll::Pending,
            ffi::GNNMG_END => Poll::Ready(None),
            _ => Poll::Ready(Some(Batch::new(token))),
        })
    }

    /// A handle for other threads, valid also after the loader is dropped.
    pub fn remote(&self) -> LoaderHandle {
        LoaderHandle { token: self.handle.token() }
    }
}

/// A loader seen from other threads. It does not keep the loader alive.
#[derive(Clone, Copy)]
pub struct LoaderHandle {
    token: Token<ffi::gnnmg_loader>,
}

impl LoaderHandle {
    /// Ends the work of the loader's threads; it returns
    /// [`Cancelled`](crate::ErrorKind::Cancelled) until [`Loader::start`].
    #[doc(alias = "gnnmg_loader_cancel")]
    pub fn cancel(&self) {
        call!(gnnmg_loader_cancel(self.token.0))
    }
}

/// See [`Loader::epoch`].
#[derive(Debug)]
pub struct Epoch<'loader> {
    loader: &'loader mut Loader,
    ended: bool,
}

impl Iterator for Epoch<'_> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.loader.next_batch().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

impl FusedIterator for Epoch<'_> {}
