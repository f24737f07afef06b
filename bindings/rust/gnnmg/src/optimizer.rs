//! Optimizers of custom loops and of trainers.

use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::raw::{block, call, check, millis, path, ready, FOREVER};
use crate::{ffi, Model, ModelFileConfig, OptimizerConfig};
use std::path::Path;
use std::ptr::null_mut;
use std::task::Poll;
use std::time::Duration;

/// Turns the gradients of one model into updates.
///
/// Every step names the model, so that nobody reads its weights in the meantime. That of a trainer
/// can only be saved and loaded.
#[derive(Debug)]
pub struct Optimizer {
    handle: Handle<ffi::gnnmg_optimizer>,
    model: *const (), // token of the model, only compared
}

// A token is a number.
unsafe impl Send for Optimizer {}
unsafe impl Sync for Optimizer {}

impl Optimizer {
    /// An optimizer over a model's parameters.
    #[doc(alias = "gnnmg_optimizer_create")]
    pub fn new(model: &mut Model, config: &OptimizerConfig) -> Result<Self> {
        let (settings, mut made) = (config.settings.text()?, null_mut());
        let token = model.handle.get();
        check(call!(gnnmg_optimizer_create(token, settings.as_ptr(), &mut made)))?;
        Ok(Optimizer { handle: Handle::new(made), model: token.cast_const().cast() })
    }

    pub(crate) fn of_trainer(handle: *mut ffi::gnnmg_optimizer) -> Self {
        Optimizer { handle: Handle::new(handle), model: std::ptr::null() }
    }

    /// One update from the current gradients, which are 0 afterwards.
    #[doc(alias = "gnnmg_optimizer_step")]
    pub fn step(&mut self, model: &mut Model) -> Result<()> {
        if self.model != model.handle.get().cast_const().cast() {
            return Err(Error::argument("model is not the one that the optimizer is for".into()));
        }
        check(call!(gnnmg_optimizer_step(self.handle.get())))
    }

    /// Changes the learning rate.
    #[doc(alias = "gnnmg_optimizer_set_learning_rate")]
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<()> {
        check(call!(gnnmg_optimizer_set_learning_rate(self.handle.get(), rate)))
    }

    /// The learning rate.
    #[doc(alias = "gnnmg_optimizer_learning_rate")]
    pub fn learning_rate(&self) -> Result<f64> {
        let mut rate = 0.0;
        check(call!(gnnmg_optimizer_learning_rate(self.handle.get(), &mut rate)))?;
        Ok(rate)
    }

    /// Writes the optimizer's state, such as the moments of Adam, as the state dict of PyTorch's
    /// optimizer of the same kind, whole or not at all: a `.pth`.
    #[doc(alias = "gnnmg_optimizer_save")]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.save_with(path, &ModelFileConfig::new())
    }

    /// The same with settings, which are those that the weights are saved with.
    #[doc(alias = "gnnmg_optimizer_save")]
    pub fn save_with(&self, path: impl AsRef<Path>, config: &ModelFileConfig) -> Result<()> {
        block(|| self.save_within(path.as_ref(), config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_optimizer_save")]
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
        file: &Path,
        config: &ModelFileConfig,
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        let (file, settings) = (path(file)?, config.settings.text()?);
        let (optimizer, file, settings) = (self.handle.get(), file.as_ptr(), settings.as_ptr());
        let status = call!(gnnmg_optimizer_save(optimizer, file, settings, timeout_ms));
        ready(status, || Ok(()))
    }

    /// Reads such a state dict, written here or by `torch.save(optimizer.state_dict())`, of an
    /// optimizer of the same kind over an equal model. The rate and the other settings stay. All or
    /// nothing.
    #[doc(alias = "gnnmg_optimizer_load")]
    pub fn load(&mut self, path: impl AsRef<Path>) -> Result<()> {
        self.load_with(path, &ModelFileConfig::new())
    }

    /// The same with settings, which are those that the weights are loaded with.
    #[doc(alias = "gnnmg_optimizer_load")]
    pub fn load_with(&mut self, path: impl AsRef<Path>, config: &ModelFileConfig) -> Result<()> {
        block(|| self.load_within(path.as_ref(), config, FOREVER))
    }

    /// The same with a time limit; another call with equal arguments continues the wait.
    #[doc(alias = "gnnmg_optimizer_load")]
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
        file: &Path,
        config: &ModelFileConfig,
        timeout_ms: i64,
    ) -> Result<Poll<()>> {
        let (file, settings) = (path(file)?, config.settings.text()?);
        let (optimizer, file, settings) = (self.handle.get(), file.as_ptr(), settings.as_ptr());
        let status = call!(gnnmg_optimizer_load(optimizer, file, settings, timeout_ms));
        ready(status, || Ok(()))
    }
}
