//! Custom models, layer by layer, and the settings of models that are lists.

use crate::error::{Error, Result};
use crate::raw::{call, check, pointer, text, Field};
use crate::{Activation, Model, ModelConfig, Norm, NormConfig, PnaReduction, PnaScaler, Readout};

impl ModelConfig {
    /// PNA: the reductions of messages. Default: mean, min, max, deviation.
    pub fn reductions(mut self, list: &[PnaReduction]) -> Result<Self> {
        fill("reductions", &mut self.raw.reductions, list)?;
        Ok(self)
    }

    /// PNA: the factors of each reduction. Default: identity, amplification, attenuation.
    pub fn scalers(mut self, list: &[PnaScaler]) -> Result<Self> {
        fill("scalers", &mut self.raw.scalers, list)?;
        Ok(self)
    }

    /// The features are integers, column k one of `list[k]` categories, and the layers read the sum
    /// of a learned row for each, `hidden_dim` wide. None.
    pub fn node_vocabulary(mut self, list: &[usize]) -> Result<Self> {
        fill("node_vocabulary", &mut self.raw.node_vocabulary, list)?;
        Ok(self)
    }

    /// The same of edge features; the layers read `edge_dim` columns. None.
    pub fn edge_vocabulary(mut self, list: &[usize]) -> Result<Self> {
        fill("edge_vocabulary", &mut self.raw.edge_vocabulary, list)?;
        Ok(self)
    }
}

/// Writes a list that C ends with a 0.
fn fill<T: Field<i32> + Copy>(name: &str, to: &mut [i32], list: &[T]) -> Result<()> {
    if list.len() > to.len() {
        let (has, room) = (list.len(), to.len());
        return Err(Error::argument(format!("{name} has {has} entries, expected at most {room}")));
    }
    to.fill(0);
    for (at, (to, &from)) in to.iter_mut().zip(list).enumerate() {
        *to = from.into_raw();
        if *to == 0 {
            return Err(Error::argument(format!("{name}[{at}] is 0, which would end the list")));
        }
    }
    Ok(())
}

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
        let name = text("name", name)?;
        check(call!(gnnmg_model_add_conv(self.handle.get(), name.as_ptr(), &config.raw)))?;
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
        let config = config.into().map_or(std::ptr::null(), |config| &config.raw as *const _);
        let (model, norm) = (self.handle.get(), norm.into_raw());
        check(call!(gnnmg_model_add_norm(model, pointer(&name), norm, config)))?;
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
