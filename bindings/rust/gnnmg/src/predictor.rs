//! Predictors: a trained model in use.

use crate::array::Element;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::raw::{call, check, length, Field};
use crate::{ffi, DataType, Dataset, Model, Output, PredictorConfig, PredictorInfo};
use std::mem::size_of;
use std::ptr::null_mut;

/// A trained model in use: results for the nodes or graphs of a data set, for any number of threads
/// at once. It has a copy of the weights, so training the model further does not change its answers.
///
/// ```
/// # fn main() -> gnnmg::Result<()> {
/// use gnnmg::*;
///
/// let context = Context::new()?;
/// let config = PlantedConfig::new().num_nodes(200).num_classes(4);
/// let data = Dataset::planted(&context, &config, &SplitConfig::new())?;
/// let model = Model::new(&context, &data, &ModelConfig::new().hidden_dim(8))?;
/// let drawn = PredictorConfig::new().fanouts(&[10, 10]).seed(7); // else results are exact
/// let predictor = Predictor::new(&model, &data, &drawn)?;
/// let shares: Vec<f32> = predictor.run(&[7, 42], Output::Probabilities)?;
/// assert_eq!(shares.len(), 2 * 4);
/// let classes: Vec<i64> = predictor.run(&[7, 42], Output::Classes)?;
/// assert_eq!(classes.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Predictor {
    handle: Handle<ffi::gnnmg_predictor>,
}

impl Predictor {
    /// A predictor from a copy of the model's weights.
    #[doc(alias = "gnnmg_predictor_create")]
    pub fn new(model: &Model, dataset: &Dataset, config: &PredictorConfig) -> Result<Self> {
        let (settings, mut token) = (config.settings.text()?, null_mut());
        check(call!(gnnmg_predictor_create(
            model.handle.get(),
            dataset.handle.get(),
            settings.as_ptr(),
            &mut token
        )))?;
        Ok(Predictor { handle: Handle::new(token) })
    }

    /// Results for these nodes or graphs, one row after another, on the calling thread. Classes are
    /// `i64`, everything else is of the model's type, `f32` or `f64`.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::Range`](crate::ErrorKind::Range): there is no such node or graph.
    /// - [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported): the model or the task has no
    ///   such output.
    /// - [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument): the output has elements
    ///   of another type.
    #[doc(alias = "gnnmg_predictor_run")]
    pub fn run<T: Element>(&self, ids: &[i64], output: Output) -> Result<Vec<T>> {
        let data_type = match output {
            Output::Classes => DataType::I64,
            _ => self.info()?.dtype,
        };
        if data_type != T::DATA_TYPE {
            let wanted = T::DATA_TYPE;
            let text = format!("{output:?} are {data_type:?}, and {wanted:?} is asked for");
            return Err(Error::argument(text));
        }
        let (mut needed, kind) = (0, output.into_raw());
        let (handle, first, count) = (self.handle.get(), ids.as_ptr(), length(ids));
        check(call!(gnnmg_predictor_run(handle, first, count, kind, null_mut(), 0, &mut needed)))?;
        let mut rows = Vec::<T>::with_capacity(needed / size_of::<T>());
        let out = rows.as_mut_ptr().cast();
        check(call!(gnnmg_predictor_run(handle, first, count, kind, out, needed, null_mut())))?;
        // The call has filled them.
        unsafe { rows.set_len(needed / size_of::<T>()) };
        Ok(rows)
    }

    /// Facts about the predictor, and the times of its calls.
    #[doc(alias = "gnnmg_predictor_get_info")]
    pub fn info(&self) -> Result<PredictorInfo> {
        let mut raw = PredictorInfo::empty();
        check(call!(gnnmg_predictor_get_info(self.handle.get(), &mut raw)))?;
        Ok(PredictorInfo::read(&raw))
    }
}
