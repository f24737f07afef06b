//! Models: layers and parameters.

use crate::array::AsArray;
use crate::batch::Batch;
use crate::error::Result;
use crate::handle::Handle;
use crate::raw::{
    block, borrowed, call, check, length, millis, more, path, ready, text, Field, FOREVER, NODES,
};
use crate::tensor::{Tensor, Weights, WeightsMut};
use crate::{
    ffi, Activation, Aggregation, Architecture, Context, DataType, Dataset, DeviceType, Framework,
    Loss, Metrics, ModelConfig, ModelFileConfig, ModelInfo, Norm, Part, Readout,
};
use std::path::Path;
use std::ptr::{null, null_mut};
use std::task::Poll;
use std::time::Duration;

/// Key of a parameter or buffer; see [`Model::tensor_keys`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TensorKey<'model> {
    /// Key of the tensor, such as "convs.0.lin_l.weight".
    pub key: &'model str,
    /// True for a parameter, false for a buffer such as a running mean.
    pub trained: bool,
}

/// Layers and parameters. Parameters lie in one flat array and gradients in another, so that ranks
/// exchange a single tensor; each parameter is a piece of them under the key that PyG gives it, or
/// DGL where the layers follow that.
///
/// ```
/// # fn main() -> gnnmg::Result<()> {
/// use gnnmg::{Context, Model, ModelConfig};
///
/// let context = Context::new()?;
/// let config = ModelConfig::new().input_dim(3).hidden_dim(4).output_dim(2);
/// let mut model = Model::new(&context, None, &config)?;
/// let bias = "convs.0.lin_l.bias";
/// model.set_tensor(bias, &[0.5f32; 4])?;
/// model.tensor_mut(bias)?.as_mut_slice::<f32>()?[0] = 1.0;
/// assert_eq!(model.tensor(bias)?.as_slice::<f32>()?, [1.0, 0.5, 0.5, 0.5]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Model {
    pub(crate) handle: Handle<ffi::gnnmg_model>,
}

impl Model {
    /// A model with initial weights. The data set gives the widths that the settings leave open.
    #[doc(alias = "gnnmg_model_create")]
    pub fn new<'a>(
        context: &Context,
        dataset: impl Into<Option<&'a Dataset>>,
        config: &ModelConfig,
    ) -> Result<Self> {
        let (settings, mut token) = (config.settings.text()?, null_mut());
        check(call!(gnnmg_model_create(
            context.handle.get(),
            dataset.into().map_or(null_mut(), |dataset| dataset.handle.get()),
            null(),
            settings.as_ptr(),
            &mut token
        )))?;
        Ok(Model { handle: Handle::new(token) })
    }

    /// A model from a file or folder of [`Model::save`] alone: architecture, widths and all other
    /// settings come from the file. Also opens the folder of a checkpoint.
    #[doc(alias = "gnnmg_model_open")]
    pub fn open(context: &Context, from: impl AsRef<Path>) -> Result<Self> {
        let (from, mut token) = (path(from.as_ref())?, null_mut());
        check(call!(gnnmg_model_open(context.handle.get(), from.as_ptr(), &mut token)))?;
        Ok(Model { handle: Handle::new(token) })
    }

    /// A model of its own with equal weights.
    #[doc(alias = "gnnmg_model_create_copy")]
    pub fn try_clone(&self) -> Result<Self> {
        let mut token = null_mut();
        check(call!(gnnmg_model_create_copy(self.handle.get(), &mut token)))?;
        Ok(Model { handle: Handle::new(token) })
    }

    /// Puts it on a GPU, or back into main memory: weights and gradients move, passes, evaluation
    /// and updates then work there, with mini-batches of a loader for the same GPU. Before an
    /// optimizer or a trainer of it is made, or when they are dropped: else [`ErrorKind::Busy`].
    ///
    /// [`ErrorKind::Busy`]: crate::ErrorKind::Busy
    #[doc(alias = "gnnmg_model_set_device")]
    pub fn set_device(&mut self, device: DeviceType, index: usize) -> Result<()> {
        // No stream is named: calls return when their work is done.
        unsafe { self.set_device_and_stream(device, index, 0) }
    }

    /// The same in a CUDA stream of the caller's, a `cudaStream_t` as a number: calls return once
    /// their work is in the stream, and their results are valid for later work in it.
    ///
    /// # Safety
    ///
    /// The stream is one of that GPU's, which outlives the model and its tensors.
    #[doc(alias = "gnnmg_model_set_device")]
    pub unsafe fn set_device_and_stream(
        &mut self,
        device: DeviceType,
        index: usize,
        stream: u64,
    ) -> Result<()> {
        let (device, index) = (device.into_raw(), index.into_raw());
        check(call!(gnnmg_model_set_device(self.handle.get(), device, index, stream)))
    }

    /// Facts about it.
    #[doc(alias = "gnnmg_model_get_info")]
    pub fn info(&self) -> Result<ModelInfo> {
        let mut raw = ModelInfo::empty();
        check(call!(gnnmg_model_get_info(self.handle.get(), &mut raw)))?;
        Ok(ModelInfo::read(&raw))
    }

    /// The main settings, which are fields of the struct in C. Fields that were left to the data set
    /// have its values. [`Model::settings`] has all.
    #[doc(alias = "gnnmg_model_get_config")]
    pub fn config(&self) -> Result<ModelConfig> {
        let mut raw = unsafe { std::mem::zeroed::<ffi::gnnmg_model_config>() };
        raw.struct_size = std::mem::size_of_val(&raw) as u32;
        check(call!(gnnmg_model_get_config(self.handle.get(), &mut raw)))?;
        let mut config = ModelConfig::new()
            .architecture(Architecture::from_raw(raw.architecture))
            .aggregation(Aggregation::from_raw(raw.aggregation))
            .activation(Activation::from_raw(raw.activation))
            .norm(Norm::from_raw(raw.norm))
            .readout(Readout::from_raw(raw.readout))
            .framework(Framework::from_raw(raw.framework))
            .dtype(DataType::from_raw(raw.dtype))
            .dropout(raw.dropout)
            .seed(raw.seed);
        let counts = [
            ("input_dim", raw.input_dim),
            ("hidden_dim", raw.hidden_dim),
            ("output_dim", raw.output_dim),
            ("num_layers", raw.num_layers.into()),
            ("heads", raw.heads.into()),
        ];
        for (name, count) in counts.into_iter().filter(|(_, count)| *count != 0) {
            config.settings.set(name, count);
        }
        Ok(config)
    }

    /// All its settings as JSON, as [`Model::save`] writes them, with listed layers and the task of
    /// its data set.
    #[doc(alias = "gnnmg_model_get_settings")]
    pub fn settings(&self) -> Result<&str> {
        let mut text = null();
        check(call!(gnnmg_model_get_settings(self.handle.get(), &mut text)))?;
        borrowed(self, text)
    }

    /// Keys of its tensors, parameters first.
    #[doc(alias = "gnnmg_model_tensor_key")]
    pub fn tensor_keys(&self) -> Result<Vec<TensorKey<'_>>> {
        let mut list = Vec::new();
        loop {
            let (at, mut key, mut trained) = (length(&list), null(), 0);
            let model = self.handle.get();
            if !more(call!(gnnmg_model_tensor_key(model, at, &mut key, &mut trained)))? {
                return Ok(list);
            }
            let trained = Field::from_raw(trained);
            list.push(TensorKey { key: borrowed(self, key)?, trained });
        }
    }

    fn export(&self, key: &str) -> Result<Tensor> {
        let (key, mut out) = (text("key", key)?, null_mut());
        check(call!(gnnmg_model_export_tensor(self.handle.get(), key.as_ptr(), &mut out)))?;
        Tensor::take(out)
    }

    /// One parameter or buffer, in the model's memory.
    #[doc(alias = "gnnmg_model_export_tensor")]
    pub fn tensor(&self, key: &str) -> Result<Weights<'_>> {
        self.export(key).map(Weights::new)
    }

    /// One parameter or buffer to be written, in the model's memory.
    #[doc(alias = "gnnmg_model_export_tensor")]
    pub fn tensor_mut(&mut self, key: &str) -> Result<WeightsMut<'_>> {
        self.export(key).map(WeightsMut::new)
    }

    /// Copies values of the same shape and type into one parameter or buffer.
    #[doc(alias = "gnnmg_model_set_tensor")]
    pub fn set_tensor<A: AsArray + ?Sized>(&mut self, key: &str, values: &A) -> Result<()> {
        let (key, values) = (text("key", key)?, values.lend()?.tensor()?);
        check(call!(gnnmg_model_set_tensor(self.handle.get(), key.as_ptr(), values.get())))
    }

    /// Freezes the parameters whose keys match a pattern such as `"convs.0.*"`, or lets them be
    /// trained again. Frozen parameters have no gradient, and no update changes them.
    /// [`Busy`](crate::ErrorKind::Busy) while the model has an optimizer.
    #[doc(alias = "gnnmg_model_set_trainable")]
    pub fn set_trainable(&mut self, pattern: &str, trainable: bool) -> Result<()> {
        let pattern = text("pattern", pattern)?;
        let (model, trainable) = (self.handle.get(), i32::from(trainable));
        check(call!(gnnmg_model_set_trainable(model, pattern.as_ptr(), trainable)))
    }

    /// The gradient of one parameter, in the model's memory; 0 where it got none.
    #[doc(alias = "gnnmg_model_export_gradient")]
    pub fn gradient(&self, key: &str) -> Result<Weights<'_>> {
        let (key, mut out) = (text("key", key)?, null_mut());
        check(call!(gnnmg_model_export_gradient(self.handle.get(), key.as_ptr(), &mut out)))?;
        Tensor::take(out).map(Weights::new)
    }

    fn export_parameters(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_model_export_parameters(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// All parameters as one array, in the model's memory.
    #[doc(alias = "gnnmg_model_export_parameters")]
    pub fn parameters(&self) -> Result<Weights<'_>> {
        self.export_parameters().map(Weights::new)
    }

    /// All parameters as one array to be written.
    #[doc(alias = "gnnmg_model_export_parameters")]
    pub fn parameters_mut(&mut self) -> Result<WeightsMut<'_>> {
        self.export_parameters().map(WeightsMut::new)
    }

    fn export_gradients(&self) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_model_export_gradients(self.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// All gradients as one array, in the model's memory.
    #[doc(alias = "gnnmg_model_export_gradients")]
    pub fn gradients(&self) -> Result<Weights<'_>> {
        self.export_gradients().map(Weights::new)
    }

    /// All gradients as one writable array, for collectives.
    #[doc(alias = "gnnmg_model_export_gradients")]
    pub fn gradients_mut(&mut self) -> Result<WeightsMut<'_>> {
        self.export_gradients().map(WeightsMut::new)
    }

    /// The result for the seeds of a mini-batch, \[seeds, columns\]. An empty one gives an empty
    /// result.
    #[doc(alias = "gnnmg_model_infer")]
    pub fn infer(&self, batch: &Batch) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_model_infer(self.handle.get(), batch.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// [`Model::infer`] with dropout; the pass is kept for [`Model::backward`].
    #[doc(alias = "gnnmg_model_forward")]
    pub fn forward(&mut self, batch: &Batch) -> Result<Tensor> {
        let mut out = null_mut();
        check(call!(gnnmg_model_forward(self.handle.get(), batch.handle.get(), &mut out)))?;
        Tensor::take(out)
    }

    /// Adds the gradient of the last [`Model::forward`]'s loss to the model's gradients,
    /// and returns the mini-batch's share of the step's loss. The loss is the sum over the
    /// mini-batch's labeled seeds (or targets), divided by the number of those of the whole step,
    /// so over the mini-batches of a step, on all ranks, it adds up to the step's mean.
    #[doc(alias = "gnnmg_model_backward")]
    pub fn backward(&mut self, loss: Loss) -> Result<f64> {
        let mut value = 0.0;
        check(call!(gnnmg_model_backward(self.handle.get(), loss.into_raw(), &mut value)))?;
        Ok(value)
    }

    /// [`Model::backward`] for a custom loss: `gradient` is its gradient by the result,
    /// \[seeds, columns\], in the model's type.
    #[doc(alias = "gnnmg_model_backward_from")]
    pub fn backward_from<A: AsArray + ?Sized>(&mut self, gradient: &A) -> Result<()> {
        let gradient = gradient.lend()?.tensor()?;
        check(call!(gnnmg_model_backward_from(self.handle.get(), gradient.get())))
    }

    /// Exact metrics over a part of the data set's split, with full neighborhoods.
    #[doc(alias = "gnnmg_model_evaluate")]
    pub fn evaluate(&self, dataset: &Dataset, part: Part) -> Result<Metrics> {
        block(|| self.evaluate_within(dataset, part, 0, null_mut(), FOREVER))
    }

    /// [`Model::evaluate`] with another number of classes for `top_k_accuracy` than 5.
    #[doc(alias = "gnnmg_model_evaluate")]
    pub fn evaluate_top_k(&self, dataset: &Dataset, part: Part, top_k: usize) -> Result<Metrics> {
        block(|| self.evaluate_within(dataset, part, top_k, null_mut(), FOREVER))
    }

    /// [`Model::evaluate`] with the confusion matrix of `i64`: \[classes, classes\], labeled rows by
    /// class and by predicted class, or for binary targets \[targets, 2, 2\].
    #[doc(alias = "gnnmg_model_evaluate")]
    pub fn confusion(&self, dataset: &Dataset, part: Part) -> Result<(Metrics, Tensor)> {
        let mut out = null_mut();
        let metrics = block(|| self.evaluate_within(dataset, part, 0, &mut out, FOREVER))?;
        Ok((metrics, Tensor::take(out)?))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_model_evaluate")]
    pub fn evaluate_timeout(
        &self,
        dataset: &Dataset,
        part: Part,
        timeout: Duration,
    ) -> Result<Poll<Metrics>> {
        self.evaluate_within(dataset, part, 0, null_mut(), millis(timeout))
    }

    fn evaluate_within(
        &self,
        dataset: &Dataset,
        part: Part,
        top_k: usize,
        confusion: *mut *mut ffi::gnnmg_tensor,
        timeout_ms: i64,
    ) -> Result<Poll<Metrics>> {
        let (mut raw, top_k) = (Metrics::empty(), top_k.into_raw());
        let (model, dataset, part) = (self.handle.get(), dataset.handle.get(), part.into_raw());
        let status = call!(gnnmg_model_evaluate(
            model, dataset, part, top_k, &mut raw, confusion, timeout_ms
        ));
        ready(status, || Ok(Metrics::read(&raw)))
    }

    /// The result for every node, \[nodes, columns\], with full neighborhoods, layer by layer; or,
    /// of a model with a readout, for every graph of a data set of many.
    #[doc(alias = "gnnmg_model_embed")]
    pub fn embed(&self, dataset: &Dataset) -> Result<Tensor> {
        block(|| self.embed_within(dataset, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_model_embed")]
    pub fn embed_timeout(&self, dataset: &Dataset, timeout: Duration) -> Result<Poll<Tensor>> {
        self.embed_within(dataset, millis(timeout))
    }

    fn embed_within(&self, dataset: &Dataset, timeout_ms: i64) -> Result<Poll<Tensor>> {
        let (model, dataset, mut out) = (self.handle.get(), dataset.handle.get(), null_mut());
        let status = call!(gnnmg_model_embed(model, dataset, NODES, null(), &mut out, timeout_ms));
        ready(status, || Tensor::take(out))
    }

    /// [`Model::embed`] straight into a `.npy` file, which appears whole or not at all.
    #[doc(alias = "gnnmg_model_embed")]
    pub fn embed_to_file(&self, dataset: &Dataset, path: impl AsRef<Path>) -> Result<()> {
        block(|| self.embed_to_file_within(dataset, path.as_ref(), FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_model_embed")]
    pub fn embed_to_file_timeout(
        &self,
        dataset: &Dataset,
        path: impl AsRef<Path>,
        timeout: Duration,
    ) -> Result<Poll<()>> {
        self.embed_to_file_within(dataset, path.as_ref(), millis(timeout))
    }

    fn embed_to_file_within(
        &self,
        dataset: &Dataset,
        to: &Path,
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        let (model, dataset, file) = (self.handle.get(), dataset.handle.get(), path(to)?);
        let (to, rows) = (file.as_ptr(), null_mut());
        let status = call!(gnnmg_model_embed(model, dataset, NODES, to, rows, timeout_ms));
        ready(status, || Ok(()))
    }

    /// Writes parameters and buffers with all settings, whole or not at all: as `.safetensors`, or as
    /// a state dict of PyTorch's where the path ends in `.pth` or `.pt`; into a folder as
    /// `model.safetensors` and `config.json`. [`Model::open`] needs nothing else.
    #[doc(alias = "gnnmg_model_save")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, &ModelFileConfig::new())
    }

    /// The same with settings.
    #[doc(alias = "gnnmg_model_save")]
    pub fn save_with(&self, path: impl AsRef<Path>, config: &ModelFileConfig) -> Result<()> {
        block(|| self.save_within(path.as_ref(), config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_model_save")]
    pub fn save_timeout(
        &self,
        path: impl AsRef<Path>,
        config: &ModelFileConfig,
        timeout: Duration,
    ) -> Result<Poll<()>> {
        self.save_within(path.as_ref(), config, millis(timeout))
    }

    fn save_within(
        &self,
        to: &Path,
        config: &ModelFileConfig,
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        let (to, settings) = (path(to)?, config.settings.text()?);
        let (model, to, settings) = (self.handle.get(), to.as_ptr(), settings.as_ptr());
        let status = call!(gnnmg_model_save(model, to, settings, timeout_ms));
        ready(status, || Ok(()))
    }

    /// Reads parameters and buffers. All or nothing: one text lists every key that is missing,
    /// unexpected, or of another shape. [`ErrorKind::Mismatch`] lists the settings of the file that
    /// differ from the model's, where results depend on them.
    ///
    /// [`ErrorKind::Mismatch`]: crate::ErrorKind::Mismatch
    #[doc(alias = "gnnmg_model_load")]
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.load_with(path, &ModelFileConfig::new())
    }

    /// The same with settings.
    #[doc(alias = "gnnmg_model_load")]
    pub fn load_with(&mut self, path: impl AsRef<Path>, config: &ModelFileConfig) -> Result<()> {
        block(|| self.load_within(path.as_ref(), config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_model_load")]
    pub fn load_timeout(
        &mut self,
        path: impl AsRef<Path>,
        config: &ModelFileConfig,
        timeout: Duration,
    ) -> Result<Poll<()>> {
        self.load_within(path.as_ref(), config, millis(timeout))
    }

    fn load_within(
        &mut self,
        from: &Path,
        config: &ModelFileConfig,
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        let (from, settings) = (path(from)?, config.settings.text()?);
        let (model, from, settings) = (self.handle.get(), from.as_ptr(), settings.as_ptr());
        let status = call!(gnnmg_model_load(model, from, settings, timeout_ms));
        ready(status, || Ok(()))
    }
}
