//! Custom models, layer by layer.

use crate::error::Result;
use crate::raw::{call, check, pointer, text, Field};
use crate::{Activation, Model, ModelConfig, Norm, NormConfig, Readout};
use std::ptr::null;

/// # Custom layers
///
/// A model of [`Architecture::Layers`](crate::Architecture::Layers) begins without any. They are
/// added until it is used for the first time, and each has to suit the one before it: an unsuitable
/// layer is an error that names it, with nothing added. Their names prefix the keys of their
/// tensors, so weights can be exchanged with modules that have the same names elsewhere.
///
/// ```
/// # fn main() -> gnnmg::Result<()> {
/// use gnnmg::{Activation, Architecture, Context, Model, ModelConfig, Norm, NormConfig};
///
/// let context = Context::new()?;
/// let stack = ModelConfig::new().architecture(Architecture::Layers).input_dim(16);
/// let conv = ModelConfig::new().architecture(Architecture::Gatv2).heads(4).output_dim(32);
/// let mut model = Model::new(&context, None, &stack)?;
/// model
///     .add_linear("encoder", 24, true)?
///     .add_activation(None, Activation::Relu)?
///     .add_conv("conv1", &conv)? // four heads of eight columns, beside each other
///     .add_norm("bn1", Norm::Batch, &NormConfig::new().epsilon(1e-3))?
///     .add_dropout(0.2)?
///     .add_linear("head", 5, true)?;
/// assert_eq!(model.info()?.output_dim, 5);
/// assert_eq!(model.tensor("encoder.weight")?.shape(), [24, 16]);
/// # Ok(())
/// # }
/// ```
impl Model {
    /// Adds a convolution. `config` has the options of one layer of its architecture: `output_dim`
    /// is the width of its rows, all heads included.
    #[doc(alias = "gnnmg_model_add_conv")]
    pub fn add_conv(&mut self, name: &str, config: &ModelConfig) -> Result<&mut Self> {
        let (name, settings) = (text("name", name)?, config.settings.text()?);
        let (model, name, settings) = (self.handle.get(), name.as_ptr(), settings.as_ptr());
        check(call!(gnnmg_model_add_conv(model, name, null(), settings)))?;
        Ok(self)
    }

    /// Adds a linear layer, row by row.
    #[doc(alias = "gnnmg_model_add_linear")]
    pub fn add_linear(&mut self, name: &str, output_dim: usize, bias: bool) -> Result<&mut Self> {
        let name = text("name", name)?;
        let (model, output_dim, bias) = (self.handle.get(), output_dim.into_raw(), bias.into_raw());
        check(call!(gnnmg_model_add_linear(model, name.as_ptr(), output_dim, bias)))?;
        Ok(self)
    }

    /// Adds a norm, with a name where it has parameters or running statistics.
    #[doc(alias = "gnnmg_model_add_norm")]
    pub fn add_norm<'a, 'b>(
        &mut self,
        name: impl Into<Option<&'a str>>,
        norm: Norm,
        config: impl Into<Option<&'b NormConfig>>,
    ) -> Result<&mut Self> {
        let name = name.into().map(|name| text("name", name)).transpose()?;
        let settings = config.into().map(|config| config.settings.text()).transpose()?;
        let (model, norm) = (self.handle.get(), norm.into_raw());
        check(call!(gnnmg_model_add_norm(model, pointer(&name), norm, pointer(&settings))))?;
        Ok(self)
    }

    /// Adds a function of every entry, with a name where its slope is learned.
    #[doc(alias = "gnnmg_model_add_activation")]
    pub fn add_activation<'a>(
        &mut self,
        name: impl Into<Option<&'a str>>,
        activation: Activation,
    ) -> Result<&mut Self> {
        let name = name.into().map(|name| text("name", name)).transpose()?;
        let (model, activation) = (self.handle.get(), activation.into_raw());
        check(call!(gnnmg_model_add_activation(model, pointer(&name), activation)))?;
        Ok(self)
    }

    /// Adds dropout: in training this share of the entries, in \[0, 1), becomes 0.
    #[doc(alias = "gnnmg_model_add_dropout")]
    pub fn add_dropout(&mut self, rate: f64) -> Result<&mut Self> {
        check(call!(gnnmg_model_add_dropout(self.handle.get(), rate)))?;
        Ok(self)
    }

    /// Adds a readout: its output rows are the graphs of a mini-batch; with a name if it has
    /// parameters. A model has at most one, and no convolution after it. `size` is the steps of
    /// [`Readout::Set2set`] or the rows of [`Readout::Sort`]; 0 is 3 and 30.
    #[doc(alias = "gnnmg_model_add_readout")]
    pub fn add_readout<'a>(
        &mut self,
        name: impl Into<Option<&'a str>>,
        readout: Readout,
        size: usize,
    ) -> Result<&mut Self> {
        let name = name.into().map(|name| text("name", name)).transpose()?;
        let (model, readout, size) = (self.handle.get(), readout.into_raw(), size.into_raw());
        check(call!(gnnmg_model_add_readout(model, pointer(&name), readout, size)))?;
        Ok(self)
    }
}
