//! Samplers: neighborhoods drawn by the library or by a closure.

use crate::batch::Batch;
use crate::callback::{settle, Outcome, Slot};
use crate::error::Result;
use crate::handle::Handle;
use crate::raw::{block, call, check, equal_lengths, length, ready, Field, FOREVER};
use crate::tensor::release;
use crate::{ffi, Dataset, Graph, SamplerConfig};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ptr::{null, null_mut};

impl SamplerConfig {
    /// Number of layers of a custom sampler or one of graphs, which have no fan-outs.
    pub fn num_layers(self, num_layers: usize) -> Self {
        self.fanouts(&vec![0; num_layers.min(17)]) // the library refuses 17
    }
}

/// Draws the neighborhood of a mini-batch's seeds. The draws for a node depend only on (seed,
/// epoch, mini-batch, hop, node), so a mini-batch is the same for any number of threads and ranks.
#[derive(Debug)]
pub struct Sampler {
    pub(crate) handle: Handle<ffi::gnnmg_sampler>,
    pub(crate) slot: Option<Slot>,
}

impl Sampler {
    /// A neighbor sampler. The graph can no longer be changed.
    #[doc(alias = "gnnmg_sampler_create")]
    pub fn new(graph: &Graph, config: &SamplerConfig) -> Result<Self> {
        let (settings, mut token) = (config.settings.text()?, null_mut());
        let (graph, settings) = (graph.handle.get(), settings.as_ptr());
        check(call!(gnnmg_sampler_create(graph, null(), settings, &mut token)))?;
        Ok(Sampler { handle: Handle::new(token), slot: None })
    }

    /// A sampler out of a closure, which adds edges into the targets of a layer to the sink. Layers
    /// are asked for from the seeds outwards; the targets of a layer are all nodes found so far.
    /// The library numbers the nodes that the edges reach and builds the blocks. Of the settings,
    /// [`num_layers`](SamplerConfig::num_layers), `edge_ids` and `transpose` count.
    ///
    /// The closure runs on threads of this program that wait for mini-batches or were lent
    /// ([`Context::lend`](crate::Context::lend)), on several at once. Its error ends the work, as
    /// the source of an error [`Callback`](crate::ErrorKind::Callback); its panic goes on in the
    /// waiting call. It may read objects; calls that wait are refused there as
    /// [`Busy`](crate::ErrorKind::Busy).
    ///
    /// ```
    /// # fn main() -> gnnmg::Result<()> {
    /// use gnnmg::{Context, ErdosRenyiConfig, Graph, Sampler, SamplerConfig};
    /// use std::sync::Arc;
    ///
    /// let context = Context::new()?;
    /// let graph = Arc::new(Graph::erdos_renyi(&context, &ErdosRenyiConfig::new())?);
    /// let inner = Arc::clone(&graph);
    /// let config = SamplerConfig::new().num_layers(2);
    /// let sampler = Sampler::custom(&graph, &config, move |layer, sink| {
    ///     let fanout = [8, 4][layer.number];
    ///     inner.sample_neighbors(0, layer.targets, fanout, false, layer.key, sink)
    /// })?;
    /// let batch = sampler.sample(None, &[1, 2, 3], 0, 0, 0)?;
    /// assert_eq!(batch.info()?.num_seeds, 3);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "gnnmg_sampler_create_custom")]
    pub fn custom<F, O>(graph: &Graph, config: &SamplerConfig, function: F) -> Result<Self>
    where
        F: Fn(&Layer<'_>, &mut Sink<'_>) -> O + Send + Sync + 'static,
        O: Outcome,
    {
        let (slot, settings) = (Slot::default(), config.settings.text()?);
        let user_data = Box::into_raw(Box::new(Custom { function, slot: slot.clone() }));
        let mut token = null_mut();
        // The library releases the box, also when it makes no sampler.
        check(call!(gnnmg_sampler_create_custom(
            graph.handle.get(),
            null(),
            settings.as_ptr(),
            Some(sample_layer::<F, O>),
            user_data.cast(),
            Some(release::<Custom<F>>),
            &mut token
        )))?;
        Ok(Sampler { handle: Handle::new(token), slot: Some(slot) })
    }

    /// A sampler whose seeds are the graphs of a data set of many: a mini-batch is them with all
    /// their nodes and edges, side by side. Of the settings,
    /// [`num_layers`](SamplerConfig::num_layers), `edge_ids` and `transpose` count.
    #[doc(alias = "gnnmg_sampler_create_graphs")]
    pub fn graphs(dataset: &Dataset, config: &SamplerConfig) -> Result<Self> {
        let (settings, mut token) = (config.settings.text()?, null_mut());
        let (dataset, settings) = (dataset.handle.get(), settings.as_ptr());
        check(call!(gnnmg_sampler_create_graphs(dataset, null(), settings, &mut token)))?;
        Ok(Sampler { handle: Handle::new(token), slot: None })
    }

    /// Number of layers that a sample has.
    #[doc(alias = "gnnmg_sampler_num_layers")]
    pub fn num_layers(&self) -> Result<usize> {
        let mut count = 0;
        check(call!(gnnmg_sampler_num_layers(self.handle.get(), &mut count)))?;
        Ok(Field::from_raw(count))
    }

    /// Samples the neighborhood of given seeds, on this thread, with features and labels of the
    /// data set if there is one. The draws depend on `seed`, `epoch` and `number`. A repeated seed
    /// gets a row of its own with equal draws.
    #[doc(alias = "gnnmg_sampler_sample")]
    pub fn sample(
        &self,
        dataset: Option<&Dataset>,
        seeds: &[i64],
        seed: u64,
        epoch: u64,
        number: u64,
    ) -> Result<Batch> {
        let result = block(|| {
            let mut token = null_mut();
            let status = call!(gnnmg_sampler_sample(
                self.handle.get(),
                dataset.map_or(null_mut(), |dataset| dataset.handle.get()),
                seeds.as_ptr(),
                length(seeds),
                null(),
                seed,
                epoch,
                number,
                &mut token,
                FOREVER
            ));
            ready(status, || Ok(Batch::new(token)))
        });
        settle(result, &[self.slot.as_ref()])
    }
}

/// The request to a custom sampler: the edges of one layer of one mini-batch.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Layer<'call> {
    /// 0 is next to the seeds.
    pub number: usize,
    /// Counting from 0.
    pub epoch: u64,
    /// Number of the mini-batch in the epoch.
    pub batch: u64,
    /// Random key of this hop, equal to the built-in sampler's.
    pub key: u64,
    /// Node ids, each once.
    pub targets: &'call [i64],
}

/// Collects the edges of a custom sampler.
pub struct Sink<'call> {
    token: *mut ffi::gnnmg_sink,
    call: PhantomData<&'call mut ()>,
}

impl Sink<'_> {
    /// Adds edges. Each target is one of the layer's, in any order. Ids are checked when the
    /// closure has returned: a wrong one ends the work with an error
    /// [`Callback`](crate::ErrorKind::Callback) that names layer, edge and node.
    ///
    /// `edge_ids` count where the sampler's settings have `edge_ids`, and must then be given.
    #[doc(alias = "gnnmg_sink_add_edges")]
    pub fn add_edges(
        &mut self,
        sources: &[i64],
        targets: &[i64],
        edge_ids: Option<&[i64]>,
    ) -> Result<()> {
        let num_ids = edge_ids.map_or(targets.len(), <[i64]>::len);
        equal_lengths(&[
            ("sources", sources.len()),
            ("targets", targets.len()),
            ("edge_ids", num_ids),
        ])?;
        check(call!(gnnmg_sink_add_edges(
            self.token,
            sources.as_ptr(),
            targets.as_ptr(),
            edge_ids.map_or(null(), <[i64]>::as_ptr),
            length(sources)
        )))
    }

    pub(crate) fn get(&mut self) -> *mut ffi::gnnmg_sink {
        self.token
    }
}

struct Custom<F> {
    function: F,
    slot: Slot,
}

unsafe extern "C" fn sample_layer<F, O>(
    info: *const ffi::gnnmg_layer_info,
    targets: *const i64,
    num_targets: i64,
    sink: *mut ffi::gnnmg_sink,
    user_data: *mut c_void,
) -> i32
where
    F: Fn(&Layer<'_>, &mut Sink<'_>) -> O,
    O: Outcome,
{
    // The library passes the registered pointer, and structs and arrays that live as long as the
    // call.
    let (custom, info) = unsafe { (&*user_data.cast::<Custom<F>>(), &*info) };
    let targets = match usize::try_from(num_targets) {
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(targets, count) },
        _ => &[],
    };
    let layer = Layer {
        number: Field::from_raw(info.layer),
        epoch: info.epoch,
        batch: info.batch,
        key: info.key,
        targets,
    };
    let mut sink = Sink { token: sink, call: PhantomData };
    custom.slot.run(|| (custom.function)(&layer, &mut sink))
}
